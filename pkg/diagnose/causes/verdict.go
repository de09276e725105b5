package causes

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/diagnose"
)

// verdict is which of the scheduler's reasons keeps the Pod from a node: the one that,
// if lifted, would let it run.
type verdict struct {
	cause string
	// refusals are the reasons of that cause, others are the rest.
	refusals []nodeRefusal
	others   []nodeRefusal
	// nodes are those that the Pod is meant for and does not get; empty where the nodes
	// could not be read, or none is meant for it.
	nodes []nodeFit
	// fits are all nodes, if they are the ones that the scheduler counted.
	fits     []nodeFit
	total    int
	evidence []diagnose.Evidence
	// proven is set if the Pod's own status says it and no choice had to be guessed.
	proven bool
}

const (
	unschedulablePrefix  = "Workspace Pod is unschedulable: "
	schedulerErrorPrefix = "Workspace Pod has scheduler error: "
)

// schedulerWord is the scheduler's latest message about the Pod: the condition in its
// status, which is never older than the Events; else an Event; else what the
// controller quotes, for a person who may not read Pods.
func schedulerWord(c *diagnose.Case) (message string, evidence []diagnose.Evidence, fromStatus bool) {
	if c.Pod == nil {
		for _, prefix := range []string{unschedulablePrefix, schedulerErrorPrefix} {
			if m, ok := strings.CutPrefix(c.Workspace.Status.StateMessage, prefix); ok && !c.Pods.IsComplete() {
				return m, []diagnose.Evidence{c.WorkspaceEvidence()}, false
			}
		}
		for _, e := range c.Current {
			if e.FromController && len(parseScheduler(e.Message).refusals) > 0 {
				return e.Message, []diagnose.Evidence{e.Evidence()}, false
			}
		}
		return "", nil, false
	}
	if c.Reached >= diagnose.RungScheduled {
		return "", nil, false
	}
	said := slices.DeleteFunc(c.CurrentOf("Pod", "FailedScheduling"), isKarpenter)
	condition := diagnose.Condition(c.Pod, corev1.PodScheduled)
	if choseSince(c, said, condition) {
		return "", nil, false
	}
	if condition != nil && condition.Status != corev1.ConditionTrue && condition.Message != "" {
		for _, e := range said {
			if e.Message == condition.Message {
				return e.Message, []diagnose.Evidence{e.Evidence()}, true
			}
		}
		return condition.Message, []diagnose.Evidence{conditionEvidence(c, condition)}, true
	}
	if len(said) > 0 {
		return said[0].Message, []diagnose.Evidence{said[0].Evidence()}, false
	}
	return "", nil, false
}

// choseSince reports whether the scheduler has chosen a node after its last word: a volume
// is being made there, and the Pod gets the node when that is done.
func choseSince(c *diagnose.Case, said []diagnose.Event, condition *corev1.PodCondition) bool {
	var last time.Time
	switch {
	case len(said) > 0:
		last = said[0].Last
	case condition != nil && c.HeardAll("Pod", c.Pod.Name): // the Events of it have expired
		last = condition.LastTransitionTime.Time
	default:
		return false
	}
	claims := podClaims(c)
	return slices.ContainsFunc(c.All, func(e diagnose.Event) bool {
		return e.Object.Kind == "PersistentVolumeClaim" && (e.Reason == "Provisioning" || e.Reason == "ExternalProvisioning") && e.Last.After(last) &&
			slices.Contains(claims, e.Object.Name) && c.Claims[e.Object.Name].Value.Annotations[selectedNode] != ""
	})
}

type verdictKey struct{}

// judge reads the scheduler's message and picks the decisive reason. The zero verdict
// means that there is no message, or none that is understood.
func judge(c *diagnose.Case) verdict { return diagnose.Memo(c, verdictKey{}, readVerdict) }

func readVerdict(c *diagnose.Case) verdict {
	message, evidence, fromStatus := schedulerWord(c)
	s := parseScheduler(message)
	if len(s.refusals) == 0 {
		return verdict{}
	}
	v := verdict{total: s.nodes, evidence: evidence}
	now := fits(c)
	if len(now) == s.nodes {
		v.fits = now
	}
	sure := true
	v.cause, v.nodes = v.byNodes(s)
	if v.cause == "" && c.Nodes.IsComplete() && s.selectsNone(now) {
		v.cause = "node-selector-mismatch"
	}
	if v.cause == "" {
		v.cause, sure = decisive(s)
	}
	reserved := slices.ContainsFunc(s.refusals, func(r nodeRefusal) bool {
		return r.cause == "untolerated-taint" && !isControlPlane(r.detail)
	})
	for _, r := range s.refusals {
		// Nobody means a Pod for the control plane, if there is another tainted node.
		if standsFor(r, v.cause) && (!reserved || !isControlPlane(r.detail)) {
			v.refusals = append(v.refusals, r)
		} else {
			v.others = append(v.others, r)
		}
	}
	v.proven = sure && fromStatus
	return v
}

// selectsNone reports whether the Pod's node selector or affinity, of which the scheduler
// complains, rules out all of these nodes, which are those of now. Nodes may have come and gone
// since the scheduler's word, as an autoscaler makes them do: what spoke against those does not
// matter.
func (s schedulerSummary) selectsNone(nodes []nodeFit) bool {
	return s.says("node-selector-mismatch") && !allControlPlane(nodes) &&
		!slices.ContainsFunc(nodes, func(f nodeFit) bool { return f.selected })
}

// says reports whether a reason of the summary may be the given cause.
func (s schedulerSummary) says(cause string) bool {
	return slices.ContainsFunc(s.refusals, func(r nodeRefusal) bool { return standsFor(r, cause) })
}

// standsFor reports whether a reason may be the given cause. A taint that the message
// does not name, as in 1.35 and later, can be any of four.
func standsFor(r nodeRefusal, cause string) bool {
	return r.cause == cause || r.isNamelessTaint() && slices.Contains(taintCauses, cause)
}

func (r nodeRefusal) isNamelessTaint() bool { return r.cause == "untolerated-taint" && r.detail == "" }

// taintCauses are what a taint can stand for. A node that is broken or full counts
// before one that somebody closed, and that before one that is reserved for others,
// since the last is as somebody wants it.
var taintCauses = []string{"node-pressure", "node-not-ready", "node-unschedulable", "untolerated-taint"}

// weights says which of several reasons is decisive if each is about other nodes. The
// node that the Pod is meant for is the one that failed at what is not by design: a
// selector, a reserved node and an (anti-)affinity leave out nodes on purpose, a lack
// of room does not.
var weights = []string{
	"pvc-not-found", "pvc-terminating", "pvc-unbound", "volume-in-use", "volume-limit-exceeded",
	"insufficient-resources", "host-port-conflict",
	"volume-node-affinity-conflict", "pod-topology-unsatisfied",
	"node-pressure", "node-not-ready", "node-unschedulable", "untolerated-taint", "node-selector-mismatch",
	"no-nodes-available",
}

// decisive chooses by the words and the numbers alone. sure is false if it had to weigh
// reasons about different nodes.
func decisive(s schedulerSummary) (cause string, sure bool) {
	var known []nodeRefusal
	for _, r := range s.refusals {
		if r.cause != "" {
			known = append(known, r)
		}
	}
	// Schedulers up to 1.16 could list every reason of a node. One that holds for all
	// nodes excludes them all, whatever else is wrong; the filters that are asked first
	// are the last of the weights.
	var all []nodeRefusal
	for _, r := range known {
		if s.covers(r) {
			all = append(all, r)
		}
	}
	rank := func(r nodeRefusal) int {
		i := slices.Index(weights, r.cause)
		if r.cause == "untolerated-taint" && isControlPlane(r.detail) {
			i = len(weights)
		}
		return i
	}
	best := func(from []nodeRefusal, better func(a, b int) bool) string {
		b := from[0]
		for _, r := range from[1:] {
			if better(rank(r), rank(b)) {
				b = r
			}
		}
		return b.cause
	}
	switch {
	case len(all) > 0:
		return best(all, func(a, b int) bool { return a > b }), true
	case len(known) == 0:
		return "", false
	case deviceBehindTaint(known):
		return "untolerated-taint", false
	}
	chosen := best(known, func(a, b int) bool { return a < b })
	if len(known) < len(s.refusals) && !slices.ContainsFunc(known, func(r nodeRefusal) bool { return !isControlPlane(r.detail) }) {
		// The taint of the control plane is on every cluster. What the other nodes lack
		// has a name that is not known here.
		return "", false
	}
	return chosen, len(known) == 1 && len(s.refusals) == 1
}

// deviceBehindTaint recognises the usual protection of GPU nodes: some nodes lack the
// device, the others are tainted for its sake.
func deviceBehindTaint(refusals []nodeRefusal) bool {
	device := ""
	for _, r := range refusals {
		switch {
		case r.cause == "insufficient-resources" && strings.Contains(r.detail, "/"):
			device = r.detail
		case r.cause != "untolerated-taint" && r.cause != "node-selector-mismatch":
			return false
		}
	}
	return device != "" && slices.ContainsFunc(refusals, func(r nodeRefusal) bool {
		// Key or value tells: {nvidia.com/gpu: present}, {sku: gpu}.
		return r.cause == "untolerated-taint" && (r.detail == device || strings.Contains(strings.ToLower(r.text), "gpu") && strings.Contains(device, "gpu"))
	})
}

// byNodes chooses by looking at the nodes themselves; empty if they do not tell or
// contradict the scheduler, which saw them at another moment.
func (v verdict) byNodes(s schedulerSummary) (string, []nodeFit) {
	if len(v.fits) == 0 || slices.ContainsFunc(s.refusals, func(r nodeRefusal) bool { return r.nodes == 0 }) {
		return "", nil
	}
	meant := where(v.fits, func(f nodeFit) bool { return f.selected && len(f.tooSmall) == 0 && !f.onControlPlane() })
	if len(meant) == 0 {
		selected := where(v.fits, func(f nodeFit) bool { return f.selected && !f.onControlPlane() })
		switch {
		case len(selected) > 0 && s.says("insufficient-resources"):
			return "insufficient-resources", selected
		case len(selected) == 0 && s.says("node-selector-mismatch") && !allControlPlane(v.fits):
			return "node-selector-mismatch", nil
		}
		return "", nil
	}
	open := where(meant, func(f nodeFit) bool { return len(f.taints) == 0 })
	free := where(open, func(f nodeFit) bool { return f.elsewhere == "" })
	if len(free) > 0 {
		// Nothing in their specs speaks against these: it is what is on them now.
		for _, cause := range weights {
			if slices.Contains(taintCauses, cause) {
				break
			}
			if s.says(cause) {
				return cause, free
			}
		}
		return "", nil
	}
	if len(open) > 0 && s.says("volume-node-affinity-conflict") {
		return "volume-node-affinity-conflict", where(v.fits, func(f nodeFit) bool { return f.elsewhere == "" })
	}
	for _, cause := range taintCauses {
		if nodes := where(meant, func(f nodeFit) bool { return f.elsewhere == "" && f.hasTaint(cause) }); len(nodes) > 0 && s.says(cause) {
			return cause, nodes
		}
	}
	return "", nil
}

func where(fits []nodeFit, keep func(nodeFit) bool) []nodeFit {
	var out []nodeFit
	for _, f := range fits {
		if keep(f) {
			out = append(out, f)
		}
	}
	return out
}

func (f nodeFit) onControlPlane() bool {
	return slices.ContainsFunc(f.taints, func(t corev1.Taint) bool { return isControlPlane(t.Key) })
}

func allControlPlane(fits []nodeFit) bool {
	return !slices.ContainsFunc(fits, func(f nodeFit) bool { return !f.onControlPlane() })
}

// hasTaint reports whether an untolerated taint of the node stands for a cause.
func (f nodeFit) hasTaint(cause string) bool {
	return slices.ContainsFunc(f.taints, func(t corev1.Taint) bool { return taintCause(t.Key) == cause })
}
