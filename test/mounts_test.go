package test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

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
