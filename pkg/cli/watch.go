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
// and the latest changes below it; elsewhere it prints one line for each Workspace whose
// state or cause has changed.
// An error of the first look ends it; later ones are told and waited out.
func (f *factory) watch(ctx context.Context, s *session, look func(context.Context) ([]diagnose.Diagnosis, error), draw func(io.Writer, []diagnose.Diagnosis) error) error {
	if s.live == nil {
		return errors.New("a snapshot does not change: leave out --watch")
	}
	painter := f.painter(f.Out)
	seen := map[string]string{}
	var changed []string
	first := true
	for {
		found, err := look(ctx)
		switch {
		case ctx.Err() != nil:
			return nil //nolint:nilerr // asked to stop, and whatever failed is for that
		case err != nil && first:
			return err
		case err != nil:
			f.note("Warning: %v; trying again", err)
		case painter.Width > 0:
			changed = append(changed, changes(seen, found)...)
			var frame bytes.Buffer
			if err := draw(&frame, found); err != nil {
				return err
			}
			if err := f.redraw(first, painter, frame.String(), latest(changed, painter)); err != nil {
				return err
			}
		default:
			for _, line := range changes(seen, found) {
				fmt.Fprintln(f.Out, line)
			}
		}
		first = first && err != nil
		if !sleep(ctx, watchInterval) {
			return nil
		}
	}
}

// redraw writes a frame, and lines below it, over the one before: nothing is cleared
// before it is written again, so nothing flickers. A frame that is too high for the
// terminal is cut.
func (f *factory) redraw(first bool, painter render.Painter, frame string, below []string) error {
	lines := strings.Split(strings.TrimRight(frame, "\n"), "\n")
	if most := painter.Height - 1 - len(below); most > 1 && len(lines) > most {
		hidden := len(lines) - most + 1
		lines = append(lines[:most-1], painter.Dim(fmt.Sprintf("… %d more lines", hidden)))
	}
	lines = append(lines, below...)
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

// changes tells what is new about the Workspaces, a line each, and notes it in seen.
func changes(seen map[string]string, found []diagnose.Diagnosis) []string {
	var lines []string
	say := func(name, what string) {
		lines = append(lines, render.SafeLine(time.Now().Format(time.TimeOnly)+"  "+name+"  "+what))
	}
	present := map[string]bool{}
	for _, d := range found {
		name := d.Workspace.Namespace + "/" + d.Workspace.Name
		present[name] = true
		// The summary may carry ages; only state and cause make a change.
		key := string(d.State) + "  " + d.Reason()
		if seen[name] != key {
			seen[name] = key
			say(name, key+"  "+d.Summary)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(seen)) {
		if !present[name] {
			delete(seen, name)
			say(name, "gone")
		}
	}
	return lines
}

// maxChanges bounds the changes below a frame.
const maxChanges = 5

// latest are the last changes as they stand below a frame; none if the first frame is
// all there was.
func latest(changed []string, painter render.Painter) []string {
	if len(changed) < 2 {
		return nil
	}
	return append([]string{"", painter.Bold("Changes")}, changed[max(0, len(changed)-maxChanges):]...)
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
