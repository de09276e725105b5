// Command docgen writes the reference, from the commands and the Go types themselves. It
// runs in the root of the repository:
//
//	docgen markdown DIR    a page for every command, as in docs/reference
//	docgen man DIR         the same as man pages, for packages
//	docgen schemas DIR     JSON Schemas of what the commands print, as in docs/schemas
//
// With --check it writes nothing and fails if DIR is out of date. The same source gives
// the same bytes: the files carry no date, and nothing of the machine that they are made
// on.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/cli"
)

func main() {
	check := flag.Bool("check", false, "write nothing; fail if a file is out of date")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: docgen [--check] markdown|man|schemas DIR")
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
	var made pages
	var err error
	switch format {
	case "markdown":
		made, err = commandPages(".md", addMarkdown)
	case "man":
		made, err = commandPages(".1", addMan)
	case "schemas":
		made, err = schemaPages()
	default:
		return fmt.Errorf("%q is not a format: markdown, man or schemas", format)
	}
	switch {
	case err != nil:
		return err
	case check:
		return made.compare(dir)
	}
	return made.write(dir)
}

// commandPages makes a page for every command.
func commandPages(extension string, add func(pages, *cobra.Command) error) (pages, error) {
	// The default of --cache-dir follows from these.
	if err := errors.Join(os.Unsetenv("KUBECACHEDIR"), os.Setenv("HOME", "$HOME")); err != nil {
		return pages{}, err
	}
	root := cli.NewCommand(genericiooptions.NewTestIOStreamsDiscard(), cli.Build{})
	err := eachCommand(root, func(cmd *cobra.Command) error {
		cmd.DisableAutoGenTag = true // it has the date
		cmd.Long, cmd.Example = outdent(cmd.Long, " "), outdent(cmd.Example, "  ")
		return nil
	})
	if err != nil {
		return pages{}, err
	}
	made := pages{extension: extension, text: map[string][]byte{}}
	return made, eachCommand(root, func(cmd *cobra.Command) error { return add(made, cmd) })
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
func addMarkdown(made pages, cmd *cobra.Command) error {
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
	made.text[page(cmd)] = append(bytes.TrimRight(b.Bytes(), "\n"), '\n')
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
func addMan(made pages, cmd *cobra.Command) error {
	var b bytes.Buffer
	date := time.Time{}
	header := &doc.GenManHeader{Section: "1", Source: "kubectl-workspace", Manual: "User Commands", Date: &date}
	if err := doc.GenMan(cmd, header, &b); err != nil {
		return err
	}
	name := strings.ReplaceAll(cmd.CommandPath(), " ", "-") + ".1"
	// The library cannot be told to leave the date out.
	made.text[name] = bytes.Replace(b.Bytes(), []byte(date.Format("Jan 2006")), nil, 1)
	return nil
}
