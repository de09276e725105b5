package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"al.essio.dev/pkg/shellescape"
	"github.com/rogpeppe/go-internal/diff"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/cluster"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/facts"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/render"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/secretmount"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/secretmount/commit"
)

type commitPlan = commit.Plan

// outcomeOf is what has become of a change.
type outcomeOf struct {
	// before is the Workspace on which the edit was planned; only with --diff.
	before map[string]any
	// after is the Workspace with the edit made.
	after *unstructured.Unstructured
	edit  secretmount.Edit
	err   error
}

// object names the Workspace as kubectl does.
func (c *change) object() string {
	return fmt.Sprintf("workspace.%s/%s", cluster.Workspaces.Group, c.name)
}

// Read implements commit.Workspace.
func (c *change) Read(ctx context.Context) (*unstructured.Unstructured, error) {
	u, err := c.session.Get(ctx, cluster.Workspaces, c.session.namespace, c.name)
	if err != nil {
		return nil, fmt.Errorf("cannot read workspace %q in namespace %q: %w", c.name, c.session.namespace, err)
	}
	return u, nil
}

// Patch implements commit.Workspace.
func (c *change) Patch(ctx context.Context, patch []byte) (*unstructured.Unstructured, error) {
	u, err := c.session.live.PatchWorkspace(ctx, c.session.namespace, c.name, patch, cluster.PatchOptions{
		DryRun:       c.dryRun.value != dryRunNone,
		FieldManager: c.fieldManager,
	})
	if err != nil {
		return nil, fmt.Errorf("cannot change workspace %q in namespace %q: %w", c.name, c.session.namespace, err)
	}
	return u, nil
}

// write makes the edit, as far as --dry-run lets it.
func (c *change) write(ctx context.Context) {
	plan := func(workspace map[string]any, again bool) (secretmount.Edit, error) {
		edit, err := c.plan(workspace, again)
		if patch, _ := edit.Patch(); patch != nil {
			c.before = workspace
		}
		return edit, err
	}
	if c.dryRun.value == dryRunClient {
		if c.edit, c.err = plan(c.first.Object, false); c.err != nil {
			return
		}
		content, err := c.edit.Apply(c.first.Object)
		c.after, c.err = &unstructured.Unstructured{Object: content}, err
		return
	}
	var gaveUp *commit.GaveUpError
	c.after, c.edit, c.err = commit.Write(ctx, c, c.first, plan, func(err error) {
		c.notes.Lock()
		defer c.notes.Unlock()
		c.note("Warning: still trying to change workspace %q: %v", c.name, c.session.explain(err))
	})
	if errors.As(c.err, &gaveUp) {
		c.err = fmt.Errorf("%s: %w", gaveUp.Outcome(), c.session.explain(gaveUp.Err))
		return
	}
	c.err = c.session.explain(c.err)
}

// tell prints the result: the Workspace with -o, else a line for each mount; and what
// it means for the Pod.
func (c *change) tell(pods facts.Answer[[]corev1.Pod]) error {
	for _, w := range c.edit.Warnings {
		c.note("Warning: %s", c.prefixed(w))
	}
	if err := c.report(); err != nil {
		return err
	}
	c.noteEffect(pods)
	return nil
}

// prefixed names the Workspace of a remark where there are several.
func (c *change) prefixed(remark string) string {
	if c.several() {
		return c.object() + ": " + remark
	}
	return remark
}

func (c *change) report() error {
	if c.printer != nil {
		return c.printer.PrintObj(c.after, c.Out)
	}
	lines := outcomeLines(c.object(), c.edit, c.dryRun.value)
	if c.diff {
		for _, line := range lines {
			c.note("%s", line)
		}
		return c.printDiff()
	}
	return c.printLines(lines)
}

func (o *writeOptions) printLines(lines []string) error {
	for _, line := range lines {
		if _, err := fmt.Fprintln(o.Out, render.SafeLine(line)); err != nil {
			return err
		}
	}
	return nil
}

// outcomeLines tells what an edit has done, in kubectl's way.
func outcomeLines(object string, edit secretmount.Edit, dryRun string) []string {
	suffix := ""
	switch dryRun {
	case dryRunClient:
		suffix = " (dry run)"
	case dryRunServer:
		suffix = " (server dry run)"
	}
	var lines []string
	for _, r := range edit.Results {
		lines = append(lines, object+" "+outcome(r)+suffix)
	}
	if len(lines) == 0 {
		lines = []string{object + " unchanged" + suffix}
	}
	return lines
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

// printDiff prints what the edit makes of the Workspace on which it was planned. That
// is not what the server answers, which also holds what others have changed meanwhile.
func (c *change) printDiff() error {
	if c.before == nil {
		return nil
	}
	after, err := c.edit.Apply(c.before)
	if err != nil {
		return err
	}
	from, err := diffable(c.before)
	if err != nil {
		return err
	}
	to, err := diffable(after)
	if err != nil {
		return err
	}
	return c.writeDiff(c.object(), c.object()+" (changed)", from, to)
}

// writeDiff prints a unified diff of two texts.
func (o *writeOptions) writeDiff(fromName, toName string, from, to []byte) error {
	text := diff.Diff(fromName, from, toName, to)
	// Its first line repeats the names.
	_, text, _ = bytes.Cut(text, []byte("\n"))
	_, err := fmt.Fprint(o.Out, render.Safe(string(text)))
	return err
}

// diffable is an object as YAML, without what nobody compares.
func diffable(object map[string]any) ([]byte, error) {
	u := (&unstructured.Unstructured{Object: object}).DeepCopy()
	u.SetManagedFields(nil)
	text, err := yaml.Marshal(u.Object)
	if err != nil {
		return nil, fmt.Errorf("cannot write YAML: %w", err)
	}
	return text, nil
}

// noteEffect tells what the change means for the Pod, of which there is one at most.
func (c *change) noteEffect(pods facts.Answer[[]corev1.Pod]) {
	paused, _, _ := unstructured.NestedBool(c.after.Object, "spec", "paused")
	pod := secretmount.PodOf(pods.Value)
	follows := pod != nil && secretmount.Has(&pod.Spec, c.after.Object, c.edit.Results)
	hangs := secretmount.Unready(pod) && !follows
	dry := c.dryRun.value != dryRunNone
	switch {
	case !c.edit.Changed() && !hangs, hangs && c.restart:
		return
	case paused && dry:
		c.note("Note: workspace %q is paused: the change would take effect at its next start", c.name)
	case paused:
		c.note("Note: workspace %q is paused: the change takes effect at its next start", c.name)
	case hangs:
		c.note("Note: Pod %q of workspace %q is not ready, and a StatefulSet does not replace such a Pod. If it cannot start as it is, "+
			"add --restart or run\n  %s", pod.Name, c.name, shellescape.QuoteCommand([]string{"kubectl", "delete", "pod", pod.Name, "-n", pod.Namespace}))
	case pods.IsFound() && pod == nil, follows:
		// Its first Pod will have the change, or the one that it has is like that already.
	case !pods.IsFound():
		c.note("Note: if workspace %q is running, its Pod restarts with the change, and its kernels and what is not saved are lost; could not check: %s", c.name, pods.Detail)
	case dry:
		c.note("Note: the Pod of workspace %q would restart: its kernels and what is not saved would be lost", c.name)
	default:
		c.note("Note: the Pod of workspace %q restarts: its kernels and what is not saved are lost", c.name)
	}
}
