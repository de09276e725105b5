package cli

import (
	"bytes"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// One object that is not what it should be is named, and does not keep the others from
// being shown.
func TestMalformedObjects(t *testing.T) {
	const (
		alice = `error: Workspace "alice" in namespace "team-a" is malformed: spec.paused is a string where true or false belongs` + "\n"
		carol = `error: Workspace "carol" in namespace "team-a" is malformed: spec.podTemplate.volumes.secrets is a number where a list belongs` + "\n"
	)
	for args, want := range map[string]struct {
		out  string // without the blanks of columns
		err  string
		code int
	}{
		"list -o name":           {"workspace.kubeflow.org/bob\nworkspace.kubeflow.org/dave\n", alice + carol, 1},
		"describe alice":         {"", alice, 1},
		"describe --exit-code":   {"", alice + carol, 2},
		"describe alice bob":     {"", alice, 1},
		"secrets list bob":       {"bob git /git 0644 no - -\n", "", 0},
		"secrets list dave":      {"dave git /git 0644 no - <unknown>\n", `Warning: could not check Pod: Pod "ws-dave-0" in namespace "team-a" is malformed: spec.containers is a string where a list belongs` + "\n", 0},
		"secrets list":           {"bob git /git 0644 no - -\ndave git /git 0644 no - <unknown>\n", `Warning: could not check Pod: Pod "ws-dave-0" in namespace "team-a" is malformed: spec.containers is a string where a list belongs` + "\n" + `error: workspace "carol": spec.podTemplate.volumes.secrets is not a list` + "\n", 1},
		"secrets list carol bob": {"bob git /git 0644 no - -\n", `error: workspace "carol": spec.podTemplate.volumes.secrets is not a list` + "\n", 1},
	} {
		t.Run(args, func(t *testing.T) {
			var out, errOut bytes.Buffer
			line := append(strings.Fields(args), "--snapshot", "testdata/malformed.yaml")
			if strings.HasPrefix(args, "secrets list") {
				line = append(line, "--no-headers")
			}
			code := Run(t.Context(), line, genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &errOut}, Build{})
			var got strings.Builder
			for l := range strings.Lines(out.String()) {
				got.WriteString(strings.Join(strings.Fields(l), " ") + "\n")
			}
			if code != want.code || errOut.String() != want.err || want.out != "" && got.String() != want.out {
				t.Errorf("exit code %d, stdout:\n%s\nstderr:\n%s", code, got.String(), errOut.String())
			}
			if strings.Contains(args, " bob") && !strings.Contains(out.String(), "bob") {
				t.Error("bob is missing")
			}
		})
	}
}
