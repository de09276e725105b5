// Package docs holds the tests of the documentation that need no control plane. The pages
// whose commands are followed step by step are played by the tests in test.
package docs

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/cli"
	"github.com/kubectl-workspace/kubectl-workspace/test/doctest"
)

func TestLinks(t *testing.T) {
	for _, page := range doctest.Pages(t) {
		for _, err := range page.DeadLinks() {
			t.Error(err)
		}
	}
}

// Every page is found by following links from the README.
func TestReachable(t *testing.T) {
	root := doctest.Root(t)
	reached := map[string]bool{}
	var follow func(file string)
	follow = func(file string) {
		if reached[file] {
			return
		}
		reached[file] = true
		if filepath.Ext(file) != ".md" {
			return
		}
		for _, link := range doctest.Open(t, file).Links() {
			path, _, _ := strings.Cut(link, "#")
			if path != "" && !strings.Contains(link, "://") {
				follow(filepath.Join(filepath.Dir(file), path))
			}
		}
	}
	follow(filepath.Join(root, "README.md"))
	for _, pattern := range []string{"docs/*.md", "docs/*.yaml", "docs/*/*.md", "docs/schemas/*.json"} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if !reached[file] {
				t.Errorf("no page that the README leads to links to %s", file)
			}
		}
	}
}

// Every command that a page shows is one that this program takes.
func TestCommands(t *testing.T) {
	checked := 0
	for _, page := range doctest.Pages(t) {
		if strings.Contains(page.File, "/docs/reference/") {
			continue // generated: its usage lines are no commands, and its examples are checked below
		}
		commands, err := page.Commands("kubectl", "workspace")
		if err != nil {
			t.Errorf("%v", err)
		}
		for _, c := range commands {
			args := c.Words[2:]
			if slices.Contains(args, "…") {
				continue
			}
			checked++
			if cmd, rest, err := newCommand().Find(args); c.Named && err == nil && len(rest) == 0 && !cmd.HasSubCommands() {
				continue // it names a command
			}
			if err := checkCommand(args); err != nil {
				t.Errorf("%s: kubectl workspace %s: %v", c.Where, strings.Join(args, " "), err)
			}
		}
	}
	if checked < 20 {
		t.Errorf("only %d commands were found: are they still recognised?", checked)
	}
}

// The same for the examples in --help.
func TestExamples(t *testing.T) {
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		commands, err := doctest.CommandsIn(cmd.Example, "kubectl", "workspace")
		if err != nil {
			t.Errorf("%s: %v", cmd.CommandPath(), err)
		}
		if cmd.Example != "" && len(commands) == 0 {
			t.Errorf("%s: no command among its examples", cmd.CommandPath())
		}
		for _, words := range commands {
			if err := checkCommand(words[2:]); err != nil {
				t.Errorf("%s: %s: %v", cmd.CommandPath(), strings.Join(words, " "), err)
			}
		}
		for _, child := range cmd.Commands() {
			visit(child)
		}
	}
	visit(newCommand())
}

func newCommand() *cobra.Command {
	return cli.NewCommand(genericiooptions.NewTestIOStreamsDiscard(), cli.Build{})
}

// checkCommand tells why the program would not take a command line: it is parsed, and then
// run towards a server that is not there, to which only a valid one gets.
func checkCommand(args []string) error {
	cmd, rest, err := newCommand().Find(args)
	if err != nil {
		return err
	}
	if err := cmd.ParseFlags(rest); err != nil {
		return err
	}
	if err := cmd.ValidateArgs(cmd.Flags().Args()); err != nil {
		return err
	}
	if cmd.Name() == "install" {
		return nil // it would install something
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	var stderr bytes.Buffer
	streams := genericiooptions.IOStreams{In: strings.NewReader(""), Out: &bytes.Buffer{}, ErrOut: &stderr}
	code := cli.Run(ctx, append(slices.Clone(args), "--server=http://127.0.0.1:1", "--kubeconfig=/dev/null"), streams, cli.Build{})
	if code != 0 && strings.Contains(stderr.String(), "--help' for usage") {
		return errors.New(stderr.String())
	}
	return nil
}

func TestCheckCommand(t *testing.T) {
	for line, valid := range map[string]bool{
		"list":                                true,
		"describe alice-notebook -o json":     true,
		"secrets add alice-notebook creds=/x": true,
		"completion install --dir /tmp":       true,
		"lists":                               false,
		"list --colour":                       false,
		"list alice-notebook":                 false,
		"describe -o xml":                     false,
		"secrets mount alice-notebook creds":  false,
		"secrets add alice-notebook":          false,
		"wait":                                false,
		"reconcile alice-notebook":            false, // without --once
		"completion install now":              false,
	} {
		if err := checkCommand(strings.Fields(line)); (err == nil) != valid {
			t.Errorf("kubectl workspace %s: %v", line, err)
		}
	}
}

// Every target that a page says to make is in the Makefile.
func TestMakeTargets(t *testing.T) {
	makefile, err := os.ReadFile(filepath.Join(doctest.Root(t), "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range doctest.Pages(t) {
		commands, err := page.Commands("make")
		if err != nil {
			t.Errorf("%v", err)
		}
		for _, c := range commands {
			for _, word := range c.Words[1:] {
				target := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(word) + `:`)
				if word != "…" && !strings.HasPrefix(word, "-") && !strings.Contains(word, "=") && !target.Match(makefile) {
					t.Errorf("%s: make %s: there is no such target", c.Where, word)
				}
			}
		}
	}
}
