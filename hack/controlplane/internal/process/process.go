// Package process starts and ends child processes, and never ends a process
// that is not ours.
package process

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// ID names one process for good: process ids are used again, so the time of
// the start belongs to it.
type ID struct {
	PID   int    `json:"pid"`
	Start string `json:"start"`
}

// Identify returns the ID of a running process.
func Identify(pid int) (ID, error) {
	start, err := identify(pid)
	return ID{pid, start}, err
}

// Alive reports whether this very process still runs.
func (id ID) Alive() bool {
	if id.PID <= 0 || id.Start == "" {
		return false
	}
	start, err := identify(id.PID)
	return err == nil && start == id.Start
}

// Stop asks a process to end and kills it if it does not within the grace
// period. It does nothing when the process is gone, even if another one has
// its number now.
func (id ID) Stop(grace time.Duration) {
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		if !id.Alive() {
			return
		}
		_ = syscall.Kill(id.PID, signal)
		for deadline := time.Now().Add(grace); id.Alive() && time.Now().Before(deadline); {
			time.Sleep(20 * time.Millisecond)
		}
	}
}

// Child is a process that this one started.
type Child struct {
	ID
	Name    string
	logPath string
	done    chan struct{}
	err     error
}

// Start runs a program with its output in a log file. The child is in a
// process group of its own, so that Ctrl-C in a terminal reaches only us and
// the children are stopped in order.
func Start(name, logPath, dir, program string, args ...string) (*Child, error) {
	log, err := os.Create(logPath)
	if err != nil {
		return nil, fmt.Errorf("log of %s: %w", name, err)
	}
	defer log.Close()
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	dieWithParent(cmd.SysProcAttr)
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	c := &Child{Name: name, logPath: logPath, done: make(chan struct{})}
	// It cannot be gone already: nobody has waited for it yet. But it may have
	// ended, and then it needs no ID.
	if c.ID, err = Identify(cmd.Process.Pid); err != nil {
		c.ID = ID{PID: cmd.Process.Pid}
	}
	go func() {
		c.err = cmd.Wait()
		close(c.done)
	}()
	return c, nil
}

// Done is closed when the child has ended.
func (c *Child) Done() <-chan struct{} { return c.done }

// Err says how a child ended that should not have, with the end of its log.
func (c *Child) Err() error {
	<-c.done
	state := "exit status 0"
	if c.err != nil {
		state = c.err.Error()
	}
	return fmt.Errorf("%s ended (%s): %s; its log is %s", c.Name, state, c.lastLine(), c.logPath)
}

// Logged reports whether the child's log contains a text.
func (c *Child) Logged(text string) bool {
	data, _ := os.ReadFile(c.logPath)
	return strings.Contains(string(data), text)
}

// lastLine is the last line of the log that says something: a stack trace
// after a fatal message does not.
func (c *Child) lastLine() string {
	data, _ := os.ReadFile(c.logPath)
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		lower := strings.ToLower(lines[i])
		if strings.Contains(lower, "error") || strings.Contains(lower, "panic") || strings.HasPrefix(lines[i], "F") {
			return lines[i]
		}
	}
	return lines[len(lines)-1]
}
