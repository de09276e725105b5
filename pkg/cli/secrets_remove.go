package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/cluster"
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
		Use:                   "remove (WORKSPACE | -l SELECTOR | -f FILE --local) [SECRET...] [--mount-path=PATH]... [--all] [--ignore-not-found] [--wait] [--restart] [--dry-run=none|client|server]",
		Aliases:               []string{"rm"},
		SuggestFor:            []string{"delete", "unmount", "umount", "detach"},
		DisableFlagsInUseLine: true,
		Short:                 "Take mounted Secrets away from a Workspace",
		Long: templates.LongDesc(`
			Take mounted Secrets away from a Workspace: by Secret, by path, or all of them.

			The Secrets themselves stay as they are. The Pod of a running Workspace restarts.
			One that has never become ready does not, unless --restart deletes it: its
			StatefulSet waits for it.`),
		Example: templates.Examples(`
			# Take away the Secret minio-creds
			kubectl workspace secrets remove alice-notebook minio-creds

			# Take away what is mounted at a path
			kubectl workspace secrets remove alice-notebook --mount-path=/secrets/minio-creds

			# Take away a Secret at each path at which it is mounted
			kubectl workspace secrets remove alice-notebook minio-creds --all

			# Take away the Secret that keeps a notebook from starting, and wait until it runs
			kubectl workspace secrets remove alice-notebook mino-creds --restart --wait

			# Take it away from the notebooks of a team, wherever it is mounted
			kubectl workspace secrets remove -l team=research minio-creds --all --ignore-not-found

			# Take away all Secrets
			kubectl workspace secrets remove alice-notebook --all --yes`),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.complete(cmd, args); err != nil {
				return err
			}
			if o.local {
				return o.runLocal(func(workspace map[string]any) (secretmount.Edit, error) { return o.plan(workspace, false) })
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
	args, err := o.writeOptions.complete(cmd, args)
	if err != nil {
		return err
	}
	s := &o.selection
	s.Secrets = args
	for _, name := range s.Secrets {
		if secret, path, ok := strings.Cut(name, "="); ok {
			return usageError(cmd, "%q: give the path of a mount with --mount-path, as in %s --mount-path=%s", name, secret, path)
		}
		if err := secretmount.CheckSecretName(name); err != nil {
			return usageError(cmd, "%w", err)
		}
	}
	for i, p := range s.Paths {
		if s.Paths[i], err = removalPath(p); err != nil {
			return usageError(cmd, "--mount-path: %w", err)
		}
	}
	switch {
	case len(s.Secrets) == 0 && len(s.Paths) == 0 && !s.All:
		return usageError(cmd, "say what to remove: SECRET, --mount-path=PATH or --all")
	case len(s.Paths) > 0 && s.All:
		return usageError(cmd, "--mount-path is one mount and --all is every one: give one of them")
	}
	return nil
}

// removalPath checks a path only as far as none that is mounted can be refused: what
// was written by others may be odd, and must be removable all the same.
func removalPath(p string) (string, error) {
	if strings.HasPrefix(p, "/") {
		return p, nil
	}
	return secretmount.ParsePath(p)
}

func (o *secretsRemoveOptions) plan(workspace map[string]any, again bool) (secretmount.Edit, error) {
	s := o.selection
	s.IgnoreNotFound = s.IgnoreNotFound || again
	return secretmount.Remove(workspace, s)
}

func (o *secretsRemoveOptions) run(ctx context.Context) error {
	if err := o.connect(); err != nil {
		return err
	}
	var (
		changes []*change
		err     error
		pods    podsOf
	)
	cluster.Parallel(2, func(i int) {
		switch i {
		case 0:
			changes, err = o.readWorkspaces(ctx)
		case 1:
			pods = o.readPods(ctx)
		}
	})
	if err != nil {
		return err
	}
	planned := make([]secretmount.Edit, len(changes))
	for i, c := range changes {
		c.plan = o.plan
		planned[i], c.err = c.plan(c.first.Object, false)
	}
	if err := o.confirm(ctx, changes, planned); err != nil {
		return err
	}
	o.carryOut(ctx, changes)
	return o.finish(ctx, changes, pods)
}

// confirm asks before everything is taken away, unless nothing is written anyway.
func (o *secretsRemoveOptions) confirm(ctx context.Context, changes []*change, planned []secretmount.Edit) error {
	changed := slices.ContainsFunc(planned, secretmount.Edit.Changed)
	if !o.selection.All || len(o.selection.Secrets) > 0 || o.yes || o.dryRun.value != dryRunNone || !changed {
		return nil
	}
	if !isTerminal(o.In) {
		whose := "the Workspace"
		if o.several() {
			whose = count(len(changes), "Workspace")
		}
		return fmt.Errorf("--all takes away every Secret of %s: add --yes to confirm", whose)
	}
	for i, c := range changes {
		if !planned[i].Changed() {
			continue
		}
		fmt.Fprintf(o.ErrOut, "Workspace %s loses these Secrets:\n", c.name)
		for _, r := range planned[i].Results {
			fmt.Fprintf(o.ErrOut, "  %s\n", render.SafeLine(r.SecretName+" at "+r.MountPath))
		}
	}
	fmt.Fprint(o.ErrOut, "Take them away? [y/N] ")
	yes, err := readYes(ctx, o.In)
	switch {
	case err != nil:
		fmt.Fprintln(o.ErrOut) // the cursor is still behind the question
		return err
	case !yes:
		return errors.New("nothing was changed")
	}
	return nil
}

// readYes reads whether the answer to a question is yes. Anything else is no, an end of
// the input included. It ends with ctx, although a read from a terminal does not.
func readYes(ctx context.Context, in io.Reader) (bool, error) {
	type line struct {
		text string
		err  error
	}
	lines := make(chan line, 1)
	go func() {
		text, err := bufio.NewReader(in).ReadString('\n')
		lines <- line{text, err}
	}()
	select {
	case <-ctx.Done():
		return false, fmt.Errorf("no answer: %w", ctx.Err())
	case l := <-lines:
		switch {
		case errors.Is(l.err, io.EOF):
			return false, errors.New("nothing was changed")
		case l.err != nil:
			return false, fmt.Errorf("cannot read the answer: %w", l.err)
		}
		answer := strings.ToLower(strings.TrimSpace(l.text))
		return answer == "y" || answer == "yes", nil
	}
}

func isTerminal(in io.Reader) bool {
	f, ok := in.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
