package cli

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/controller/paritytest"
	"github.com/kubectl-workspace/kubectl-workspace/test/contract"
)

// What the commands print for scripts is what docs/schemas says, whatever the cluster.
func TestContracts(t *testing.T) {
	demo := []string{demoCluster}
	stuck := append(dirs(t, "recorded/*"), dirs(t, "cases/*")...)
	controlled := dirs(t, "parity/cases/*")
	schemas := contract.Load(t)
	for _, c := range []struct {
		command, kind string
		clusters      []string
	}{
		{"describe alice-notebook -o json", "Diagnosis", demo},
		{"describe alice-notebook -o yaml", "Diagnosis", demo},
		{"describe -A -o json", "DiagnosisList", stuck},
		{"list -A -o json", "DiagnosisList", demo},
		{"secrets list -A -o json", "SecretMountList", stuck},
		{"secrets list -A -o yaml", "SecretMountList", demo},
		{"reconcile -A --once --dry-run=client -o json", "Plan", controlled},
		{"reconcile -A --once --dry-run=client -o yaml", "Plan", demo},
		{"snapshot", "Snapshot", demo},
		{"version -o json", "Version", demo},
		{"version -o yaml", "Version", demo},
	} {
		t.Run(c.command, func(t *testing.T) {
			for _, dir := range c.clusters {
				var stdout, stderr bytes.Buffer
				streams := genericiooptions.IOStreams{In: strings.NewReader(""), Out: &stdout, ErrOut: &stderr}
				Run(context.Background(), append(strings.Fields(c.command), files(t, dir)...), streams, Build{Version: "v0.0.0-test"})
				if err := schemas.Check(c.kind, stdout.String()); err != nil {
					t.Errorf("%s: %v\n%s", dir, err, stderr.String())
				}
			}
		})
	}
}

func dirs(t *testing.T, pattern string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join("../../testdata", pattern))
	if err != nil || len(found) == 0 {
		t.Fatalf("nothing is testdata/%s: %v", pattern, err)
	}
	return found
}

// files are the flags for a folder of testdata: its objects, without what is expected.
func files(t *testing.T, dir string) []string {
	t.Helper()
	switch {
	case strings.Contains(dir, "/parity/"):
		return []string{"--snapshot", filepath.Join(dir, "input.yaml"), "--snapshot", filepath.Join(paritytest.Root(t), "fixtures.yaml")}
	case dir == demoCluster:
		return []string{"--snapshot", dir}
	}
	return []string{"--snapshot", filepath.Join(dir, "objects.yaml")}
}
