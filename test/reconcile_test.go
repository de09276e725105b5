package test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/api/v1beta1"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/controller"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/controller/paritytest"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/plan"
	"github.com/kubectl-workspace/kubectl-workspace/test/env"
)

// parityBench plays recorded inputs on the real control plane, in a namespace of its own.
type parityBench struct {
	*env.Env
	// ns stands for the recorded namespace team-b, other for team-c. They have as many letters,
	// which some templates count; other is empty where there is no such namespace.
	ns, other string
	config    controller.Config
	// flags are those that say the same as config to the binary.
	flags []string
}

func newParityBench(t testing.TB, config controller.Config) *parityBench {
	t.Helper()
	if _, err := binary(); err != nil { // not within the time of the test
		t.Fatal(err)
	}
	b := &parityBench{Env: env.Get(t), config: config}
	b.create(t, "", paritytest.Objects(paritytest.Documents(t, filepath.Join(paritytest.Root(t), "virtualservice-crd.yaml")))[0])
	b.ns = b.NamespaceNamed(t, metav1.ObjectMeta{GenerateName: "b"})
	b.flags = []string{"--lease-namespace", b.ns}
	if i := config.Istio; i != nil {
		b.flags = append(b.flags, "--use-istio", "--istio-gateway="+i.Gateway, "--istio-hosts="+i.Hosts[0], "--cluster-domain="+i.ClusterDomain)
	}
	return b
}

// kindNames are the names of the recorded WorkspaceKinds, which have no namespace to keep tests
// apart.
var kindNames = regexp.MustCompile(`\b([a-z0-9]+-lab)\b`)

// rename changes the strings of a value.
func rename[T any](t testing.TB, v T, change func(string) string) T {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var out T
	if err := json.Unmarshal([]byte(change(string(data))), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// here moves a recorded object to the namespace of the test.
func (b *parityBench) here(t testing.TB, o *unstructured.Unstructured) *unstructured.Unstructured {
	return rename(t, o, func(s string) string {
		s = kindNames.ReplaceAllString(s, "$1-"+b.ns)
		return strings.NewReplacer("team-b", b.ns, "team-c", b.otherName()).Replace(s)
	})
}

func (b *parityBench) kindName(name string) string {
	return kindNames.ReplaceAllString(name, "$1-"+b.ns)
}

func (b *parityBench) otherName() string { return "c" + b.ns[1:] }

// recorded is the reverse of here.
func (b *parityBench) recorded(s string) string {
	return strings.NewReplacer("-lab-"+b.ns, "-lab", b.otherName(), "team-c", b.ns, "team-b").Replace(s)
}

func (b *parityBench) back(t testing.TB, objects []*unstructured.Unstructured) []*unstructured.Unstructured {
	var out []*unstructured.Unstructured
	for _, o := range objects {
		out = append(out, rename(t, o, b.recorded))
	}
	return out
}

func gvrOf(o *unstructured.Unstructured) schema.GroupVersionResource {
	gvk := o.GroupVersionKind()
	return gvk.GroupVersion().WithResource(strings.ToLower(gvk.Kind) + "s")
}

// create creates an object, or leaves the one that is there, and removes what has no namespace
// at the end of the test.
func (b *parityBench) create(t testing.TB, namespace string, o *unstructured.Unstructured) {
	t.Helper()
	client := b.Dynamic(t, env.Admin).Resource(gvrOf(o))
	if namespace == "" && o.GetNamespace() != "" {
		namespace = o.GetNamespace()
	}
	_, err := client.Namespace(namespace).Create(t.Context(), o, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return
	}
	if err != nil {
		t.Fatalf("create %s %s: %v", o.GetKind(), o.GetName(), err)
	}
	if o.GetNamespace() == "" && o.GetKind() != "CustomResourceDefinition" {
		b.removeAtEnd(t, o)
	}
}

// removeAtEnd removes an object that does not go with the namespace of the test.
func (b *parityBench) removeAtEnd(t testing.TB, o *unstructured.Unstructured) {
	t.Helper()
	client := b.Dynamic(t, env.Admin).Resource(gvrOf(o))
	t.Cleanup(func() {
		_ = client.Delete(context.Background(), o.GetName(), metav1.DeleteOptions{})
		if o.GetKind() == "WorkspaceKind" {
			_, _ = client.Patch(context.Background(), o.GetName(), "application/merge-patch+json",
				[]byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
		}
	})
}

// reconcile runs the command and returns its Plan.
func (b *parityBench) reconcile(t testing.TB, args ...string) (plan.Plan, result) {
	t.Helper()
	dir, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	args = append(append([]string{"reconcile", "--once", "-o", "json", "-n", b.ns, "--kubeconfig", b.Kubeconfig(env.Admin)}, b.flags...), args...)
	r := plain(t, filepath.Join(dir, "kubectl-workspace"), args...)
	var p plan.Plan
	if r.stdout != "" {
		if err := json.Unmarshal([]byte(r.stdout), &p); err != nil {
			t.Fatalf("%v in %s", err, r.stdout)
		}
	}
	return p, r
}

func (b *parityBench) owned(t testing.TB, namespace, workspace string) []*unstructured.Unstructured {
	t.Helper()
	var out []*unstructured.Unstructured
	for _, gvr := range []schema.GroupVersionResource{
		{Version: "v1", Resource: "serviceaccounts"}, {Group: "apps", Version: "v1", Resource: "statefulsets"},
		{Version: "v1", Resource: "services"}, {Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "rolebindings"},
		{Group: "networking.istio.io", Version: "v1", Resource: "virtualservices"},
	} {
		list, err := b.Dynamic(t, env.Admin).Resource(gvr).Namespace(namespace).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range list.Items {
			if controller.IsOwned(&list.Items[i], workspace) {
				out = append(out, &list.Items[i])
			}
		}
	}
	return out
}

func (b *parityBench) status(t testing.TB, w *unstructured.Unstructured) map[string]any {
	t.Helper()
	u, err := b.Dynamic(t, env.Admin).Resource(v1beta1.WorkspaceGVR).Namespace(w.GetNamespace()).Get(t.Context(), w.GetName(), metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s, _, _ := unstructured.NestedMap(u.Object, "status")
	return s
}

// elsewhere are the statuses that depend on the recorder's node: what its kubelet cannot do, and
// what its scheduler says about its nodes.
var elsewhere = map[string]string{
	"031-extra-mount-of-home-volume": "the recorded kubelet cannot mount sub-paths",
	"098-full-kind-placed":           "the recorded scheduler has other nodes",
}

func TestReconcileCases(t *testing.T) {
	env.Get(t)
	for i, c := range paritytest.Cases(t) {
		if c.Rejected {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			b := newParityBench(t, c.Config)
			var workspaces []*unstructured.Unstructured
			b.fixtures(t)
			for _, o := range c.Objects(t, "input.yaml") {
				o = b.here(t, o)
				if o.GetNamespace() == b.otherName() && b.other == "" {
					b.other = b.NamespaceNamed(t, metav1.ObjectMeta{Name: b.otherName()})
				}
				b.create(t, "", o)
			}
			for _, o := range paritytest.Objects(c.Read(t, "stored.yaml")) { // the statuses are in this order
				workspaces = append(workspaces, b.here(t, o))
			}
			if err := b.sameInBothDryRuns(t, len(c.Refused) > 0); err != nil {
				t.Error(err)
			}
			wants := make([]map[string]any, len(workspaces))
			for i := range workspaces {
				wants[i] = c.Status(t, i)
			}
			check := func() error {
				runs := [][]string{nil}
				if b.other != "" {
					runs = append(runs, []string{"-n", b.other})
				}
				for _, args := range runs {
					p, r := b.reconcile(t, args...)
					if (r.code != 0) != (len(c.Refused) > 0) {
						return fmt.Errorf("exit %d: %s%v", r.code, r.stderr, p)
					}
					if len(c.Refused) == 0 && p.Changed() {
						return fmt.Errorf("not settled: %+v", p)
					}
				}
				for i, w := range workspaces {
					got := b.status(t, w)
					owned := b.owned(t, w.GetNamespace(), w.GetName())
					n := paritytest.NewNormaliser(owned)
					got = rename(t, n.Status(got), b.recorded)
					if elsewhere[c.Name] != "" {
						continue
					}
					if diff := cmp.Diff(rename(t, wants[i], b.recorded), got, cmpopts.EquateEmpty()); diff != "" {
						return fmt.Errorf("status of %s (-recorded +got):\n%s", w.GetName(), diff)
					}
				}
				return nil
			}
			env.Eventually(t, time.Minute, check)
			var got []*unstructured.Unstructured
			for _, w := range workspaces {
				got = append(got, b.owned(t, w.GetNamespace(), w.GetName())...)
			}
			b.compareKinds(t, c)
			if diff := paritytest.DiffStored(paritytest.CompletedBy(b.Minor(t), c.Objects(t, "expected.yaml")), b.back(t, got)); diff != "" {
				t.Errorf("objects (-recorded +got):\n%s", diff)
			}
			if i%10 == 0 && len(c.Refused) == 0 {
				b.writesNothing(t)
			}
		})
	}
}

// fixtures creates the objects that exist for every recording.
func (b *parityBench) fixtures(t testing.TB) {
	t.Helper()
	for _, o := range paritytest.Objects(paritytest.Documents(t, filepath.Join(paritytest.Root(t), "fixtures.yaml"))) {
		if o = b.here(t, o); o.GetKind() != "Namespace" && (o.GetNamespace() != b.otherName() || b.other != "") {
			b.create(t, "", o)
		}
	}
}

// compareKinds compares the status and the finalizers of the WorkspaceKinds. One that nobody uses
// is not looked at when the Workspaces of a namespace are reconciled.
func (b *parityBench) compareKinds(t testing.TB, c paritytest.Case) {
	t.Helper()
	if !c.Has("workspacekind-status.yaml") {
		return
	}
	for _, want := range c.Read(t, "workspacekind-status.yaml") {
		status := want["status"].(map[string]any)
		if status["workspaces"] == int64(0) {
			continue
		}
		kind, err := b.Dynamic(t, env.Admin).Resource(v1beta1.WorkspaceKindGVR).Get(t.Context(), b.kindName(want["name"].(string)), metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		kind = rename(t, kind, b.recorded)
		if diff := cmp.Diff(want["status"], kind.Object["status"], cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("status of WorkspaceKind %s (-recorded +got):\n%s", kind.GetName(), diff)
		}
		if got := fmt.Sprint(kind.GetFinalizers()); got != fmt.Sprint(want["finalizers"]) {
			t.Errorf("finalizers of WorkspaceKind %s: %s, recorded %s", kind.GetName(), got, want["finalizers"])
		}
	}
}

// writesNothing runs once more and looks into the audit log.
func (b *parityBench) writesNothing(t testing.TB, args ...string) {
	t.Helper()
	mark := b.Mark(t)
	if _, r := b.reconcile(t, args...); r.code != 0 {
		t.Fatal(r.stderr)
	}
	requests := b.Requests(t, mark, env.RequestFilter{UserAgent: "kubectl-workspace/v0.0.0-test"})
	if len(requests) == 0 {
		t.Error("the audit log does not show the run")
	}
	for _, a := range requests {
		if a.Object.Namespace != b.ns && !strings.HasSuffix(a.Object.Name, b.ns) { // the WorkspaceKinds of this test
			continue // another test's
		}
		if !slices.Contains([]string{"get", "list"}, a.Verb) {
			t.Errorf("a run with nothing to do wrote: %s", a)
		}
	}
}
