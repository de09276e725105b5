package render

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/plan"
)

func TestPlanText(t *testing.T) {
	p := &plan.Plan{Mode: plan.Client, Workspaces: []plan.Outcome{
		{
			Namespace: "team-a", Name: "alice", WorkspaceKind: "jupyterlab", Result: plan.Updated, PodRestarts: true, LookAgainSeconds: 15,
			ActivityRules: "not evaluated",
			Changes: []plan.Change{
				{Verb: plan.VerbNone, Kind: "ServiceAccount", Name: "ws-alice"},
				{Verb: plan.VerbUpdate, Kind: "StatefulSet", Name: "ws-alice-x7k2p", Pod: "restarts", Fields: []plan.Field{
					{Path: "spec.template.spec.volumes[secret-volume-1]", After: map[string]any{"name": "secret-volume-1"}},
					{Path: "spec.template.spec.containers[main].image", Before: "registry.example.com/lab:1", After: "registry.example.com/lab:2\x1b[31m"},
					{Path: "metadata.labels.added", Before: "by-hand"},
				}},
				{Verb: plan.VerbCreate, Kind: "Service", Name: "ws-alice-9fj2k"},
				{Verb: plan.VerbDelete, Kind: "RoleBinding", Name: "ws-alice-7faec262"},
			},
			Events: []plan.Event{{Type: "Warning", Reason: "SecretNotFound", Message: `Secret "minio-creds" does not exist`}},
			Status: &plan.StatusChange{
				Before: plan.State{State: "Running", Message: "Workspace is running"}, After: plan.State{State: "Pending", Message: "Workspace is pending"},
				Fields: []plan.Field{{Path: "status.state"}},
			},
		},
		{Namespace: "team-a", Name: "bob", WorkspaceKind: "jupyterlab", Result: plan.Unchanged},
		{Namespace: "team-a", Name: "carol", WorkspaceKind: "jupyterlab", Result: plan.Failed, Error: "unable to create StatefulSet: forbidden"},
	}}
	p.Summary = plan.Summary{Workspaces: 3, Updated: 1, Unchanged: 1, Failed: 1, PodRestarts: 1}
	var out bytes.Buffer
	if err := Plan(&out, p, NewPainter(ColorNever, &out)); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.String(), "\x1b") {
		t.Error("an escape sequence of the cluster reached the terminal")
	}
	golden := filepath.Join("testdata", "plan.txt")
	if *update {
		if err := os.WriteFile(golden, out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if out.String() != string(want) {
		t.Errorf("got:\n%s\nwant:\n%s", out.String(), want)
	}
}
