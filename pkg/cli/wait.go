package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/cluster"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/diagnose"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/diagnose/causes"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/facts"
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
	w := waiter{
		factory: o.factory, session: o.session, name: o.name, timeout: o.timeout,
		goal: o.target.value, target: map[string]diagnose.State{"running": diagnose.StateRunning, "paused": diagnose.StatePaused}[o.target.value],
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), o.timeout)
	defer cancel()
	if err := w.wait(ctx); err != nil {
		return err
	}
	fmt.Fprintf(o.Out, "workspace.kubeflow.org/%s %s\n", render.SafeLine(o.name), o.target.value)
	return nil
}

// waiter follows a Workspace until it is in a state, or until it is plain that it
// will not get there.
type waiter struct {
	*factory
	session *session
	name    string
	target  diagnose.State
	// goal names the target in messages.
	goal    string
	timeout time.Duration
	// current tells whether what was read is recent enough to count: whether the Pod is
	// the one that is waited for. Nil if any is.
	current func(*facts.Facts) bool
	// explanation is where the explanation of a failure goes.
	explanation io.Writer
}

// wait returns when the Workspace is in the target state. ctx ends after w.timeout.
func (w *waiter) wait(ctx context.Context) error {
	var (
		last  diagnose.Diagnosis
		since time.Time // when the present fault was first seen
		told  string
	)
	for {
		f, err := cluster.Gather(ctx, w.session, w.session.namespace, w.name)
		var d diagnose.Diagnosis
		if err == nil {
			d = causes.Diagnose(f)
		}
		arrived := d.State == w.target
		if err == nil && w.current != nil && !w.current(f) {
			arrived = false
			d = awaitsNewPod(d)
		}
		switch {
		case errors.Is(ctx.Err(), context.DeadlineExceeded):
			return w.fail(last, fmt.Sprintf("after %s it is not %s", w.timeout, w.goal))
		case err != nil && last.Workspace.Name != "" && cluster.IsTransient(err):
			// One bad moment of the network is no reason to give up after minutes.
			sleep(ctx, waitInterval)
			continue
		case err != nil:
			return w.session.explain(err)
		case arrived:
			return nil
		case w.target == diagnose.StateRunning && (d.State == diagnose.StatePaused || d.Reason() == "pausing"):
			return w.fail(d, "it is paused, so it will not run")
		case w.target == diagnose.StatePaused && !d.Workspace.Paused:
			return w.fail(d, "nobody has paused it: spec.paused is false")
		}
		if d.State != diagnose.StateError || d.Reason() != last.Reason() {
			since = time.Now()
		}
		if w.target == diagnose.StateRunning && d.State == diagnose.StateError && time.Since(since) >= waitPatience {
			return w.fail(d, "it will not get there by itself")
		}
		if d.Reason() != told {
			told = d.Reason()
			w.note("%s: %s", d.State, d.Summary)
		}
		last = d
		sleep(ctx, waitInterval)
	}
}

// awaitsNewPod says of a Workspace that runs on a Pod from before the change that it
// is not there yet.
func awaitsNewPod(d diagnose.Diagnosis) diagnose.Diagnosis {
	if d.State == diagnose.StateRunning {
		d.State, d.Summary = diagnose.StatePending, "the Pod is still the one from before the change"
	}
	return d
}

// fail ends the wait with the explanation and the reason for ending.
func (w *waiter) fail(d diagnose.Diagnosis, why string) error {
	out := w.explanation
	if out == nil {
		out = w.Out
	}
	if d.Workspace.Name != "" {
		if err := render.Diagnosis(out, d, w.painter(out)); err != nil {
			return err
		}
	}
	return fmt.Errorf("stopped waiting for workspace %q: %s", w.name, why)
}
