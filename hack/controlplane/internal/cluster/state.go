package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/kubectl-workspace/kubectl-workspace/hack/controlplane/internal/flock"
	"github.com/kubectl-workspace/kubectl-workspace/hack/controlplane/internal/process"
)

// Files of a control plane's folder that exist beside a running one. The lock
// is held by the process that runs it: whether the lock is free is the one
// answer to "does it run?". The state file says which processes belong to it,
// and marks the folder as one that may be emptied.
const (
	lockFile  = "lock"
	stateFile = "controlplane.json"
	// LogFile takes what a detached launcher has to say.
	LogFile = "controlplane.log"
)

// grace is how long a process may take to end when asked to.
const grace = 5 * time.Second

// State is what is known about the control plane of a folder.
type State struct {
	Launcher  process.ID   `json:"launcher"`
	Processes []process.ID `json:"processes,omitempty"`
	Info      *Info        `json:"info,omitempty"` // nil until it is ready
}

// Read returns the state of a folder; a folder without one has an empty state.
func Read(dir string) (State, error) {
	var s State
	data, err := os.ReadFile(filepath.Join(dir, stateFile))
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &s)
	}
	if err != nil {
		return s, fmt.Errorf("read the state of %s: %w", dir, err)
	}
	return s, nil
}

func (s State) write(dir string) error {
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	return writeFile(filepath.Join(dir, stateFile), data)
}

// writeFile replaces a file at once, so that readers see the old or the new.
func writeFile(path string, data []byte) error {
	if err := os.WriteFile(path+".tmp", data, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".tmp", path)
}

// Running reports whether a launcher runs, or is starting, a control plane in
// the folder.
func Running(dir string) bool { return flock.Held(filepath.Join(dir, lockFile)) }

// Prepare makes sure that a folder may be used: it is new, empty, or has been a
// control plane's before.
func Prepare(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("create the folder of the control plane: %w", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("read the folder of the control plane: %w", err)
	}
	foreign := ""
	for _, entry := range entries {
		switch entry.Name() {
		case stateFile:
			return nil
		case lockFile, LogFile:
		default:
			foreign = entry.Name()
		}
	}
	if foreign != "" {
		return fmt.Errorf("%s is not a control plane's folder (it has %s): choose another --dir", dir, foreign)
	}
	return nil
}

// claim takes the folder for this process and clears what a launcher that was
// killed has left in it, processes included.
func claim(dir string) (*flock.Lock, error) {
	if err := Prepare(dir); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, lockFile)
	lock, err := flock.Try(path)
	// Somebody who only looks whether the lock is held holds it for a moment.
	for i := 0; i < 20 && errors.Is(err, flock.ErrLocked); i++ {
		time.Sleep(50 * time.Millisecond)
		lock, err = flock.Try(path)
	}
	if errors.Is(err, flock.ErrLocked) {
		return nil, fmt.Errorf("a control plane runs in %s: stop it with `down`, or choose another --dir", dir)
	}
	if err != nil {
		return nil, err
	}
	if err := clear(dir, lockFile, LogFile); err != nil {
		lock.Release()
		return nil, err
	}
	return lock, nil
}

// clear ends the processes that the state file names and empties the folder,
// except for the files to keep. The caller holds the lock.
func clear(dir string, keep ...string) error {
	state, err := Read(dir)
	if err != nil {
		return err
	}
	for _, id := range slices.Backward(state.Processes) {
		id.Stop(grace)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	kept := map[string]bool{stateFile: true} // the mark goes last
	for _, name := range keep {
		kept[name] = true
	}
	for _, entry := range entries {
		if !kept[entry.Name()] {
			if err := os.RemoveAll(filepath.Join(dir, entry.Name())); err != nil {
				return fmt.Errorf("remove old state: %w", err)
			}
		}
	}
	if err := os.Remove(filepath.Join(dir, stateFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Down stops the control plane of a folder, running or left behind, and removes
// the folder. It reports whether there was anything to stop.
func Down(dir string) (bool, error) {
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err := Prepare(dir); err != nil {
		return false, err
	}
	was := Running(dir)
	if was {
		state, err := Read(dir)
		if err != nil {
			return true, err
		}
		state.Launcher.Stop(6 * grace) // it stops the others, one after the other
	}
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return was, nil // the launcher has removed it
	}
	lock, err := claim(dir)
	if err != nil {
		return was, err
	}
	defer lock.Release()
	return was, os.RemoveAll(dir)
}
