package plan

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/api/v1beta1"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/cluster"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/controller/paritytest"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func fromSnapshot(t testing.TB, paths ...string) *Cluster {
	t.Helper()
	store, err := cluster.OpenSnapshot(paths, nil, noon)
	if err != nil {
		t.Fatal(err)
	}
	c, err := NewCluster(Snapshot, nil, func() time.Time { return noon })
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.LoadSnapshot(t.Context(), store); err != nil {
		t.Fatal(err)
	}
	return c
}

// What a person submitted, without any API server, gives the recorded objects; a second run
// over the result plans nothing.
func TestSnapshotOfCases(t *testing.T) {
	for _, c := range paritytest.Cases(t) {
		if c.Rejected || len(c.Refused) > 0 {
			continue // only an API server can refuse
		}
		t.Run(c.Name, func(t *testing.T) {
			loaded := fromSnapshot(t, filepath.Join(c.Dir, "input.yaml"), filepath.Join(paritytest.Root(t), "fixtures.yaml"))
			r := &Runner{Cluster: loaded, Config: c.Config, Now: loaded.now}
			workspaces := loaded.Workspaces("", nil)
			r.Run(t.Context(), workspaces, loaded.KindNames())
			var got []*unstructured.Unstructured
			for _, w := range workspaces {
				objects, err := loaded.Objects(w.Namespace, w.Name)
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, objects[1:]...) // without the Workspace itself
			}
			if diff := paritytest.Diff(c.Objects(t, "expected.yaml"), got); diff != "" {
				t.Errorf("objects (-recorded +got):\n%s", diff)
			}
			if again := r.Run(t.Context(), workspaces, loaded.KindNames()); again.Changed() {
				t.Errorf("the second run plans something: %+v", again)
			}
		})
	}
}

// Defaulting gives what the API server stored.
func TestDefaults(t *testing.T) {
	for _, c := range paritytest.Cases(t) {
		if c.Rejected {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			stored := map[string]*unstructured.Unstructured{}
			for _, file := range []string{"stored.yaml", "stored-workspacekind.yaml"} {
				if c.Has(file) {
					for _, o := range c.Objects(t, file) {
						stored[o.GetKind()+"/"+o.GetNamespace()+"/"+o.GetName()] = o
					}
				}
			}
			for _, got := range c.Objects(t, "input.yaml") {
				want := stored[got.GetKind()+"/"+got.GetNamespace()+"/"+got.GetName()]
				if want == nil {
					continue
				}
				if err := applyDefaults(got); err != nil {
					t.Fatal(err)
				}
				if got.GetKind() == "Workspace" {
					if diff := cmp.Diff(want.Object["spec"], got.Object["spec"]); diff != "" {
						t.Errorf("Workspace (-recorded +got):\n%s", diff)
					}
					continue
				}
				// The recorded controller rewrote quantities, so these are compared by meaning.
				a, b := &v1beta1.WorkspaceKind{}, &v1beta1.WorkspaceKind{}
				if err := runtime.DefaultUnstructuredConverter.FromUnstructured(want.Object, a); err != nil {
					t.Fatal(err)
				}
				if err := runtime.DefaultUnstructuredConverter.FromUnstructured(got.Object, b); err != nil {
					t.Fatal(err)
				}
				if !equality.Semantic.DeepEqual(a.Spec, b.Spec) {
					t.Errorf("WorkspaceKind (-recorded +got):\n%s", cmp.Diff(want.Object["spec"], got.Object["spec"]))
				}
				if f := unknownFields(got); len(f) > 0 {
					t.Errorf("unknown fields: %v", f)
				}
			}
		})
	}
}
