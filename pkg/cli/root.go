package cli

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/kubectl/pkg/util/templates"
)

// NewCommand returns the command kubectl-workspace with all below it. Run executes it;
// tools look at it.
func NewCommand(streams genericiooptions.IOStreams, build Build) *cobra.Command {
	f := newFactory(streams, build)
	root := &cobra.Command{
		Use:   build.program(),
		Short: "Work with Kubeflow Notebooks Workspaces",
		Long: templates.LongDesc(`
			Work with Kubeflow Notebooks Workspaces.

			Attach Secrets to a Workspace, and find out why one does not run.`),
		Annotations:       map[string]string{cobra.CommandDisplayNameAnnotation: build.call()},
		SilenceErrors:     true,
		SilenceUsage:      true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	root.SetOut(streams.Out)
	root.SetErr(streams.ErrOut)
	root.SetIn(streams.In)

	groups := templates.CommandGroups{
		{Message: "See What Is Going On:", Commands: []*cobra.Command{newDescribe(f), newList(f), newWait(f), newSnapshot(f)}},
		{Message: "Attach Credentials:", Commands: []*cobra.Command{newSecrets(f)}},
		{Message: "Stand In For the Controller:", Commands: []*cobra.Command{newReconcile(f)}},
	}
	groups.Add(root)
	root.AddCommand(newVersion(f), newCompletion(f), newOptions())
	f.addGlobalFlags(root.PersistentFlags())
	templates.ActsAsRootCommand(root, []string{"options"}, groups...)
	root.SetFlagErrorFunc(flagError)
	root.SetHelpCommand(newHelp())
	asGroup(root)
	callByDisplayName(root, build)
	build.nameHelp(root)
	addCompletions(f, root)
	return root
}

// callByDisplayName corrects the one line of kubectl's usage template that shows the
// binary's name. Cobra's annotation reaches CommandPath, which the other lines use.
func callByDisplayName(root *cobra.Command, build Build) {
	usage := root.UsageFunc()
	root.SetUsageFunc(func(cmd *cobra.Command) error {
		out := cmd.OutOrStderr()
		var b bytes.Buffer
		cmd.SetOut(&b)
		cmd.SetErr(&b)
		err := usage(cmd)
		cmd.SetOut(out)
		cmd.SetErr(out)
		if err != nil {
			return err
		}
		_, err = io.WriteString(out, strings.ReplaceAll(b.String(), `"`+root.Name()+" ", `"`+build.call()+" "))
		return err
	})
}

// newOptions lists the flags that every command takes, as kubectl options does, so
// that the help of a command shows only what is its own.
func newOptions() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "options",
		Short: "List the flags that every command takes",
		Args:  noArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Usage() },
	}
	templates.UseOptionsTemplates(cmd)
	// kubectl's own template for the help of this command is empty.
	cmd.SetHelpFunc(func(cmd *cobra.Command, _ []string) { _ = cmd.Usage() })
	return cmd
}

// newHelp shows the help of a command. Cobra's own shows that of the parent where there is
// no such command, as if nothing were wrong.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:                   "help [COMMAND...]",
		DisableFlagsInUseLine: true,
		Hidden:                true,
		Short:                 "Show the help of a command",
		RunE: func(cmd *cobra.Command, args []string) error {
			of, rest, err := cmd.Root().Find(args)
			switch {
			case err != nil:
				return err
			case len(rest) > 0:
				return unknownCommand(of, rest[0])
			}
			of.InitDefaultHelpFlag()
			return of.Help()
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
			var names []string
			if of, _, err := cmd.Root().Find(args); err == nil {
				for _, c := range of.Commands() {
					if c.IsAvailableCommand() && strings.HasPrefix(c.Name(), typed) {
						names = append(names, c.Name())
					}
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
	}
}

// asGroup makes a command that only holds others: alone it shows its help, and a
// subcommand that does not exist is an error. Cobra would show the help and exit 0.
func asGroup(cmd *cobra.Command) {
	cmd.Args = cobra.ArbitraryArgs
	cmd.SuggestionsMinimumDistance = 2
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return cmd.Help()
		}
		return unknownCommand(cmd, args[0])
	}
}

func unknownCommand(parent *cobra.Command, name string) error {
	message := fmt.Sprintf("unknown command %q for %q", name, parent.CommandPath())
	if near := parent.SuggestionsFor(name); len(near) > 0 {
		message += fmt.Sprintf("; did you mean %q?", strings.Join(near, `" or "`))
	}
	return usageError(parent, "%s", message)
}
