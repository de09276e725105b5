package test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/api/v1beta1"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/controller"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/controller/paritytest"
	"github.com/kubectl-workspace/kubectl-workspace/test/env"
)

// operation is one line of a step-N-input.yaml.
type operation struct {
	Op                string
	Object            map[string]any
	Kind, Name        string
	Body              map[string]any
	PropagationPolicy string
	Args              []string
}

// objectsOnly are the steps, "sequence/step" or "sequence", whose status depends on when the
// controller looks.
var objectsOnly = map[string]string{
	"11-hand-edit-statefulset/11": "the Pod with the added init container may have been made before the correction, and is then stuck",
	"39-several-missing-secrets":  "any of five messages",
}

func TestReconcileSequences(t *testing.T) {
	env.Get(t)
	dirs, err := filepath.Glob(filepath.Join(paritytest.Root(t), "sequences", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range dirs {
		name := filepath.Base(dir)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var sequence struct {
				Manager []string
				Steps   []struct{ Title string }
			}
			readYAML(t, filepath.Join(dir, "sequence.yaml"), &sequence)
			b := newParityBench(t, paritytest.ConfigOf(sequence.Manager))
			b.fixtures(t)
			for n, step := range sequence.Steps {
				prefix := filepath.Join(dir, fmt.Sprintf("step-%d-", n+1))
				var operations []operation
				readYAML(t, prefix+"input.yaml", &operations)
				for i, o := range operations {
					b.play(t, o)
					if o.Op == "delete" && o.Kind == "Workspace" && i == len(operations)-1 {
						b.gone(t, o.Name)
					}
				}
				env.Eventually(t, 20*time.Second, func() error { return b.samePlans(t, changes) }) // the StatefulSet controller works meanwhile
				why := objectsOnly[name] + objectsOnly[fmt.Sprintf("%s/%d", name, n+1)]
				b.settle(t, prefix, fmt.Sprintf("step %d (%s)", n+1, step.Title), why == "")
				if strings.Contains(why, "stuck") {
					b.play(t, operation{Op: "delete", Kind: "Pod", Name: "ws-alice-notebook-XXXXX-0"})
				}
				if t.Failed() {
					return
				}
			}
		})
	}
}

func readYAML(t testing.TB, path string, into any) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err == nil {
		err = yaml.Unmarshal(data, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// play does what a step says. That the API server refuses is recorded too, and no failure.
func (b *parityBench) play(t testing.TB, o operation) {
	t.Helper()
	switch o.Op {
	case "create":
		u := b.here(t, &unstructured.Unstructured{Object: o.Object})
		b.fixOwners(t, u)
		b.create(t, "", u)
	case "delete":
		client := b.Dynamic(t, env.Admin).Resource(b.gvr(o.Kind))
		opts := metav1.DeleteOptions{}
		if p := metav1.DeletionPropagation(o.PropagationPolicy); p != "default" && p != "" {
			opts.PropagationPolicy = &p
		}
		var err error
		if o.Kind == "WorkspaceKind" {
			err = client.Delete(t.Context(), b.kindName(o.Name), opts)
		} else {
			err = client.Namespace(b.ns).Delete(t.Context(), b.realName(t, o.Kind, o.Name), opts)
		}
		if err != nil && !apierrors.IsNotFound(err) {
			t.Fatal(err)
		}
	case "merge-patch":
		body := b.here(t, &unstructured.Unstructured{Object: map[string]any{"kind": o.Kind, "body": o.Body}}).Object["body"].(map[string]any)
		if meta, ok := body["metadata"].(map[string]any); ok {
			u := &unstructured.Unstructured{Object: map[string]any{"metadata": meta}}
			b.fixOwners(t, u)
		}
		data, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		client := b.Dynamic(t, env.Admin).Resource(b.gvr(o.Kind))
		if o.Kind == "WorkspaceKind" {
			_, err = client.Patch(t.Context(), b.kindName(o.Name), types.MergePatchType, data, metav1.PatchOptions{})
		} else {
			_, err = client.Namespace(b.ns).Patch(t.Context(), b.realName(t, o.Kind, o.Name), types.MergePatchType, data, metav1.PatchOptions{})
		}
		if err != nil && !apierrors.IsInvalid(err) {
			t.Fatal(err)
		}
	case "manager":
		if strings.Contains(strings.Join(o.Args, " "), "use-istio=false") {
			b.flags, b.config = b.flags[:2], controller.Config{}
		}
	}
}

// gone waits until a deleted Workspace and what the garbage collector takes with it are gone,
// or stay.
func (b *parityBench) gone(t testing.TB, name string) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for time.Now().Before(deadline) {
		_, err := b.Dynamic(t, env.Admin).Resource(v1beta1.WorkspaceGVR).Namespace(b.ns).Get(t.Context(), name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) && len(b.owned(t, b.ns, name)) == 0 {
			return
		}
		time.Sleep(200 * time.Millisecond)
	}
}

func (b *parityBench) gvr(kind string) schema.GroupVersionResource {
	u := &unstructured.Unstructured{}
	u.SetKind(kind)
	u.SetAPIVersion(map[string]string{
		"StatefulSet": "apps/v1", "RoleBinding": "rbac.authorization.k8s.io/v1", "VirtualService": "networking.istio.io/v1",
		"Workspace": v1beta1.GroupVersion.String(), "WorkspaceKind": v1beta1.GroupVersion.String(),
	}[kind])
	if u.GetAPIVersion() == "" {
		u.SetAPIVersion("v1")
	}
	return gvrOf(u)
}

// realName finds the object that a recorded name stands for.
func (b *parityBench) realName(t testing.TB, kind, name string) string {
	t.Helper()
	prefix, rest, generated := strings.Cut(name, "XXXXX")
	if !generated {
		return name
	}
	of := kind
	if kind == "Pod" {
		of = "StatefulSet"
	}
	list, err := b.Dynamic(t, env.Admin).Resource(b.gvr(of)).Namespace(b.ns).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	sort.Slice(list.Items, func(i, j int) bool {
		return list.Items[i].GetCreationTimestamp().After(list.Items[j].GetCreationTimestamp().Time)
	})
	for _, o := range list.Items {
		if strings.HasPrefix(o.GetName(), prefix) {
			return o.GetName() + rest
		}
	}
	t.Fatalf("no %s like %s", kind, name)
	return ""
}

// fixOwners puts the uid of the Workspace into references to it.
func (b *parityBench) fixOwners(t testing.TB, u *unstructured.Unstructured) {
	t.Helper()
	refs := u.GetOwnerReferences()
	for i := range refs {
		w, err := b.Dynamic(t, env.Admin).Resource(v1beta1.WorkspaceGVR).Namespace(b.ns).Get(t.Context(), refs[i].Name, metav1.GetOptions{})
		if err == nil {
			refs[i].UID = w.GetUID()
		}
	}
	if len(refs) > 0 {
		u.SetOwnerReferences(refs)
	}
}

// settle reconciles until objects and status are as recorded.
func (b *parityBench) settle(t testing.TB, prefix, step string, withStatus bool) {
	t.Helper()
	want := paritytest.CompletedBy(b.Minor(t), paritytest.Objects(paritytest.Documents(t, prefix+"expected.yaml")))
	var status map[string]any
	if docs := paritytest.Documents(t, prefix+"status.yaml"); len(docs) > 0 {
		status = docs[0]
	}
	last := ""
	deadline := time.Now().Add(time.Minute)
	for {
		_, r := b.reconcile(t)
		owned := b.owned(t, b.ns, "alice-notebook")
		last = paritytest.DiffStored(want, b.back(t, owned)) + b.ofAnother(t, owned)
		if last == "" && withStatus {
			n := paritytest.NewNormaliser(owned)
			w := &unstructured.Unstructured{}
			w.SetNamespace(b.ns)
			w.SetName("alice-notebook")
			got := rename(t, n.Status(b.statusIfAny(t, w)), b.recorded)
			last = cmp.Diff(rename(t, status, b.recorded), got, cmpopts.EquateEmpty())
		}
		if last == "" {
			return
		}
		if time.Now().After(deadline) {
			t.Errorf("%s (-recorded +got):\n%s\n%s", step, last, r.stderr)
			return
		}
		time.Sleep(300 * time.Millisecond)
	}
}

// ofAnother names the objects of a Workspace that was deleted and created again since. The garbage
// collector will take them.
func (b *parityBench) ofAnother(t testing.TB, owned []*unstructured.Unstructured) (names string) {
	t.Helper()
	for _, o := range owned {
		ref := metav1.GetControllerOf(o)
		w, err := b.Dynamic(t, env.Admin).Resource(v1beta1.WorkspaceGVR).Namespace(b.ns).Get(t.Context(), ref.Name, metav1.GetOptions{})
		if err == nil && w.GetUID() != ref.UID {
			names += "an earlier Workspace owns " + o.GetName() + "\n"
		}
	}
	return names
}

func (b *parityBench) statusIfAny(t testing.TB, w *unstructured.Unstructured) map[string]any {
	u, err := b.Dynamic(t, env.Admin).Resource(v1beta1.WorkspaceGVR).Namespace(w.GetNamespace()).Get(t.Context(), w.GetName(), metav1.GetOptions{})
	if err != nil {
		return nil
	}
	s, _, _ := unstructured.NestedMap(u.Object, "status")
	return s
}
