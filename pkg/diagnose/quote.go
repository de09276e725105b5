package diagnose

import (
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/api/v1beta1"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/facts"
)

// What the controller writes into the Workspace's status is all that a person knows who
// may read nothing else. It gives the words of an Event, and not its reason.
const (
	podEventPrefix         = "Workspace Pod has warning event: "
	statefulSetEventPrefix = "Workspace StatefulSet has warning event: "
	notRunningPrefix       = "Workspace Container is not running ("
)

// quotedReasons tell the reason of a Pod's Event by its words: those of the scheduler, the
// attach controller and the kubelet.
var quotedReasons = []struct {
	reason  string
	pattern *regexp.Regexp
}{
	{"FailedScheduling", regexp.MustCompile(`nodes are (?:un)?available|^no nodes available|unbound (?:immediate )?PersistentVolumeClaims|^persistentvolumeclaim "|running (?:PreBind|Reserve|Permit) plugin`)},
	{"FailedAttachVolume", regexp.MustCompile(`^AttachVolume\.|^Multi-Attach error|^Waiting for detach`)},
	{"FailedMount", regexp.MustCompile(`^(?:Mount|Map)Volume\.|^Unable to (?:attach or )?mount`)},
	{"FailedCreatePodSandBox", regexp.MustCompile(`(?i)^fail(?:ed)? (?:to )?create pod sandbox`)},
	{"FailedCreatePodContainer", regexp.MustCompile(`^unable to ensure pod container exists`)},
	{"NetworkNotReady", regexp.MustCompile(`^network is not ready`)},
	{"Unhealthy", regexp.MustCompile(`^(?:Liveness|Readiness|Startup) probe (?:failed|errored)`)},
	{"BackOff", regexp.MustCompile(`^Back-off restarting failed|^` + crashLoop)},
	{"Failed", regexp.MustCompile(`^Error: |^Failed to (?:pull|inspect|apply default) |^Container image "[^"]*" is not present|^ImagePullBackOff`)},
}

// crashLoop is the waiting reason of a container that ends again and again.
const crashLoop = "CrashLoopBackOff"

// quote is the Warning that the controller has put into the Workspace's status, and the
// kind of object that it is about; ok is false if it has not.
func (c *Case) quote() (kind, reason, message string, ok bool) {
	said := c.Workspace.Status.StateMessage
	if message, ok = strings.CutPrefix(said, statefulSetEventPrefix); ok {
		return "StatefulSet", "FailedCreate", message, true
	}
	if message, ok = strings.CutPrefix(said, podEventPrefix); !ok {
		// Not an Event, but a waiting reason: CrashLoopBackOff or ImagePullBackOff.
		if message, ok = strings.CutPrefix(said, notRunningPrefix); !ok {
			return "", "", "", false
		}
		message = strings.TrimSuffix(message, ")")
	}
	plain := Event{Message: message}.Plain()
	for _, q := range quotedReasons {
		if q.pattern.MatchString(plain) {
			return "Pod", q.reason, message, true
		}
	}
	return "Pod", "", message, true
}

// quotedEvent is the Warning that the controller quotes in the Workspace's status, if it
// is the only way to know it: the person at the keyboard may not read Events.
func (c *Case) quotedEvent() (Event, bool) {
	kind, reason, message, ok := c.quote()
	known := kind == "Pod" && c.Pod != nil && (c.HeardAll(kind, c.Pod.Name) || strings.HasPrefix(c.Workspace.Status.StateMessage, notRunningPrefix)) ||
		kind == "StatefulSet" && c.StatefulSet != nil && c.HeardAll(kind, c.StatefulSet.Name) ||
		// There is nothing that could have Events.
		kind == "Pod" && c.HasNoPod() && c.Facts.StatefulSets.IsComplete() ||
		slices.ContainsFunc(c.All, func(e Event) bool { return e.Object.Kind == kind && e.Message == message })
	if !ok || known {
		return Event{}, false
	}
	return Event{
		Object:         facts.Ref{Kind: "Workspace", Name: c.Name()},
		Type:           corev1.EventTypeWarning,
		Reason:         reason,
		Message:        message,
		FromController: true,
	}, true
}

// reportedRung is how far the Workspace got by what the controller says about it: the
// rung below the one that the Warning which it quotes is about.
func (c *Case) reportedRung() Rung {
	reported := c.Workspace.Status.PodTemplatePod // kept also when there is no Pod any more
	rung := RungNone
	switch {
	case c.Workspace.Status.State == v1beta1.WorkspaceStatePaused:
	case reported.NodeName != "":
		rung = RungScheduled
	case reported.Name != "":
		rung = RungPodCreated
	}
	if scheduled(c.Workspace.Status.StateMessage) {
		return RungPodCreated
	}
	kind, reason, message, ok := c.quote()
	if !ok {
		return rung
	}
	blocked, bound := eventRungs[reason]
	switch {
	case kind == "StatefulSet":
		return RungAccepted
	case !bound:
		return max(rung, RungPodCreated)
	case blocked >= RungStarted && slices.ContainsFunc(reported.InitContainers, func(i v1beta1.ContainerStatus) bool { return namesContainer(message, i.Name) }):
		return RungSandbox
	case reason == "BackOff":
		return RungStarted
	}
	return blocked - 1
}
