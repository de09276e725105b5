package render

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/diagnose"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/facts"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestSafe(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"plain text, any script":  {"naïve 東京 ✗\n\tnext", "naïve 東京 ✗\n\tnext"},
		"escape sequence":         {"a\x1b[31mred", `a\x1b[31mred`},
		"carriage return":         {"real\rfake", `real\x0dfake`},
		"bell, backspace, DEL":    {"\a\b\x7f", `\x07\x08\x7f`},
		"C1 control":              {"a\u009b31m", `a\x9b31m`},
		"bidirectional override":  {"abc\u202edcba", `abc\u202edcba`},
		"zero-width space":        {"a\u200bb", `a\u200bb`},
		"line separator":          {"a\u2028b", `a\u2028b`},
		"a byte that is not text": {"a\xffb", `a\xffb`},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Safe(c.in); got != c.want {
				t.Errorf("Safe = %q, want %q", got, c.want)
			}
		})
	}
	if got := SafeLine("two\nlines\there"); got != "two lines here" {
		t.Errorf("SafeLine = %q", got)
	}
}

func sample(text string) diagnose.Diagnosis {
	now := time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC)
	ago := func(d time.Duration) *time.Time { u := now.Add(-d); return &u }
	return diagnose.Diagnosis{
		Workspace:  diagnose.Workspace{Namespace: "team-a", Name: "alice" + text, Kind: "jupyterlab", ImageConfig: "scipy", PodConfig: "tiny"},
		State:      diagnose.StateError,
		Rung:       diagnose.RungScheduled,
		Since:      ago(3 * time.Minute),
		Summary:    "A summary" + text,
		Controller: diagnose.Controller{State: "Error", Message: "An old message" + text, Stale: true, Why: "the Pod is Ready now"},
		Causes: []diagnose.Cause{
			{ID: "secret-not-found", Object: "Secret/minio-creds" + text, Summary: `Secret "minio-creds" does not exist in namespace team-a; it is mounted at /secrets/minio-creds.` + text,
				Confidence: diagnose.Certain, Origin: "spec.podTemplate.volumes.secrets[0]",
				Evidence: []diagnose.Evidence{{Source: "Event/Pod/ws-alice-x-0", Reason: "FailedMount" + text, Message: "not found" + text, Count: 8, Last: ago(12 * time.Second)}},
				Fixes:    []diagnose.Fix{{Text: "Create it" + text, Command: "kubectl create secret generic minio-creds" + text, Risk: diagnose.RiskSafe}}},
			{ID: "image-not-found", Object: "Image/x", Summary: "Another cause" + text, Confidence: diagnose.Likely},
		},
		Warnings:  []diagnose.Warning{{ID: "running-next-restart-fails", Summary: "A warning" + text}},
		Mounts:    []diagnose.Mount{{Path: "/secrets/minio-creds" + text, Object: "Secret/minio-creds", Status: diagnose.MountMissing}},
		Unchecked: []facts.Unchecked{{Object: "Node/n" + text, Reason: "forbidden", Detail: `nodes "n" is forbidden` + text}},
		Timeline:  []diagnose.TimelineEntry{{Time: *ago(time.Minute), Object: "Pod/ws-alice-x-0", Type: "Warning", Reason: "FailedMount", Message: "not found" + text, Count: 8}},
		Objects:   []string{"Workspace/alice", "StatefulSet/ws-alice-x", "Pod/ws-alice-x-0" + text},
		CheckedAt: now,
	}
}

func TestDiagnosisText(t *testing.T) {
	for name, p := range map[string]Painter{
		"plain":  NewPainter(ColorNever, nil),
		"colour": NewPainter(ColorAlways, nil),
		"narrow": func() Painter { p := NewPainter(ColorNever, nil); p.Width = 60; return p }(),
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			if err := Diagnosis(&out, sample(""), p); err != nil {
				t.Fatal(err)
			}
			golden(t, "diagnosis-"+name+".txt", out.String())
		})
	}
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	path := filepath.Join("testdata", file)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (go test -update rewrites it):\n%s", path, diff)
	}
}

// Whatever the cluster says, a terminal gets no control character but newline and tab
// from it: without colours the output has none at all.
func FuzzDiagnosisIsTerminalSafe(f *testing.F) {
	for _, s := range []string{"", "\x1b]0;title\a", "\u202e", "\x9b31m", "\r", "\xff\xfe", "\u2066\u2069"} {
		f.Add(s)
	}
	plain := NewPainter(ColorNever, nil)
	f.Fuzz(func(t *testing.T, s string) {
		var out bytes.Buffer
		if err := Diagnosis(&out, sample(s), plain); err != nil {
			t.Fatal(err)
		}
		if err := Table(&out, []string{"A" + s}, [][]string{{s}}); err != nil {
			t.Fatal(err)
		}
		if !utf8.Valid(out.Bytes()) || strings.ContainsFunc(out.String(), unsafeRune) {
			t.Errorf("unsafe output for %q:\n%q", s, out.String())
		}
	})
}

func TestSafeCopyLeavesTheOriginalAlone(t *testing.T) {
	d := sample("\x1b[2J")
	want := sample("\x1b[2J")
	if SafeCopy(d).Causes[0].Summary == d.Causes[0].Summary {
		t.Error("the copy is not safe")
	}
	if diff := cmp.Diff(want, d); diff != "" {
		t.Errorf("the original changed:\n%s", diff)
	}
}

func TestColourIsOptional(t *testing.T) {
	for name, c := range map[string]struct {
		mode string
		want bool
	}{"never": {ColorNever, false}, "always": {ColorAlways, true}, "auto, not a terminal": {ColorAuto, false}} {
		t.Run(name, func(t *testing.T) {
			if got := NewPainter(c.mode, &bytes.Buffer{}).Bad("x") != "x"; got != c.want {
				t.Errorf("coloured = %v", got)
			}
		})
	}
}

// The tree does not say that nothing is there where nothing could be read.
func TestTreeOfWhatCouldNotBeRead(t *testing.T) {
	d := diagnose.Diagnosis{State: diagnose.StateUnknown, Objects: []string{"Workspace/alice"}}
	for object, want := range map[string]string{
		"StatefulSet": "Workspace/alice  <- what belongs to it could not be read\n",
		"Node/n":      "Workspace/alice  <- the Workspace controller has not acted on it\n",
	} {
		d.Unchecked = []facts.Unchecked{{Object: object, Reason: "forbidden"}}
		var out strings.Builder
		if err := Diagnosis(&out, d, NewPainter(ColorNever, &out)); err != nil || !strings.Contains(out.String(), want) {
			t.Errorf("%s: %v, want %q in:\n%s", object, err, want, out.String())
		}
	}
}
