package causes

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/diagnose"
)

// lifecycleRules are about what somebody did on purpose.
func lifecycleRules() []diagnose.Rule {
	return []diagnose.Rule{{
		ID:         "workspace-deleting",
		Title:      "The Workspace is being deleted",
		Recognised: "The Workspace has a deletionTimestamp.",
		Fix:        "Wait. If it does not go away, a finalizer holds it or one of its objects: look who owns that finalizer.",
		Match: func(c *diagnose.Case) []diagnose.Cause {
			if c.Workspace.DeletionTimestamp == nil {
				return nil
			}
			summary := fmt.Sprintf("Workspace %s is being deleted", c.Name())
			object := c.WorkspaceRef()
			if f := c.Workspace.Finalizers; len(f) > 0 {
				summary += fmt.Sprintf("; finalizers hold it: %s", strings.Join(f, ", "))
			}
			if c.Pod != nil {
				object = "Pod/" + c.Pod.Name
				if f := c.Pod.Finalizers; len(f) > 0 {
					summary += fmt.Sprintf("; finalizers hold its Pod: %s", strings.Join(f, ", "))
				}
			}
			return one(diagnose.Cause{Object: object, Summary: summary + ".", Confidence: diagnose.Certain, State: diagnose.StateTerminating})
		},
	}, {
		ID:         "paused",
		Title:      "The Workspace is paused",
		Recognised: "spec.paused is true and there is no Pod.",
		Fix:        "Set spec.paused to false.",
		Match: func(c *diagnose.Case) []diagnose.Cause {
			if !c.Workspace.Spec.Paused || c.Pod != nil {
				return nil
			}
			return one(diagnose.Cause{
				Object:     c.WorkspaceRef(),
				Summary:    fmt.Sprintf("Workspace %s is paused.", c.Name()),
				Confidence: diagnose.Certain,
				Origin:     "spec.paused",
				State:      diagnose.StatePaused,
				Fixes:      []diagnose.Fix{unpause(c)},
			})
		},
	}, {
		ID:         "pausing",
		Title:      "The Workspace is being paused",
		Recognised: "spec.paused is true and its Pod is still there.",
		Fix:        "Wait until the Pod has ended.",
		Match: func(c *diagnose.Case) []diagnose.Cause {
			if !c.Workspace.Spec.Paused || c.Pod == nil {
				return nil
			}
			return one(diagnose.Cause{
				Object:     "Pod/" + c.Pod.Name,
				Summary:    fmt.Sprintf("Workspace %s is being paused: its Pod is still there%s.", c.Name(), endingFor(c)),
				Confidence: diagnose.Certain,
				Origin:     "spec.paused",
				State:      diagnose.StateTerminating,
			})
		},
	}, {
		ID:         "terminating-in-progress",
		Title:      "The Pod is shutting down",
		Recognised: "The Pod has a deletionTimestamp that is not long past, and no finalizer.",
		Fix:        "Wait: its StatefulSet makes a new one as soon as it is gone.",
		Match: func(c *diagnose.Case) []diagnose.Cause {
			if c.Workspace.Spec.Paused || c.Workspace.DeletionTimestamp != nil || c.Pod == nil || c.Pod.DeletionTimestamp == nil {
				return nil
			}
			return one(diagnose.Cause{
				Object:     "Pod/" + c.Pod.Name,
				Summary:    fmt.Sprintf("The Pod of Workspace %s is Terminating%s; its StatefulSet makes a new one when it is gone.", c.Name(), endingFor(c)),
				Confidence: diagnose.Certain,
				State:      diagnose.StateTerminating,
			})
		},
	}}
}

func unpause(c *diagnose.Case) diagnose.Fix {
	return diagnose.Fix{
		Text: "Start it again",
		Command: diagnose.Command("kubectl", "patch", "workspace", c.Name(), "-n", c.Namespace(),
			"--type=merge", "-p", `{"spec":{"paused":false}}`),
		Risk: diagnose.RiskSafe,
	}
}

// endingFor says how long the Pod has been asked to end, out of what it was granted.
func endingFor(c *diagnose.Case) string {
	end := c.Pod.DeletionTimestamp
	if end == nil {
		return ""
	}
	grace := 30 * time.Second // the API's default
	if s := c.Pod.DeletionGracePeriodSeconds; s != nil {
		grace = time.Duration(*s) * time.Second
	}
	// deletionTimestamp is the end of the grace period, not its start.
	asked := end.Add(-grace)
	return fmt.Sprintf(" (for %s, with %s of grace)", duration.HumanDuration(max(0, c.Now.Sub(asked))), duration.HumanDuration(grace))
}

func one(c diagnose.Cause) []diagnose.Cause { return []diagnose.Cause{c} }
