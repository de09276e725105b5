package test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/kubectl-workspace/kubectl-workspace/test/env"
)

func TestMain(m *testing.M) { os.Exit(env.Main(m)) }

// binary builds kubectl-workspace once per test run and returns the folder that holds
// it, for PATH.
var binary = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "kubectl-workspace-test-")
	if err != nil {
		return "", err
	}
	out, err := exec.Command("go", "build", "-ldflags", "-X main.version=v0.0.0-test",
		"-o", filepath.Join(dir, "kubectl-workspace"), "../cmd/kubectl-workspace").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build the plugin: %w\n%s", err, out)
	}
	return dir, nil
})

// pathWith puts the plugin and the control plane's kubectl before everything else.
func pathWith(t testing.TB, e *env.Env) string {
	t.Helper()
	dir, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	return dir + string(os.PathListSeparator) + e.BinDir + string(os.PathListSeparator) + os.Getenv("PATH")
}

// result is what one command did.
type result struct {
	stdout, stderr string
	code           int
}

// kubectl runs kubectl as a persona, with the plugin on PATH. It may be called from
// several goroutines.
func kubectl(t testing.TB, e *env.Env, persona string, args ...string) result {
	t.Helper()
	return start(t, append(os.Environ(), "PATH="+pathWith(t, e), "KUBECONFIG="+e.Kubeconfig(persona), "HOME="+os.TempDir(), "KUBERC=off"),
		filepath.Join(e.BinDir, "kubectl"), args...)
}

// plain runs a program with the test's own environment.
func plain(t testing.TB, name string, args ...string) result {
	t.Helper()
	return start(t, os.Environ(), name, args...)
}

func start(t testing.TB, environment []string, name string, args ...string) result {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Env = environment
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Errorf("%s: %v", name, err)
	}
	return result{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}
