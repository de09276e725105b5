package test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/api/v1beta1"
	"github.com/kubectl-workspace/kubectl-workspace/test/env"
)

func secretsOf(t testing.TB, e *env.Env, namespace, name string) []any {
	t.Helper()
	u, err := e.Dynamic(t, env.Admin).Resource(v1beta1.WorkspaceGVR).Namespace(namespace).Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	list, _, err := unstructured.NestedSlice(u.Object, "spec", "podTemplate", "volumes", "secrets")
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// Twenty people add a mount to one Workspace at the same moment, from twenty processes,
// while a controller keeps writing to it: all twenty are there, and everybody succeeds.
func TestConcurrentAddsLoseNothing(t *testing.T) {
	e := env.Get(t)
	applyKind(t, e)
	ns := e.Namespace(t)
	createWorkspace(t, e, ns, "alice-notebook")

	workspaces := e.Dynamic(t, env.Admin).Resource(v1beta1.WorkspaceGVR).Namespace(ns)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			patch := fmt.Sprintf(`{"metadata":{"labels":{"touched":"%d"}}}`, i)
			if _, err := workspaces.Patch(t.Context(), "alice-notebook", types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
				t.Errorf("touch: %v", err)
				return
			}
		}
	}()

	const writers = 20
	var wg sync.WaitGroup
	for i := range writers {
		wg.Go(func() {
			r := kubectl(t, e, env.Admin, "workspace", "secrets", "add", "alice-notebook", fmt.Sprintf("secret-%d=/mnt/%d", i, i), "-n", ns)
			if want := fmt.Sprintf("workspace.kubeflow.org/alice-notebook secret \"secret-%d\" mounted at /mnt/%d\n", i, i); r.code != 0 || r.stdout != want {
				t.Errorf("writer %d: exit code %d, %q, %q", i, r.code, r.stdout, r.stderr)
			}
		})
	}
	wg.Wait()
	close(stop)
	<-stopped

	paths := map[string]string{}
	for _, entry := range secretsOf(t, e, ns, "alice-notebook") {
		m := entry.(map[string]any)
		paths[m["mountPath"].(string)] = m["secretName"].(string)
	}
	want := map[string]string{}
	for i := range writers {
		want[fmt.Sprintf("/mnt/%d", i)] = fmt.Sprintf("secret-%d", i)
	}
	if diff := cmp.Diff(want, paths); diff != "" {
		t.Errorf("mounts (-want +got):\n%s", diff)
	}
}

var crds = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// keepUnknownFields makes the CRD of Workspaces keep fields that it does not know, as
// that of a newer release would know them, until the test ends.
func keepUnknownFields(t testing.TB, e *env.Env) {
	t.Helper()
	client := e.Dynamic(t, env.Admin).Resource(crds)
	edit := func(keep bool) error {
		return retry.RetryOnConflict(retry.DefaultRetry, func() error {
			// The test's own context has ended when its cleanup runs.
			u, err := client.Get(context.Background(), "workspaces.kubeflow.org", metav1.GetOptions{})
			if err != nil {
				return err
			}
			versions, _, _ := unstructured.NestedSlice(u.Object, "spec", "versions")
			properties := func(m map[string]any, names ...string) map[string]any {
				for _, n := range names {
					m = m["properties"].(map[string]any)[n].(map[string]any)
				}
				return m
			}
			root := versions[0].(map[string]any)["schema"].(map[string]any)["openAPIV3Schema"].(map[string]any)
			for _, object := range []map[string]any{
				properties(root, "spec"),
				properties(root, "spec", "podTemplate", "volumes"),
				properties(root, "spec", "podTemplate", "volumes", "secrets")["items"].(map[string]any),
			} {
				delete(object, "x-kubernetes-preserve-unknown-fields")
				if keep {
					object["x-kubernetes-preserve-unknown-fields"] = true
				}
			}
			if err := unstructured.SetNestedSlice(u.Object, versions, "spec", "versions"); err != nil {
				return err
			}
			_, err = client.Update(context.Background(), u, metav1.UpdateOptions{})
			return err
		})
	}
	if err := edit(true); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := edit(false); err != nil {
			t.Errorf("restore the CRD: %v", err)
		}
	})
}

// What this program does not know, and a mode that is 0, survive its edits.
func TestUnknownFieldsSurvive(t *testing.T) {
	e := env.Get(t)
	applyKind(t, e)
	ns := e.Namespace(t)
	keepUnknownFields(t, e)

	workspaces := e.Dynamic(t, env.Admin).Resource(v1beta1.WorkspaceGVR).Namespace(ns)
	createWorkspace(t, e, ns, "alice-notebook", map[string]any{"secretName": "old", "mountPath": "/old", "defaultMode": int64(0)})
	patch := []byte(`[
		{"op":"add","path":"/spec/fromTheFuture","value":{"a":[1,{"b":null}]}},
		{"op":"add","path":"/spec/podTemplate/volumes/fromTheFuture","value":"x"},
		{"op":"add","path":"/spec/podTemplate/volumes/secrets/0/items","value":[{"key":"k","path":"p"}]}]`)
	// The server needs a moment until it goes by the edited CRD.
	var before *unstructured.Unstructured
	env.Eventually(t, 30*time.Second, func() error {
		u, err := workspaces.Patch(t.Context(), "alice-notebook", types.JSONPatchType, patch, metav1.PatchOptions{})
		if err != nil {
			return err
		}
		list, _, _ := unstructured.NestedSlice(u.Object, "spec", "podTemplate", "volumes", "secrets")
		if _, ok := list[0].(map[string]any)["items"]; !ok {
			return fmt.Errorf("the server still drops unknown fields: %v", u.Object["spec"])
		}
		before = u
		return nil
	})

	run := func(args ...string) {
		t.Helper()
		if r := kubectl(t, e, env.Admin, append([]string{"workspace", "secrets", "-n", ns}, args...)...); r.code != 0 {
			t.Fatal(r.stderr)
		}
	}
	run("add", "alice-notebook", "new=/new:0400", "other")
	if got := len(secretsOf(t, e, ns, "alice-notebook")); got != 3 {
		t.Errorf("%d mounts after the add, want 3", got)
	}
	run("remove", "alice-notebook", "new", "other")

	after, err := workspaces.Get(t.Context(), "alice-notebook", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(asJSON(t, before.Object["spec"]), asJSON(t, after.Object["spec"])); diff != "" {
		t.Errorf("the spec changed (-before +after):\n%s", diff)
	}
}

func asJSON(t testing.TB, v any) string {
	t.Helper()
	b, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
