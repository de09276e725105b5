package doctest

import (
	"bytes"
	"flag"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/yuin/goldmark/ast"
)

var update = flag.Bool("update", false, "rewrite the outputs in pages that are played")

// Stage is where a page is played.
type Stage interface {
	// Notebook makes sure that there is a Workspace alice-notebook with these mounts, each
	// SECRET=PATH, of a WorkspaceKind lab.
	Notebook(t testing.TB, mounts []string)
	// Setup runs a script of sh, which must succeed.
	Setup(t testing.TB, script string)
	// Run runs a command of sh and returns what a terminal would show.
	Run(t testing.TB, command string) string
	// Until runs it until the output holds a text.
	Until(t testing.TB, command, text string) string
	// Save writes a file into the folder that commands run in.
	Save(t testing.TB, name, content string)
	// As makes another user run what follows.
	As(t testing.TB, persona string)
	// StartController lets the Workspace controller run from here on.
	StartController(t testing.TB)
	// Stable takes out of an output what another run of the page would give otherwise,
	// and puts in what the page shows.
	Stable(output string) string
}

// step is one thing to do in a page.
type step struct {
	line int
	verb string // "play", "save" or that of a directive
	// argument is the name of the file, or what follows the verb of a directive.
	argument   string
	text       string
	start, end int // of text in the source
}

var directive = regexp.MustCompile(`(?s)^<!--\s*(until|setup|as|notebook|controller)\s(.*?)-->\s*$`)

// steps are what to do, in the order of the page.
func (p *Page) steps() []step {
	var all []step
	for _, c := range p.Code() {
		language, name, _ := strings.Cut(c.Info, " ")
		switch {
		case language == "console":
			all = append(all, step{c.Line, "play", "", c.Text, c.start, c.end})
		case language == "yaml" && name != "":
			all = append(all, step{c.Line, "save", name, c.Text, c.start, c.end})
		}
	}
	walk(p, func(n *ast.HTMLBlock) {
		block := string(n.Lines().Value(p.source))
		if n.HasClosure() {
			block += string(n.ClosureLine.Value(p.source))
		}
		if m := directive.FindStringSubmatch(block); m != nil {
			start := n.Lines().At(0).Start
			all = append(all, step{p.line(start), m[1], strings.TrimSpace(m[2]), "", start, start})
		}
	})
	slices.SortFunc(all, func(a, b step) int { return a.start - b.start })
	return all
}

// IsPlayed tells whether a page has anything to play.
func (p *Page) IsPlayed() bool {
	return slices.ContainsFunc(p.steps(), func(s step) bool { return s.verb == "play" })
}

// Play plays a page and compares what the commands print with what it shows.
func (p *Page) Play(t testing.TB, stage Stage) {
	t.Helper()
	var rewritten bytes.Buffer
	copied, until := 0, ""
	for _, s := range p.steps() {
		switch s.verb {
		case "save":
			stage.Save(t, s.argument, s.text)
		case "as":
			stage.As(t, s.argument)
		case "notebook":
			stage.Notebook(t, strings.Fields(s.argument))
		case "controller":
			stage.StartController(t)
		case "until":
			until = s.argument
		case "setup":
			stage.Setup(t, s.argument)
		case "play":
			rewritten.Write(p.source[copied:s.start])
			copied = s.end
			for _, e := range exchanges(s.text) {
				var output string
				if until != "" {
					output = stage.Until(t, e.command, until)
				} else {
					output = stage.Run(t, e.command)
				}
				until = ""
				shown := e.output
				if got := abridge(stage.Stable(output), shown); normal(got) != normal(shown) {
					if !*update {
						t.Errorf("%s:%d: $ %s\nthe page shows (-), and it prints (+); -update rewrites the page:\n%s",
							p.File, s.line, e.command, cmp.Diff(strings.Split(normal(shown), "\n"), strings.Split(normal(got), "\n")))
					}
					shown = got
				}
				rewritten.WriteString(prompt + e.command + "\n" + shown)
			}
		}
	}
	rewritten.Write(p.source[copied:])
	if *update && !t.Failed() && !bytes.Equal(rewritten.Bytes(), p.source) {
		if err := os.WriteFile(p.File, rewritten.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// exchange is a command with its output.
type exchange struct{ command, output string }

// exchanges takes a transcript apart.
func exchanges(transcript string) []exchange {
	var all []exchange
	lines := strings.SplitAfter(transcript, "\n")
	for i := 0; i < len(lines); i++ {
		command, ok := strings.CutPrefix(lines[i], prompt)
		switch {
		case ok:
			for strings.HasSuffix(command, "\\\n") && i+1 < len(lines) {
				i++
				command += lines[i]
			}
			all = append(all, exchange{command: strings.TrimSuffix(command, "\n")})
		case len(all) > 0:
			all[len(all)-1].output += lines[i]
		}
	}
	return all
}

// ellipsis is the line that stands for others.
const ellipsis = "…\n"

// abridge leaves out of an output as much as the page leaves out of what it shows: it
// keeps as many lines before and after the ellipsis.
func abridge(output, shown string) string {
	before, after, ok := strings.Cut("\n"+shown, "\n"+ellipsis)
	if !ok {
		return output
	}
	head, tail := strings.Count(before, "\n"), strings.Count(after, "\n")
	lines := strings.SplitAfter(output, "\n")
	lines = lines[:len(lines)-1] // what follows the last newline
	if len(lines) < head+tail {
		return output
	}
	return strings.Join(lines[:head], "") + ellipsis + strings.Join(lines[len(lines)-tail:], "")
}

// volatile is what another run prints otherwise.
var volatile = []struct {
	pattern *regexp.Regexp
	instead string
}{
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`), "TIME"},
	{regexp.MustCompile(`\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b`), "UID"},
	{regexp.MustCompile(`\b(\d+[dhms])+\b`), "AGE"},
	{regexp.MustCompile(`\(x\d+, `), "("},
	{regexp.MustCompile(` \(x\d+\)`), ""},
	{regexp.MustCompile(`[ \t]+`), " "}, // the width of a column follows the values
}

// Holds tells whether an output holds a text, whatever the width of its columns.
func Holds(output, text string) bool {
	return strings.Contains(strings.Join(strings.Fields(output), " "), strings.Join(strings.Fields(text), " "))
}

func normal(s string) string {
	for _, v := range volatile {
		s = v.pattern.ReplaceAllString(s, v.instead)
	}
	return s
}
