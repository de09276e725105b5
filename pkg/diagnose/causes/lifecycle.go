package causes

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/diagnose"
)

// lifecycleRules are about what somebody did on purpose, and about a Pod that is on its
// way out or has already ended: nothing else about it matters any more.
func lifecycleRules() []diagnose.Rule {
	return []diagnose.Rule{{
		ID:         "workspace-deleting",
		Title:      "The Workspace is being deleted",
		Recognised: "The Workspace has a deletionTimestamp.",
		Fix:        "Wait. If it does not go away, a finalizer holds it or one of its objects: look who owns that finalizer.",
		Match:      matchDeleting,
	}, {
		ID:         "paused",
		Title:      "The Workspace is paused",
		Recognised: "spec.paused is true and there is no Pod.",
		Fix:        "Set spec.paused to false.",
		Match: func(c *diagnose.Case) []diagnose.Cause {
			if !c.Workspace.Spec.Paused || c.Pod != nil || !c.HasNoPod() && string(c.Workspace.Status.State) != "Paused" {
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
		ID:         "terminating-node-lost",
		Title:      "The Pod cannot end, as its node does not answer",
		Recognised: "The Pod is past its grace period, and its node is gone or not Ready, or the Pod's status or Events say that the node was lost.",
		Fix:        "Bring the node back or delete it. Only if it is certainly off, delete the Pod with --force.",
		Match:      matchNodeLost,
	}, {
		ID:         "terminating-finalizer",
		Title:      "A finalizer holds the Pod",
		Recognised: "The Pod has a deletionTimestamp and finalizers, and its containers have ended or its grace period is over.",
		Fix:        "Find out who owns the finalizer and why it is not removed.",
		Match:      matchFinalizer,
	}, {
		ID:         "pod-preempted",
		Title:      "The Pod makes way for one of higher priority",
		Recognised: "The Pod's condition DisruptionTarget has the reason PreemptionByScheduler, its status the reason Preempting, or a Preempted Event is current.",
		Fix:        "Wait for room, or choose a podConfig that other nodes have room for.",
		Match:      matchPodPreempted,
	}, {
		ID:         "pausing",
		Title:      "The Workspace is being paused",
		Recognised: "spec.paused is true and its Pod is still there.",
		Fix:        "Wait until the Pod has ended.",
		Match:      matchPausing,
	}, {
		ID:         "terminating-in-progress",
		Title:      "The Pod is shutting down",
		Recognised: "The Pod has a deletionTimestamp, and nothing is known to hold it.",
		Fix:        "Wait: its StatefulSet makes a new one as soon as it is gone.",
		Match:      matchTerminating,
	}, {
		ID:         "pod-evicted",
		Blocks:     diagnose.RungReady,
		Title:      "The node has evicted the Pod",
		Recognised: "The Pod's status has the reason Evicted or that of a node shutting down, or its condition DisruptionTarget says so, or an Evicted Event is current.",
		Fix:        "The StatefulSet makes a new Pod. Free the node's resource, or request as much of it as the Workspace uses.",
		Match:      matchEvicted,
	}, {
		ID:         "pod-admission-rejected",
		Blocks:     diagnose.RungReady,
		Title:      "The kubelet has rejected the Pod",
		Recognised: "The Pod has Failed with one of the kubelet's reasons for rejecting one (UnexpectedAdmissionError, OutOfcpu, NodeAffinity and others).",
		Fix:        "The StatefulSet makes a new Pod; if it does not, or that meets the same end, look at the node.",
		Match:      matchRejected,
	}, {
		ID:         "pod-ended",
		Blocks:     diagnose.RungReady,
		Title:      "The Pod has ended",
		Recognised: "The Pod's phase is Failed or Succeeded, and no other cause says why.",
		Fix:        "The StatefulSet makes a new Pod. See why this one has ended: its deadline (activeDeadlineSeconds), or what its containers say.",
		Match:      matchEnded,
	}}
}

func matchEnded(c *diagnose.Case) []diagnose.Cause {
	if c.Pod == nil || c.Pod.DeletionTimestamp != nil || c.Pod.Status.Phase != corev1.PodFailed && c.Pod.Status.Phase != corev1.PodSucceeded ||
		len(matchEvicted(c))+len(matchRejected(c))+len(matchPodPreempted(c)) > 0 {
		return nil
	}
	status := c.Pod.Status
	cause := diagnose.Cause{
		Object:     "Pod/" + c.Pod.Name,
		Confidence: diagnose.Certain,
		State:      diagnose.StateError,
		Chain:      []string{"Workspace " + c.Name(), fmt.Sprintf("Pod %s has ended (%s)", c.Pod.Name, status.Phase)},
		Fixes:      []diagnose.Fix{replaceEndedPod(c)},
	}
	how := string(status.Phase)
	if status.Reason != "" {
		how += ", " + status.Reason
		cause.Evidence = append(cause.Evidence, podStatusEvidence(c))
	}
	detail := status.Message
	if limit := c.Pod.Spec.ActiveDeadlineSeconds; status.Reason == "DeadlineExceeded" && limit != nil {
		detail = fmt.Sprintf("its activeDeadlineSeconds of %d were over", *limit)
		cause.Fixes = append(cause.Fixes, inspect("A Workspace sets no such deadline: see who does (an admission webhook or policy)",
			"kubectl", "get", "pod", c.Pod.Name, "-n", c.Namespace(), "-o", "jsonpath={.spec.activeDeadlineSeconds}"))
	}
	for _, container := range c.PodContainers() {
		if t := container.Status.State.Terminated; t != nil && !container.Init {
			said := fmt.Sprintf("%s ended with exit code %d", containerWords(container), t.ExitCode)
			cause.Evidence = append(cause.Evidence, diagnose.Evidence{Source: cause.Object, Reason: t.Reason, Message: strings.TrimSuffix(said+": "+t.Message, ": ")})
			if detail == "" {
				detail = said
				cause.Fixes = append(cause.Fixes, readLog(c, container))
			}
		}
	}
	cause.Summary = sentence(fmt.Sprintf("The Pod of Workspace %s has ended (%s)", c.Name(), how), detail)
	return one(cause)
}

func matchDeleting(c *diagnose.Case) []diagnose.Cause {
	if c.Workspace.DeletionTimestamp == nil {
		return nil
	}
	summary := fmt.Sprintf("Workspace %s is being deleted", c.Name())
	object := c.WorkspaceRef()
	if f := c.Workspace.Finalizers; len(f) > 0 {
		summary += fmt.Sprintf("; finalizers hold it: %s", strings.Join(f, ", "))
	}
	var fixes []diagnose.Fix
	if c.Pod != nil {
		object = "Pod/" + c.Pod.Name
		if f := c.Pod.Finalizers; len(f) > 0 {
			summary += fmt.Sprintf("; finalizers hold its Pod: %s", strings.Join(f, ", "))
			fixes = append(fixes, finalizerFix(c))
		} else {
			summary += fmt.Sprintf("; its Pod %s is still there%s", c.Pod.Name, endingFor(c))
		}
	}
	return one(diagnose.Cause{Object: object, Summary: summary + ".", Confidence: diagnose.Certain, State: diagnose.StateTerminating, Fixes: fixes})
}

func unpause(c *diagnose.Case) diagnose.Fix {
	return diagnose.Fix{
		Text: "Start it again",
		Command: diagnose.Command("kubectl", "patch", "workspace", c.Name(), "-n", c.Namespace(),
			"--type=merge", "-p", `{"spec":{"paused":false}}`),
		Risk: diagnose.RiskSafe,
	}
}

// pastGrace is for how long the Pod has been overdue; negative if it is not.
func pastGrace(c *diagnose.Case) time.Duration {
	if c.Pod == nil || c.Pod.DeletionTimestamp == nil {
		return -1
	}
	// deletionTimestamp is the end of the grace period, not its start.
	return c.Now.Sub(c.Pod.DeletionTimestamp.Time)
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
	return fmt.Sprintf(" (for %s, with %s of grace)", duration.HumanDuration(max(0, c.Now.Sub(end.Add(-grace)))), duration.HumanDuration(grace))
}

const (
	// kubeletSlack is how long a kubelet may take to report that a Pod has ended.
	kubeletSlack = 10 * time.Second
	// lostAfter is when a kubelet that reports nothing about a Pod which should be gone
	// is taken for dead. Nodes count as not Ready after 40 to 50 seconds of silence.
	lostAfter = 5 * time.Minute
)

func matchNodeLost(c *diagnose.Case) []diagnose.Cause {
	if c.Pod == nil || c.Pod.DeletionTimestamp == nil || c.Pod.Spec.NodeName == "" || pastGrace(c) < kubeletSlack {
		return nil
	}
	node := c.Pod.Spec.NodeName
	cause := diagnose.Cause{
		Object:     "Node/" + node,
		Confidence: diagnose.Certain,
		State:      diagnose.StateTerminating,
		Chain:      []string{"Workspace " + c.Name(), "Pod " + c.Pod.Name + " stays Terminating", "the kubelet of node " + node + " does not answer"},
	}
	why := ""
	switch {
	case c.Node.IsAbsent():
		why = fmt.Sprintf("its node %s is gone", node)
	case c.Node.IsFound():
		ready := nodeCondition(c.Node.Value, corev1.NodeReady)
		if ready == nil || ready.Status == corev1.ConditionTrue {
			return nil
		}
		why = fmt.Sprintf("its node %s does not answer (NotReady for %s)", node, duration.HumanDuration(c.Now.Sub(ready.LastTransitionTime.Time)))
		cause.Evidence = append(cause.Evidence, diagnose.Evidence{Source: "Node/" + node, Reason: ready.Reason, Message: ready.Message})
	case c.Pod.Status.Reason == nodeLost:
		why = fmt.Sprintf("the cluster has lost its node %s", node)
		cause.Evidence = append(cause.Evidence, podStatusEvidence(c))
	default:
		cause.Confidence = diagnose.Likely
		said := c.CurrentOf("Pod", "NodeNotReady", "TaintManagerEviction")
		switch {
		case len(said) > 0 || disruption(c, "DeletionByTaintManager") != nil:
			why = fmt.Sprintf("its node %s seems to be lost", node)
		case len(c.Pod.Finalizers) == 0 && pastGrace(c) > lostAfter && stillRuns(c.Pod) && len(c.CurrentOf("Pod", "FailedKillPod")) == 0:
			why = fmt.Sprintf("the kubelet of its node %s has not reported the end of its containers; the node is probably off", node)
		default:
			return nil
		}
		for _, e := range said {
			cause.Evidence = append(cause.Evidence, e.Evidence())
		}
	}
	cause.Summary = fmt.Sprintf("The Pod of Workspace %s stays Terminating%s: %s.", c.Name(), endingFor(c), why)
	cause.Fixes = []diagnose.Fix{
		inspect("See how the node is doing", "kubectl", "get", "node", node),
		{
			Text:    "Only if the node is certainly off (otherwise two Pods may write to one volume), drop the Pod by force",
			Command: diagnose.Command("kubectl", "delete", "pod", c.Pod.Name, "-n", c.Namespace(), "--force", "--grace-period=0"),
			Risk:    diagnose.RiskDisruptive,
		},
	}
	return one(cause)
}

func nodeCondition(n *corev1.Node, t corev1.NodeConditionType) *corev1.NodeCondition {
	for i := range n.Status.Conditions {
		if n.Status.Conditions[i].Type == t {
			return &n.Status.Conditions[i]
		}
	}
	return nil
}

// disruption is the Pod's condition DisruptionTarget (1.26 and later) if it has one of
// these reasons, or with none given any.
func disruption(c *diagnose.Case, reasons ...string) *corev1.PodCondition {
	if c.Pod == nil {
		return nil
	}
	d := diagnose.Condition(c.Pod, corev1.DisruptionTarget)
	if d == nil || d.Status != corev1.ConditionTrue || len(reasons) > 0 && !slices.Contains(reasons, d.Reason) {
		return nil
	}
	return d
}

// stillRuns reports whether some container runs, by the kubelet's last word.
func stillRuns(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.ContainerStatuses, func(s corev1.ContainerStatus) bool { return s.State.Running != nil })
}

func conditionEvidence(c *diagnose.Case, condition *corev1.PodCondition) diagnose.Evidence {
	return diagnose.Evidence{Source: "Pod/" + c.Pod.Name, Reason: condition.Reason, Message: condition.Message}
}

func podStatusEvidence(c *diagnose.Case) diagnose.Evidence {
	return diagnose.Evidence{Source: "Pod/" + c.Pod.Name, Reason: c.Pod.Status.Reason, Message: c.Pod.Status.Message}
}

func matchFinalizer(c *diagnose.Case) []diagnose.Cause {
	if c.Pod == nil || c.Pod.DeletionTimestamp == nil || len(c.Pod.Finalizers) == 0 {
		return nil
	}
	if pastGrace(c) < 0 && (stillRuns(c.Pod) || len(c.Pod.Status.ContainerStatuses) == 0) {
		return nil // it would not be gone yet without the finalizer either
	}
	held := "its containers have ended"
	if stillRuns(c.Pod) {
		held = "its grace period is over"
	}
	return one(diagnose.Cause{
		Object: "Pod/" + c.Pod.Name,
		Summary: fmt.Sprintf("The Pod of Workspace %s stays Terminating%s: %s, but a finalizer holds it: %s. No new Pod is made as long as it is there.",
			c.Name(), endingFor(c), held, strings.Join(c.Pod.Finalizers, ", ")),
		Confidence: diagnose.Certain,
		State:      diagnose.StateTerminating,
		Chain:      []string{"Workspace " + c.Name(), "Pod " + c.Pod.Name + " stays Terminating", "finalizer " + c.Pod.Finalizers[0]},
		Evidence:   []diagnose.Evidence{{Source: "Pod/" + c.Pod.Name, Reason: "finalizers", Message: strings.Join(c.Pod.Finalizers, ", ")}},
		Fixes:      []diagnose.Fix{finalizerFix(c)},
	})
}

func finalizerFix(c *diagnose.Case) diagnose.Fix {
	return inspect("Whoever owns the finalizer has to remove it: see whether that controller runs", "kubectl", "get", "pod", c.Pod.Name, "-n", c.Namespace(),
		"-o", "jsonpath={.metadata.finalizers}")
}

func matchPodPreempted(c *diagnose.Case) []diagnose.Cause {
	if c.Pod == nil {
		return nil
	}
	said := c.CurrentOf("Pod", "Preempted", "Preempting")
	byScheduler := disruption(c, "PreemptionByScheduler", "PreemptionByKubeScheduler")
	if byScheduler == nil && c.Pod.Status.Reason != "Preempting" && (len(said) == 0 || c.Pod.DeletionTimestamp == nil && c.Pod.Status.Phase != corev1.PodFailed) {
		return nil
	}
	cause := diagnose.Cause{
		Object:     "Pod/" + c.Pod.Name,
		Confidence: diagnose.Certain,
		Origin:     podConfigOrigin,
		State:      diagnose.StateTerminating,
		Chain:      []string{"Workspace " + c.Name(), "Pod " + c.Pod.Name + " ends", "a Pod of higher priority needs its place"},
		Fixes: []diagnose.Fix{inspect("See what needed the room", "kubectl", "get", "pods", "--all-namespaces",
			"--field-selector", "spec.nodeName="+c.Pod.Spec.NodeName, "-o", "custom-columns=NAMESPACE:.metadata.namespace,NAME:.metadata.name,PRIORITY:.spec.priority")},
	}
	detail := c.Pod.Status.Message
	switch {
	case byScheduler != nil:
		detail = byScheduler.Message
		cause.Evidence = append(cause.Evidence, conditionEvidence(c, byScheduler))
	case c.Pod.Status.Reason == "Preempting":
		cause.Evidence = append(cause.Evidence, podStatusEvidence(c))
	default:
		cause.Confidence = diagnose.Likely
	}
	for _, e := range said {
		cause.Evidence = append(cause.Evidence, e.Evidence())
	}
	if len(said) > 0 {
		detail = said[0].Plain()
	}
	if c.Pod.DeletionTimestamp == nil {
		cause.State = diagnose.StateError
	}
	where := ""
	if node := c.Pod.Spec.NodeName; node != "" {
		where = " on node " + node
	}
	cause.Summary = sentence(fmt.Sprintf("The Pod of Workspace %s is preempted: it makes way%s for a Pod of higher priority", c.Name(), where), detail)
	return one(cause)
}

func matchPausing(c *diagnose.Case) []diagnose.Cause {
	if !c.Workspace.Spec.Paused || c.Pod == nil {
		return nil
	}
	cause := diagnose.Cause{
		Object:     "Pod/" + c.Pod.Name,
		Summary:    fmt.Sprintf("Workspace %s is being paused: its Pod is still there%s.", c.Name(), endingFor(c)),
		Confidence: diagnose.Certain,
		Origin:     "spec.paused",
		State:      diagnose.StateTerminating,
	}
	if s := c.StatefulSet; c.Pod.DeletionTimestamp == nil && s != nil && (s.Spec.Replicas == nil || *s.Spec.Replicas > 0) {
		cause.Summary = fmt.Sprintf("Workspace %s is to be paused, but the Workspace controller has not acted on it yet: its Pod is still there.", c.Name())
		cause.Fixes = []diagnose.Fix{controllerPods()}
	}
	return one(cause)
}

func matchTerminating(c *diagnose.Case) []diagnose.Cause {
	if c.Workspace.Spec.Paused || c.Workspace.DeletionTimestamp != nil || c.Pod == nil || c.Pod.DeletionTimestamp == nil {
		return nil
	}
	if len(matchNodeLost(c)) > 0 || len(matchFinalizer(c)) > 0 {
		return nil // these say why it takes so long
	}
	ending := fmt.Sprintf("The Pod of Workspace %s is Terminating%s", c.Name(), endingFor(c))
	cause := diagnose.Cause{
		Object:     "Pod/" + c.Pod.Name,
		Summary:    ending + "; its StatefulSet makes a new one when it is gone.",
		Confidence: diagnose.Certain,
		State:      diagnose.StateTerminating,
	}
	if d := disruption(c); d != nil {
		cause.Summary = sentence(ending, d.Message) + " Its StatefulSet makes a new one when it is gone."
		cause.Evidence = append(cause.Evidence, conditionEvidence(c, d))
	}
	if pastGrace(c) > kubeletSlack {
		cause.Summary = fmt.Sprintf("%s and should be gone: the kubelet of node %s has not managed to end it.", ending, c.Pod.Spec.NodeName)
		cause.Fixes = []diagnose.Fix{inspect("See what the kubelet says about it", "kubectl", "describe", "pod", c.Pod.Name, "-n", c.Namespace())}
		for _, e := range c.CurrentOf("Pod", "FailedKillPod", "FailedPreStopHook") {
			cause.Evidence = append(cause.Evidence, e.Evidence())
		}
	}
	return one(cause)
}

var (
	// Reasons of a Pod's status for having been put off its node: by the eviction manager,
	// or by the kubelet of a node that shuts down (Shutdown in 1.20, NodeShutdown and
	// Terminated since).
	evictionReasons = []string{"Evicted", "Shutdown", "Terminated"}
	// "Container main exceeded its local ephemeral storage limit", "Pod ephemeral local
	// storage usage exceeds the total limit", "Usage of EmptyDir volume x exceeds the limit".
	ownLimitPattern = regexp.MustCompile(`(?i)exceed(?:s|ed) (?:its local ephemeral storage|the(?: total)?) limit`)
	shutdownPattern = regexp.MustCompile(`(?i)shutting|shutdown`)
)

func matchEvicted(c *diagnose.Case) []diagnose.Cause {
	if c.Pod == nil || c.Pod.DeletionTimestamp != nil {
		return nil
	}
	status := c.Pod.Status
	said := c.CurrentOf("Pod", "Evicted")
	target := disruption(c, "TerminationByKubelet")
	cause := diagnose.Cause{
		Object:     "Node/" + c.Pod.Spec.NodeName,
		Confidence: diagnose.Certain,
		State:      diagnose.StateError,
		Origin:     podConfigOrigin,
	}
	message := ""
	switch {
	case status.Phase == corev1.PodFailed && slices.Contains(evictionReasons, status.Reason):
		message = status.Message
		cause.Evidence = append(cause.Evidence, podStatusEvidence(c))
	case target != nil:
		message = target.Message
		cause.Evidence = append(cause.Evidence, conditionEvidence(c, target))
	case len(said) > 0:
		// A container that heeds SIGTERM exits with 0: then the Pod is Succeeded and its
		// status gives no reason.
		cause.Confidence = diagnose.Likely
		message = said[0].Plain()
	default:
		return nil
	}
	for _, e := range said {
		cause.Evidence = append(cause.Evidence, e.Evidence())
	}
	message = withoutPod(message)
	node := c.Pod.Spec.NodeName
	what := fmt.Sprintf("Node %s has evicted the Pod of Workspace %s (Evicted)", node, c.Name())
	switch {
	case shutdownPattern.MatchString(message):
		what = fmt.Sprintf("Node %s shuts down and has ended the Pod of Workspace %s (%s)", node, c.Name(), status.Reason)
	case ownLimitPattern.MatchString(message):
		what = fmt.Sprintf("Node %s has evicted the Pod of Workspace %s (Evicted), which used more than its own limit allows", node, c.Name())
	}
	cause.Summary = sentence(what, message)
	cause.Chain = []string{"Workspace " + c.Name(), "Pod " + c.Pod.Name + " was evicted", "node " + node}
	cause.Fixes = []diagnose.Fix{
		inspect("See how the node is doing", "kubectl", "describe", "node", node),
		{Text: "Choose a podConfig that requests as much as the Workspace uses; keep large files on a volume, not in the container", Risk: diagnose.RiskDisruptive},
		replaceEndedPod(c),
	}
	return one(cause)
}

// rejections are the reasons with which a kubelet fails a Pod that it does not admit,
// and what each means. (pkg/kubelet/lifecycle, cm/admission, topologymanager, sysctl,
// nodeshutdown.) OutOf… is completed by the name of a resource.
var rejections = map[string]string{
	"UnexpectedAdmissionError":             "a device or resource that the scheduler counted on is not available there",
	"OutOf":                                "there is not enough of a resource left there",
	"NodeAffinity":                         "its labels do not match what the Pod asks for (any more)",
	"MatchNodeSelector":                    "its labels do not match what the Pod asks for (any more)",
	"NodeName":                             "the Pod names another node",
	"HostName":                             "the Pod names another node",
	"NodePorts":                            "a host port of the Pod is taken there",
	"HostPort":                             "a host port of the Pod is taken there",
	"PodFitsHostPorts":                     "a host port of the Pod is taken there",
	"TaintToleration":                      "the Pod does not tolerate one of its taints",
	"TopologyAffinityError":                "its resources cannot be had from one NUMA node",
	"SMTAlignmentError":                    "the CPUs asked for do not fill whole cores",
	"NodeShutdown":                         "it is shutting down",
	"SysctlForbidden":                      "it does not allow a sysctl of the Pod",
	"AppArmor":                             "it cannot enforce the Pod's AppArmor profile",
	"PodOSSelectorNodeLabelDoesNotMatch":   "its operating system is another",
	"PodOSNotSupported":                    "its operating system is another",
	"InvalidNodeInfo":                      "its kubelet does not know its own node",
	"UnexpectedPredicateFailureType":       "its kubelet could not check the Pod",
	"SupplementalGroupsPolicyNotSupported": "its runtime does not support the Pod's supplementalGroupsPolicy",
	"InitContainerRestartPolicyForbidden":  "its kubelet is too old for sidecar containers",
}

// rejectionMeaning explains a reason of the kubelet; ok is false if it is none.
func rejectionMeaning(reason string) (meaning string, ok bool) {
	if strings.HasPrefix(reason, "OutOf") {
		reason = "OutOf"
	}
	meaning, ok = rejections[reason]
	return meaning, ok
}

func matchRejected(c *diagnose.Case) []diagnose.Cause {
	if c.Pod == nil || c.Pod.DeletionTimestamp != nil || c.Pod.Status.Phase != corev1.PodFailed {
		return nil
	}
	status := c.Pod.Status
	reason, message := status.Reason, status.Message
	meaning, ok := rejectionMeaning(reason)
	if !ok && (!strings.HasPrefix(message, "Pod was rejected: ") || slices.Contains(evictionReasons, reason)) {
		return nil
	}
	node := c.Pod.Spec.NodeName
	cause := diagnose.Cause{
		Object:     "Node/" + node,
		Confidence: diagnose.Certain,
		State:      diagnose.StateError,
		Origin:     podConfigOrigin,
		Chain:      []string{"Workspace " + c.Name(), "Pod " + c.Pod.Name + " was rejected", "node " + node},
		Evidence:   []diagnose.Evidence{podStatusEvidence(c)},
	}
	for _, e := range c.CurrentOf("Pod", reason) {
		cause.Evidence = append(cause.Evidence, e.Evidence())
	}
	what := fmt.Sprintf("The kubelet of node %s has rejected the Pod of Workspace %s (%s)", node, c.Name(), reason)
	if meaning != "" {
		what += ", as " + meaning
	}
	cause.Summary = sentence(what, withoutPod(message))
	cause.Fixes = []diagnose.Fix{replaceEndedPod(c), inspect("See what the node has and who uses it", "kubectl", "describe", "node", node)}
	return one(cause)
}

// withoutPod takes from a message of the kubelet what it puts before the reason. Some
// reasons are sentences about the Pod themselves.
func withoutPod(message string) string {
	message = strings.TrimPrefix(message, "Pod was rejected: ")
	if rest := strings.TrimPrefix(message, "Pod "); !strings.HasPrefix(rest, "was ") {
		return rest
	}
	return message
}

func replaceEndedPod(c *diagnose.Case) diagnose.Fix {
	return diagnose.Fix{
		Text:    "The StatefulSet makes a new Pod by itself; if it has not, remove this one, which has ended",
		Command: diagnose.Command("kubectl", "delete", "pod", c.Pod.Name, "-n", c.Namespace()),
		Risk:    diagnose.RiskDisruptive,
	}
}

func one(c diagnose.Cause) []diagnose.Cause { return []diagnose.Cause{c} }
