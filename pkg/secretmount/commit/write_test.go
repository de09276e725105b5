package commit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/secretmount"
)

var workspaces = schema.GroupResource{Group: "kubeflow.org", Resource: "workspaces"}

// failedTest is what the API server answers to a patch that does not apply.
func failedTest() error {
	return apierrors.NewGenericServerResponse(http.StatusUnprocessableEntity, "", schema.GroupResource{}, "", "testing value failed", 0, false)
}

// server is a Workspace on a server that fails as told.
type server struct {
	object  *unstructured.Unstructured
	patches int
	// before runs before the nth patch (from 1) and may change the object or fail.
	before func(n int, o *unstructured.Unstructured) error
	// after runs once the patch is stored; its error is what the client sees.
	after func(n int) error
	// read fails the reads.
	read func(patches int) error
}

func newServer(secrets ...string) *server {
	list := []any{}
	for _, s := range secrets {
		list = append(list, map[string]any{"secretName": s, "mountPath": "/secrets/" + s, "defaultMode": int64(420)})
	}
	return &server{object: &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "kubeflow.org/v1beta1", "kind": "Workspace",
		"metadata": map[string]any{"name": "alice-notebook", "uid": "u-1", "resourceVersion": "1"},
		"spec":     map[string]any{"podTemplate": map[string]any{"volumes": map[string]any{"secrets": list}}},
	}}}
}

func (s *server) Read(context.Context) (*unstructured.Unstructured, error) {
	if s.read != nil {
		if err := s.read(s.patches); err != nil {
			return nil, err
		}
	}
	return s.object.DeepCopy(), nil
}

func (s *server) Patch(_ context.Context, patch []byte) (*unstructured.Unstructured, error) {
	s.patches++
	if s.before != nil {
		if err := s.before(s.patches, s.object); err != nil {
			return nil, err
		}
	}
	decoded, err := jsonpatch.DecodePatch(patch)
	if err != nil {
		return nil, err
	}
	document, _ := s.object.MarshalJSON()
	if document, err = decoded.Apply(document); err != nil {
		return nil, failedTest()
	}
	next := &unstructured.Unstructured{}
	if err := next.UnmarshalJSON(document); err != nil {
		return nil, err
	}
	s.object = next
	s.touch()
	if s.after != nil {
		if err := s.after(s.patches); err != nil {
			return nil, err
		}
	}
	return s.object.DeepCopy(), nil
}

func (s *server) touch() {
	s.object.SetResourceVersion(s.object.GetResourceVersion() + "0")
}

func (s *server) paths(t *testing.T) string {
	t.Helper()
	mounts, err := secretmount.List(s.object.Object)
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, m := range mounts {
		paths = append(paths, m.SecretName)
	}
	return strings.Join(paths, " ")
}

func add(name string) Plan {
	return func(w map[string]any, _ bool) (secretmount.Edit, error) {
		m, err := secretmount.Parse(name)
		if err != nil {
			return secretmount.Edit{}, err
		}
		return secretmount.Add(w, nil, []secretmount.Mount{m}, false)
	}
}

func remove(name string) Plan {
	return func(w map[string]any, again bool) (secretmount.Edit, error) {
		return secretmount.Remove(w, secretmount.Selection{Secrets: []string{name}, IgnoreNotFound: again})
	}
}

func once(err error) func(int) error {
	return func(n int) error {
		if n == 1 {
			return err
		}
		return nil
	}
}

func TestWrite(t *testing.T) {
	cut := fmt.Errorf("patch: %w", io.ErrUnexpectedEOF)
	conflict := apierrors.NewConflict(workspaces, "alice-notebook", errors.New("the object has been modified"))
	duplicate := apierrors.NewInvalid(schema.GroupKind{Group: "kubeflow.org", Kind: "Workspace"}, "alice-notebook",
		field.ErrorList{field.Duplicate(field.NewPath("spec", "podTemplate", "volumes", "secrets").Index(1), "x")})
	invalid := apierrors.NewInvalid(schema.GroupKind{Group: "kubeflow.org", Kind: "Workspace"}, "alice-notebook",
		field.ErrorList{field.Invalid(field.NewPath("spec"), "x", "no")})
	refuse := func(err error) func(int, *unstructured.Unstructured) error {
		return func(n int, _ *unstructured.Unstructured) error { return once(err)(n) }
	}

	tests := map[string]struct {
		server  *server
		prepare func(*server)
		plan    Plan
		patches int
		secrets string
		outcome secretmount.Outcome
		err     string
	}{
		"at once":                  {plan: add("b"), patches: 1, secrets: "a b", outcome: secretmount.Added},
		"nothing to do":            {plan: add("a"), patches: 0, secrets: "a", outcome: secretmount.Unchanged},
		"conflict":                 {prepare: func(s *server) { s.before = refuse(conflict) }, plan: add("b"), patches: 2, secrets: "a b", outcome: secretmount.Added},
		"too many requests":        {prepare: func(s *server) { s.before = refuse(apierrors.NewTooManyRequestsError("busy")) }, plan: add("b"), patches: 2, secrets: "a b", outcome: secretmount.Added},
		"server error":             {prepare: func(s *server) { s.before = refuse(apierrors.NewInternalError(io.EOF)) }, plan: add("b"), patches: 2, secrets: "a b", outcome: secretmount.Added},
		"cut before it was done":   {prepare: func(s *server) { s.before = refuse(cut) }, plan: add("b"), patches: 2, secrets: "a b", outcome: secretmount.Added},
		"cut after it was done":    {prepare: func(s *server) { s.after = once(cut) }, plan: add("b"), patches: 1, secrets: "a b", outcome: secretmount.Added},
		"removal cut after it was": {prepare: func(s *server) { s.after = once(cut) }, plan: remove("a"), patches: 1, secrets: "", outcome: secretmount.Removed},
		"server error after it was": {
			prepare: func(s *server) { s.after = once(apierrors.NewInternalError(io.EOF)) }, plan: add("b"), patches: 1, secrets: "a b", outcome: secretmount.Added,
		},
		"removal while an earlier entry goes": {
			server: newServer("x", "a", "y"),
			prepare: func(s *server) {
				s.before = func(n int, _ *unstructured.Unstructured) error {
					if n == 1 {
						s.object = newServer("a", "y").object
						s.touch()
					}
					return nil
				}
			},
			plan: remove("a"), patches: 2, secrets: "y", outcome: secretmount.Removed,
		},
		"reads fail for a while": {
			prepare: func(s *server) {
				s.after = once(cut)
				fails := 2
				s.read = func(int) error {
					if fails--; fails >= 0 {
						return errors.New("connection refused")
					}
					return nil
				}
			},
			plan: add("b"), patches: 1, secrets: "a b", outcome: secretmount.Added,
		},
		"somebody takes the path": {
			prepare: func(s *server) {
				s.before = func(int, *unstructured.Unstructured) error {
					s.object = newServer("a", "z").object
					s.touch()
					return duplicate
				}
			},
			plan: add("b=/secrets/z"), patches: 1, secrets: "a z", err: `Secret "z" is mounted there`,
		},
		"duplicate without a change": {
			prepare: func(s *server) { s.before = func(int, *unstructured.Unstructured) error { return duplicate } },
			plan:    add("b"), patches: 1, secrets: "a", err: "Duplicate value",
		},
		"patch refused without a change": {
			prepare: func(s *server) { s.before = func(int, *unstructured.Unstructured) error { return failedTest() } },
			plan:    add("b"), patches: 1, secrets: "a", err: "rejected our request",
		},
		"invalid": {prepare: func(s *server) { s.before = refuse(invalid) }, plan: add("b"), patches: 1, secrets: "a", err: "is invalid"},
		"forbidden": {
			prepare: func(s *server) {
				s.before = refuse(apierrors.NewForbidden(workspaces, "alice-notebook", errors.New("no")))
			},
			plan: add("b"), patches: 1, secrets: "a", err: "forbidden",
		},
		"deleted and made anew": {
			prepare: func(s *server) {
				s.before = func(int, *unstructured.Unstructured) error { s.object.SetUID("u-2"); return nil }
			},
			plan: add("b"), patches: 1, secrets: "a", err: "was deleted and created again",
		},
		"deleted": {
			prepare: func(s *server) {
				s.before = refuse(conflict)
				s.read = func(patches int) error {
					if patches > 0 {
						return apierrors.NewNotFound(workspaces, "alice-notebook")
					}
					return nil
				}
			},
			plan: add("b"), patches: 1, secrets: "a", err: "not found",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := tc.server
			if s == nil {
				s = newServer("a")
			}
			if tc.prepare != nil {
				tc.prepare(s)
			}
			first, err := s.Read(t.Context())
			if err != nil && s.patches == 0 {
				first = s.object.DeepCopy()
			}
			u, edit, err := Write(t.Context(), s, first, tc.plan, nil)
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) {
					t.Errorf("error %v, want one that says %q", err, tc.err)
				}
			} else if err != nil {
				t.Fatal(err)
			} else if u == nil || len(edit.Results) != 1 || edit.Results[0].Outcome != tc.outcome {
				t.Errorf("got %+v, want %s", edit.Results, tc.outcome)
			}
			if got := s.paths(t); got != tc.secrets {
				t.Errorf("mounted: %q, want %q", got, tc.secrets)
			}
			if s.patches != tc.patches {
				t.Errorf("%d patches were sent, want %d", s.patches, tc.patches)
			}
		})
	}
}

func TestWriteEndsWhenInterrupted(t *testing.T) {
	s := newServer("a")
	ctx, cancel := context.WithCancel(t.Context())
	s.before = func(int, *unstructured.Unstructured) error {
		cancel()
		return apierrors.NewTooManyRequests("busy", 1)
	}
	if _, _, err := Write(ctx, s, s.object.DeepCopy(), add("b"), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// A failed test must be told apart from an object that fails validation: the first is
// tried again, the second never.
func TestFateOf(t *testing.T) {
	wrapped := fmt.Errorf("cannot change workspace: %w", failedTest())
	for name, tc := range map[string]struct {
		err  error
		want fate
	}{
		"failed test":        {wrapped, overtaken},
		"failed test, empty": {&apierrors.StatusError{ErrStatus: metav1.Status{Code: 422, Reason: metav1.StatusReasonInvalid}}, overtaken},
		"not found":          {apierrors.NewNotFound(workspaces, "x"), refused},
		"unauthorized":       {apierrors.NewUnauthorized("x"), refused},
		"bad request":        {apierrors.NewBadRequest("x"), refused},
		"service down":       {apierrors.NewServiceUnavailable("x"), lost},
		"server timed out":   {apierrors.NewTimeoutError("x", 1), lost},
		"interrupted":        {context.Canceled, refused},
	} {
		if got := fateOf(tc.err); got != tc.want {
			t.Errorf("%s: %d, want %d", name, got, tc.want)
		}
	}
}
