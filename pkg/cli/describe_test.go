package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/cli-runtime/pkg/genericiooptions"
)

const demoCluster = "../../testdata/demo"

// call runs one command line on the demo cluster and returns what it printed.
func call(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errOut bytes.Buffer
	streams := genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &errOut}
	code = Run(context.Background(), append(args, "--snapshot", demoCluster), streams, Build{Version: "v0.0.0-test"})
	return code, out.String(), errOut.String()
}

func TestDescribe(t *testing.T) {
	for name, c := range map[string]struct {
		args string
		code int
		want []string // in this order
		not  []string
	}{
		"one":                    {args: "alice-notebook", want: []string{"team-a/alice-notebook  Error", `Secret "minio-creds" does not exist`, "What to do", "Evidence"}},
		"several":                {args: "bob-notebook alice-notebook", want: []string{"team-a/bob-notebook  Running", "team-a/alice-notebook  Error"}},
		"as kubectl prints them": {args: "workspace.kubeflow.org/bob-notebook ws/bob-notebook", want: []string{"team-a/bob-notebook"}},
		"no name: what is wrong": {args: "", want: []string{"team-a/alice-notebook  Error"}, not: []string{"bob", "carol"}},
		"all well":               {args: "-n nowhere", want: []string{"There are no Workspaces in namespace nowhere."}},
		"exit code, wrong":       {args: "--exit-code", code: 1, want: []string{"alice"}},
		"exit code, paused":      {args: "carol-notebook --exit-code", want: []string{"Paused"}},
		"exit code, no answer":   {args: "dave --exit-code", code: 2},
	} {
		t.Run(name, func(t *testing.T) {
			code, stdout, stderr := call(t, append([]string{"describe"}, strings.Fields(c.args)...)...)
			if code != c.code {
				t.Errorf("exit code %d, want %d; stderr %q", code, c.code, stderr)
			}
			rest := stdout
			for _, w := range c.want {
				_, after, ok := strings.Cut(rest, w)
				if !ok {
					t.Fatalf("no %q (in this order) in:\n%s", w, stdout)
				}
				rest = after
			}
			for _, n := range c.not {
				if strings.Contains(stdout, n) {
					t.Errorf("%q is in:\n%s", n, stdout)
				}
			}
		})
	}
}

// One name gives a Diagnosis, anything else a DiagnosisList: scripts must know which.
func TestDescribeJSON(t *testing.T) {
	for args, want := range map[string]string{
		"alice-notebook":              "Diagnosis",
		"alice-notebook bob-notebook": "DiagnosisList",
		"":                            "DiagnosisList",
		"-n nowhere":                  "DiagnosisList",
	} {
		_, stdout, stderr := call(t, append([]string{"describe", "-o", "json"}, strings.Fields(args)...)...)
		var d struct {
			Kind, APIVersion string
			Items            []any
		}
		if err := json.Unmarshal([]byte(stdout), &d); err != nil {
			t.Errorf("describe %s: %v: %s", args, err, stderr)
		}
		if d.Kind != want || d.APIVersion != "kubectl-workspace/v1" || want == "DiagnosisList" && d.Items == nil {
			t.Errorf("describe %s: %s %s, items %v; want %s", args, d.APIVersion, d.Kind, d.Items, want)
		}
	}
}

func TestList(t *testing.T) {
	code, stdout, stderr := call(t, "list")
	want := `NAME             KIND         STATE     REASON                                                               IMAGE                  POD-CONFIG   AGE
alice-notebook   jupyterlab   Error     secret-not-found: Secret "minio-creds" does not exist in namespac…   jupyterlab_scipy_200   tiny_cpu     3m20s
bob-notebook     jupyterlab   Running   -                                                                    jupyterlab_scipy_200   tiny_cpu     3d3h
carol-notebook   jupyterlab   Paused    paused: Workspace carol-notebook is paused.                          jupyterlab_scipy_200   tiny_cpu     6d22h
`
	if code != 0 || stderr != "" {
		t.Errorf("exit code %d, stderr %q", code, stderr)
	}
	if diff := cmp.Diff(want, stdout); diff != "" {
		t.Error(diff)
	}
	if _, stdout, _ := call(t, "list", "-A", "-o", "name"); stdout != "workspace.kubeflow.org/alice-notebook\nworkspace.kubeflow.org/bob-notebook\nworkspace.kubeflow.org/carol-notebook\n" {
		t.Errorf("-o name: %q", stdout)
	}
	if _, stdout, stderr := call(t, "list", "-l", "team=nobody"); stdout != "" || !strings.Contains(stderr, "No Workspaces found") {
		t.Errorf("no match: %q, %q", stdout, stderr)
	}
}

// Every command answers from a snapshot as it does from where the snapshot was taken.
func TestSnapshotReadsBackTheSame(t *testing.T) {
	code, written, stderr := call(t, "snapshot")
	if code != 0 {
		t.Fatal(stderr)
	}
	file := filepath.Join(t.TempDir(), "report.yaml")
	if err := os.WriteFile(file, []byte(written), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"list"}, {"describe", "alice-notebook"}, {"describe", "alice-notebook", "bob-notebook", "carol-notebook", "-o", "json"}} {
		_, want, _ := call(t, args...)
		var out bytes.Buffer
		Run(context.Background(), append(args, "--snapshot", file), genericiooptions.IOStreams{Out: &out, ErrOut: &out}, Build{})
		if diff := cmp.Diff(want, out.String()); diff != "" {
			t.Errorf("%v (-original +snapshot):\n%s", args, diff)
		}
	}
}
