package cli

import (
	"context"

	"al.essio.dev/pkg/shellescape"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/api/v1beta1"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/cluster"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/facts"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/secretmount"
)

// maxSecretGets keeps an add within six requests: the Workspace, its kind, the patch,
// and these.
const maxSecretGets = 3

type secretsAddOptions struct {
	writeOptions
	mountPath   string
	defaultMode string
	overwrite   bool

	mounts []secretmount.Mount
}

func newSecretsAdd(f *factory) *cobra.Command {
	o := &secretsAddOptions{writeOptions: newWriteOptions(f)}
	cmd := &cobra.Command{
		Use:                   "add WORKSPACE SECRET[=PATH[:MODE]]... [--mount-path=PATH] [--default-mode=MODE] [--overwrite] [--dry-run=none|client|server]",
		DisableFlagsInUseLine: true,
		Short:                 "Mount Secrets into a Workspace",
		Long: templates.LongDesc(`
			Mount Secrets into a Workspace, each as a directory with one file per key.

			Without PATH a Secret is mounted at /secrets/SECRET. MODE is the mode of the
			files, in octal as for chmod; 0644 if not given. Several Secrets are mounted
			together or, if one cannot be, not at all.

			A Secret need not exist yet, but the Pod does not start before it does. The Pod of a
			running Workspace restarts.`),
		Example: templates.Examples(`
			# Mount the Secret minio-creds at /secrets/minio-creds
			kubectl workspace secrets add alice-notebook minio-creds

			# Mount it where a tool expects it, readable by the owner only
			kubectl workspace secrets add alice-notebook minio-creds --mount-path=/home/jovyan/.minio --default-mode=0400

			# Mount two Secrets at once
			kubectl workspace secrets add alice-notebook minio-creds=/creds/minio:0400 git-token=/creds/git

			# Put another Secret where one is mounted
			kubectl workspace secrets add alice-notebook minio-creds-2=/secrets/minio-creds --overwrite

			# Show the Workspace as it would become, without changing it
			kubectl workspace secrets add alice-notebook minio-creds --dry-run=client -o yaml`),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.complete(cmd, args); err != nil {
				return err
			}
			return o.run(cmd.Context())
		},
	}
	cmd.Flags().StringVar(&o.mountPath, "mount-path", "", "Absolute path of the directory in the container; for one SECRET. Default: /secrets/SECRET.")
	cmd.Flags().StringVar(&o.defaultMode, "default-mode", "", "Mode of the files, octal, for each SECRET without a MODE of its own. Default: 0644.")
	cmd.Flags().BoolVar(&o.overwrite, "overwrite", false, "Replace what is mounted at the path, if it is a Secret.")
	o.addFlags(cmd)
	return cmd
}

func (o *secretsAddOptions) complete(cmd *cobra.Command, args []string) error {
	if len(args) == 1 {
		return usageError(cmd, "the name of a Secret is missing")
	}
	for _, arg := range args[min(1, len(args)):] {
		m, err := secretmount.Parse(arg)
		if err != nil {
			return usageError(cmd, "%w", err)
		}
		o.mounts = append(o.mounts, m)
	}
	if cmd.Flags().Changed("mount-path") {
		if len(o.mounts) > 1 {
			return usageError(cmd, "--mount-path goes with one SECRET; give several as SECRET=PATH")
		}
		if len(o.mounts) == 1 && args[1] != o.mounts[0].SecretName {
			return usageError(cmd, "%q has a path; leave out --mount-path", args[1])
		}
		p, err := secretmount.ParsePath(o.mountPath)
		if err != nil {
			return usageError(cmd, "--mount-path: %w", err)
		}
		for i := range o.mounts {
			o.mounts[i].MountPath = p
		}
	}
	if cmd.Flags().Changed("default-mode") {
		mode, err := secretmount.ParseMode(o.defaultMode)
		if err != nil {
			return usageError(cmd, "--default-mode: %w", err)
		}
		for i := range o.mounts {
			if o.mounts[i].DefaultMode == nil {
				o.mounts[i].DefaultMode = &mode
			}
		}
	}
	return o.writeOptions.complete(cmd, args)
}

func (o *secretsAddOptions) run(ctx context.Context) error {
	var (
		first    *unstructured.Unstructured
		firstErr error
		names    = secretNames(o.mounts)
		secrets  map[string]secretmount.SecretAnswer
	)
	cluster.Parallel(2, func(i int) {
		switch i {
		case 0:
			first, firstErr = o.readFirst(ctx)
		case 1:
			secrets = o.session.readSecrets(ctx, o.session.namespace, names, maxSecretGets)
		}
	})
	if firstErr != nil {
		return firstErr
	}
	kind := o.readKind(ctx, first)
	if err := ctx.Err(); err != nil {
		return err
	}

	plan := func(workspace map[string]any, _ bool) (secretmount.Edit, error) {
		return secretmount.Add(workspace, kind, o.mounts, o.overwrite)
	}
	// A plan that fails needs no remarks on Secrets, and nothing is sent for it.
	if _, err := plan(first.Object, false); err != nil {
		return err
	}
	for _, name := range names {
		o.noteSecret(name, secrets[name])
	}
	u, edit, err := o.write(ctx, first, plan)
	if err != nil {
		return err
	}
	for _, w := range edit.Warnings {
		o.note("Warning: %s", w)
	}
	if err := o.report(u, edit); err != nil {
		return err
	}
	o.noteEffect(u, edit)
	return nil
}

// readKind reads the WorkspaceKind, for the paths that it mounts. Ordinary users often
// may not; the mounts are then not compared with them.
func (o *secretsAddOptions) readKind(ctx context.Context, workspace *unstructured.Unstructured) map[string]any {
	name, _, _ := unstructured.NestedString(workspace.Object, "spec", "kind")
	if name == "" {
		return nil
	}
	kind := cluster.AnswerOf(o.session.Get(ctx, cluster.WorkspaceKinds, "", name))
	switch kind.Status {
	case facts.Found:
		return kind.Value.Object
	case facts.Unknown:
		o.note("Note: could not check whether WorkspaceKind %q mounts something at the same path: %s", name, kind.Detail)
	}
	return nil
}

// noteSecret remarks on a Secret that will not work as it is. It is never a reason to
// refuse: Secrets are often made after what uses them.
func (o *secretsAddOptions) noteSecret(name string, a secretmount.SecretAnswer) {
	namespace := o.session.namespace
	switch {
	case a.IsAbsent():
		o.note("Warning: Secret %q does not exist in namespace %q: the Pod does not start until it does", name, namespace)
	case !a.IsFound():
		o.note("Note: could not check whether Secret %q exists: %s", name, a.Detail)
	case !secretmount.CanMount(a.Value):
		command := []string{"kubectl", "label", "secret", name, "-n", namespace, v1beta1.LabelCanMount + "=" + v1beta1.LabelValueTrue}
		if _, other := a.Value.GetLabels()[v1beta1.LabelCanMount]; other {
			command = append(command, "--overwrite")
		}
		o.note("Warning: Secret %q is not labelled for mounting: the web UI refuses to edit the Workspace until you run\n  %s",
			name, shellescape.QuoteCommand(command))
	}
}

func secretNames(mounts []secretmount.Mount) []string {
	var names []string
	seen := map[string]bool{}
	for _, m := range mounts {
		if !seen[m.SecretName] {
			seen[m.SecretName] = true
			names = append(names, m.SecretName)
		}
	}
	return names
}
