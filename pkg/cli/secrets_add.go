package cli

import (
	"context"
	"slices"

	"al.essio.dev/pkg/shellescape"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/api/v1beta1"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/cluster"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/facts"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/secretmount"
)

// maxSecretGets keeps an add within six requests: the Workspace, its kind, its
// Pods, the patch, and these.
const maxSecretGets = 2

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
		Use:                   "add (WORKSPACE | -l SELECTOR | --all | -f FILE --local) SECRET[=PATH[:MODE]]... [--mount-path=PATH] [--default-mode=MODE] [--overwrite] [--wait] [--restart] [--dry-run=none|client|server]",
		SuggestFor:            []string{"mount", "attach", "create"},
		DisableFlagsInUseLine: true,
		Short:                 "Mount Secrets into a Workspace",
		Long: templates.LongDesc(`
			Mount Secrets into a Workspace, each as a directory with one file per key.

			Without PATH a Secret is mounted at /secrets/SECRET. MODE is the mode of the
			files, in octal as for chmod; 0644 if not given. Several Secrets are mounted
			together or, if one cannot be, not at all.

			A Secret need not exist yet, but the Pod does not start before it does. The Pod of a
			running Workspace restarts. One that has never become ready does not, unless
			--restart deletes it: its StatefulSet waits for it.

			With -l or --all several Workspaces are changed, each on its own: one that cannot be
			does not keep the others from it, and makes the exit code 1. With -f and --local no
			server is asked: the Workspaces of the manifests, or of them those given as
			workspace/NAME, are changed, and the manifests printed as they were otherwise.`),
		Example: templates.Examples(`
			# Mount the Secret minio-creds at /secrets/minio-creds
			kubectl workspace secrets add alice-notebook minio-creds

			# Mount it where a tool expects it, readable by the owner only
			kubectl workspace secrets add alice-notebook minio-creds --mount-path=/home/jovyan/.minio --default-mode=0400

			# Mount two Secrets at once
			kubectl workspace secrets add alice-notebook minio-creds=/creds/minio:0400 git-token=/creds/git

			# Put another Secret where one is mounted
			kubectl workspace secrets add alice-notebook minio-creds-2=/secrets/minio-creds --overwrite

			# Correct a mistyped Secret that keeps the notebook from starting, and wait until it runs
			kubectl workspace secrets add alice-notebook minio-creds=/creds --overwrite --restart --wait

			# Mount a Secret into the notebooks of a team
			kubectl workspace secrets add -l team=research minio-creds

			# Change a manifest and apply it
			kubectl workspace secrets add -f alice.yaml --local minio-creds | kubectl apply -f -

			# Show the change, without making it
			kubectl workspace secrets add alice-notebook minio-creds --dry-run=server --diff

			# Show the Workspace as it would become, without changing it
			kubectl workspace secrets add alice-notebook minio-creds --dry-run=client -o yaml`),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.complete(cmd, args); err != nil {
				return err
			}
			if o.local {
				return o.runLocal(o.planLocal)
			}
			return o.run(cmd.Context())
		},
	}
	cmd.Flags().BoolVar(&o.all, "all", false, "Change every Workspace of the namespace, instead of WORKSPACE.")
	cmd.Flags().StringVar(&o.mountPath, "mount-path", "", "Absolute path of the directory in the container; for one SECRET. Default: /secrets/SECRET.")
	cmd.Flags().StringVar(&o.defaultMode, "default-mode", "", "Mode of the files, octal, for each SECRET without a MODE of its own. Default: 0644.")
	cmd.Flags().BoolVar(&o.overwrite, "overwrite", false, "Replace what is mounted at the path, if it is a Secret.")
	o.addFlags(cmd)
	return cmd
}

func (o *secretsAddOptions) complete(cmd *cobra.Command, args []string) error {
	args, err := o.writeOptions.complete(cmd, args)
	if err != nil {
		return err
	}
	if len(args) == 0 {
		return usageError(cmd, "the name of a Secret is missing: give SECRET or SECRET=PATH, such as minio-creds=/secrets/minio-creds")
	}
	for _, arg := range args {
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
		if args[0] != o.mounts[0].SecretName {
			return usageError(cmd, "%q has a path; leave out --mount-path", args[0])
		}
		if o.mounts[0].MountPath, err = secretmount.ParsePath(o.mountPath); err != nil {
			return usageError(cmd, "--mount-path: %w", err)
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
	return nil
}

func (o *secretsAddOptions) run(ctx context.Context) error {
	if err := o.connect(); err != nil {
		return err
	}
	var (
		changes []*change
		err     error
		names   = secretNames(o.mounts)
		secrets map[string]secretmount.SecretAnswer
		pods    podsOf
	)
	cluster.Parallel(3, func(i int) {
		switch i {
		case 0:
			changes, err = o.readWorkspaces(ctx)
		case 1:
			secrets = o.session.readSecrets(ctx, o.session.namespace, names, maxSecretGets, o.session.secretInfo)
		case 2:
			pods = o.readPods(ctx)
		}
	})
	if err != nil {
		return err
	}
	kinds := o.readKinds(ctx, changes)
	if err := ctx.Err(); err != nil {
		return err
	}
	possible := false
	for _, c := range changes {
		kind := kinds[kindOf(c.first)]
		c.plan = func(workspace map[string]any, _ bool) (secretmount.Edit, error) {
			return secretmount.Add(workspace, kind, o.mounts, o.overwrite)
		}
		_, c.err = c.plan(c.first.Object, false)
		possible = possible || c.err == nil
	}
	if possible {
		// A plan that fails needs no remarks on Secrets, and nothing is sent for it.
		for _, name := range names {
			o.noteSecret(name, secrets[name])
		}
	}
	o.carryOut(ctx, changes)
	return o.finish(ctx, changes, pods)
}

func kindOf(workspace *unstructured.Unstructured) string {
	name, _, _ := unstructured.NestedString(workspace.Object, "spec", "kind")
	return name
}

// readKinds reads the WorkspaceKinds, for the paths that they mount. Ordinary users often
// may not; the mounts are then not compared with them.
func (o *secretsAddOptions) readKinds(ctx context.Context, changes []*change) map[string]map[string]any {
	var names []string
	for _, c := range changes {
		if name := kindOf(c.first); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	answers := make([]facts.Answer[*unstructured.Unstructured], len(names))
	cluster.Parallel(len(names), func(i int) {
		answers[i] = cluster.AnswerOf(o.session.Get(ctx, cluster.WorkspaceKinds, "", names[i]))
	})
	kinds := map[string]map[string]any{}
	for i, a := range answers {
		switch a.Status {
		case facts.Found:
			kinds[names[i]] = a.Value.Object
		case facts.Unknown:
			o.note("Note: could not check whether WorkspaceKind %q mounts something at the same path: %s", names[i], a.Detail)
		}
	}
	return kinds
}

// noteSecret remarks on a Secret that will not work as it is. It is never a reason to
// refuse: Secrets are often made after what uses them.
func (o *secretsAddOptions) noteSecret(name string, a secretmount.SecretAnswer) {
	namespace := o.session.namespace
	if a.IsFound() {
		kind, _ := a.Value.Object[cluster.SecretType].(string)
		if remark := secretmount.UnusualType(name, kind); remark != "" {
			o.note("Warning: %s", remark)
		}
	}
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
