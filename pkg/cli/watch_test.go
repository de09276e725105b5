package cli

import (
	"bytes"
	"errors"
	"strings"
	"syscall"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/diagnose"
)

// A watch into a full disk ends; it would otherwise go on for good and say nothing.
func TestWatchEndsWhenOutputIsLost(t *testing.T) {
	out := &outStream{to: &fullDisk{0, syscall.ENOSPC}}
	w := &watcher{factory: newFactory(genericiooptions.IOStreams{Out: out, ErrOut: &bytes.Buffer{}}, Build{}), seen: map[string]string{}}
	if err := w.show([]diagnose.Diagnosis{{Summary: "something"}}, nil); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("error = %v", err)
	}
}

// A look that fails in part neither makes others appear as gone, nor is it told again
// and again.
func TestWatchTellsChanges(t *testing.T) {
	var out, errOut bytes.Buffer
	w := &watcher{factory: newFactory(genericiooptions.IOStreams{Out: &out, ErrOut: &errOut}, Build{}), seen: map[string]string{}}
	of := func(name string, state diagnose.State) diagnose.Diagnosis {
		d := diagnose.Diagnosis{State: state, Summary: "so it is"}
		d.Workspace.Name, d.Workspace.Namespace = name, "ns"
		return d
	}
	bad := errors.New("no answer")
	for _, look := range []struct {
		found []diagnose.Diagnosis
		err   error
	}{
		{[]diagnose.Diagnosis{of("a", diagnose.StateRunning), of("b", diagnose.StatePending)}, nil},
		{[]diagnose.Diagnosis{of("a", diagnose.StateRunning)}, bad},
		{nil, bad},
		{[]diagnose.Diagnosis{of("a", diagnose.StateRunning), of("b", diagnose.StateRunning)}, nil},
		{[]diagnose.Diagnosis{of("b", diagnose.StateRunning)}, nil},
		{nil, bad},
	} {
		if err := w.show(look.found, look.err); err != nil {
			t.Fatal(err)
		}
	}
	var told []string
	for line := range strings.Lines(out.String()) {
		told = append(told, strings.Join(strings.Fields(line)[1:3], " ")) // after the time
	}
	if got, want := strings.Join(told, ", "), "ns/a Running, ns/b Pending, ns/b Running, ns/a gone"; got != want {
		t.Errorf("told %q, want %q", got, want)
	}
	if want := strings.Repeat("Warning: no answer; trying again\n", 2); errOut.String() != want {
		t.Errorf("stderr %q, want %q", errOut.String(), want)
	}
}
