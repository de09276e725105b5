package render

import (
	"encoding/json"
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/plan"
)

// maxValue is how much of a value a line of a diff shows; -o json has all of it.
const maxValue = 100

// Plan prints what a reconcile did, or would do. Of several Workspaces those without a change
// are only counted.
func Plan(out io.Writer, p *plan.Plan, paint Painter) error {
	safe := SafeCopy(*p)
	w := planWriter{Writer: out, paint: paint, many: len(p.Workspaces) > 1}
	for _, o := range safe.Workspaces {
		if w.many && o.Result == plan.Unchanged {
			continue
		}
		w.outcome(o)
	}
	for _, o := range safe.WorkspaceKinds {
		if o.Result != plan.Unchanged {
			w.outcome(o)
		}
	}
	w.line("%s", PlanSummary(safe))
	return w.err
}

// PlanSummary is the last line.
func PlanSummary(p plan.Plan) string {
	s := p.Summary
	text := fmt.Sprintf("%s: %d updated, %d created, %d unchanged, %d failed", count(s.Workspaces, "Workspace"), s.Updated, s.Created, s.Unchanged, s.Failed)
	if s.WorkspaceKinds > 0 {
		text += fmt.Sprintf("; %s updated", count(s.WorkspaceKinds, "WorkspaceKind"))
	}
	switch {
	case s.PodRestarts == 1:
		text += " (1 Pod restarts)"
	case s.PodRestarts > 1:
		text += fmt.Sprintf(" (%d Pods restart)", s.PodRestarts)
	}
	switch p.Mode {
	case plan.Server:
		text += " (server dry run)"
	case plan.Client:
		text += " (dry run)"
	case plan.Snapshot:
		text += " (from a snapshot)"
	}
	return text
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

type planWriter struct {
	io.Writer
	paint Painter
	many  bool
	err   error
}

func (w *planWriter) line(format string, args ...any) {
	if _, err := fmt.Fprintf(w, format+"\n", args...); err != nil && w.err == nil {
		w.err = err
	}
}

func (w *planWriter) outcome(o plan.Outcome) {
	head := o.String()
	if o.WorkspaceKind != "" {
		head += fmt.Sprintf(" (kind %s)", o.WorkspaceKind)
	}
	w.line("%s", w.paint.Bold(head))
	width := nameWidth(o.Changes)
	for _, c := range o.Changes {
		w.change(c, width)
	}
	for _, e := range o.Events {
		w.line("  ! %-14s %s: %s", "Event", e.Reason, oneLine(e.Message))
	}
	if o.Status != nil {
		w.status(*o.Status)
	}
	if o.ActivityRules != "" {
		w.line("  activity rules: %s", o.ActivityRules)
	}
	if o.LookAgainSeconds > 0 {
		w.line("  checks again in %s", duration.HumanDuration(o.LookAgain()))
	}
	if o.Error != "" {
		w.line("  %s %s", w.paint.Bad("failed:"), oneLine(o.Error))
	}
}

func nameWidth(changes []plan.Change) int {
	width := 0
	for _, c := range changes {
		width = max(width, len(c.Name))
	}
	return width
}

func (w *planWriter) change(c plan.Change, width int) {
	effect := ""
	if c.Pod != "" {
		effect = "the Pod " + c.Pod
	}
	line := fmt.Sprintf("  %s %-14s %-*s  %s", w.sign(c.Verb), c.Kind, width, c.Name, w.paint.Wait(effect))
	if effect == "" {
		line = fmt.Sprintf("  %s %-14s %s", w.sign(c.Verb), c.Kind, c.Name)
	}
	w.line("%s", line)
	for _, f := range c.Fields {
		w.field(f)
	}
}

func (w *planWriter) sign(v plan.Verb) string {
	switch v {
	case plan.VerbCreate:
		return w.paint.Good("+")
	case plan.VerbUpdate:
		return w.paint.Wait("~")
	case plan.VerbDelete:
		return w.paint.Bad("-")
	}
	return "="
}

func (w *planWriter) field(f plan.Field) {
	switch {
	case f.Before == nil:
		w.line("      %s %s %s", oneLine(f.Path), w.paint.Good("+"), value(f.After))
	case f.After == nil:
		w.line("      %s %s %s", oneLine(f.Path), w.paint.Bad("-"), value(f.Before))
	default:
		w.line("      %s %s %s -> %s", oneLine(f.Path), w.paint.Wait("~"), value(f.Before), value(f.After))
	}
}

func (w *planWriter) status(s plan.StatusChange) {
	after := s.After.State
	if after == "" {
		after = "not written"
	}
	if len(s.Fields) == 0 {
		w.line("  = %-14s %s  %q", "status", after, s.After.Message)
		return
	}
	text := after
	if s.Before.State != s.After.State {
		before := s.Before.State
		if before == "" {
			before = "none"
		}
		text = before + " -> " + after
	}
	w.line("  %s %-14s %s  %q", w.sign(plan.VerbUpdate), "status", text, s.After.Message)
}

func value(v any) string {
	text, ok := v.(string)
	if !ok {
		data, err := json.Marshal(v)
		if err != nil {
			return fmt.Sprint(v)
		}
		text = string(data)
	}
	text = SafeLine(text)
	if len([]rune(text)) > maxValue {
		return string([]rune(text)[:maxValue]) + "…"
	}
	return text
}

func oneLine(s string) string { return SafeLine(s) }
