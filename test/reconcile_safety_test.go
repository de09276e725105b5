package test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/api/v1beta1"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/controller"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/plan"
	"github.com/kubectl-workspace/kubectl-workspace/test/env"
)

// withWorkspaces returns a bench with a WorkspaceKind and a few Workspaces nobody has reconciled.
func withWorkspaces(t testing.TB, n int) *parityBench {
	t.Helper()
	b := newParityBench(t, controller.Config{})
	applyKind(t, b.Env)
	for i := range n {
		createWorkspace(t, b.Env, b.ns, fmt.Sprintf("ws-%02d", i), map[string]any{"secretName": "no-such-secret", "mountPath": "/s"})
	}
	return b
}

func (b *parityBench) statefulSets(t testing.TB) map[string]int {
	t.Helper()
	sets, err := b.Client(t, env.Admin).AppsV1().StatefulSets(b.ns).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]int{}
	for _, s := range sets.Items {
		out[s.Labels[v1beta1.LabelWorkspaceName]]++
	}
	return out
}

func TestReconcileDryRunsChangeNothing(t *testing.T) {
	b := withWorkspaces(t, 2)
	before := b.everything(t)
	for _, mode := range []string{"client", "server"} {
		mark := b.Mark(t)
		p, r := b.reconcile(t, "--dry-run="+mode, "--exit-code")
		if r.code != 1 || p.Summary.Created != 2 {
			t.Errorf("%s: exit %d, %+v, %s", mode, r.code, p.Summary, r.stderr)
		}
		for _, w := range p.Workspaces {
			if len(w.Events) != 1 || w.Events[0].Reason != controller.ReasonSecretNotFound {
				t.Errorf("%s: Events of %s: %v", mode, w.Name, w.Events)
			}
		}
		for _, a := range b.Requests(t, mark, env.RequestFilter{UserAgent: "kubectl-workspace/v0.0.0-test"}) {
			if a.Verb != "get" && a.Verb != "list" && a.Object.Resource != "selfsubjectaccessreviews" &&
				!strings.Contains(a.RequestURI, "dryRun=All") && a.Object.Namespace == b.ns {
				t.Errorf("%s: %s", mode, a)
			}
		}
	}
	if after := b.everything(t); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
}

// everything lists the resourceVersions of all that a run could have written.
func (b *parityBench) everything(t testing.TB) string {
	t.Helper()
	var out strings.Builder
	list := func(o unstructured.Unstructured, namespace string, ours func(name string) bool) {
		list, err := b.Dynamic(t, env.Admin).Resource(gvrOf(&o)).Namespace(namespace).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range list.Items {
			if ours == nil || ours(item.GetName()) {
				fmt.Fprintf(&out, "%s %s %s\n", o.GetKind(), item.GetName(), item.GetResourceVersion())
			}
		}
	}
	for _, o := range []unstructured.Unstructured{kindOnly("", "v1", "ServiceAccount"), kindOnly("apps", "v1", "StatefulSet"), kindOnly("", "v1", "Service"),
		kindOnly("rbac.authorization.k8s.io", "v1", "RoleBinding"), kindOnly("networking.istio.io", "v1", "VirtualService"),
		kindOnly("", "v1", "Event"), kindOnly("coordination.k8s.io", "v1", "Lease"), kindOnly("kubeflow.org", "v1beta1", "Workspace")} {
		list(o, b.ns, nil)
	}
	list(kindOnly("kubeflow.org", "v1beta1", "WorkspaceKind"), "", func(name string) bool { return strings.HasSuffix(name, b.ns) })
	return out.String()
}

func kindOnly(group, version, kind string) unstructured.Unstructured {
	var u unstructured.Unstructured
	u.SetAPIVersion(strings.TrimPrefix(group+"/"+version, "/"))
	u.SetKind(kind)
	return u
}

func TestReconcileRefusesWhileSomebodyHoldsTheLease(t *testing.T) {
	b := withWorkspaces(t, 1)
	leases := b.Client(t, env.Admin).CoordinationV1().Leases(b.ns)
	lease := &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Name: plan.DefaultLeaseName},
		Spec: coordinationv1.LeaseSpec{
			HolderIdentity: ptr.To("controller-7d9f_1234"), LeaseDurationSeconds: ptr.To(int32(600)),
			RenewTime: &metav1.MicroTime{Time: time.Now().Add(-3 * time.Second)},
		},
	}
	lease, err := leases.Create(t.Context(), lease, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	_, r := b.reconcile(t)
	if r.code != 1 || !strings.Contains(r.stderr, `"controller-7d9f_1234"`) || !strings.Contains(r.stderr, "renewed it") || !strings.Contains(r.stderr, "--dry-run") {
		t.Errorf("exit %d: %s", r.code, r.stderr)
	}
	if p, r := b.reconcile(t, "--dry-run=server"); r.code != 0 || p.Summary.Created != 1 {
		t.Errorf("a dry run needs no Lease: exit %d: %s", r.code, r.stderr)
	}
	if n := len(b.statefulSets(t)); n != 0 {
		t.Errorf("%d StatefulSets", n)
	}
	// Its holder has died.
	lease.Spec.RenewTime.Time = time.Now().Add(-time.Hour)
	if _, err := leases.Update(t.Context(), lease, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, r := b.reconcile(t); r.code != 0 {
		t.Errorf("exit %d: %s", r.code, r.stderr)
	}
	if holder := b.leaseHolder(t); holder != "" {
		t.Errorf("still held by %q", holder)
	}
}

func TestReconcileTwoAtOnce(t *testing.T) {
	b := withWorkspaces(t, 10)
	env.Eventually(t, 60*time.Second, func() error {
		var runs sync.WaitGroup
		for range 3 {
			runs.Add(1)
			go func() {
				defer runs.Done()
				_, _ = b.reconcile(t)
			}()
		}
		runs.Wait()
		return b.oneStatefulSetEach(t, 10)
	})
}

// oneStatefulSetEach fails the test if a Workspace has several StatefulSets. The error says how
// many of the Workspaces have theirs, if not all do.
func (b *parityBench) oneStatefulSetEach(t testing.TB, workspaces int) error {
	t.Helper()
	sets := b.statefulSets(t)
	for name, n := range sets {
		if n != 1 {
			t.Errorf("%s has %d StatefulSets", name, n)
		}
	}
	if len(sets) != workspaces {
		return fmt.Errorf("%d of %d done", len(sets), workspaces)
	}
	return nil
}

// Workspaces appear while the Lease goes from one run to the next: whoever holds it makes one
// StatefulSet of each, and nobody else makes any.
func TestReconcileWhileWorkspacesAppear(t *testing.T) {
	b := withWorkspaces(t, 1)
	var done atomic.Bool
	var runs sync.WaitGroup
	for range 3 {
		runs.Go(func() {
			for !done.Load() {
				if _, r := b.reconcile(t); r.code != 0 && !strings.Contains(r.stderr, "Lease") && !strings.Contains(r.stdout, "gave up") {
					t.Errorf("exit %d: %s%s", r.code, r.stdout, r.stderr)
					return
				}
			}
		})
	}
	for i := range 20 {
		createWorkspace(t, b.Env, b.ns, fmt.Sprintf("late-%02d", i))
	}
	env.Eventually(t, 90*time.Second, func() error {
		return b.oneStatefulSetEach(t, 21)
	})
	done.Store(true)
	runs.Wait()
	for name, n := range b.statefulSets(t) {
		if n != 1 {
			t.Errorf("%s has %d StatefulSets", name, n)
		}
	}
}

func TestReconcileInterrupted(t *testing.T) {
	b := withWorkspaces(t, 40)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	args := append([]string{"workspace", "reconcile", "--once", "-n", b.ns}, b.flags...)
	f := follow(ctx, t, b.Env, args...)
	env.Eventually(t, 30*time.Second, func() error {
		if len(b.statefulSets(t)) == 0 {
			return fmt.Errorf("not begun")
		}
		return nil
	})
	_ = f.process.Signal(syscall.SIGINT)
	if code := f.wait(t); code != 130 && code != 0 {
		t.Errorf("exit %d: %s", code, f.errors)
	}
	if holder := b.leaseHolder(t); holder != "" {
		t.Errorf("the Lease is still held by %q", holder)
	}
	if _, r := b.reconcile(t); r.code != 0 {
		t.Fatalf("the rerun: %s", r.stderr)
	}
	for name, n := range b.statefulSets(t) {
		if n != 1 {
			t.Errorf("%s has %d StatefulSets", name, n)
		}
	}
}

// "What would happen if I applied this?"
func TestReconcileOverlay(t *testing.T) {
	b := withWorkspaces(t, 1)
	secret := map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "no-such-secret", "namespace": b.ns}}
	b.create(t, b.ns, &unstructured.Unstructured{Object: secret})
	env.Eventually(t, 60*time.Second, func() error {
		p, r := b.reconcile(t)
		if r.code != 0 || p.Workspaces[0].Status.After.State != "Running" {
			return fmt.Errorf("%s %s", r.stdout, r.stderr)
		}
		return nil
	})
	manifest, err := os.ReadFile("testdata/workspacekind.yaml")
	if err != nil {
		t.Fatal(err)
	}
	edited := strings.Replace(string(manifest), "podTemplate:", "podTemplate:\n    extraEnv: [{name: TOKEN, value: very-secret-value}]", 1)
	file := filepath.Join(t.TempDir(), "kind.yaml")
	if err := os.WriteFile(file, []byte(edited), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, mode := range []string{"client", "server"} {
		p, r := b.reconcile(t, "--dry-run="+mode, "-f", file)
		if p.Summary.PodRestarts != 1 || r.code != 0 {
			t.Errorf("%s: %+v %s", mode, p.Summary, r.stderr)
		}
		if strings.Contains(r.stdout, "very-secret-value") || !strings.Contains(r.stdout, "TOKEN") {
			t.Errorf("%s: %s", mode, r.stdout)
		}
	}
	// Nothing of the overlay has stayed. The kind's usage counts are not looked at: other
	// tests' Workspaces of the same kind come and go.
	if p, _ := b.reconcile(t, "--dry-run=client"); p.Summary.Unchanged != 1 || p.Summary.Workspaces != 1 {
		t.Errorf("%+v", p)
	}
}
