package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/cluster"
)

func newSnapshot(f *factory) *cobra.Command {
	return &cobra.Command{
		Use:                   "snapshot [WORKSPACE...]",
		DisableFlagsInUseLine: true,
		Aliases:               []string{"dump"},
		Short:                 "Write what describe reads, for a bug report",
		Long: templates.LongDesc(`
			Write what describe reads about Workspaces as one YAML document, for somebody
			who has no access to your cluster. Without a name it is about all Workspaces
			of the namespace.

			Secrets and ConfigMaps are in it by name only. Values of environment variables
			are masked. What you may not read is listed as such. With --snapshot, every
			other command reads the document back and answers as it would have at the
			time.`),
		Example: templates.Examples(`
			# Write down the state of a notebook that does not start
			kubectl workspace snapshot alice-notebook > report.yaml

			# Read it, anywhere
			kubectl workspace describe alice-notebook --snapshot report.yaml`),
		RunE: func(cmd *cobra.Command, args []string) error {
			names, err := workspaceArgs(cmd, args)
			if err != nil {
				return err
			}
			return f.snapshot(cmd.Context(), names)
		},
	}
}

func (f *factory) snapshot(ctx context.Context, names []string) error {
	s, err := f.open()
	if err != nil {
		return err
	}
	recorder := cluster.NewRecorder(s.Reader)
	if len(names) == 0 {
		workspaces, err := recorder.List(ctx, cluster.Workspaces, cluster.ListOptions{Namespace: s.namespace})
		if err != nil {
			return s.listError(s.namespace, err)
		}
		for i := range workspaces {
			names = append(names, workspaces[i].GetName())
		}
		if len(names) == 0 {
			return fmt.Errorf("no Workspaces found in namespace %s", s.namespace)
		}
	}
	var failed []error
	for _, name := range names {
		// An absent Workspace makes no useful report; anything else that fails is part
		// of it.
		if _, err := cluster.Gather(ctx, recorder, s.namespace, name); err != nil {
			failed = append(failed, s.explain(err))
		}
	}
	if len(failed) > 0 {
		return errors.Join(failed...)
	}
	document := recorder.Snapshot()
	if s.live != nil {
		document.Server = s.live.ServerVersion()
	}
	return printYAML(f.Out, document)
}
