package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/cluster"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/diagnose"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/diagnose/causes"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/facts"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/render"
)

type describeOptions struct {
	*factory
	workspaceSelection
	output   choice
	exitCode bool
	watching bool

	session *session
}

func newDescribe(f *factory) *cobra.Command {
	o := &describeOptions{factory: f, output: newChoice("", "json", "yaml")}
	cmd := &cobra.Command{
		Use:                   "describe [WORKSPACE...] [-A] [-l SELECTOR] [-w] [-o json|yaml]",
		DisableFlagsInUseLine: true,
		Aliases:               []string{"why", "explain"},
		Short:                 "Explain why a Workspace does or does not run",
		Long: templates.LongDesc(`
			Explain why a Workspace does or does not run.

			Looks at the Workspace, its StatefulSet, its Pod, their Events and everything
			the Pod needs, names the cause, and says what to do about it. What you may not
			read is listed as "could not check" and never taken for missing. Secrets are
			read as metadata only.

			Without a name it explains every Workspace that neither runs nor is paused, the
			worst first.

			With --exit-code the exit code is 0 if every Workspace runs or is paused, 1 if
			something keeps one from running, and 2 if that could not be found out.`),
		Example: templates.Examples(`
			# Why does my notebook not start?
			kubectl workspace describe alice-notebook

			# Follow it until it runs
			kubectl workspace describe alice-notebook -w

			# What is wrong in the whole cluster?
			kubectl workspace describe -A

			# For a script
			kubectl workspace describe alice-notebook -o json

			# From the files of a bug report, without a cluster
			kubectl workspace describe alice-notebook --snapshot report.yaml`),
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd, args) },
	}
	o.addFlags(cmd)
	cmd.Flags().VarP(&o.output, "output", "o", "Output format: json or yaml. Default is text for people.")
	cmd.Flags().BoolVar(&o.exitCode, "exit-code", false, "Exit with 1 if something keeps a Workspace from running, and with 2 on errors.")
	cmd.Flags().BoolVarP(&o.watching, "watch", "w", false, "Look again every two seconds: redraw on a terminal, else print a line for each change.")
	return cmd
}

func (o *describeOptions) run(cmd *cobra.Command, args []string) error {
	if err := o.complete(cmd, args); err != nil {
		return err
	}
	if o.watching && o.output.value != "" {
		return usageError(cmd, "--watch is for people to read: leave out -o %s", o.output.value)
	}
	var err error
	if o.session, err = o.open(); err != nil {
		return err
	}
	if o.watching {
		return o.watch(cmd.Context(), o.session, o.look, o.draw)
	}
	found, err := o.look(cmd.Context())
	if err != nil && len(found) == 0 {
		return err
	}
	if printErr := o.print(found); printErr != nil {
		return printErr
	}
	if err == nil && o.exitCode && len(unhealthy(found)) > 0 {
		return &exitError{code: exitFailed}
	}
	return err
}

// look explains the Workspaces that are asked for. Those that could be explained are
// returned even if others could not.
func (o *describeOptions) look(ctx context.Context) ([]diagnose.Diagnosis, error) {
	if len(o.names) == 0 {
		return o.session.diagnoseAll(ctx, o.workspaceSelection)
	}
	var found []diagnose.Diagnosis
	var failed []error
	for _, name := range o.names {
		d, err := o.session.diagnose(ctx, name)
		if err != nil {
			failed = append(failed, err)
			continue
		}
		found = append(found, d)
	}
	return found, errors.Join(failed...)
}

// diagnose reads and explains one Workspace.
func (s *session) diagnose(ctx context.Context, name string) (diagnose.Diagnosis, error) {
	f, err := cluster.Gather(ctx, s, s.namespace, name)
	if err != nil {
		return diagnose.Diagnosis{}, s.explain(err)
	}
	return s.explanation(f), nil
}

// explanation is what the catalogue makes of the facts.
func (s *session) explanation(f *facts.Facts) diagnose.Diagnosis {
	d := causes.Diagnose(f)
	for _, c := range d.Causes {
		s.build.nameFixes(c.Fixes)
	}
	for _, w := range d.Warnings {
		s.build.nameFixes(w.Fixes)
	}
	return d
}

func (o *describeOptions) print(found []diagnose.Diagnosis) error {
	var document any
	switch {
	case o.output.value == "":
		return o.draw(o.Out, found)
	case len(o.names) == 1:
		document = found[0]
	case len(o.names) == 0:
		document = diagnose.NewList(unhealthy(found))
	default:
		document = diagnose.NewList(found)
	}
	if o.output.value == "json" {
		return printJSON(o.Out, document)
	}
	return printYAML(o.Out, document)
}

// draw writes the explanations for people.
func (o *describeOptions) draw(out io.Writer, found []diagnose.Diagnosis) error {
	shown := found
	if len(o.names) == 0 {
		shown = unhealthy(found)
		if len(shown) == 0 {
			_, err := fmt.Fprintln(out, o.allIsWell(found))
			return err
		}
	}
	painter := o.painter(o.Out)
	for i, d := range shown {
		if i > 0 {
			fmt.Fprintln(out)
		}
		if err := render.Diagnosis(out, d, painter); err != nil {
			return err
		}
	}
	return nil
}

func (o *describeOptions) allIsWell(found []diagnose.Diagnosis) string {
	where := o.where(o.session)
	if len(found) == 0 {
		return fmt.Sprintf("There are no Workspaces in %s.", where)
	}
	running, warned := 0, 0
	for _, d := range found {
		if d.State == diagnose.StateRunning {
			running++
		}
		if len(d.Warnings) > 0 {
			warned++
		}
	}
	text := fmt.Sprintf("All is well in %s: %d running, %d paused.", where, running, len(found)-running)
	if warned > 0 {
		text += fmt.Sprintf(" %d with warnings: name them to read these.", warned)
	}
	return text
}

// unhealthy returns the Workspaces that neither run nor are paused, the worst first.
func unhealthy(found []diagnose.Diagnosis) []diagnose.Diagnosis {
	rank := []diagnose.State{diagnose.StateError, diagnose.StateUnknown, diagnose.StatePending, diagnose.StateTerminating}
	bad := []diagnose.Diagnosis{}
	for _, d := range found {
		if slices.Contains(rank, d.State) {
			bad = append(bad, d)
		}
	}
	slices.SortStableFunc(bad, func(a, b diagnose.Diagnosis) int {
		return cmp.Compare(slices.Index(rank, a.State), slices.Index(rank, b.State))
	})
	return bad
}
