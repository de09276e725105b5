package crds_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/api/crds"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/api/v1beta1"
)

// TestNames checks what is written by hand in v1beta1 against the generated definitions.
func TestNames(t *testing.T) {
	cases := map[string]struct {
		definition []byte
		gvr        schema.GroupVersionResource
		gvk        schema.GroupVersionKind
		scope      string
	}{
		"workspaces":     {crds.Workspaces, v1beta1.WorkspaceGVR, v1beta1.WorkspaceGVK, "Namespaced"},
		"workspacekinds": {crds.WorkspaceKinds, v1beta1.WorkspaceKindGVR, v1beta1.WorkspaceKindGVK, "Cluster"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got struct {
				Spec struct {
					Group    string
					Scope    string
					Names    struct{ Kind, Plural string }
					Versions []struct{ Name string }
				}
			}
			if err := yaml.Unmarshal(tc.definition, &got); err != nil {
				t.Fatal(err)
			}
			spec := got.Spec
			if len(spec.Versions) != 1 {
				t.Fatalf("got %d versions, want 1", len(spec.Versions))
			}
			version := schema.GroupVersion{Group: spec.Group, Version: spec.Versions[0].Name}
			if gvr := version.WithResource(spec.Names.Plural); gvr != tc.gvr {
				t.Errorf("resource is %s, want %s", gvr, tc.gvr)
			}
			if gvk := version.WithKind(spec.Names.Kind); gvk != tc.gvk {
				t.Errorf("kind is %s, want %s", gvk, tc.gvk)
			}
			if spec.Scope != tc.scope {
				t.Errorf("scope is %s, want %s", spec.Scope, tc.scope)
			}
		})
	}
}
