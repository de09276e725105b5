package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/render"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/secretmount"
)

type secretsRemoveOptions struct {
	writeOptions
	selection secretmount.Selection
	yes       bool
}

func newSecretsRemove(f *factory) *cobra.Command {
	o := &secretsRemoveOptions{writeOptions: newWriteOptions(f)}
	cmd := &cobra.Command{
		Use:                   "remove WORKSPACE [SECRET...] [--mount-path=PATH]... [--all] [--ignore-not-found] [--dry-run=none|client|server]",
		Aliases:               []string{"rm"},
		DisableFlagsInUseLine: true,
		Short:                 "Take mounted Secrets away from a Workspace",
		Long: templates.LongDesc(`
			Take mounted Secrets away from a Workspace: by Secret, by path, or all of them.

			The Secrets themselves stay as they are. The Pod of a running Workspace restarts.`),
		Example: templates.Examples(`
			# Take away the Secret minio-creds
			kubectl workspace secrets remove alice-notebook minio-creds

			# Take away what is mounted at a path
			kubectl workspace secrets remove alice-notebook --mount-path=/secrets/minio-creds

			# Take away a Secret at each path at which it is mounted
			kubectl workspace secrets remove alice-notebook minio-creds --all

			# Take away all Secrets
			kubectl workspace secrets remove alice-notebook --all --yes`),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.complete(cmd, args); err != nil {
				return err
			}
			return o.run(cmd.Context())
		},
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&o.selection.Paths, "mount-path", nil, "Take away what is mounted at this path; may be given several times.")
	flags.BoolVar(&o.selection.All, "all", false, "Take away each mount of SECRET or, without SECRET, of any Secret.")
	flags.BoolVar(&o.selection.IgnoreNotFound, "ignore-not-found", false, "Do not fail if something is not mounted.")
	flags.BoolVarP(&o.yes, "yes", "y", false, "Do not ask before taking away all Secrets.")
	o.addFlags(cmd)
	return cmd
}

func (o *secretsRemoveOptions) complete(cmd *cobra.Command, args []string) error {
	s := &o.selection
	s.Secrets = args[min(1, len(args)):]
	for _, name := range s.Secrets {
		if secret, _, ok := strings.Cut(name, "="); ok {
			return usageError(cmd, "%q: give the path of a mount with --mount-path, as in %s --mount-path=PATH", name, secret)
		}
		if err := secretmount.CheckSecretName(name); err != nil {
			return usageError(cmd, "%w", err)
		}
	}
	switch {
	case len(args) == 0:
		// Reported below.
	case len(s.Secrets) == 0 && len(s.Paths) == 0 && !s.All:
		return usageError(cmd, "say what to remove: SECRET, --mount-path=PATH or --all")
	case len(s.Paths) > 0 && s.All:
		return usageError(cmd, "--mount-path and --all exclude each other")
	}
	return o.writeOptions.complete(cmd, args)
}

func (o *secretsRemoveOptions) run(ctx context.Context) error {
	first, err := o.readFirst(ctx)
	if err != nil {
		return err
	}
	plan := func(workspace map[string]any, again bool) (secretmount.Edit, error) {
		s := o.selection
		s.IgnoreNotFound = s.IgnoreNotFound || again
		return secretmount.Remove(workspace, s)
	}
	planned, err := plan(first.Object, false)
	if err != nil {
		return err
	}
	if err := o.confirm(planned); err != nil {
		return err
	}
	u, edit, err := o.write(ctx, first, plan)
	if err != nil {
		return err
	}
	if err := o.report(u, edit); err != nil {
		return err
	}
	o.noteEffect(u, edit)
	return nil
}

// confirm asks before everything is taken away, unless nothing is written anyway.
func (o *secretsRemoveOptions) confirm(planned secretmount.Edit) error {
	if !o.selection.All || len(o.selection.Secrets) > 0 || o.yes || o.dryRun.value != dryRunNone || !planned.Changed() {
		return nil
	}
	if !isTerminal(o.In) {
		return errors.New("--all takes away every Secret of the Workspace: add --yes to confirm")
	}
	fmt.Fprintf(o.ErrOut, "Workspace %s loses these Secrets:\n", o.workspace)
	for _, r := range planned.Results {
		fmt.Fprintf(o.ErrOut, "  %s\n", render.SafeLine(r.SecretName+" at "+r.MountPath))
	}
	fmt.Fprint(o.ErrOut, "Take them away? [y/N] ")
	answer, err := bufio.NewReader(o.In).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("cannot read the answer: %w", err)
	}
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return nil
	}
	return errors.New("nothing was changed")
}

func isTerminal(in io.Reader) bool {
	f, ok := in.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
