package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/cluster"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/diagnose"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/diagnose/causes"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/render"
)

type describeOptions struct {
	*factory
	names    []string
	output   choice
	exitCode bool
}

func newDescribe(f *factory) *cobra.Command {
	o := &describeOptions{factory: f, output: newChoice("", "json", "yaml")}
	cmd := &cobra.Command{
		Use:                   "describe WORKSPACE... [-o json|yaml]",
		DisableFlagsInUseLine: true,
		Aliases:               []string{"why", "explain"},
		Short:                 "Explain why a Workspace does or does not run",
		Long: templates.LongDesc(`
			Explain why a Workspace does or does not run.

			Looks at the Workspace, its StatefulSet, its Pod, their Events and everything
			the Pod needs, names the cause, and says what to do about it. What you may not
			read is listed as "could not check" and never taken for missing. Secrets are
			read as metadata only.

			With --exit-code the exit code is 0 if every Workspace runs or is paused, 1 if
			something keeps one from running, and 2 if that could not be found out.`),
		Example: templates.Examples(`
			# Why does my notebook not start?
			kubectl workspace describe alice-notebook

			# The same for a script
			kubectl workspace describe alice-notebook -o json

			# From the files of a bug report, without a cluster
			kubectl workspace describe alice-notebook --snapshot report.yaml`),
		RunE: func(cmd *cobra.Command, args []string) error {
			err := o.run(cmd, args)
			var exit *exitError
			if err != nil && o.exitCode && !errors.As(err, &exit) {
				return &exitError{exitUsage, err}
			}
			return err
		},
	}
	cmd.Flags().VarP(&o.output, "output", "o", "Output format: json or yaml. Default is text for people.")
	cmd.Flags().BoolVar(&o.exitCode, "exit-code", false, "Exit with 1 if something keeps a Workspace from running, and with 2 on errors.")
	return cmd
}

func (o *describeOptions) run(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return usageError(cmd, "describe needs the name of a Workspace")
	}
	for _, arg := range args {
		name, err := workspaceArg(arg)
		if err != nil {
			return usageError(cmd, "%w", err)
		}
		o.names = append(o.names, name)
	}
	s, err := o.open()
	if err != nil {
		return err
	}
	ctx := cmd.Context()
	found := make([]diagnose.Diagnosis, 0, len(o.names))
	var failed []error
	for _, name := range o.names {
		d, err := s.diagnose(ctx, name)
		if err != nil {
			failed = append(failed, err)
			continue
		}
		found = append(found, d)
	}
	if len(found) > 0 {
		if err := o.print(found); err != nil {
			return err
		}
	}
	if len(failed) > 0 {
		return errors.Join(failed...)
	}
	if o.exitCode && !healthy(found) {
		return &exitError{code: exitFailed}
	}
	return nil
}

// diagnose reads and explains one Workspace.
func (s *session) diagnose(ctx context.Context, name string) (diagnose.Diagnosis, error) {
	f, err := cluster.Gather(ctx, s, s.namespace, name)
	if err != nil {
		return diagnose.Diagnosis{}, s.explain(err)
	}
	return causes.Diagnose(f), nil
}

func (o *describeOptions) print(found []diagnose.Diagnosis) error {
	var document any = found[0]
	if len(o.names) > 1 {
		document = diagnose.NewList(found)
	}
	switch o.output.value {
	case "json":
		return printJSON(o.Out, document)
	case "yaml":
		return printYAML(o.Out, document)
	}
	painter := o.painter(o.Out)
	for i, d := range found {
		if i > 0 {
			fmt.Fprintln(o.Out)
		}
		if err := render.Diagnosis(o.Out, d, painter); err != nil {
			return err
		}
	}
	return nil
}

func healthy(found []diagnose.Diagnosis) bool {
	for _, d := range found {
		if d.State != diagnose.StateRunning && d.State != diagnose.StatePaused {
			return false
		}
	}
	return true
}
