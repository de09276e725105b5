package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"
)

func TestProgram(t *testing.T) {
	for argv0, want := range map[string]string{
		"kubectl-workspace": "kubectl-workspace",
		"/home/alice/.krew/bin/kubectl-kubeflow_workspace": "kubectl-kubeflow_workspace",
		"/usr/bin/kubectl-workspace.EXE":                   "kubectl-workspace",
		"kubectl-ws.v2":                                    "kubectl-ws.v2",
		"/tmp/go-build/cli.test":                           usualProgram,
		"kubectl-":                                         usualProgram,
		"kubectl-a;b":                                      usualProgram,
		"":                                                 usualProgram,
	} {
		if got := Program(argv0); got != want {
			t.Errorf("%q: %q, want %q", argv0, got, want)
		}
	}
}

// What is printed can be pasted, under whatever name the program was installed.
func TestPrintsTheNameItWasStartedUnder(t *testing.T) {
	snapshot := "--snapshot=testdata/secrets/snapshot.yaml"
	for _, args := range [][]string{
		{"--help"}, {"describe", "--help"}, {"secrets", "add", "--help"}, {"completion", "--help"}, {"completion", "install", "--help"}, {"options"},
		{"nonsense"}, {"describe", "nobody", snapshot}, {"secrets", "add", snapshot},
		{"describe", "alice-notebook", snapshot}, {"describe", "alice-notebook", snapshot, "-o", "json"},
	} {
		usual, other := printed(t, Build{}, args), printed(t, Build{Program: "kubectl-kubeflow_workspace"}, args)
		if strings.Contains(other, "kubectl workspace") || strings.Contains(other, "kubectl-workspace ") {
			t.Errorf("%q: prints the usual name:\n%s", args, other)
		}
		if want := strings.Count(usual, "kubectl workspace"); strings.Count(other, "kubectl kubeflow-workspace") != want {
			t.Errorf("%q: want the name %d times:\n%s", args, want, other)
		}
	}
	if out := printed(t, Build{}, []string{"describe", "alice-notebook", snapshot}); !strings.Contains(out, "kubectl workspace secrets") {
		t.Errorf("no command of ours is suggested, so this test proves little:\n%s", out)
	}
}

func printed(t *testing.T, build Build, args []string) string {
	t.Helper()
	var out bytes.Buffer
	Run(t.Context(), args, genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &out}, build)
	return out.String()
}

func TestCompletionOfAnotherName(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a shell script")
	}
	dir := t.TempDir()
	printed(t, Build{Program: "kubectl-kubeflow_workspace"}, []string{"completion", "install", "--dir", dir})
	script, err := os.ReadFile(filepath.Join(dir, "kubectl_complete-kubeflow_workspace"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(script), "exec kubectl-kubeflow_workspace __complete") {
		t.Errorf("it completes something else:\n%s", script)
	}
}
