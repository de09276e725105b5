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
			wait ends early with the explanation of describe and exit code 1.

			A container without a readiness probe counts as ready as soon as its process has
			started. It must stay up for five seconds; if its last run crashed, for longer
			than that run, or for a minute if that is less.`),
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

	// fault is the cause that keeps it from getting there, and faultSince when it was
	// first seen.
	fault      string
	faultSince time.Time
	// upSince is when the last of the Pod's containers has started, by the cluster's
	// clock, and upSeen when that was first seen.
	upSince, upSeen time.Time
	told            string
}

// wait returns when the Workspace is in the target state. ctx ends after w.timeout.
func (w *waiter) wait(ctx context.Context) error {
	var last diagnose.Diagnosis
	for {
		f, err := cluster.Gather(ctx, w.session, w.session.namespace, w.name)
		switch {
		case errors.Is(ctx.Err(), context.DeadlineExceeded):
			return w.fail(last, fmt.Sprintf("after %s it is not %s", w.timeout, w.goal))
		case err != nil && last.Workspace.Name != "" && cluster.IsTransient(err):
			// One bad moment of the network is no reason to give up after minutes.
			sleep(ctx, waitInterval)
			continue
		case err != nil:
			return w.session.explain(err)
		}
		d := w.session.explanation(f)
		if d.State == diagnose.StateRunning && w.current != nil && !w.current(f) {
			d.State, d.Summary = diagnose.StatePending, "the Pod is still the one from before the change"
		}
		proven := d.State != diagnose.StateRunning || w.proven(f)
		if d.State == w.target && proven {
			return nil
		}
		if why := w.hopeless(d, proven); why != "" {
			return w.fail(d, why)
		}
		w.tell(d)
		last = d
		sleep(ctx, waitInterval)
	}
}

// proven reports whether a Pod that is Ready has been so for long enough to count.
func (w *waiter) proven(f *facts.Facts) bool {
	pod := f.OwnPod()
	if pod == nil {
		return true // it cannot be read, and the controller's word is all there is
	}
	since, probation := diagnose.Probation(pod)
	if !since.Equal(w.upSince) {
		w.upSince, w.upSeen = since, time.Now()
	}
	// By the cluster's clock, whose times lack the fraction of a second: it may have started
	// later than it says. By ours, in case the two differ.
	return f.Now.Sub(since) >= probation+time.Second || time.Since(w.upSeen) >= probation
}

// hopeless says why the Workspace will not get into the target state, empty if it may
// well. A fault must hold for a while to count, but one that comes and goes as the Pod
// starts again and again is the same all the time.
func (w *waiter) hopeless(d diagnose.Diagnosis, proven bool) string {
	obstacle := causes.Obstacle(d, w.target)
	switch {
	case d.Reason() == "workspace-deleting":
		return "it is being deleted, so it will not be " + w.goal
	case w.target == diagnose.StateRunning && (d.State == diagnose.StatePaused || d.Reason() == "pausing"):
		return "it is paused, so it will not run"
	case w.target == diagnose.StatePaused && !d.Workspace.Paused:
		return "nobody has paused it: spec.paused is false"
	case obstacle == nil && proven:
		w.fault = ""
	case obstacle != nil && obstacle.ID != w.fault:
		w.fault, w.faultSince = obstacle.ID, time.Now()
	case obstacle != nil && time.Since(w.faultSince) >= waitPatience:
		return "it will not get there by itself"
	}
	return ""
}

// tell says what it waits for, when that has changed.
func (w *waiter) tell(d diagnose.Diagnosis) {
	if key := string(d.State) + d.Reason(); key != w.told {
		w.told = key
		if d.State == w.target {
			d.Summary = "it has just started; whether it stays up is to be seen"
		}
		w.note("%s: %s", d.State, d.Summary)
	}
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
