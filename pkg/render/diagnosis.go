package render

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/mitchellh/go-wordwrap"
	"github.com/rivo/uniseg"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/diagnose"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/facts"
)

// maxTimeline and maxEvidence bound what the text shows; the JSON form has all of it.
const (
	maxTimeline = 12
	maxEvidence = 5
)

// Diagnosis writes the explanation of one Workspace for a person: what is wrong and
// what to do first, then what that rests on.
func Diagnosis(out io.Writer, d diagnose.Diagnosis, p Painter) error {
	t := &text{Painter: p, d: SafeCopy(d)}
	t.headline()
	t.causes()
	t.warnings()
	t.tree()
	t.mounts()
	t.controller()
	t.timeline()
	t.unchecked()
	_, err := io.WriteString(out, t.b.String())
	return err
}

// text builds the output. It only ever sees the safe copy of the Diagnosis.
type text struct {
	Painter
	d diagnose.Diagnosis
	b strings.Builder
}

func (t *text) headline() {
	w := t.d.Workspace
	since := ""
	if t.d.Since != nil {
		since = " for " + t.ago(*t.d.Since)
	}
	fmt.Fprintf(&t.b, "%s  %s%s\n", t.Bold(w.Namespace+"/"+w.Name), t.state(t.d.State), since)
	t.line(0, "kind %s, image %s, pod %s", w.Kind, w.ImageConfig, w.PodConfig)
}

func (t *text) state(s diagnose.State) string {
	switch s {
	case diagnose.StateRunning:
		return t.Good(string(s))
	case diagnose.StateError:
		return t.Bad(string(s))
	}
	return t.Wait(string(s))
}

func (t *text) causes() {
	if len(t.d.Causes) == 0 {
		t.line(0, "")
		t.line(0, "%s", t.d.Summary)
		return
	}
	for i, c := range t.d.Causes {
		indent := 0
		switch i {
		case 0:
			t.line(0, "")
		case 1:
			t.heading("Also in the way")
			fallthrough
		default:
			indent = 2
		}
		summary := c.Summary
		if c.Confidence == diagnose.Likely && c.ID != diagnose.UnexplainedID {
			summary = "Likely: " + summary
		}
		t.paragraph(indent, summary)
		t.line(indent+2, "%s", t.Dim(strings.TrimSpace(c.ID+"  "+c.Origin)))
		if i == 0 {
			t.fixes(c.Fixes)
			t.evidence(c.Evidence)
		}
	}
}

func (t *text) fixes(fixes []diagnose.Fix) {
	if len(fixes) == 0 {
		return
	}
	t.heading("What to do")
	for _, f := range fixes {
		what := f.Text
		if f.Risk == diagnose.RiskDisruptive {
			what += " (interrupts what runs)"
		}
		if f.Command == "" {
			t.paragraph(2, what)
			continue
		}
		t.paragraph(2, what+":")
		// Never wrapped, and nothing after it: it is there to be pasted, and not every
		// shell takes a comment.
		fmt.Fprintf(&t.b, "    %s\n", t.Bold(f.Command))
	}
}

func (t *text) evidence(evidence []diagnose.Evidence) {
	if len(evidence) == 0 {
		return
	}
	t.heading("Evidence")
	for i, e := range evidence {
		if i == maxEvidence {
			t.line(2, "%s", t.Dim(fmt.Sprintf("… %d more, see -o json", len(evidence)-i)))
			break
		}
		t.line(2, "%s %s%s", e.Source, e.Reason, t.Dim(t.repeats(e.Count, e.Last)))
		t.paragraph(4, e.Message)
	}
}

// repeats is "(x8, 12s ago)", as much of it as is known.
func (t *text) repeats(count int32, last *time.Time) string {
	var parts []string
	if count > 1 {
		parts = append(parts, fmt.Sprintf("x%d", count))
	}
	if last != nil {
		parts = append(parts, t.ago(*last)+" ago")
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

func (t *text) warnings() {
	if len(t.d.Warnings) == 0 {
		return
	}
	t.heading("Warnings")
	for _, w := range t.d.Warnings {
		t.paragraph(2, w.Summary)
		t.line(4, "%s", t.Dim(w.ID))
		for _, f := range w.Fixes {
			if f.Command != "" {
				fmt.Fprintf(&t.b, "    %s\n", f.Command)
			}
		}
	}
}

// tree shows the owned objects, with the broken member marked.
func (t *text) tree() {
	t.heading("Objects")
	last := len(t.d.Objects) - 1
	for i, object := range t.d.Objects {
		mark := ""
		if i == last {
			mark = "  " + t.lastMember()
		}
		fmt.Fprintf(&t.b, "  %s%s%s\n", branch(i), object, mark)
	}
	if len(t.d.Causes) > 0 {
		if object := t.d.Causes[0].Object; object != "" && !slices.Contains(t.d.Objects, object) {
			fmt.Fprintf(&t.b, "  %s%s  %s\n", branch(last+1), object, t.Bad("<- "+t.d.Causes[0].ID))
		}
	}
}

// lastMember says how the last of the owned objects is doing.
func (t *text) lastMember() string {
	switch t.d.State {
	case diagnose.StateRunning:
		return t.Good("ready")
	case diagnose.StatePaused, diagnose.StateTerminating:
		return t.Wait("<- " + strings.ToLower(string(t.d.State)))
	}
	unread := func(u facts.Unchecked) bool { return u.Object == "StatefulSet" || u.Object == "Pod" }
	if len(t.d.Objects) == 1 && slices.ContainsFunc(t.d.Unchecked, unread) {
		return t.Wait("<- what belongs to it could not be read")
	}
	return t.Wait("<- " + t.d.Rung.Stuck())
}

func branch(depth int) string {
	if depth == 0 {
		return ""
	}
	return strings.Repeat("   ", depth-1) + "└─ "
}

func (t *text) mounts() {
	if len(t.d.Mounts) == 0 {
		return
	}
	t.heading("Mounts")
	rows := make([][]string, 0, len(t.d.Mounts))
	for _, m := range t.d.Mounts {
		path := m.Path
		if path == "" {
			path = "<home>"
		}
		rows = append(rows, []string{path, m.Object, string(m.Status)})
	}
	t.columns(rows)
}

func (t *text) controller() {
	c := t.d.Controller
	if c.State == "" {
		return
	}
	t.heading("The controller says")
	t.paragraph(2, c.State+": "+c.Message)
	switch {
	case c.Stale:
		t.paragraph(2, t.Wait("This is out of date: "+c.Why+"."))
	case c.Why != "":
		t.paragraph(2, t.Wait("This does not tell why: "+c.Why+"."))
	}
}

func (t *text) timeline() {
	entries := t.d.Timeline
	if len(entries) == 0 {
		return
	}
	t.heading("Timeline")
	if hidden := len(entries) - maxTimeline; hidden > 0 {
		t.line(2, "%s", t.Dim(fmt.Sprintf("… %d earlier, see -o json", hidden)))
		entries = entries[hidden:]
	}
	for _, e := range entries {
		count := ""
		if e.Count > 1 {
			count = fmt.Sprintf(" (x%d)", e.Count)
		}
		reason := e.Reason
		if e.Type == "Warning" {
			reason = t.Wait(reason)
		}
		t.item(2, fmt.Sprintf("%-5s ", t.ago(e.Time)), fmt.Sprintf("%s %s%s: %s", e.Object, reason, count, e.Message))
	}
}

func (t *text) unchecked() {
	if len(t.d.Unchecked) == 0 {
		return
	}
	t.heading("Could not check")
	for _, u := range t.d.Unchecked {
		t.paragraph(2, fmt.Sprintf("%s: %s", u.Object, uncheckedWords(u.Reason, u.Detail)))
	}
}

// uncheckedWords says why a source gave no answer. A server's refusal already says
// "forbidden".
func uncheckedWords(reason, detail string) string {
	if detail == "" || strings.Contains(detail, reason) {
		return cmp.Or(detail, reason)
	}
	return reason + ": " + detail
}

func (t *text) heading(s string) { fmt.Fprintf(&t.b, "\n%s\n", t.Bold(s)) }

func (t *text) line(indent int, format string, args ...any) {
	s := fmt.Sprintf(format, args...)
	if s != "" {
		s = strings.Repeat(" ", indent) + s
	}
	t.b.WriteString(s + "\n")
}

// paragraph writes text that may be wrapped at the width of the terminal.
func (t *text) paragraph(indent int, s string) { t.item(indent, "", s) }

// item is a paragraph whose first line begins with a label, and whose others stand below
// what follows it.
func (t *text) item(indent int, label, s string) {
	indent += len(label)
	if t.Width > indent+20 {
		s = wordwrap.WrapString(s, uint(t.Width-indent))
	}
	for i, l := range strings.Split(s, "\n") {
		if i == 0 {
			t.line(indent-len(label), "%s", label+l)
			continue
		}
		t.line(indent, "%s", l)
	}
}

// columns writes aligned rows.
func (t *text) columns(rows [][]string) {
	widths := map[int]int{}
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], uniseg.StringWidth(cell))
		}
	}
	for _, row := range rows {
		var b strings.Builder
		for i, cell := range row {
			b.WriteString(cell + strings.Repeat(" ", widths[i]-uniseg.StringWidth(cell)+2))
		}
		t.line(2, "%s", strings.TrimRight(b.String(), " "))
	}
}

func (t *text) ago(then time.Time) string {
	return duration.HumanDuration(max(0, t.d.CheckedAt.Sub(then)))
}
