package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/diagnose"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/render"
)

// watchInterval is the pause between two looks. What decides a diagnosis lies in many
// objects and in Events, so a look reads them all again: it is a handful of requests.
const watchInterval = 2 * time.Second

// watch looks again and again until ctx ends. On a terminal it redraws what draw writes;
// elsewhere it prints one line for each Workspace whose state or cause has changed.
// An error of the first look ends it; later ones are told and waited out.
func (f *factory) watch(ctx context.Context, look func(context.Context) ([]diagnose.Diagnosis, error), draw func(io.Writer, []diagnose.Diagnosis) error) error {
	painter := f.painter(f.Out)
	seen := map[string]string{}
	first := true
	for {
		found, err := look(ctx)
		switch {
		case ctx.Err() != nil:
			return nil // asked to stop
		case err != nil && first:
			return err
		case err != nil:
			f.note("Warning: %v; trying again", err)
		case painter.Width > 0:
			if err := f.redraw(first, painter, func(out io.Writer) error { return draw(out, found) }); err != nil {
				return err
			}
		default:
			f.printChanges(seen, found)
		}
		first = first && err != nil
		if !sleep(ctx, watchInterval) {
			return nil
		}
	}
}

// redraw writes a frame over the one before: nothing is cleared before it is written
// again, so nothing flickers.
func (f *factory) redraw(first bool, painter render.Painter, draw func(io.Writer) error) error {
	var frame bytes.Buffer
	if err := draw(&frame); err != nil {
		return err
	}
	lines := strings.Split(strings.TrimRight(frame.String(), "\n"), "\n")
	if most := painter.Height - 1; most > 0 && len(lines) > most {
		hidden := len(lines) - most + 1
		lines = append(lines[:most-1], painter.Dim(fmt.Sprintf("… %d more lines", hidden)))
	}
	const (
		clearScreen = "\x1b[2J"
		home        = "\x1b[H"
		clearLine   = "\x1b[K"
		clearBelow  = "\x1b[J"
	)
	out := home + strings.Join(lines, clearLine+"\n") + clearLine + "\n" + clearBelow
	if first {
		out = clearScreen + out
	}
	_, err := io.WriteString(f.Out, out)
	return err
}

func (f *factory) printChanges(seen map[string]string, found []diagnose.Diagnosis) {
	now := time.Now().Format(time.TimeOnly)
	present := map[string]bool{}
	for _, d := range found {
		name := d.Workspace.Namespace + "/" + d.Workspace.Name
		present[name] = true
		line := string(d.State) + "  " + d.Reason() + "  " + d.Summary
		// The summary may carry ages; only state and cause make a change.
		key := string(d.State) + d.Reason()
		if seen[name] != key {
			seen[name] = key
			fmt.Fprintln(f.Out, render.SafeLine(now+"  "+name+"  "+line))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(seen)) {
		if !present[name] {
			delete(seen, name)
			fmt.Fprintln(f.Out, render.SafeLine(now+"  "+name+"  gone"))
		}
	}
}

// sleep waits, and reports false if ctx ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

var errWatchSnapshot = errors.New("a snapshot does not change: leave out --watch")
