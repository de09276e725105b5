package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/diagnose"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/render"
)

const (
	waitInterval = time.Second
	// waitPatience is how long the same fault must hold before wait gives up on a
	// Workspace: a new Pod may be unschedulable for a moment, while its claim is bound.
	waitPatience = 10 * time.Second
)

type waitOptions struct {
	*factory
	target  choice
	timeout time.Duration

	session *session
	name    string
}

func newWait(f *factory) *cobra.Command {
	o := &waitOptions{factory: f, target: newChoice("running", "paused")}
	cmd := &cobra.Command{
		Use:                   "wait WORKSPACE [--for=running|paused] [--timeout=DURATION]",
		DisableFlagsInUseLine: true,
		Short:                 "Wait until a Workspace runs, or explain why it cannot",
		Long: templates.LongDesc(`
			Wait until a Workspace runs or is paused.

			If something keeps it from getting there that does not go away by itself, the
			wait ends early with the explanation of describe and exit code 1.`),
		Example: templates.Examples(`
			# Wait until a notebook runs
			kubectl workspace wait alice-notebook

			# Wait at most two minutes until it is paused
			kubectl workspace wait alice-notebook --for=paused --timeout=2m`),
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd, args) },
	}
	cmd.Flags().Var(&o.target, "for", "What to wait for: "+o.target.list()+".")
	cmd.Flags().DurationVar(&o.timeout, "timeout", 5*time.Minute, "How long to wait at most.")
	return cmd
}

func (o *waitOptions) run(cmd *cobra.Command, args []string) error {
	names, err := workspaceArgs(cmd, args)
	switch {
	case err != nil:
		return err
	case len(names) != 1:
		return usageError(cmd, "wait needs the name of one Workspace")
	case o.timeout <= 0:
		return usageError(cmd, "--timeout must be more than 0")
	}
	o.name = names[0]
	if o.session, err = o.open(); err != nil {
		return err
	}
	if o.session.live == nil {
		return errors.New("a snapshot does not change: wait needs a cluster")
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), o.timeout)
	defer cancel()
	return o.wait(ctx)
}

func (o *waitOptions) wait(ctx context.Context) error {
	target := map[string]diagnose.State{"running": diagnose.StateRunning, "paused": diagnose.StatePaused}[o.target.value]
	var (
		last  diagnose.Diagnosis
		since time.Time // when the present fault was first seen
		told  string
	)
	for {
		d, err := o.session.diagnose(ctx, o.name)
		switch {
		case errors.Is(ctx.Err(), context.DeadlineExceeded):
			return o.fail(last, fmt.Sprintf("after %s it is not %s", o.timeout, o.target.value))
		case err != nil:
			return err
		case d.State == target:
			fmt.Fprintf(o.Out, "workspace.kubeflow.org/%s %s\n", render.SafeLine(o.name), o.target.value)
			return nil
		case target == diagnose.StateRunning && (d.State == diagnose.StatePaused || d.Reason() == "pausing"):
			return o.fail(d, "it is paused, so it will not run")
		case target == diagnose.StatePaused && !d.Workspace.Paused:
			return o.fail(d, "nobody has paused it: spec.paused is false")
		}
		if d.State != diagnose.StateError || d.Reason() != last.Reason() {
			since = time.Now()
		}
		if target == diagnose.StateRunning && d.State == diagnose.StateError && time.Since(since) >= waitPatience {
			return o.fail(d, "it will not get there by itself")
		}
		if d.Reason() != told {
			told = d.Reason()
			o.note("%s: %s", d.State, d.Summary)
		}
		last = d
		sleep(ctx, waitInterval)
	}
}

// fail ends the wait with the explanation and the reason for ending.
func (o *waitOptions) fail(d diagnose.Diagnosis, why string) error {
	if d.Workspace.Name != "" {
		if err := render.Diagnosis(o.Out, d, o.painter(o.Out)); err != nil {
			return err
		}
	}
	return fmt.Errorf("stopped waiting for workspace %q: %s", o.name, why)
}
