package causes

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/diagnose"
)

// schedulingRules are about a Pod that gets no node, or whose node is lost.
func schedulingRules() []diagnose.Rule {
	rules := []diagnose.Rule{{
		ID:         "scheduling-gated",
		Blocks:     diagnose.RungScheduled,
		Title:      "A scheduling gate holds the Pod",
		Recognised: "The condition PodScheduled has the reason SchedulingGated, or the Pod's spec lists schedulingGates.",
		Fix:        "Wait for whoever set the gate (usually a queue such as Kueue) to remove it.",
		Match:      matchGated,
	}, {
		ID:         "scaling-up",
		Blocks:     diagnose.RungScheduled,
		Title:      "A new node is on its way",
		Recognised: "No node fits, and the newest word of the cluster autoscaler about the Pod is TriggeredScaleUp (of Karpenter: Nominated), no longer than 15 minutes ago.",
		Fix:        "Wait: a node takes a few minutes to come up.",
		Match:      matchScalingUp,
	}, {
		ID:         "scheduler-not-running",
		Blocks:     diagnose.RungScheduled,
		Title:      "No scheduler looks at the Pod",
		Recognised: "The Pod is older than 30 seconds and has no node, no condition and no Event of a scheduler.",
		Fix:        "See whether the scheduler that spec.schedulerName names is running.",
		Match:      matchNoScheduler,
	}, {
		ID:         "node-not-ready",
		Blocks:     diagnose.RungReady,
		Title:      "The node is not ready or does not answer",
		Recognised: "The Pod's node has the condition Ready not True; or the scheduler turns down nodes for the taints not-ready, unreachable and the like.",
		Fix:        "An administrator has to bring the node back. A toleration does not help.",
		Match:      matchNodeNotReady,
	}}
	for _, k := range refusalKinds {
		rules = append(rules, diagnose.Rule{
			ID: k.id, Blocks: diagnose.RungScheduled, Title: k.title,
			Recognised: "The scheduler's message says " + k.words + ", and of its reasons, given the numbers of nodes and the nodes themselves where they can be read, this is the one to lift.",
			Fix:        k.fix,
			Match:      func(c *diagnose.Case) []diagnose.Cause { return matchRefusal(c, k) },
		})
	}
	return rules
}

// --- nodes that are lost ---

func matchNodeNotReady(c *diagnose.Case) []diagnose.Cause {
	if v := judge(c); v.cause == "node-not-ready" && !isScalingUp(c) {
		taint := v.taint("node-not-ready")
		cause := refusalCause(c, v, fmt.Sprintf("Workspace %s waits for %s, which %s (%s)",
			c.Name(), v.onNodes(), v.oneOrMore("is NotReady or does not answer", "are NotReady or do not answer"), strings.TrimSpace(firstOf(taint, v.words()))))
		cause.Fixes = fixNode(c, v)
		return one(cause)
	}
	if c.Pod == nil || c.Pod.Spec.NodeName == "" || c.Pod.Status.Phase == corev1.PodFailed || c.Pod.DeletionTimestamp != nil {
		return nil
	}
	name := c.Pod.Spec.NodeName
	cause := diagnose.Cause{
		Object:     "Node/" + name,
		Confidence: diagnose.Certain,
		State:      diagnose.StateError,
		Chain:      []string{"Workspace " + c.Name(), "Pod is not Ready", fmt.Sprintf("Node %s is not ready", name)},
		Fixes:      []diagnose.Fix{describeNode(name)},
	}
	said := c.CurrentOf("Pod", "NodeNotReady")
	for _, e := range said {
		cause.Evidence = append(cause.Evidence, e.Evidence())
	}
	switch ready := nodeReady(c); {
	case c.Node.IsAbsent():
		cause.Summary = fmt.Sprintf("Node %s, on which the Pod of Workspace %s ran, does not exist any more.", name, c.Name())
		cause.Fixes = []diagnose.Fix{seeNodes()}
	case ready != nil && ready.Status != corev1.ConditionTrue:
		how := "has been NotReady"
		if ready.Status == corev1.ConditionUnknown {
			how = "is unreachable: its kubelet has not answered"
		}
		cause.Summary = fmt.Sprintf("Node %s, on which the Pod of Workspace %s is, %s for %s; what the Pod's status says may be out of date.",
			name, c.Name(), how, duration.HumanDuration(c.Now.Sub(ready.LastTransitionTime.Time)))
		cause.Evidence = append(cause.Evidence, diagnose.Evidence{Source: cause.Object, Reason: ready.Reason, Message: ready.Message})
	case c.Pod.Status.Reason == nodeLost && !c.Node.IsFound():
		cause.Confidence = diagnose.Likely
		cause.Summary = fmt.Sprintf("The cluster has lost node %s, on which the Pod of Workspace %s is (NodeLost); what the Pod's status says may be out of date.", name, c.Name())
		cause.Evidence = append(cause.Evidence, podStatusEvidence(c))
	case len(said) > 0 && !c.Node.IsFound() && isNewest(c, said[0]):
		cause.Confidence = diagnose.Likely
		cause.Summary = fmt.Sprintf("The node controller reports that node %s, on which the Pod of Workspace %s is, is not ready.", name, c.Name())
	default:
		return nil
	}
	return one(cause)
}

// nodeLost is the reason in the status of a Pod whose node does not answer, before 1.13.
const nodeLost = "NodeLost"

func nodeReady(c *diagnose.Case) *corev1.NodeCondition {
	if !c.Node.IsFound() {
		return nil
	}
	for i, condition := range c.Node.Value.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			return &c.Node.Value.Status.Conditions[i]
		}
	}
	return nil
}

// isNewest reports whether nothing has been said about the Pod since.
func isNewest(c *diagnose.Case, e diagnose.Event) bool {
	return !slices.ContainsFunc(c.All, func(o diagnose.Event) bool { return o.Object == e.Object && o.Last.After(e.Last) })
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// --- queues, autoscalers, schedulers ---

func matchGated(c *diagnose.Case) []diagnose.Cause {
	if c.Pod == nil || c.Pod.Spec.NodeName != "" {
		return nil
	}
	condition := diagnose.Condition(c.Pod, corev1.PodScheduled)
	said := condition != nil && condition.Reason == corev1.PodReasonSchedulingGated
	var gates []string
	for _, g := range c.Pod.Spec.SchedulingGates {
		gates = append(gates, g.Name)
	}
	if !said && len(gates) == 0 {
		return nil
	}
	summary := fmt.Sprintf("Workspace %s is held back by a scheduling gate", c.Name())
	if len(gates) > 0 {
		summary = fmt.Sprintf("Workspace %s is held back by the scheduling gate %s", c.Name(), strings.Join(gates, ", "))
	}
	cause := diagnose.Cause{
		Object:     "Pod/" + c.Pod.Name,
		Summary:    fmt.Sprintf("%s, for %s now; whoever set it has to remove it.", summary, age(c)),
		Confidence: diagnose.Certain,
		State:      diagnose.StatePending,
		Chain:      []string{"Workspace " + c.Name(), "Pod waits to be scheduled", "scheduling gate " + strings.Join(gates, ", ")},
	}
	if said {
		cause.Evidence = []diagnose.Evidence{{Source: cause.Object, Reason: condition.Reason, Message: condition.Message}}
	}
	for _, e := range c.All { // newest first
		if e.Object.Kind == "Pod" && !slices.Contains(schedulerReasons, e.Reason) {
			cause.Evidence = append(cause.Evidence, e.Evidence()) // a queue says here what it waits for
			break
		}
	}
	if slices.ContainsFunc(gates, func(g string) bool { return strings.HasPrefix(g, "kueue.x-k8s.io/") }) {
		cause.Fixes = []diagnose.Fix{{
			Text:    "See where it stands in the queue of Kueue",
			Command: diagnose.Command("kubectl", "get", "workloads.kueue.x-k8s.io", "-n", c.Namespace()),
			Risk:    diagnose.RiskInspect,
		}}
	} else {
		cause.Fixes = []diagnose.Fix{{
			Text:    "See the gates and who manages the Pod",
			Command: diagnose.Command("kubectl", "get", "pod", c.Pod.Name, "-n", c.Namespace(), "-o", "yaml", "--show-managed-fields"),
			Risk:    diagnose.RiskInspect,
		}}
	}
	return one(cause)
}

// provisionTime is how long the cluster autoscaler gives a node to come up before it
// gives it up (--max-node-provision-time).
const provisionTime = 15 * time.Minute

// scaleUp is the Event by which an autoscaler promises a node, if it still stands.
func scaleUp(c *diagnose.Case) (diagnose.Event, bool) {
	if c.Pod == nil || c.Reached >= diagnose.RungScheduled {
		return diagnose.Event{}, false
	}
	for _, e := range c.All { // newest first
		if e.Object.Kind != "Pod" {
			continue
		}
		switch e.Reason {
		case "NotTriggerScaleUp", "FailedScaleUp", "ScaleUpTimedOut":
			return diagnose.Event{}, false
		case "TriggeredScaleUp", "Nominated":
			return e, c.Now.Sub(e.Last) < provisionTime
		}
	}
	return diagnose.Event{}, false
}

func isScalingUp(c *diagnose.Case) bool {
	_, ok := scaleUp(c)
	return ok
}

func matchScalingUp(c *diagnose.Case) []diagnose.Cause {
	e, ok := scaleUp(c)
	if !ok {
		return nil
	}
	v := judge(c)
	cause := diagnose.Cause{
		Object: "Node",
		Summary: fmt.Sprintf("Workspace %s waits for a new node: the autoscaler has triggered a scale-up %s ago.",
			c.Name(), duration.HumanDuration(c.Now.Sub(e.Last))),
		Confidence: diagnose.Likely,
		State:      diagnose.StatePending,
		Chain:      []string{"Workspace " + c.Name(), "Pod gets no node", "a new node is on its way"},
		Evidence:   append([]diagnose.Evidence{e.Evidence()}, v.evidence...),
		Fixes:      []diagnose.Fix{{Text: "Watch the nodes", Command: "kubectl get nodes -w", Risk: diagnose.RiskInspect}},
	}
	if len(v.refusals) > 0 {
		cause.Summary += fmt.Sprintf(" Until then: %s.", v.words())
	}
	return one(cause)
}

// notTriggered quotes the cluster autoscaler's refusal to add a node, if that is its
// latest word.
func notTriggered(c *diagnose.Case) []diagnose.Evidence {
	for _, e := range c.All { // newest first
		if e.Object.Kind != "Pod" {
			continue
		}
		switch {
		case e.Reason == "TriggeredScaleUp", e.Reason == "Nominated":
			return nil
		case e.Reason == "NotTriggerScaleUp", e.Reason == "FailedScaleUp", isKarpenter(e):
			return []diagnose.Evidence{e.Evidence()}
		}
	}
	return nil
}

// isKarpenter recognises the refusals of Karpenter, which have the scheduler's reason.
func isKarpenter(e diagnose.Event) bool {
	return e.Reason == "FailedScheduling" && strings.HasPrefix(e.Plain(), "Failed to schedule pod")
}

func autoscalerSays(c *diagnose.Case) string {
	said := notTriggered(c)
	if len(said) == 0 {
		return ""
	}
	who := "The cluster autoscaler"
	if said[0].Reason == "FailedScheduling" {
		who = "Karpenter"
	}
	return fmt.Sprintf(" %s adds no node for it (%s).", who, quote(shorten(strings.TrimPrefix(said[0].Message, "pod didn't trigger scale-up: "))))
}

const (
	// schedulerGrace is how long a scheduler that is alive may take to look at a Pod.
	schedulerGrace = 30 * time.Second
	// schedulerPatience is when its silence is no longer put down to being busy.
	schedulerPatience = 5 * time.Minute
)

func matchNoScheduler(c *diagnose.Case) []diagnose.Cause {
	pod := c.Pod
	if pod == nil || pod.DeletionTimestamp != nil || pod.Spec.NodeName != "" || len(pod.Spec.SchedulingGates) > 0 || diagnose.Condition(pod, corev1.PodScheduled) != nil {
		return nil
	}
	// Silence says something only where one could have heard. A scheduler that finds no node
	// says so in a condition too, but not while it waits for a volume.
	heard := c.HeardAll("Pod", pod.Name)
	if !heard && !claimsBound(c) {
		return nil
	}
	waited := c.Now.Sub(pod.CreationTimestamp.Time)
	if waited < schedulerGrace || schedulerActed(c) {
		return nil
	}
	name := firstOf(pod.Spec.SchedulerName, corev1.DefaultSchedulerName)
	cause := diagnose.Cause{
		Summary: fmt.Sprintf("No scheduler has looked at the Pod of Workspace %s in %s: it has no node and no word why. The scheduler %q does not seem to run.",
			c.Name(), duration.HumanDuration(waited), name),
		Confidence: diagnose.Likely,
		State:      diagnose.StatePending,
		Chain:      []string{"Workspace " + c.Name(), "Pod has no node, no condition and no Event of a scheduler", "scheduler " + name + " does not act"},
		Fixes: []diagnose.Fix{{
			Text:    "See whether the scheduler runs (managed clusters hide it)",
			Command: "kubectl get pods -n kube-system",
			Risk:    diagnose.RiskInspect,
		}},
	}
	if !heard {
		cause.Chain[1] = "Pod has no node and no condition of a scheduler"
	}
	if waited > schedulerPatience {
		cause.State = diagnose.StateError
	}
	if name != corev1.DefaultSchedulerName {
		cause.Fixes[0].Text = fmt.Sprintf("The Pod asks for scheduler %q: see whether such a scheduler runs", name)
		cause.Fixes[0].Command = "kubectl get pods -A"
	}
	return one(cause)
}

// schedulerReasons are those of kube-scheduler's Events about a Pod, and of Volcano's and
// others' that have a word of their own.
var schedulerReasons = []string{"FailedScheduling", "Scheduled", "Unschedulable"}

// schedulerActed reports whether a scheduler has left a trace: an Event, or the node
// that it chose for a volume.
func schedulerActed(c *diagnose.Case) bool {
	for _, e := range c.All {
		if e.Object.Kind == "Pod" && slices.Contains(schedulerReasons, e.Reason) {
			return true
		}
	}
	return slices.ContainsFunc(podClaims(c), func(name string) bool {
		claim := c.Claims[name]
		return claim.IsFound() && (claim.Value.Annotations[selectedNode] != "" || provisionedForPod(c, claim.Value))
	})
}

// provisionedForPod reports whether a volume that waits for its first consumer has been
// asked for since there is the Pod: only a scheduler can have done so. If the storage has
// no room there, its provisioner takes the choice back.
func provisionedForPod(c *diagnose.Case, claim *corev1.PersistentVolumeClaim) bool {
	view := claimView{c: c, name: claim.Name, claim: claim}
	class, _, _ := view.class()
	return view.waitsForConsumer(class) && slices.ContainsFunc(view.events("Provisioning", "ProvisioningFailed", "ExternalProvisioning"), func(e diagnose.Event) bool {
		return !e.Last.Before(c.Pod.CreationTimestamp.Time)
	})
}
