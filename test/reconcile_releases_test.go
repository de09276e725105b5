package test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/api/v1beta1"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/controller"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/controller/paritytest"
	"github.com/kubectl-workspace/kubectl-workspace/test/env"
)

var crdGVR = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// otherRelease lets the API server store fields of other releases of Kubeflow Notebooks, as long
// as the test runs: those of v2.0.0-alpha.3, and some that nobody has thought of yet.
func otherRelease(t testing.TB, e *env.Env) {
	t.Helper()
	const spec = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties"
	anything := `{"type":"object","x-kubernetes-preserve-unknown-fields":true}`
	for crd, fields := range map[string]map[string]string{
		"workspacekinds.kubeflow.org": {
			spec + "/podTemplate/properties/serviceAccount/properties/name": `{"type":"string"}`,
			spec + "/podTemplate/properties/culling":                        anything,
			spec + "/spawner/properties/tagline":                            `{"type":"string"}`,
		},
		"workspaces.kubeflow.org": {
			spec + "/podTemplate/properties/volumes/properties/scratch": anything,
			spec + "/note": `{"type":"string"}`,
		},
	} {
		var add, remove []string
		for path, value := range fields {
			add = append(add, fmt.Sprintf(`{"op":"add","path":%q,"value":%s}`, path, value))
			remove = append(remove, fmt.Sprintf(`{"op":"remove","path":%q}`, path))
		}
		crds := e.Dynamic(t, env.Admin).Resource(crdGVR)
		patch := func(ctx context.Context, operations []string) error {
			_, err := crds.Patch(ctx, crd, types.JSONPatchType, []byte("["+strings.Join(operations, ",")+"]"), metav1.PatchOptions{})
			return err
		}
		if err := patch(t.Context(), add); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := patch(context.Background(), remove); err != nil {
				t.Error(err)
			}
		})
	}
}

// A cluster may run another release, whose controller builds other objects. Where that shows, a
// live run refuses and a dry run warns. Fields that nothing is built from pass, and stay.
func TestReconcileOtherReleases(t *testing.T) {
	b := newParityBench(t, controller.Config{})
	otherRelease(t, b.Env)
	create := func(o *unstructured.Unstructured, keeps ...string) {
		t.Helper()
		client := b.Dynamic(t, env.Admin).Resource(gvrOf(o)).Namespace(o.GetNamespace())
		env.Eventually(t, 30*time.Second, func() error { // the new schema takes a moment to be served
			made, err := client.Create(t.Context(), o.DeepCopy(), metav1.CreateOptions{})
			if err != nil {
				return err
			}
			if _, found, _ := unstructured.NestedFieldNoCopy(made.Object, keeps...); found {
				return nil
			}
			if err := client.Delete(t.Context(), o.GetName(), metav1.DeleteOptions{}); err != nil {
				return err
			}
			return fmt.Errorf("%v was not stored", keeps)
		})
		if o.GetNamespace() == "" {
			b.removeAtEnd(t, o)
		}
	}
	kind := func(name, podTemplate string) {
		t.Helper()
		k := paritytest.Objects(paritytest.Documents(t, filepath.Join("testdata", "workspacekind.yaml")))[0]
		k.SetName(name + "-" + b.ns)
		var more map[string]any
		if err := json.Unmarshal([]byte(podTemplate), &more); err != nil {
			t.Fatal(err)
		}
		for field, value := range more {
			_ = unstructured.SetNestedField(k.Object, value, "spec", "podTemplate", field)
		}
		_ = unstructured.SetNestedField(k.Object, "the best", "spec", "spawner", "tagline")
		create(k, "spec", "spawner", "tagline")
	}
	workspace := func(name, ofKind string, volumes map[string]any) {
		t.Helper()
		create(&unstructured.Unstructured{Object: map[string]any{
			"apiVersion": v1beta1.GroupVersion.String(), "kind": "Workspace", "metadata": map[string]any{"name": name, "namespace": b.ns},
			"spec": map[string]any{"kind": ofKind + "-" + b.ns, "paused": true, "note": "mine", "podTemplate": map[string]any{
				"options": map[string]any{"imageConfig": "scipy", "podConfig": "tiny"}, "volumes": volumes,
			}},
		}}, "spec", "note")
	}
	kind("harmless", `{"culling":{"enabled":true,"maxInactiveSeconds":3600}}`)
	kind("older", `{"serviceAccount":{"name":"default-editor"},"culling":{"enabled":true}}`)
	workspace("harmless", "harmless", map[string]any{})
	workspace("older", "older", map[string]any{})
	workspace("newer", "harmless", map[string]any{"scratch": map[string]any{"size": "1Gi"}})

	for name, c := range map[string]struct{ object, field string }{
		"older": {"WorkspaceKind older-" + b.ns, "spec.podTemplate.serviceAccount.name"},
		"newer": {"Workspace " + b.ns + "/newer", "spec.podTemplate.volumes.scratch"},
	} {
		want := c.object + " sets fields of another release of Kubeflow Notebooks, whose controller builds other objects from them: " + c.field
		if _, r := b.reconcile(t, name); r.code != 1 || !strings.Contains(r.stderr, want+"\nNothing was changed") {
			t.Errorf("%s: exit %d: %s", name, r.code, r.stderr)
		}
		for _, mode := range []string{"client", "server"} {
			p, r := b.reconcile(t, name, "--dry-run="+mode)
			if r.code != 0 || len(p.Notes) != 1 || p.Notes[0] != want || p.Summary.Created != 1 {
				t.Errorf("%s, %s: exit %d: %v %s", name, mode, r.code, p.Notes, r.stderr)
			}
		}
	}
	if n := len(b.statefulSets(t)); n != 0 || b.leaseHolder(t) != "" {
		t.Errorf("%d StatefulSets, Lease held by %q", n, b.leaseHolder(t))
	}

	if _, r := b.reconcile(t, "harmless"); r.code != 0 {
		t.Fatalf("exit %d: %s", r.code, r.stderr)
	}
	w, err := b.Dynamic(t, env.Admin).Resource(v1beta1.WorkspaceGVR).Namespace(b.ns).Get(t.Context(), "harmless", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	k, err := b.Dynamic(t, env.Admin).Resource(v1beta1.WorkspaceKindGVR).Get(t.Context(), "harmless-"+b.ns, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	note, _, _ := unstructured.NestedString(w.Object, "spec", "note")
	tagline, _, _ := unstructured.NestedString(k.Object, "spec", "spawner", "tagline")
	seconds, _, _ := unstructured.NestedInt64(k.Object, "spec", "podTemplate", "culling", "maxInactiveSeconds")
	if note != "mine" || tagline != "the best" || seconds != 3600 || len(k.GetFinalizers()) != 1 {
		t.Errorf("%v\n%v", w.Object["spec"], k.Object)
	}
}
