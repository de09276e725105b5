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

// resizeInterval is how soon a frame is drawn anew after the terminal has changed its size.
const resizeInterval = 100 * time.Millisecond

// errStopped ends a watch that the user has ended: nothing has failed.
var errStopped error = &exitError{code: exitInterrupted}

// watch looks again and again until ctx ends. On a terminal it redraws what draw writes,
// and the latest changes below it; elsewhere it prints one line for each Workspace whose
// state or cause has changed.
// An error of the first look ends it; later ones are told and waited out.
func (f *factory) watch(ctx context.Context, s *session, look func(context.Context) ([]diagnose.Diagnosis, error), draw func(io.Writer, []diagnose.Diagnosis) error) error {
	if s.live == nil {
		return errors.New("a snapshot does not change: leave out --watch")
	}
	w := &watcher{factory: f, draw: draw, seen: map[string]string{}}
	if f.painter(f.Out).Width > 0 {
		w.screen = render.NewScreen(f.Out)
	}
	for first := true; ; first = false {
		found, err := look(ctx)
		switch {
		case ctx.Err() != nil:
			return w.stop()
		case err != nil && first && len(found) == 0:
			return err
		}
		if err := w.show(found, err); err != nil {
			return err
		}
		if !w.pause(ctx) {
			return w.stop()
		}
	}
}

// watcher shows what a watch sees.
type watcher struct {
	*factory
	draw func(io.Writer, []diagnose.Diagnosis) error
	// screen is nil if the output is no terminal.
	screen *render.Screen

	seen    map[string]string
	found   []diagnose.Diagnosis
	changed []string
	// problem is what was wrong with the last look.
	problem string
}

// show takes the outcome of a look. What could be found counts even if err tells that
// not all of it could.
func (w *watcher) show(found []diagnose.Diagnosis, err error) error {
	news := changes(w.seen, found, err == nil)
	problem := ""
	if err != nil {
		problem = fmt.Sprintf("Warning: %v; trying again", err)
	}
	told := problem == w.problem
	w.problem = problem
	if w.screen == nil {
		for _, line := range news {
			if _, err := fmt.Fprintln(w.Out, line); err != nil {
				return err
			}
		}
		if problem != "" && !told {
			w.note("%s", problem)
		}
		return nil
	}
	w.changed = append(w.changed, news...)
	if err == nil || len(found) > 0 {
		w.found = found
	}
	return w.redraw()
}

func (w *watcher) redraw() error {
	var frame bytes.Buffer
	if err := w.draw(&frame, w.found); err != nil {
		return err
	}
	below := latest(w.changed, w.painter(w.Out))
	if w.problem != "" {
		below = append(below, "", render.SafeLine(w.problem))
	}
	return w.screen.Draw(strings.Split(strings.TrimRight(frame.String(), "\n"), "\n"), below)
}

// pause waits for the next look. It reports false if ctx ended first.
func (w *watcher) pause(ctx context.Context) bool {
	if w.screen == nil {
		return sleep(ctx, watchInterval)
	}
	for next := time.Now().Add(watchInterval); time.Now().Before(next); {
		if !sleep(ctx, resizeInterval) {
			return false
		}
		// A terminal that has gone is noticed by the next look.
		if w.screen.Resized() && w.redraw() != nil {
			return true
		}
	}
	return true
}

// stop ends the watch. The shell's prompt is not to follow the "^C" on the terminal.
func (w *watcher) stop() error {
	if w.screen != nil {
		fmt.Fprintln(w.Out)
	}
	return errStopped
}

// changes tells what is new about the Workspaces, a line each, and notes it in seen. Only
// if they are all there is one that is not there gone.
func changes(seen map[string]string, found []diagnose.Diagnosis, all bool) []string {
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
		if all && !present[name] {
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
