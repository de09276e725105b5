package test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/api/v1beta1"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/cluster"
	"github.com/kubectl-workspace/kubectl-workspace/test/env"
)

// However many Workspaces there are, commands about all of them send the same lists, and
// more of them only by the page.
func TestListsGrowByPagesOnly(t *testing.T) {
	const pageSize = 500 // kubectl's
	e := env.Get(t)
	applyKind(t, e)
	namespaces := []string{e.Namespace(t), e.Namespace(t)}
	createWorkspace(t, e, namespaces[0], "alice-notebook", map[string]any{"secretName": "git", "mountPath": "/git"})
	commands := map[string][]string{
		"list -A":         {"list", "-A", "-o", "name"},
		"secrets list -A": {"secrets", "list", "-A", "-o", "json"},
	}
	// count runs a command and counts its lists by resource: those of a first page, and
	// those that go on.
	count := func(t *testing.T, args []string) (out string, first, more map[string]int) {
		t.Helper()
		first, more = map[string]int{}, map[string]int{}
		mark := e.Mark(t)
		r := kubectl(t, e, env.Admin, append([]string{"workspace"}, args...)...)
		if r.code != 0 {
			t.Fatal(r.stderr)
		}
		for _, a := range e.Requests(t, mark, env.RequestFilter{UserAgent: "kubectl-workspace/v0.0.0-test"}) {
			u, err := url.Parse(a.RequestURI)
			if err != nil {
				t.Fatal(err)
			}
			// Other tests may use the same server; what they ask is about a namespace.
			switch {
			case a.Object.Namespace != "":
			case a.Verb != "list":
				t.Errorf("a request that is no list: %s", a)
			case u.Query().Get("continue") == "":
				first[a.Object.Resource]++
			default:
				more[a.Object.Resource]++
			}
		}
		return r.stdout, first, more
	}
	few := map[string]map[string]int{}
	for name, args := range commands {
		_, few[name], _ = count(t, args)
	}

	const many = 2*pageSize + 50
	workspaces := e.Dynamic(t, env.Admin).Resource(v1beta1.WorkspaceGVR)
	errs := make([]error, many)
	cluster.Parallel(many, func(i int) {
		_, errs[i] = workspaces.Namespace(namespaces[i%2]).Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": v1beta1.GroupVersion.String(), "kind": "Workspace",
			"metadata": map[string]any{"name": fmt.Sprintf("many-%d", i)},
			"spec": map[string]any{"kind": "jupyterlab", "podTemplate": map[string]any{
				"options": map[string]any{"imageConfig": "scipy", "podConfig": "tiny"},
				"volumes": map[string]any{"secrets": []any{map[string]any{"secretName": "git", "mountPath": "/git"}}},
			}},
		}}, metav1.CreateOptions{})
	})
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, args := range commands {
		t.Run(name, func(t *testing.T) {
			out, first, more := count(t, args)
			if got := strings.Count(out, "many-"); got < many {
				t.Errorf("%d of %d Workspaces are in the output", got, many)
			}
			if fmt.Sprint(first) != fmt.Sprint(few[name]) {
				t.Errorf("with many Workspaces it starts the lists %v, and with one %v", first, few[name])
			}
			if more["workspaces"] < many/pageSize {
				t.Errorf("%d further pages of Workspaces: this proves nothing", more["workspaces"])
			}
			for resource, n := range more {
				if most := objects(t, e, resource) / pageSize; n > most {
					t.Errorf("%d further pages of %s, want %d", n, resource, most)
				}
			}
		})
	}
}

// objects counts the objects of a resource in all namespaces.
func objects(t *testing.T, e *env.Env, resource string) int {
	t.Helper()
	r := kubectl(t, e, env.Admin, "get", resource, "-A", "-o", "name")
	if r.code != 0 {
		t.Fatal(r.stderr)
	}
	return strings.Count(r.stdout, "\n")
}
