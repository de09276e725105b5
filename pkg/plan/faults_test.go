package plan

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/api/v1beta1"
)

// fault is asked before (done false) and after each write; what it returns is the answer.
type fault func(verb string, o client.Object, done bool) error

// apiWith returns an API server in memory with one Workspace, and faults in it.
func apiWith(t testing.TB, f fault) client.Client {
	t.Helper()
	s, err := NewScheme()
	if err != nil {
		t.Fatal(err)
	}
	kind := &v1beta1.WorkspaceKind{ObjectMeta: metav1.ObjectMeta{Name: "lab"}}
	kind.Spec.PodTemplate.Options.ImageConfig.Values = []v1beta1.ImageConfigValue{{ID: "i", Spec: v1beta1.ImageConfigSpec{
		Image: "registry.example.com/lab:1", Ports: []v1beta1.ImagePort{{ID: "lab", Port: 8888}},
	}}}
	kind.Spec.PodTemplate.Options.PodConfig.Values = []v1beta1.PodConfigValue{{ID: "p"}}
	w := &v1beta1.Workspace{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "alice", UID: "alice-uid"}}
	w.Spec.Kind = "lab"
	w.Spec.PodTemplate.Options = v1beta1.WorkspaceOptions{ImageConfig: "i", PodConfig: "p"}
	around := func(verb string, o client.Object, do func() error) error {
		if err := f(verb, o, false); err != nil {
			return err
		}
		if err := do(); err != nil {
			return err
		}
		return f(verb, o, true)
	}
	return fake.NewClientBuilder().WithScheme(s).WithObjects(kind, w).
		WithStatusSubresource(&v1beta1.Workspace{}, &v1beta1.WorkspaceKind{}).
		WithIndex(&corev1.Event{}, "type", func(o client.Object) []string { return []string{o.(*corev1.Event).Type} }).
		WithIndex(&corev1.Pod{}, "metadata.name", func(o client.Object) []string { return []string{o.GetName()} }).
		WithInterceptorFuncs(interceptor.Funcs{
			Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
				return around("create", o, func() error { return c.Create(ctx, o, opts...) })
			},
			Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
				return around("patch", o, func() error { return c.Patch(ctx, o, p, opts...) })
			},
			Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
				return around("delete", o, func() error { return c.Delete(ctx, o, opts...) })
			},
			SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
				return around("status", o, func() error { return c.SubResource(sub).Patch(ctx, o, p, opts...) })
			},
		}).Build()
}

// runLive reconciles the one Workspace.
func runLive(t testing.TB, ctx context.Context, api client.Client) *Plan {
	t.Helper()
	now := func() time.Time { return noon }
	c, err := NewCluster(Live, api, now)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(c.LoadWorkspaces(ctx, ""), c.LoadOwned(ctx, Scope{Namespaces: []string{"team-a"}})); err != nil {
		t.Fatal(err)
	}
	return (&Runner{Cluster: c, Now: now}).Run(ctx, []types.NamespacedName{{Namespace: "team-a", Name: "alice"}}, nil)
}

func sets(t testing.TB, api client.Client) int {
	t.Helper()
	var list appsv1.StatefulSetList
	if err := api.List(t.Context(), &list); err != nil {
		t.Fatal(err)
	}
	return len(list.Items)
}

func TestFaults(t *testing.T) {
	conflict := apierrors.NewConflict(schema.GroupResource{Resource: "things"}, "x", errors.New("modified"))
	trouble := apierrors.NewInternalError(errors.New("etcd is away"))
	var calls atomic.Int32
	first := func(n int32, err error) fault {
		return func(_ string, _ client.Object, done bool) error {
			if !done && calls.Add(1) <= n {
				return err
			}
			return nil
		}
	}
	for name, c := range map[string]struct {
		fault  fault
		result Result
		says   string
	}{
		"two conflicts":         {first(2, conflict), Created, ""},
		"conflict on all":       {first(1000, conflict), Failed, "somebody else kept changing the same objects"},
		"500 twice":             {first(2, trouble), Created, ""},
		"500 always":            {first(1000, trouble), Failed, "etcd is away"},
		"429":                   {first(2, apierrors.NewTooManyRequestsError("slow down")), Created, ""},
		"no answer to a create": {lostAnswer(trouble), Updated, ""}, // it finds the StatefulSet there
		"cut off":               {lostAnswer(io.ErrUnexpectedEOF), Failed, "unable to create StatefulSet: unexpected EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			calls.Store(0)
			api := apiWith(t, c.fault)
			p := runLive(t, t.Context(), api)
			o := p.Workspaces[0]
			if o.Result != c.result || !strings.Contains(o.Error, c.says) {
				t.Errorf("%s %q", o.Result, o.Error)
			}
			calls.Store(10_000) // the fault is over
			if again := runLive(t, t.Context(), api); again.Workspaces[0].Result == Failed {
				t.Errorf("the rerun: %s", again.Workspaces[0].Error)
			}
			if again := runLive(t, t.Context(), api); again.Changed() {
				t.Errorf("not at rest: %+v", again)
			}
			if n := sets(t, api); n != 1 {
				t.Errorf("%d StatefulSets", n)
			}
		})
	}
}

// lostAnswer creates the StatefulSet, and the client never hears of it.
func lostAnswer(err error) fault {
	var once atomic.Bool
	return func(verb string, o client.Object, done bool) error {
		if _, ok := o.(*appsv1.StatefulSet); ok && verb == "create" && done && once.CompareAndSwap(false, true) {
			return err
		}
		return nil
	}
}

func TestEndInTheMiddle(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	api := apiWith(t, func(_ string, o client.Object, done bool) error {
		if _, ok := o.(*appsv1.StatefulSet); ok && done {
			cancel()
			return ctx.Err()
		}
		return nil
	})
	if p := runLive(t, ctx, api); p.Workspaces[0].Result != Failed {
		t.Errorf("%+v", p.Workspaces[0])
	}
	if p := runLive(t, t.Context(), api); p.Workspaces[0].Result != Updated {
		t.Errorf("%+v", p.Workspaces[0])
	}
	if n := sets(t, api); n != 1 {
		t.Errorf("%d StatefulSets", n)
	}
}

// What the run rests on is deleted while it runs: it goes on as if it had never been there.
func TestDeletedMeanwhile(t *testing.T) {
	for name, c := range map[string]struct {
		gone    client.Object
		before  func(verb string, o client.Object) bool
		result  Result
		message string
		sets    int
	}{
		"the WorkspaceKind": {
			&v1beta1.WorkspaceKind{ObjectMeta: metav1.ObjectMeta{Name: "lab"}},
			func(verb string, o client.Object) bool {
				_, ok := o.(*v1beta1.WorkspaceKind)
				return ok && verb == "patch"
			},
			Updated, "Workspace references unknown WorkspaceKind: lab", 0,
		},
		"the Workspace": {
			&v1beta1.Workspace{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "alice"}},
			func(verb string, _ client.Object) bool { return verb == "status" },
			Created, "", 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			var api client.Client
			var once atomic.Bool
			api = apiWith(t, func(verb string, o client.Object, done bool) error {
				if !done && c.before(verb, o) && once.CompareAndSwap(false, true) {
					return api.Delete(t.Context(), c.gone)
				}
				return nil
			})
			o := runLive(t, t.Context(), api).Workspaces[0]
			if o.Result != c.result || o.Status.After.Message != c.message {
				t.Errorf("%s %q: %q", o.Result, o.Error, o.Status.After.Message)
			}
			if n := sets(t, api); n != c.sets {
				t.Errorf("%d StatefulSets", n)
			}
		})
	}
}

// Another run made the StatefulSet after our lists were read.
func TestMadeMeanwhile(t *testing.T) {
	var api client.Client
	var once atomic.Bool
	api = apiWith(t, func(_ string, o client.Object, done bool) error {
		if _, ok := o.(*corev1.ServiceAccount); ok && done && once.CompareAndSwap(false, true) {
			runLive(t, t.Context(), api)
		}
		return nil
	})
	if p := runLive(t, t.Context(), api); p.Workspaces[0].Result == Failed {
		t.Errorf("%+v", p.Workspaces[0])
	}
	if n := sets(t, api); n != 1 {
		t.Errorf("%d StatefulSets", n)
	}
}

func TestTransport(t *testing.T) {
	sent := 0
	next := roundTripper(func(*http.Request) (*http.Response, error) { sent++; return &http.Response{}, nil })
	const review = "https://c/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
	for name, c := range map[string]struct {
		mode        Mode
		method, url string
		want        bool
		body        string
	}{
		"live":               {Live, "POST", "https://c/api/v1/namespaces/a/services", true, ""},
		"server, dry run":    {Server, "POST", "https://c/api/v1/namespaces/a/services?dryRun=All", true, ""},
		"server, forgotten":  {Server, "PATCH", "https://c/api/v1/namespaces/a/services/x", false, ""},
		"server, other word": {Server, "DELETE", "https://c/api/v1/namespaces/a/services/x?dryRun=None", false, ""},
		"server, two words":  {Server, "PUT", "https://c/api/v1/namespaces/a/services/x?dryRun=All&dryRun=x", false, ""},
		"server, rights":     {Server, "POST", review, true, ""},
		"client, read":       {Client, "GET", "https://c/api/v1/services", true, ""},
		"client, dry run":    {Client, "POST", "https://c/api/v1/namespaces/a/services?dryRun=All", false, ""},
		"client, rights":     {Client, "POST", review, true, ""},
		"server, delete": {Server, "DELETE", "https://c/api/v1/namespaces/a/services/x", true,
			`{"kind":"DeleteOptions","apiVersion":"v1","dryRun":["All"]}`},
		"server, delete in truth": {Server, "DELETE", "https://c/api/v1/namespaces/a/services/x?dryRun=All", false,
			`{"kind":"DeleteOptions","apiVersion":"v1"}`}, // the API server goes by the body
		"server, delete with riddles": {Server, "DELETE", "https://c/api/v1/namespaces/a/services/x?dryRun=All", false, `{`},
		"snapshot":                    {Snapshot, "DELETE", "https://c/api/v1/namespaces/a/services/x", false, ""},
	} {
		sent = 0
		r, err := http.NewRequest(c.method, c.url, strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		answer, err := c.mode.Transport(next).RoundTrip(r)
		if answer != nil && answer.Body != nil {
			_ = answer.Body.Close()
		}
		if (err == nil) != c.want || (sent == 1) != c.want {
			t.Errorf("%s: %v, sent %d", name, err, sent)
		}
	}
}

func TestMask(t *testing.T) {
	set := func(env ...corev1.EnvVar) *appsv1.StatefulSet {
		s := &appsv1.StatefulSet{}
		s.Spec.Template.Spec.Containers = []corev1.Container{{Name: "main", Env: env}}
		return s
	}
	const secret = "hunter2-hunter2"
	for name, c := range map[string]struct{ before, after *appsv1.StatefulSet }{
		"added":       {set(), set(corev1.EnvVar{Name: "TOKEN", Value: secret})},
		"changed":     {set(corev1.EnvVar{Name: "TOKEN", Value: "old-" + secret}), set(corev1.EnvVar{Name: "TOKEN", Value: secret})},
		"removed":     {set(corev1.EnvVar{Name: "TOKEN", Value: secret}), set()},
		"container":   {&appsv1.StatefulSet{}, set(corev1.EnvVar{Name: "TOKEN", Value: secret})},
		"one of them": {set(corev1.EnvVar{Name: "A", Value: "1"}), set(corev1.EnvVar{Name: "A", Value: "1"}, corev1.EnvVar{Name: "TOKEN", Value: secret})},
	} {
		fields, err := diff(c.before, c.after, false)
		if err != nil || len(fields) == 0 {
			t.Fatalf("%s: %v %v", name, fields, err)
		}
		text := strings.Join(func() (out []string) {
			for _, f := range fields {
				out = append(out, f.Path, toText(f.Before), toText(f.After))
			}
			return out
		}(), " ")
		if strings.Contains(text, secret) || !strings.Contains(text, "TOKEN") {
			t.Errorf("%s: %s", name, text)
		}
	}
}

func toText(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(data)
}
