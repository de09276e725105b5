package test

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/api/v1beta1"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/controller"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/controller/paritytest"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/plan"
	"github.com/kubectl-workspace/kubectl-workspace/test/env"
)

// A user with the roles of docs/rbac.yaml and nothing else can reconcile. Without any one of the
// rights in them the run says which is missing, before anything is written.
func TestReconcileRights(t *testing.T) {
	b := newParityBench(t, controller.Config{Istio: &controller.Istio{Gateway: "istio/gateway", Hosts: []string{"*"}, ClusterDomain: "cluster.local"}})
	kind := b.grantingKind(t)
	b.needEverything(t, kind)
	user := newRestricted(t, b)
	rights := user.documented(t)
	reconcile := func(args ...string) result {
		_, r := b.reconcile(t, append(args, "--as", user.name)...)
		return r
	}
	settled := func(check func() error) { // rights take a moment to reach the authorizer
		t.Helper()
		env.Eventually(t, 15*time.Second, check)
	}
	lease := b.Client(t, env.Admin).CoordinationV1().Leases(b.ns)
	if err := lease.Delete(t.Context(), plan.DefaultLeaseName, metav1.DeleteOptions{}); err != nil { // so that it must be created
		t.Fatal(err)
	}
	for _, right := range rights {
		user.may(t, slices.DeleteFunc(slices.Clone(rights), right.isIn))
		args := []string{"--dry-run=server"}
		if right.resource == "leases" {
			args = nil // a dry run takes none; this is refused
		}
		settled(func() error {
			r := reconcile(args...)
			if !right.missedIn(r) {
				return fmt.Errorf("nothing says that %+v is missing: exit %d: %s%s", right, r.code, r.stdout, r.stderr)
			}
			return nil
		})
	}
	if n := len(b.statefulSets(t)); n != 1 {
		t.Errorf("%d StatefulSets: something was written", n)
	}
	user.may(t, rights)
	settled(func() error {
		if r := reconcile(); r.code != 0 || strings.Contains(r.stdout, "left alone") || strings.Contains(r.stdout, "not recorded") {
			return fmt.Errorf("exit %d: %s%s", r.code, r.stdout, r.stderr)
		}
		return nil
	})
	if n := len(b.statefulSets(t)); n != 2 {
		t.Errorf("%d StatefulSets", n)
	}
	if r := reconcile("--dry-run=client", "--exit-code"); r.code != 0 {
		t.Errorf("not at rest: %s%s", r.stdout, r.stderr)
	}

	// The reading rules are enough to plan, and what a role allows may be granted by who has it.
	b.needEverything(t, kind)
	user.may(t, slices.DeleteFunc(slices.Clone(rights), func(r documentedRight) bool { return r.verb != "list" }))
	settled(func() error {
		if r := reconcile("--dry-run=client"); r.code != 0 {
			return fmt.Errorf("exit %d: %s", r.code, r.stderr)
		}
		if r := reconcile(); r.code != 1 || !strings.Contains(r.stderr, "Lease") {
			return fmt.Errorf("live: exit %d: %s", r.code, r.stderr)
		}
		return nil
	})
}

// grantingKind makes a WorkspaceKind that grants a ClusterRole and returns its name.
func (b *parityBench) grantingKind(t testing.TB) string {
	t.Helper()
	kind := paritytest.Objects(paritytest.Documents(t, filepath.Join("testdata", "workspacekind.yaml")))[0]
	kind.SetName("granting-" + b.ns)
	if err := unstructured.SetNestedSlice(kind.Object, []any{map[string]any{"name": "view"}},
		"spec", "podTemplate", "serviceAccount", "clusterRoles"); err != nil {
		t.Fatal(err)
	}
	b.create(t, "", kind)
	return kind.GetName()
}

// needEverything brings about that a reconcile makes every kind of write: one Workspace that is
// new, and one of whose objects each has been edited.
func (b *parityBench) needEverything(t testing.TB, kind string) {
	t.Helper()
	workspace := func(name string) {
		w := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": v1beta1.GroupVersion.String(), "kind": "Workspace", "metadata": map[string]any{"name": name},
			"spec": map[string]any{"kind": kind, "paused": true, "podTemplate": map[string]any{
				"options": map[string]any{"imageConfig": "scipy", "podConfig": "tiny"},
				"volumes": map[string]any{"secrets": []any{map[string]any{"secretName": "no-such-secret", "mountPath": "/s"}}},
			}},
		}}
		b.create(t, b.ns, w)
	}
	workspace("edited")
	if _, r := b.reconcile(t); r.code != 0 {
		t.Fatal(r.stderr)
	}
	for _, o := range b.owned(t, b.ns, "edited") {
		patch := `{"metadata":{"annotations":{"by":"hand"}}}`
		if o.GetKind() == "ServiceAccount" {
			patch = `{"metadata":{"labels":{"` + v1beta1.LabelWorkspaceName + `":"by-hand"}}}`
		}
		b.patch(t, o, patch)
	}
	surplus := b.owned(t, b.ns, "edited")
	i := slices.IndexFunc(surplus, func(o *unstructured.Unstructured) bool { return o.GetKind() == "RoleBinding" })
	extra := surplus[i].DeepCopy()
	extra.SetName("by-hand")
	extra.SetResourceVersion("")
	b.create(t, b.ns, extra)
	kinds := &unstructured.Unstructured{}
	kinds.SetGroupVersionKind(v1beta1.WorkspaceKindGVK)
	kinds.SetName(kind)
	b.patch(t, kinds, `{"metadata":{"finalizers":null}}`)
	workspace("new")
}

func (b *parityBench) patch(t testing.TB, o *unstructured.Unstructured, patch string) {
	t.Helper()
	_, err := b.Dynamic(t, env.Admin).Resource(gvrOf(o)).Namespace(o.GetNamespace()).Patch(
		t.Context(), o.GetName(), types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
}

// documentedRight is one verb on one resource of docs/rbac.yaml.
type documentedRight struct {
	group, resource, verb string
	names                 []string
	// cluster is true for those that are bound for the whole cluster.
	cluster bool
}

// isIn tells whether another right contains this one.
func (d documentedRight) isIn(other documentedRight) bool {
	return other.group == d.group && other.resource == d.resource && other.verb == d.verb && (other.cluster || !d.cluster)
}

// missedIn tells whether the output of a run says that this right is missing.
func (d documentedRight) missedIn(r result) bool {
	switch d.resource + " " + d.verb {
	case "secrets list":
		return r.code == 0 && strings.Contains(r.stdout, "whether the mounted Secrets exist was not looked at")
	case "events create":
		return r.code == 0 && strings.Contains(r.stdout, "Events are not recorded")
	case "workspacekinds/status patch":
		return r.code == 0 && strings.Contains(r.stdout, "usage counts of WorkspaceKinds are left alone")
	case "leases get":
		return r.code == 1 && strings.Contains(r.stderr, "cannot see whether a Workspace controller is running")
	}
	if d.cluster && d.resource == "workspaces" {
		return r.code == 0 && strings.Contains(r.stdout, "usage counts of WorkspaceKinds are left alone")
	}
	row := regexp.MustCompile(`(?m)^` + d.verb + ` +` + d.resource + `(/\S+)?( |$)`)
	return r.code == 1 && row.MatchString(r.stderr) && strings.Contains(r.stderr, "docs/rbac.yaml")
}

// restricted is a user whose rights can be changed.
type restricted struct {
	*parityBench
	name string
}

func newRestricted(t testing.TB, b *parityBench) restricted {
	t.Helper()
	r := restricted{b, "reconciler-" + b.ns}
	rbac := b.Client(t, env.Admin).RbacV1()
	subjects := []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: r.name}}
	meta := metav1.ObjectMeta{Name: r.name}
	ref := func(kind string) rbacv1.RoleRef {
		return rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: kind, Name: r.name}
	}
	if _, err := rbac.Roles(b.ns).Create(t.Context(), &rbacv1.Role{ObjectMeta: meta}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := rbac.RoleBindings(b.ns).Create(t.Context(), &rbacv1.RoleBinding{ObjectMeta: meta, RoleRef: ref("Role"), Subjects: subjects}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = rbac.ClusterRoleBindings().Delete(context.Background(), r.name, metav1.DeleteOptions{})
		_ = rbac.ClusterRoles().Delete(context.Background(), r.name, metav1.DeleteOptions{})
	})
	if _, err := rbac.ClusterRoles().Create(t.Context(), &rbacv1.ClusterRole{ObjectMeta: meta}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := rbac.ClusterRoleBindings().Create(t.Context(), &rbacv1.ClusterRoleBinding{ObjectMeta: meta, RoleRef: ref("ClusterRole"), Subjects: subjects}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	return r
}

// may makes the rights of the user those.
func (r restricted) may(t testing.TB, rights []documentedRight) {
	t.Helper()
	var inNamespace, inCluster []rbacv1.PolicyRule
	for _, d := range rights {
		rule := rbacv1.PolicyRule{APIGroups: []string{d.group}, Resources: []string{d.resource}, Verbs: []string{d.verb}, ResourceNames: d.names}
		if d.cluster {
			inCluster = append(inCluster, rule)
		} else {
			inNamespace = append(inNamespace, rule)
		}
	}
	rbac := r.Client(t, env.Admin).RbacV1()
	meta := metav1.ObjectMeta{Name: r.name}
	if _, err := rbac.Roles(r.ns).Update(t.Context(), &rbacv1.Role{ObjectMeta: meta, Rules: inNamespace}, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := rbac.ClusterRoles().Update(t.Context(), &rbacv1.ClusterRole{ObjectMeta: meta, Rules: inCluster}, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// documented takes the roles of docs/rbac.yaml apart.
func (r restricted) documented(t testing.TB) (out []documentedRight) {
	t.Helper()
	for _, doc := range paritytest.Documents(t, filepath.Join("..", "docs", "rbac.yaml")) {
		var role rbacv1.ClusterRole
		paritytest.Convert(t, doc, &role)
		for _, rule := range role.Rules {
			for _, resource := range rule.Resources {
				for _, verb := range rule.Verbs {
					out = append(out, documentedRight{
						rule.APIGroups[0], resource, verb, rule.ResourceNames, strings.HasSuffix(role.Name, "-kinds"),
					})
				}
			}
		}
	}
	return out
}
