package causes

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/diagnose"
)

// progressRules are about a Pod that gets there by itself.
func progressRules() []diagnose.Rule {
	return []diagnose.Rule{{
		ID:         "image-pulling",
		Progress:   true,
		Blocks:     diagnose.RungReady, // a sidecar's image may come while main runs
		Title:      "An image is being pulled",
		Recognised: "The newest Event about a waiting container is Pulling. The status may still tell of the pull that failed before.",
		Fix:        "Wait; a large image takes minutes.",
		Match:      matchPulling,
	}, {
		ID:         "container-starting",
		Progress:   true,
		Blocks:     diagnose.RungReady,
		Title:      "The containers are being made",
		Recognised: "The Pod has a node, nothing is wrong with its containers, and no Warning is current.",
		Fix:        "Wait.",
		Match:      matchStarting,
	}}
}

func matchPulling(c *diagnose.Case) []diagnose.Cause {
	if c.Pod != nil && c.Pod.DeletionTimestamp != nil {
		return nil
	}
	for _, container := range c.PodContainers() {
		e, ok := pullingNow(c, container)
		if !ok {
			continue
		}
		return one(diagnose.Cause{
			Object: "Image/" + container.Spec.Image,
			Summary: fmt.Sprintf("Workspace %s is Pending: %s is pulling image %s%s, for %s now.",
				c.Name(), lowerNode(c), container.Spec.Image, forContainer(container), duration.HumanDuration(c.Now.Sub(e.Last))),
			Confidence: diagnose.Likely,
			State:      diagnose.StatePending,
			Chain:      []string{"Workspace " + c.Name(), containerWords(container) + " waits for its image"},
			Evidence:   []diagnose.Evidence{e.Evidence()},
		})
	}
	return nil
}

func matchStarting(c *diagnose.Case) []diagnose.Cause {
	if c.Pod == nil || c.Reached < diagnose.RungScheduled || c.Broken() || c.Pod.DeletionTimestamp != nil || slices.ContainsFunc(c.Current, func(e diagnose.Event) bool { return !harmless(c, e) }) {
		return nil
	}
	if len(matchPulling(c)) > 0 || len(matchUnready(c)) > 0 {
		return nil // which say more
	}
	cause := diagnose.Cause{
		Summary: fmt.Sprintf("Workspace %s is Pending: its Pod was created %s ago and its containers are being made on %s.",
			c.Name(), age(c), lowerNode(c)),
		Confidence: diagnose.Likely,
		State:      diagnose.StatePending,
	}
	if c.Reached == diagnose.RungStarted {
		var waits []string
		for _, container := range c.PodContainers() {
			if !container.Settled() {
				waits = append(waits, containerWords(container))
			}
		}
		if len(waits) == 0 {
			return nil // something else than a container keeps the Pod from being Ready
		}
		cause.Summary = fmt.Sprintf("Workspace %s is Pending: its Pod was created %s ago, and it still waits for %s to become ready.",
			c.Name(), age(c), strings.Join(waits, " and "))
	}
	return one(cause)
}

// asides are Warnings that keep no Pod from starting.
var asides = []string{
	"FailedToRetrieveImagePullSecret", // the pull may work without; if not, the pull says so
	"DNSConfigForming", "FailedPreStopHook", "ProbeWarning", "Unhealthy",
}

// harmless reports whether a Warning does not tell against progress: it never does, or it
// is about a container that has got over it.
func harmless(c *diagnose.Case, e diagnose.Event) bool {
	if slices.Contains(asides, e.Reason) {
		return true
	}
	if e.Object.Kind != "Pod" || e.Reason != "Failed" && e.Reason != "BackOff" && e.Reason != "InspectFailed" {
		return false
	}
	for _, container := range c.PodContainers() {
		if !slices.Contains(container.Events, e) {
			continue
		}
		newest := container.Events[0]
		if !container.Settled() && (!newest.Last.After(e.Last) || newest.IsWarning()) {
			return false
		}
	}
	return true
}

func age(c *diagnose.Case) string {
	return duration.HumanDuration(c.Now.Sub(c.Pod.CreationTimestamp.Time))
}
