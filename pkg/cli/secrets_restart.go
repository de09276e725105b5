package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"al.essio.dev/pkg/shellescape"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/cluster"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/diagnose"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/facts"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/secretmount"
)

const (
	// restartPatience is how long --restart waits for the Workspace controller to put
	// the change into the StatefulSet: a Pod that is deleted before comes back as it was.
	restartPatience = 30 * time.Second
	restartInterval = 300 * time.Millisecond
	// maxRestarts bounds how often a Pod that came back without the change is deleted.
	maxRestarts = 3
)

// follow sees to it that the change reaches the Pod, and waits for that, as far as the
// flags ask for it.
func (c *change) follow(ctx context.Context) error {
	if c.restart {
		if err := c.restartPod(ctx); err != nil {
			return err
		}
	}
	if c.waitFor.value == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	w := waiter{
		factory: c.factory, session: c.session, name: c.name, timeout: c.timeout,
		target: diagnose.StateRunning, goal: "running", explanation: c.ErrOut,
		current: func(f *facts.Facts) bool {
			pod := secretmount.PodOf(f.Pods.Value)
			return !f.Pods.IsFound() || pod != nil && secretmount.Has(&pod.Spec, c.after.Object, c.edit.Results)
		},
	}
	if err := w.wait(ctx); err != nil {
		return fmt.Errorf("the change is made; %w", err)
	}
	if c.printer == nil && !c.diff {
		return c.printLines([]string{c.object() + " running"})
	}
	return nil
}

// restartPod deletes the Pod if it is not ready and lacks the change, once the
// StatefulSet has it. It returns when a Pod with the change is there, or when there is
// nothing for it to do.
func (c *change) restartPod(ctx context.Context) error {
	if paused, _, _ := unstructured.NestedBool(c.after.Object, "spec", "paused"); paused {
		return nil // it has no Pod, or soon none
	}
	deadline, cancel := context.WithTimeout(ctx, c.patience)
	defer cancel()
	restarts := 0
	for {
		set, pod, err := c.owned(deadline)
		switch {
		case deadline.Err() != nil:
			// told below
		case err != nil:
			return fmt.Errorf("the change is made, but whether its Pod must be restarted cannot be told: %w\n"+
				"If it hangs, delete it: %s", c.session.explain(err),
				shellescape.QuoteCommand([]string{"kubectl", "delete", "pod", "-n", c.session.namespace, "-l", ofWorkspace(c.name).String()}))
		case set == nil, !secretmount.Settled(set), !secretmount.Has(&set.Spec.Template.Spec, c.after.Object, c.edit.Results):
			// The Workspace's or the StatefulSet's controller has to see it first.
		case pod == nil && restarts == 0:
			return nil
		case pod == nil, pod.DeletionTimestamp != nil:
			// The next one is to come.
		case secretmount.Has(&pod.Spec, c.after.Object, c.edit.Results) && !secretmount.Outdated(pod, set):
			return nil
		case !secretmount.Unready(pod):
			return nil // its StatefulSet replaces it
		case restarts == maxRestarts:
			return fmt.Errorf("the change is made, but Pod %q comes back without it, although it was deleted %d times", pod.Name, restarts)
		default:
			if err := c.deletePod(deadline, pod); err != nil {
				return err
			}
			restarts++
		}
		if !sleep(deadline, restartInterval) {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return c.tooSlow(restarts)
		}
	}
}

func (c *change) tooSlow(restarts int) error {
	if restarts > 0 {
		return fmt.Errorf("the change is made and the Pod of workspace %q was deleted, but after %s there is no new one; 'kubectl workspace describe %s -n %s' tells why",
			c.name, c.patience, c.name, c.session.namespace)
	}
	return fmt.Errorf("the change is made, but after %s the StatefulSet of workspace %q does not have it: is the Workspace controller running? Its Pod was not restarted",
		c.patience, c.name)
}

func (c *change) deletePod(ctx context.Context, pod *corev1.Pod) error {
	err := c.session.live.DeletePod(ctx, pod.Namespace, pod.Name, pod.UID)
	switch {
	case apierrors.IsNotFound(err), apierrors.IsConflict(err):
		return nil // it is gone already
	case errors.Is(err, context.DeadlineExceeded):
		return nil // the caller tells
	case err != nil:
		return fmt.Errorf("the change is made, but Pod %q could not be deleted: %w", pod.Name, c.session.explain(err))
	}
	c.note("Note: Pod %q was not ready and had been made before the change: deleted it, so that it is made again", pod.Name)
	return nil
}

// owned reads the StatefulSet and the Pod that belong to the Workspace by uid.
func (c *change) owned(ctx context.Context) (*appsv1.StatefulSet, *corev1.Pod, error) {
	var (
		sets []unstructured.Unstructured
		pods facts.Answer[[]corev1.Pod]
		err  error
	)
	cluster.Parallel(2, func(i int) {
		switch i {
		case 0:
			sets, err = c.session.List(ctx, cluster.StatefulSets, cluster.ListOptions{Namespace: c.session.namespace, Labels: ofWorkspace(c.name)})
		case 1:
			pods = c.session.pods(ctx, c.session.namespace, ofWorkspace(c.name))(c.session.namespace, c.name)
		}
	})
	switch {
	case err != nil:
		return nil, nil, err
	case !pods.IsFound():
		return nil, nil, errors.New(pods.Detail)
	}
	typed, err := cluster.ConvertAll[appsv1.StatefulSet](sets)
	if err != nil {
		return nil, nil, err
	}
	set := secretmount.OwnedSet(c.after.GetUID(), typed)
	if set == nil {
		return nil, nil, nil
	}
	return set, secretmount.OwnedPod(set, pods.Value), nil
}
