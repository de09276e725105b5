package diagnose

import (
	"fmt"
	"strings"
)

// controller compares the in-cluster controller's status with what was found. It
// looks at a Workspace only when one of the objects it watches changes, and Events are
// not among them, so that its message can describe a trouble long gone.
func (c *Case) controller(d Diagnosis) Controller {
	status := c.Workspace.Status
	out := Controller{State: string(status.State), Message: status.StateMessage}
	switch {
	case status.State == "" || !c.Pods.IsFound():
		return out // it said nothing, or there is nothing to hold against it
	case d.State == StateRunning && status.State != "Running":
		out.Why = "the Pod is Ready now"
	case d.State != StateRunning && status.State == "Running":
		out.Why = "the Pod is not Ready"
	case (d.State == StatePaused) != (status.State == "Paused"):
		out.Why = fmt.Sprintf("the Workspace is %s", strings.ToLower(string(d.State)))
	default:
		quoted, ok := strings.CutPrefix(status.StateMessage, podEventPrefix)
		if !ok {
			return out
		}
		for _, e := range c.Overtaken {
			if e.Message == quoted {
				out.Why = "it quotes a Warning that has been overtaken since"
			}
		}
		if out.Why == "" && len(d.Causes) > 0 && d.Causes[0].State == StatePending {
			out.Why = "what it quotes is no longer so"
		}
	}
	out.Stale = out.Why != ""
	return out
}
