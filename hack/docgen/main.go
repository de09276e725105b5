// Command docgen writes the reference of every command, from the commands themselves:
//
//	docgen markdown DIR            Markdown, as in docs/reference
//	docgen --check markdown DIR    writes nothing; fails if DIR is out of date
//	docgen man DIR                 man pages, for packages
//
// The same source gives the same bytes: the pages carry no date, and nothing of the
// machine that they are made on.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/cli"
)

func main() {
	check := flag.Bool("check", false, "write nothing; fail if a page is out of date")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: docgen [--check] markdown|man DIR")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() != 2 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(flag.Arg(0), flag.Arg(1), *check); err != nil {
		fmt.Fprintln(os.Stderr, "docgen:", err)
		os.Exit(1)
	}
}

func run(format, dir string, check bool) error {
	pages, err := pagesIn(format)
	if err != nil {
		return err
	}
	if check {
		return compare(dir, pages)
	}
	return write(dir, pages)
}

// pagesIn returns the pages of all commands by file name.
func pagesIn(format string) (map[string][]byte, error) {
	// Defaults of flags name the user's home directory.
	if err := os.Setenv("HOME", "$HOME"); err != nil {
		return nil, err
	}
	root := cli.NewCommand(genericiooptions.NewTestIOStreamsDiscard(), cli.Build{})
	err := eachCommand(root, func(cmd *cobra.Command) error {
		cmd.DisableAutoGenTag = true // it has the date
		cmd.Long, cmd.Example = outdent(cmd.Long, " "), outdent(cmd.Example, "  ")
		return nil
	})
	if err != nil {
		return nil, err
	}
	pages := map[string][]byte{}
	switch format {
	case "markdown":
		err = eachCommand(root, func(cmd *cobra.Command) error { return addMarkdown(pages, cmd) })
	case "man":
		err = eachCommand(root, func(cmd *cobra.Command) error { return addMan(pages, cmd) })
	default:
		err = fmt.Errorf("%q is not a format: markdown or man", format)
	}
	return pages, err
}

// eachCommand calls f for a command and all below it that help shows.
func eachCommand(cmd *cobra.Command, f func(*cobra.Command) error) error {
	if err := f(cmd); err != nil {
		return err
	}
	for _, c := range cmd.Commands() {
		if !c.IsAvailableCommand() {
			continue
		}
		if err := eachCommand(c, f); err != nil {
			return err
		}
	}
	return nil
}

// addMarkdown adds the page of one command. The flags that every command takes stand
// on the page of the first, and the others link to it.
func addMarkdown(pages map[string][]byte, cmd *cobra.Command) error {
	page := func(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "_") + ".md" }
	cmd.InheritedFlags().VisitAll(func(f *pflag.Flag) { f.Hidden = true })

	var b bytes.Buffer
	if err := doc.GenMarkdown(cmd, &b); err != nil {
		return err
	}
	if len(cmd.Aliases) > 0 {
		fmt.Fprintf(&b, "Also called `%s`.\n\n", strings.Join(cmd.Aliases, "`, `"))
	}
	if cmd.HasParent() {
		fmt.Fprintf(&b, "Every command also takes the [options of %s](%s#options).\n", cmd.Root().CommandPath(), page(cmd.Root()))
	}
	pages[page(cmd)] = append(bytes.TrimRight(b.Bytes(), "\n"), '\n')
	return nil
}

// outdent takes away the indentation that kubectl's templates give a text for --help.
func outdent(s, indentation string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimPrefix(line, indentation)
	}
	return strings.Join(lines, "\n")
}

// addMan adds the man page of one command.
func addMan(pages map[string][]byte, cmd *cobra.Command) error {
	var b bytes.Buffer
	date := time.Time{}
	header := &doc.GenManHeader{Section: "1", Source: "kubectl-workspace", Manual: "User Commands", Date: &date}
	if err := doc.GenMan(cmd, header, &b); err != nil {
		return err
	}
	name := strings.ReplaceAll(cmd.CommandPath(), " ", "-") + ".1"
	// The library cannot be told to leave the date out.
	pages[name] = bytes.Replace(b.Bytes(), []byte(date.Format("Jan 2006")), nil, 1)
	return nil
}

// write makes dir hold the pages. Pages of commands that are no more are removed.
func write(dir string, pages map[string][]byte) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	left, err := leftOver(dir, pages)
	if err != nil {
		return err
	}
	for _, file := range left {
		if err := os.Remove(file); err != nil {
			return err
		}
	}
	for name, page := range pages {
		if err := os.WriteFile(filepath.Join(dir, name), page, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// compare tells how dir differs from the pages.
func compare(dir string, pages map[string][]byte) error {
	var problems []error
	for _, name := range slices.Sorted(maps.Keys(pages)) {
		file := filepath.Join(dir, name)
		present, err := os.ReadFile(file)
		switch {
		case err != nil:
			problems = append(problems, err)
		case !bytes.Equal(present, pages[name]):
			problems = append(problems, fmt.Errorf("%s is out of date", file))
		}
	}
	left, err := leftOver(dir, pages)
	for _, file := range left {
		problems = append(problems, fmt.Errorf("%s is of no command", file))
	}
	if problems = append(problems, err); errors.Join(problems...) != nil {
		return fmt.Errorf("run make generate:\n%w", errors.Join(problems...))
	}
	return nil
}

// leftOver are the files in dir that look like pages and are none.
func leftOver(dir string, pages map[string][]byte) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(dir, "kubectl*workspace*"))
	return slices.DeleteFunc(files, func(file string) bool { return pages[filepath.Base(file)] != nil }), err
}
