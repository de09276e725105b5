package test

import (
	"context"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/api/v1beta1"
	"github.com/kubectl-workspace/kubectl-workspace/test/env"
)

// wait ends where there is nothing to wait for, and does not end because a container is
// up for a moment.
func TestWaitEndsEarly(t *testing.T) {
	e := env.Get(t)
	applyKind(t, e)
	const finalizer = "example.com/held"
	held := []byte(`{"metadata":{"finalizers":["` + finalizer + `"]}}`)
	free := []byte(`{"metadata":{"finalizers":null}}`)
	run := func(t *testing.T, ns string, args ...string) result {
		return kubectl(t, e, env.Admin, append([]string{"workspace", "wait", "alice-notebook", "-n", ns, "--timeout=3m"}, args...)...)
	}

	t.Run("the Workspace is being deleted", func(t *testing.T) {
		t.Parallel()
		ns := e.Namespace(t)
		createWorkspace(t, e, ns, "alice-notebook")
		workspaces := e.Dynamic(t, env.Admin).Resource(v1beta1.WorkspaceGVR).Namespace(ns)
		patch := func(ctx context.Context, p []byte) {
			if _, err := workspaces.Patch(ctx, "alice-notebook", types.MergePatchType, p, metav1.PatchOptions{}); err != nil {
				t.Error(err)
			}
		}
		patch(t.Context(), held)
		t.Cleanup(func() { patch(context.Background(), free) })
		if err := workspaces.Delete(t.Context(), "alice-notebook", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		for goal, args := range map[string][]string{"running": nil, "paused": {"--for=paused"}} {
			r := run(t, ns, args...)
			if r.code != 1 || !strings.HasSuffix(r.stderr, "error: stopped waiting for workspace \"alice-notebook\": it is being deleted, so it will not be "+goal+"\n") ||
				!strings.Contains(r.stdout, finalizer) {
				t.Errorf("exit code %d, stdout:\n%s\nstderr:\n%s", r.code, r.stdout, r.stderr)
			}
		}
	})

	t.Run("a finalizer holds the Pod", func(t *testing.T) {
		t.Parallel()
		ns := e.Namespace(t)
		createWorkspace(t, e, ns, "alice-notebook")
		playController(t, e, ns, "alice-notebook")
		if r := run(t, ns); r.code != 0 {
			t.Fatal(r.stderr)
		}
		pods := e.Client(t, env.Admin).CoreV1().Pods(ns)
		list, err := pods.List(t.Context(), metav1.ListOptions{})
		if err != nil || len(list.Items) != 1 {
			t.Fatal(err, len(list.Items))
		}
		patch := func(ctx context.Context, p []byte) {
			if _, err := pods.Patch(ctx, list.Items[0].Name, types.MergePatchType, p, metav1.PatchOptions{}); err != nil {
				t.Error(err)
			}
		}
		patch(t.Context(), held)
		t.Cleanup(func() { patch(context.Background(), free) })
		now := int64(1)
		if err := pods.Delete(t.Context(), list.Items[0].Name, metav1.DeleteOptions{GracePeriodSeconds: &now}); err != nil {
			t.Fatal(err)
		}
		r := run(t, ns)
		if r.code != 1 || !strings.HasSuffix(r.stderr, "it will not get there by itself\n") || !strings.Contains(r.stdout, "terminating-finalizer") {
			t.Errorf("exit code %d, stdout:\n%s\nstderr:\n%s", r.code, r.stdout, r.stderr)
		}
	})

	t.Run("a crash loop", func(t *testing.T) {
		t.Parallel()
		ns := e.Namespace(t)
		e.AddRules(t, env.Rule{Namespace: ns, Container: "main", Exit: &env.Exit{Code: 3, After: "3s"}})
		createWorkspace(t, e, ns, "alice-notebook")
		playController(t, e, ns, "alice-notebook")
		r := run(t, ns)
		if r.code != 1 || !strings.HasSuffix(r.stderr, "it will not get there by itself\n") || !strings.Contains(r.stdout, "crash-loop-application-error") {
			t.Errorf("exit code %d, stdout:\n%s\nstderr:\n%s", r.code, r.stdout, r.stderr)
		}
		if !strings.Contains(r.stderr, "Running: it has just started") {
			t.Errorf("it was never up between two crashes, so this proves nothing: %s", r.stderr)
		}
	})
}
