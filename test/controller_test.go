package test

import (
	"encoding/json"
	"sync"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/api/v1beta1"
	"github.com/kubectl-workspace/kubectl-workspace/test/env"
)

var applying sync.Mutex

// applyKind makes sure that the WorkspaceKind of the scenarios exists.
func applyKind(t testing.TB, e *env.Env) {
	t.Helper()
	applying.Lock() // two that find none would both create it
	defer applying.Unlock()
	if r := kubectl(t, e, env.Admin, "apply", "-f", "testdata/workspacekind.yaml"); r.code != 0 {
		t.Fatal(r.stderr)
	}
}

// playController makes what the Workspace controller would make of a new Workspace.
//
// patches are strategic merge patches (JSON or YAML) of the Pod's spec: what another
// WorkspaceKind, or an injector, would have put there.
func playController(t testing.TB, e *env.Env, namespace, name string, patches ...string) {
	t.Helper()
	r := kubectl(t, e, env.Admin, "workspace", "reconcile", name, "--once", "-n", namespace, "--dry-run=client", "-o", "objects")
	var planned unstructured.UnstructuredList
	if err := yaml.Unmarshal([]byte(r.stdout), &planned); err != nil || r.code != 0 {
		t.Fatalf("%v: %s", err, r.stderr)
	}
	for i := range planned.Items {
		o := &planned.Items[i]
		client := e.Dynamic(t, env.Admin).Resource(gvrOf(o)).Namespace(namespace)
		if o.GetKind() == v1beta1.WorkspaceGVK.Kind {
			if _, err := client.UpdateStatus(t.Context(), o, metav1.UpdateOptions{}); err != nil {
				t.Fatal(err)
			}
			continue
		}
		o.SetUID("")
		if o.GetKind() == "StatefulSet" {
			patchTemplate(t, o, patches)
		}
		if _, err := client.Create(t.Context(), o, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}

func patchTemplate(t testing.TB, u *unstructured.Unstructured, patches []string) {
	t.Helper()
	var set appsv1.StatefulSet
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &set); err != nil {
		t.Fatal(err)
	}
	for _, p := range patches {
		patchPod(t, &set.Spec.Template.Spec, p)
	}
	var err error
	if u.Object, err = runtime.DefaultUnstructuredConverter.ToUnstructured(&set); err != nil {
		t.Fatal(err)
	}
}

func patchPod(t testing.TB, pod *corev1.PodSpec, patch string) {
	t.Helper()
	asJSON, err := yaml.YAMLToJSON([]byte(patch))
	if err != nil {
		t.Fatal(err)
	}
	before, err := json.Marshal(pod)
	if err != nil {
		t.Fatal(err)
	}
	after, err := strategicpatch.StrategicMergePatch(before, asJSON, corev1.PodSpec{})
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(after, pod); err != nil {
		t.Fatal(err)
	}
}

// createWorkspace creates a Workspace with the given secret mounts and returns it.
func createWorkspace(t testing.TB, e *env.Env, namespace, name string, secrets ...map[string]any) *unstructured.Unstructured {
	t.Helper()
	list := []any{}
	for _, s := range secrets {
		list = append(list, s)
	}
	u, err := e.Dynamic(t, env.Admin).Resource(v1beta1.WorkspaceGVR).Namespace(namespace).Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": v1beta1.GroupVersion.String(), "kind": "Workspace",
		"metadata": map[string]any{"name": name},
		"spec": map[string]any{"kind": "jupyterlab", "podTemplate": map[string]any{
			"options": map[string]any{"imageConfig": "scipy", "podConfig": "tiny"},
			"volumes": map[string]any{"secrets": list},
		}},
	}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return u
}
