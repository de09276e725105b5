package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/printers"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/cluster"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/facts"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/render"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/secretmount"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/secretmount/commit"
)

func newSecrets(f *factory) *cobra.Command {
	cmd := &cobra.Command{
		Use:                   "secrets COMMAND",
		Aliases:               []string{"secret"},
		DisableFlagsInUseLine: true,
		Short:                 "Mount Secrets into Workspaces, list them, take them away",
		Long: templates.LongDesc(`
			Mount Secrets into a Workspace as directories with one file per key.

			The Secret itself is never read, changed or deleted: only its name, labels and
			existence are looked at.`),
	}
	asGroup(cmd)
	cmd.AddCommand(newSecretsAdd(f), newSecretsList(f), newSecretsRemove(f))
	return cmd
}

// Values of --dry-run.
const (
	dryRunNone   = "none"
	dryRunClient = "client"
	dryRunServer = "server"
)

// writeOptions are what the commands that change the mounts of a Workspace share.
type writeOptions struct {
	*factory
	printFlags   *genericclioptions.PrintFlags
	dryRun       choice
	fieldManager string

	session *session
	// printer is nil where the result is told in words.
	printer printers.ResourcePrinter
	// workspace is the name of the Workspace.
	workspace string
}

func newWriteOptions(f *factory) writeOptions {
	return writeOptions{
		factory:      f,
		printFlags:   genericclioptions.NewPrintFlags(""),
		dryRun:       newChoice(dryRunNone, dryRunClient, dryRunServer),
		fieldManager: "kubectl-workspace",
	}
}

func (o *writeOptions) addFlags(cmd *cobra.Command) {
	o.printFlags.AddFlags(cmd)
	flags := cmd.Flags()
	flags.Var(&o.dryRun, "dry-run", "Must be "+o.dryRun.list()+". With client, show the result and send no write. With server, have the server check it without storing it.")
	flags.StringVar(&o.fieldManager, "field-manager", o.fieldManager, "Name under which the server records who changed a field.")
}

// complete takes the first argument and prepares what can fail before a request.
func (o *writeOptions) complete(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return usageError(cmd, "the name of a Workspace is missing")
	}
	var err error
	if o.workspace, err = workspaceArg(args[0]); err != nil {
		return usageError(cmd, "%w", err)
	}
	if *o.printFlags.OutputFormat != "" || *o.printFlags.TemplatePrinterFlags.TemplateArgument != "" {
		if o.printer, err = o.printFlags.ToPrinter(); err != nil {
			return usageError(cmd, "%w", err)
		}
	}
	if o.session, err = o.open(); err != nil {
		return err
	}
	if o.session.live == nil && o.dryRun.value != dryRunClient {
		return errors.New("a snapshot cannot be changed: add --dry-run=client")
	}
	return nil
}

// Read implements commit.Workspace.
func (o *writeOptions) Read(ctx context.Context) (*unstructured.Unstructured, error) {
	u, err := o.session.Get(ctx, cluster.Workspaces, o.session.namespace, o.workspace)
	if err != nil {
		return nil, fmt.Errorf("cannot read workspace %q in namespace %q: %w", o.workspace, o.session.namespace, err)
	}
	return u, nil
}

// Patch implements commit.Workspace.
func (o *writeOptions) Patch(ctx context.Context, patch []byte) (*unstructured.Unstructured, error) {
	u, err := o.session.live.PatchWorkspace(ctx, o.session.namespace, o.workspace, patch, cluster.PatchOptions{
		DryRun:       o.dryRun.value != dryRunNone,
		FieldManager: o.fieldManager,
	})
	if err != nil {
		return nil, fmt.Errorf("cannot change workspace %q in namespace %q: %w", o.workspace, o.session.namespace, err)
	}
	return u, nil
}

// readFirst reads the Workspace before anything is planned.
func (o *writeOptions) readFirst(ctx context.Context) (*unstructured.Unstructured, error) {
	u, err := o.session.Get(ctx, cluster.Workspaces, o.session.namespace, o.workspace)
	return u, o.session.explain(cluster.WorkspaceError(ctx, o.session, o.session.namespace, o.workspace, err))
}

// write makes the edit, as far as --dry-run lets it.
func (o *writeOptions) write(ctx context.Context, first *unstructured.Unstructured, plan commit.Plan) (*unstructured.Unstructured, secretmount.Edit, error) {
	if o.dryRun.value == dryRunClient {
		edit, err := plan(first.Object, false)
		if err != nil {
			return nil, edit, err
		}
		content, err := edit.Apply(first.Object)
		return &unstructured.Unstructured{Object: content}, edit, err
	}
	u, edit, err := commit.Write(ctx, o, first, plan, func(err error) {
		o.note("Warning: still trying: %v", o.session.explain(err))
	})
	var gaveUp *commit.GaveUpError
	if errors.As(err, &gaveUp) {
		return nil, edit, fmt.Errorf("%s: %w", gaveUp.Outcome(), o.session.explain(gaveUp.Err))
	}
	return u, edit, o.session.explain(err)
}

// report prints the result: the Workspace with -o, else a line for each mount.
func (o *writeOptions) report(u *unstructured.Unstructured, edit secretmount.Edit) error {
	if o.printer != nil {
		return o.printer.PrintObj(u, o.Out)
	}
	suffix := ""
	switch o.dryRun.value {
	case dryRunClient:
		suffix = " (dry run)"
	case dryRunServer:
		suffix = " (server dry run)"
	}
	object := fmt.Sprintf("workspace.%s/%s", cluster.Workspaces.Group, o.workspace)
	lines := []string{object + " unchanged"}
	if len(edit.Results) > 0 {
		lines = nil
	}
	for _, r := range edit.Results {
		lines = append(lines, object+" "+outcome(r))
	}
	for _, line := range lines {
		if _, err := fmt.Fprintln(o.Out, render.SafeLine(line)+suffix); err != nil {
			return err
		}
	}
	return nil
}

func outcome(r secretmount.Result) string {
	switch r.Outcome {
	case secretmount.Removed:
		return fmt.Sprintf("secret %q unmounted from %s", r.SecretName, r.MountPath)
	case secretmount.Unchanged:
		return fmt.Sprintf("secret %q mounted at %s unchanged", r.SecretName, r.MountPath)
	case secretmount.Replaced:
		return fmt.Sprintf("secret %q mounted at %s with mode %s (was secret %q with mode %s)",
			r.SecretName, r.MountPath, secretmount.FormatMode(r.Mode()), r.Was.SecretName, secretmount.FormatMode(r.Was.Mode()))
	}
	return fmt.Sprintf("secret %q mounted at %s", r.SecretName, r.MountPath)
}

// noteEffect tells what the change means for the running Pod.
func (o *writeOptions) noteEffect(u *unstructured.Unstructured, edit secretmount.Edit) {
	if !edit.Changed() {
		return
	}
	paused, _, _ := unstructured.NestedBool(u.Object, "spec", "paused")
	dry := o.dryRun.value != dryRunNone
	switch {
	case paused && dry:
		o.note("Note: workspace %q is paused: the change would take effect at its next start", o.workspace)
	case paused:
		o.note("Note: workspace %q is paused: the change takes effect at its next start", o.workspace)
	case dry:
		o.note("Note: the Pod of workspace %q would restart: its kernels and what is not saved would be lost", o.workspace)
	default:
		o.note("Note: the Pod of workspace %q restarts: its kernels and what is not saved are lost", o.workspace)
	}
}

// readSecrets reads the metadata of some Secrets of a namespace: one by one where
// they are few, as that needs less permission, else with one list.
func (s *session) readSecrets(ctx context.Context, namespace string, names []string, few int) map[string]secretmount.SecretAnswer {
	answers := map[string]secretmount.SecretAnswer{}
	if s.live == nil || len(names) <= few {
		results := make([]secretmount.SecretAnswer, len(names))
		cluster.Parallel(len(names), func(i int) {
			results[i] = cluster.AnswerOf(s.Get(ctx, cluster.Secrets, namespace, names[i]))
		})
		for i, name := range names {
			answers[name] = results[i]
		}
		return answers
	}
	items, err := s.List(ctx, cluster.Secrets, cluster.ListOptions{Namespace: namespace})
	listed := cluster.AnswerOf(items, err)
	for _, name := range names {
		answers[name] = pickSecret(listed, namespace, name)
	}
	return answers
}

// pickSecret finds a Secret in a complete list.
func pickSecret(listed facts.Answer[[]unstructured.Unstructured], namespace, name string) secretmount.SecretAnswer {
	if !listed.IsFound() {
		return secretmount.SecretAnswer{Status: listed.Status, Reason: listed.Reason, Detail: listed.Detail}
	}
	for i := range listed.Value {
		if u := &listed.Value[i]; u.GetName() == name && u.GetNamespace() == namespace {
			return secretmount.SecretAnswer{Status: facts.Found, Value: u}
		}
	}
	return secretmount.SecretAnswer{Status: facts.Absent}
}
