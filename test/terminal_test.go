//go:build !windows

package test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/hinshun/vt10x"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/api/v1beta1"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/secretmount"
	"github.com/kubectl-workspace/kubectl-workspace/test/env"
)

const (
	ctrlC = "\x03"
	ctrlD = "\x04"
)

// terminal is a program that runs on a terminal of its own.
type terminal struct {
	t    *testing.T
	cmd  *exec.Cmd
	pty  *os.File
	vt   vt10x.Terminal
	done chan struct{}

	mu sync.Mutex
	// typed is everything that the terminal has shown, echoed input included.
	typed strings.Builder
}

// onTerminal starts the plugin on a terminal of 80 columns and 24 lines.
func onTerminal(t *testing.T, e *env.Env, args ...string) *terminal {
	t.Helper()
	dir, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	term := &terminal{t: t, cmd: exec.Command(filepath.Join(dir, "kubectl-workspace"), args...), vt: vt10x.New(vt10x.WithSize(80, 24)), done: make(chan struct{})}
	term.cmd.Env = append(os.Environ(), "KUBECONFIG="+e.Kubeconfig(env.Admin), "TERM=xterm")
	if term.pty, err = pty.StartWithSize(term.cmd, &pty.Winsize{Cols: 80, Rows: 24}); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(term.done)
		b := make([]byte, 4096)
		for {
			n, err := term.pty.Read(b)
			if err != nil {
				return // the program has ended
			}
			term.mu.Lock()
			term.typed.Write(b[:n])
			_, _ = term.vt.Write(b[:n])
			term.mu.Unlock()
		}
	}()
	t.Cleanup(func() {
		_ = term.cmd.Process.Kill()
		term.pty.Close()
	})
	return term
}

// shown is everything that has appeared so far.
func (term *terminal) shown() string {
	term.mu.Lock()
	defer term.mu.Unlock()
	return strings.ReplaceAll(term.typed.String(), "\r\n", "\n")
}

// screen is what is to be seen now.
func (term *terminal) screen() string {
	term.mu.Lock()
	defer term.mu.Unlock()
	return term.vt.String()
}

func (term *terminal) until(text string) {
	term.t.Helper()
	env.Eventually(term.t, patience, func() error {
		if shown := term.shown(); !strings.Contains(shown, text) {
			return errors.New("no " + text + " in:\n" + shown)
		}
		return nil
	})
}

func (term *terminal) press(keys string) {
	term.t.Helper()
	if _, err := term.pty.WriteString(keys); err != nil {
		term.t.Fatal(err)
	}
}

// end waits for the end of the program.
func (term *terminal) end() (code int, shown string) {
	term.t.Helper()
	select {
	case <-term.done:
	case <-time.After(30 * time.Second):
		term.t.Fatalf("it does not end:\n%s", term.shown())
	}
	_ = term.cmd.Wait()
	return term.cmd.ProcessState.ExitCode(), term.shown()
}

// What is asked before all Secrets are taken away, and what each answer does.
func TestRemoveAsks(t *testing.T) {
	e := env.Get(t)
	applyKind(t, e)
	ns := e.Namespace(t)
	workspaces := e.Dynamic(t, env.Admin).Resource(v1beta1.WorkspaceGVR).Namespace(ns)
	const question = "Workspace alice-notebook loses these Secrets:\n  git at /git\nTake them away? [y/N] "
	for name, c := range map[string]struct {
		keys    string
		code    int
		says    string
		removed bool
	}{
		"yes":        {"y\r", 0, "secret \"git\" unmounted from /git\n", true},
		"Yes":        {"Yes\r", 0, "secret \"git\" unmounted from /git\n", true},
		"no":         {"n\r", 1, "\nerror: nothing was changed\n", false},
		"enter":      {"\r", 1, "\nerror: nothing was changed\n", false},
		"else":       {"what?\r", 1, "\nerror: nothing was changed\n", false},
		"Ctrl-D":     {ctrlD, 1, "\nerror: nothing was changed\n", false},
		"Ctrl-C":     {ctrlC, 130, "^C\ninterrupted\n", false},
		"y, Ctrl-C":  {"y" + ctrlC, 130, "^C\ninterrupted\n", false},
		"y, Ctrl-D²": {"y" + ctrlD + ctrlD, 1, "y\nerror: nothing was changed\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			createWorkspace(t, e, ns, "alice-notebook", map[string]any{"secretName": "git", "mountPath": "/git"})
			defer func() {
				if err := workspaces.Delete(t.Context(), "alice-notebook", metav1.DeleteOptions{}); err != nil {
					t.Error(err)
				}
			}()
			term := onTerminal(t, e, "secrets", "remove", "alice-notebook", "--all", "-n", ns)
			term.until(question)
			term.press(c.keys)
			code, shown := term.end()
			if code != c.code || !strings.Contains(shown, c.says) {
				t.Errorf("exit code %d, want %d; shown:\n%s\nwant %q", code, c.code, shown, c.says)
			}
			w, err := workspaces.Get(t.Context(), "alice-notebook", metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if mounts, err := secretmount.List(w.Object); err != nil || (len(mounts) == 0) != c.removed {
				t.Errorf("afterwards: %v, %v", mounts, err)
			}
		})
	}
	t.Run("no terminal", func(t *testing.T) {
		createWorkspace(t, e, ns, "alice-notebook", map[string]any{"secretName": "git", "mountPath": "/git"})
		args := []string{"workspace", "secrets", "remove", "alice-notebook", "--all", "-n", ns}
		if r := kubectl(t, e, env.Admin, args...); r.code != 1 || r.stderr != "error: --all takes away every Secret of the Workspace: add --yes to confirm\n" {
			t.Errorf("exit code %d, %q", r.code, r.stderr)
		}
		if r := kubectl(t, e, env.Admin, append(args, "--yes")...); r.code != 0 || !strings.Contains(r.stdout, "unmounted from /git") {
			t.Errorf("exit code %d, %q", r.code, r.stderr)
		}
	})
}

// Ctrl-C ends a command that waits, at once and without a mess.
func TestInterrupted(t *testing.T) {
	e := env.Get(t)
	applyKind(t, e)
	ns := e.Namespace(t)
	createWorkspace(t, e, ns, "alice-notebook", map[string]any{"secretName": "git", "mountPath": "/git"})
	playController(t, e, ns, "alice-notebook")
	for name, c := range map[string]struct {
		args []string
		when string
		says string // at the end
	}{
		"describe -w":        {[]string{"describe", "alice-notebook", "-w"}, "alice-notebook", "^C\n"},
		"list -w":            {[]string{"list", "-w"}, "alice-notebook", "^C\n"},
		"wait":               {[]string{"wait", "alice-notebook"}, "does not exist", "^Cinterrupted\n"},
		"secrets add --wait": {[]string{"secrets", "add", "alice-notebook", "git=/other", "--wait"}, "mounted at /other", "^Cinterrupted\n"},
	} {
		t.Run(name, func(t *testing.T) {
			term := onTerminal(t, e, append(c.args, "-n", ns)...)
			term.until(c.when)
			term.press(ctrlC)
			code, shown := term.end()
			if code != 130 || !strings.HasSuffix(shown, c.says) || strings.Contains(shown, "goroutine") {
				t.Errorf("exit code %d, shown:\n%q\nwant 130, and at the end %q", code, shown, c.says)
			}
		})
	}
}

// describe -w on a terminal that is too small for it, and that becomes smaller still.
func TestDescribeWatchOnASmallTerminal(t *testing.T) {
	e := env.Get(t)
	applyKind(t, e)
	ns := e.Namespace(t)
	createWorkspace(t, e, ns, "alice-notebook", map[string]any{"secretName": "git", "mountPath": "/git"})
	playController(t, e, ns, "alice-notebook")
	term := onTerminal(t, e, "describe", "alice-notebook", "-w", "-n", ns)
	head := ns + "/alice-notebook  "
	onTop := func() error {
		if screen := term.screen(); !strings.HasPrefix(screen, head) || strings.Count(screen, head) != 1 {
			return errors.New("the frame is not where it was:\n" + screen)
		}
		return nil
	}
	term.until(" does not exist ") // the Secret: a long text with a long command
	env.Eventually(t, patience, onTop)
	for _, size := range []struct{ columns, lines int }{{50, 20}, {40, 12}, {100, 30}} {
		drawn := strings.Count(term.shown(), "\x1b[2J")
		term.mu.Lock()
		term.vt.Resize(size.columns, size.lines)
		term.mu.Unlock()
		if err := pty.Setsize(term.pty, &pty.Winsize{Cols: uint16(size.columns), Rows: uint16(size.lines)}); err != nil {
			t.Fatal(err)
		}
		env.Eventually(t, patience, func() error {
			if strings.Count(term.shown(), "\x1b[2J") == drawn {
				return errors.New("the change of size goes unnoticed")
			}
			return onTop()
		})
	}
}
