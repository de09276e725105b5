package test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/go-logr/logr"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/facts"
	"github.com/kubectl-workspace/kubectl-workspace/test/contract"
	"github.com/kubectl-workspace/kubectl-workspace/test/env"
)

func TestMain(m *testing.M) {
	ctrllog.SetLogger(logr.Discard()) // controller-runtime complains if nobody reads its log
	os.Exit(env.Main(m))
}

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
	checkContract(t, stdout.String())
	return result{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

// checkContract validates what is meant for scripts, whichever command has printed it.
func checkContract(t testing.TB, output string) {
	t.Helper()
	var document struct{ APIVersion, Kind string }
	if err := json.Unmarshal([]byte(output), &document); err != nil || document.APIVersion != facts.APIVersion {
		return
	}
	if err := contract.Load(t).Check(document.Kind, output); err != nil {
		t.Error(err)
	}
}

// follower is a command that keeps running and talking.
type follower struct {
	process *os.Process
	errors  *bytes.Buffer
	lines   chan string
	end     func() int
}

// follow starts the plugin itself, so that a signal reaches it and not kubectl.
func follow(ctx context.Context, t testing.TB, e *env.Env, args ...string) *follower {
	t.Helper()
	dir, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, filepath.Join(dir, "kubectl-workspace"), args[1:]...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+e.Kubeconfig(env.Admin))
	f := &follower{errors: &bytes.Buffer{}, lines: make(chan string)}
	cmd.Stderr = f.errors
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	f.process = cmd.Process
	go func() {
		defer close(f.lines)
		for s := bufio.NewScanner(out); s.Scan(); {
			f.lines <- s.Text()
		}
	}()
	f.end = func() int {
		for range f.lines { // until it closes its output
		}
		_ = cmd.Wait()
		return cmd.ProcessState.ExitCode()
	}
	return f
}

// until reads lines until one contains the text.
func (f *follower) until(t testing.TB, text string) {
	t.Helper()
	for line := range f.lines {
		if strings.Contains(line, text) {
			return
		}
	}
	t.Fatalf("it ended before it said %q: %s", text, f.errors)
}

func (f *follower) wait(t testing.TB) int {
	t.Helper()
	return f.end()
}
