package causes

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/diagnose"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/render"
)

var update = flag.Bool("update", false, "rewrite docs/causes.md")

const document = "../../../docs/causes.md"

// TestDocument keeps docs/causes.md what the catalogue and the cases in testdata make
// of it. "make generate" rewrites it.
func TestDocument(t *testing.T) {
	got := writeDocument(t)
	if *update {
		if err := os.WriteFile(document, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("docs/causes.md is stale (make generate):\n%s", diff)
	}
}

func writeDocument(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	b.WriteString(`# Causes

<!-- Generated from pkg/diagnose/causes by "make generate". -->

What ` + "`kubectl workspace describe`" + ` can name, in order of rank: of several causes that hold, the first is shown first, except that
faults come before mere progress. The examples are its output for cases in ` + "`testdata`" + `, shortened.

*Blocks* is the rung of the ladder that a Workspace with this cause does not reach; a Warning about a rung that has been
passed since is history and causes nothing.

`)
	examples := examples(t)
	for _, r := range All() {
		fmt.Fprintf(&b, "## %s\n\n%s.\n\n", r.ID, r.Title)
		if r.Blocks != diagnose.RungNone {
			fmt.Fprintf(&b, "- Blocks: %s\n", r.Blocks)
		}
		fmt.Fprintf(&b, "- Recognised by: %s\n- What helps: %s\n\n", r.Recognised, r.Fix)
		if example := examples[r.ID]; example != "" {
			fmt.Fprintf(&b, "```\n%s```\n\n", example)
		}
	}
	fmt.Fprintf(&b, "## %s\n\nNo rule of the catalogue applies. Names the rung and quotes the newest Warning about it.\n", diagnose.UnexplainedID)
	return b.Bytes()
}

// examples renders, for each cause, the first case in testdata of which it is primary.
func examples(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, corpus := range []string{"recorded", "cases"} {
		dirs, err := filepath.Glob("../../../testdata/" + corpus + "/*")
		if err != nil {
			t.Fatal(err)
		}
		for _, dir := range dirs {
			_, d := diagnoseCase(t, dir)
			id := d.Reason()
			if out[id] != "" || id == "-" {
				continue
			}
			var b bytes.Buffer
			if err := render.Diagnosis(&b, d, render.NewPainter(render.ColorNever, nil)); err != nil {
				t.Fatal(err)
			}
			text, _, _ := strings.Cut(b.String(), "\nObjects\n")
			out[id] = text
		}
	}
	return out
}
