package causes

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/diagnose"
)

// progressRules are about a Pod that gets there by itself.
func progressRules() []diagnose.Rule {
	return []diagnose.Rule{{
		ID:         "image-pulling",
		Blocks:     diagnose.RungStarted,
		Title:      "An image is being pulled",
		Recognised: "The newest Event of the Pod is Pulling, and no Warning is current.",
		Fix:        "Wait; a large image takes minutes.",
		Match:      matchPulling,
	}, {
		ID:         "container-starting",
		Blocks:     diagnose.RungStarted,
		Title:      "The containers are being made",
		Recognised: "The Pod has a node, and no Warning is current.",
		Fix:        "Wait.",
		Match: func(c *diagnose.Case) []diagnose.Cause {
			if c.Reached < diagnose.RungScheduled || len(c.Current) > 0 || c.Broken() {
				return nil
			}
			return one(diagnose.Cause{
				Summary: fmt.Sprintf("Workspace %s is Pending: its Pod was created %s ago and its containers are being made on node %s.",
					c.Name(), age(c), c.Pod.Spec.NodeName),
				Confidence: diagnose.Likely,
				State:      diagnose.StatePending,
			})
		},
	}}
}

func matchPulling(c *diagnose.Case) []diagnose.Cause {
	if c.Pod == nil || len(c.Current) > 0 || c.Broken() {
		return nil
	}
	for _, e := range c.All { // newest first
		if e.Object.Kind != "Pod" {
			continue
		}
		image, ok := strings.CutPrefix(e.Message, "Pulling image ")
		if e.Reason != "Pulling" || !ok {
			return nil
		}
		image = strings.Trim(image, `"`)
		return one(diagnose.Cause{
			Object:     "Image/" + image,
			Summary:    fmt.Sprintf("Workspace %s is Pending: the node is Pulling image %s, for %s now.", c.Name(), image, duration.HumanDuration(c.Now.Sub(e.Last))),
			Confidence: diagnose.Likely,
			State:      diagnose.StatePending,
			Evidence:   []diagnose.Evidence{e.Evidence()},
		})
	}
	return nil
}

func age(c *diagnose.Case) string {
	return duration.HumanDuration(c.Now.Sub(c.Pod.CreationTimestamp.Time))
}
