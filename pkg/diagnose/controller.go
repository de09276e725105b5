package diagnose

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// controller compares the in-cluster controller's status with what was found. It
// looks at a Workspace only when one of the objects it watches changes, and Events are
// not among them, so that its message can describe a trouble long gone.
func (c *Case) controller(d Diagnosis) Controller {
	status := c.Workspace.Status
	out := Controller{State: string(status.State), Message: status.StateMessage}
	if status.State == "" || c.Pod == nil && !c.Pods.IsComplete() {
		return out // it said nothing, or there is nothing to hold against it
	}
	if out.Why = c.whyOtherState(d); out.Why == "" {
		out.Why = c.whyOtherMessage(d)
	}
	if out.Stale = out.Why != ""; !out.Stale {
		out.Why = c.whySymptom(d)
	}
	return out
}

// whyOtherState says why the controller's state is not ours, where that matters; empty
// if it does not.
func (c *Case) whyOtherState(d Diagnosis) string {
	said := string(c.Workspace.Status.State)
	switch {
	case said == string(d.State):
	case c.Workspace.DeletionTimestamp != nil:
		return "the Workspace is being deleted, which the controller does not look at"
	case d.State == StatePaused, d.State == StateTerminating:
		return fmt.Sprintf("the %s", c.goingWords(d.State))
	case said == "Paused":
		return "the Workspace is not paused any more"
	case said == "Terminating":
		return "the Pod that was shutting down is gone"
	case d.State == StateRunning:
		return "the Pod is Ready now"
	case said == "Running" && c.Pod == nil:
		return "there is no Pod"
	case said == "Running" && conditionIs(c.Pod, corev1.PodReady):
		return "the Pod is Ready only until its container crashes again"
	case said == "Running":
		return "the Pod is not Ready"
	}
	return ""
}

func (c *Case) goingWords(s State) string {
	switch {
	case s == StatePaused:
		return "Workspace is paused"
	case c.Workspace.Spec.Paused:
		return "Workspace is being paused"
	}
	return "Pod is shutting down"
}

// whyOtherMessage says why the message no longer holds; empty if it may.
func (c *Case) whyOtherMessage(d Diagnosis) string {
	message := c.Workspace.Status.StateMessage
	if quoted, ok := strings.CutPrefix(message, podEventPrefix); ok {
		return c.whyQuoteIsOld(d, quoted)
	}
	switch {
	case strings.HasPrefix(message, statefulSetEventPrefix) && c.Pod != nil:
		return "the Pod exists now"
	case strings.HasPrefix(message, "Workspace references unknown WorkspaceKind: ") && c.Kind.IsFound():
		return fmt.Sprintf("WorkspaceKind %s exists now", c.Workspace.Spec.Kind)
	case strings.HasPrefix(message, "Workspace owns multiple StatefulSets: ") && c.Facts.StatefulSets.IsComplete() && len(c.StatefulSets) < 2:
		return "there is no second StatefulSet any more"
	case strings.HasPrefix(message, "Workspace ServiceAccount ") && c.StatefulSet != nil:
		return "the StatefulSet, which comes after the ServiceAccount, exists now"
	case scheduled(message) && c.Reached >= RungScheduled:
		return "the Pod has a node now"
	case message == "Workspace is paused" && !c.Workspace.Spec.Paused:
		return "spec.paused is false now"
	}
	return ""
}

// scheduled recognises the three messages about a Pod without a node.
func scheduled(message string) bool {
	for _, prefix := range []string{"Workspace Pod is unschedulable: ", "Workspace Pod is waiting for scheduling gate: ", "Workspace Pod has scheduler error: "} {
		if strings.HasPrefix(message, prefix) {
			return true
		}
	}
	return false
}

// whyQuoteIsOld holds the Event that the controller quotes against the Events there are.
func (c *Case) whyQuoteIsOld(d Diagnosis, quoted string) string {
	if c.Pod == nil {
		return "there is no Pod"
	}
	for _, e := range c.Current {
		if e.Message == quoted {
			return c.whyQuoteIsAnswered(d, quoted)
		}
	}
	if len(d.Causes) > 0 && len(d.Causes[0].Evidence) > 0 && d.Causes[0].rests(func(e Evidence) bool { return e.says(quoted) }) {
		return "" // passed by the container main, and still the trouble of another one
	}
	for _, e := range c.Overtaken {
		if e.Message == quoted {
			if isNoise(e) {
				return "what it quotes means nothing"
			}
			return "it quotes a Warning that has been overtaken since"
		}
	}
	return ""
}

// symptoms are what others say when they gave up waiting for somebody else.
var symptoms = []string{"timed out waiting for the condition", "timeout expired waiting for volumes", "Back-off ", "back-off ", "Error syncing pod"}

// whySymptom says why the message, though it may hold, does not name the cause; empty if
// it may.
func (c *Case) whySymptom(d Diagnosis) string {
	if len(d.Causes) == 0 || d.Causes[0].ID == UnexplainedID {
		return ""
	}
	message, state := c.Workspace.Status.StateMessage, string(c.Workspace.Status.State)
	quoted, isQuote := strings.CutPrefix(message, podEventPrefix)
	switch {
	case isQuote && c.Pod != nil:
		for _, s := range symptoms {
			if strings.Contains(quoted, s) {
				return "it quotes a symptom, not the cause"
			}
		}
		if reason := c.reasonOf(quoted); reason != "" && !d.Causes[0].rests(func(e Evidence) bool { return e.Reason == reason || e.says(quoted) }) {
			return "it quotes another Warning than the one that explains it"
		}
	case strings.HasPrefix(message, notRunningPrefix):
		return "it names the state of the container, not the cause"
	case state == "Unknown":
		switch {
		case c.Pod == nil:
			return "without a Pod it goes by Events of the StatefulSet alone"
		case c.Pod.Status.Phase == corev1.PodFailed, c.Pod.Status.Phase == corev1.PodSucceeded:
			return fmt.Sprintf("it has no word for a Pod that has ended (%s)", c.Pod.Status.Phase)
		}
		return "it has no word for a Pod that runs and is not Ready"
	case state == "Pending" && d.State == StateError:
		return "it goes by the Pod's phase, and by Events that may have expired"
	}
	return ""
}

// whyQuoteIsAnswered is for a Warning that is about the present rung: it does not hold
// if what it misses exists now.
func (c *Case) whyQuoteIsAnswered(d Diagnosis, quoted string) string {
	if len(d.Causes) == 0 || d.Causes[0].State != StatePending {
		return ""
	}
	kind, name, _ := strings.Cut(d.Causes[0].Object, "/")
	if kind == "Secret" && c.Secrets[name].IsFound() || kind == "ConfigMap" && c.ConfigMaps[name].IsFound() {
		return fmt.Sprintf("%s %s exists now", kind, name)
	}
	if !d.Causes[0].rests(func(e Evidence) bool { return e.says(quoted) }) {
		return "what it quotes is no longer so"
	}
	return ""
}

// rests reports whether some evidence of the cause is like that; without evidence it
// cannot be told, and counts as such.
func (c Cause) rests(like func(Evidence) bool) bool {
	return len(c.Evidence) == 0 || slices.ContainsFunc(c.Evidence, like)
}

// says reports whether evidence and message are the same words, give or take what
// either puts before them: "Error: container has …" is "container has …" in the status.
func (e Evidence) says(message string) bool {
	return e.Message == message || e.Message != "" && strings.Contains(message, e.Message) || strings.Contains(e.Message, message)
}

// reasonOf finds the reason of the Warning with this message; empty if there is none.
func (c *Case) reasonOf(message string) string {
	for _, e := range c.All {
		if e.Message == message && e.IsWarning() {
			return e.Reason
		}
	}
	return ""
}
