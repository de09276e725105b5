package causes

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/diagnose"
)

// refusalKind is a cause that the scheduler's summary tells.
type refusalKind struct {
	id, title, words, fix string
	// explain says it in the user's words, without the final full stop.
	explain func(*diagnose.Case, verdict) string
	fixes   func(*diagnose.Case, verdict) []diagnose.Fix
	// origin is where in the Workspace's spec it comes from.
	origin string
}

var refusalKinds = []refusalKind{{
	"insufficient-resources", "No eligible node has enough of a requested resource", "Insufficient RESOURCE or Too many pods",
	"Choose a podConfig that asks for less, stop another Workspace, or let an administrator add a node. A GPU that no node offers needs a GPU node with a running device plugin.",
	explainResources, fixResources, podConfigOrigin,
}, {
	"node-pressure", "The node runs out of memory, disk or process ids", "memory-pressure, disk-pressure or pid-pressure",
	"Wait until the node has recovered, or let an administrator free what it lacks. A toleration makes it worse.",
	explainPressure, fixNode, "",
}, {
	"node-unschedulable", "The only fitting nodes are cordoned", "that nodes were unschedulable",
	"Uncordon the node when its maintenance is over, or choose a podConfig for other nodes.",
	explainCordon, fixCordon, "",
}, {
	"untolerated-taint", "Eligible nodes carry a taint that the Pod does not tolerate", "untolerated taint",
	"Choose a podConfig that tolerates the taint, or let an administrator add the toleration to the WorkspaceKind.",
	explainTaint, fixTaint, podConfigOrigin,
}, {
	"node-selector-mismatch", "No node matches the node selector or node affinity", "that nodes didn't match the Pod's node affinity/selector",
	"Choose another podConfig, or let an administrator label a node.",
	explainSelector, fixSelector, podConfigOrigin,
}, {
	"pod-topology-unsatisfied", "Pod affinity, anti-affinity or topology spread cannot be met", "that nodes didn't match pod affinity, anti-affinity or topology spread constraints",
	"Relax the rule in the podConfig, or see to the Pods it is about.",
	explainTopology, fixTopology, podConfigOrigin,
}, {
	"host-port-conflict", "The host port is taken on every eligible node", "that nodes didn't have free ports",
	"Stop the other Pod, or do without the host port.",
	explainPorts, fixTopology, "",
}, {
	"no-nodes-available", "The cluster has no schedulable node", "no nodes available to schedule pods",
	"An administrator has to add a node or bring one back.",
	func(*diagnose.Case, verdict) string {
		return "The scheduler reports that there are no nodes available: the cluster has no node that could run anything"
	}, func(*diagnose.Case, verdict) []diagnose.Fix { return []diagnose.Fix{seeNodes()} }, "",
}}

func matchRefusal(c *diagnose.Case, k refusalKind) []diagnose.Cause {
	v := judge(c)
	if v.cause != k.id || isScalingUp(c) {
		return nil
	}
	cause := refusalCause(c, v, k.explain(c, v))
	cause.Fixes, cause.Origin = k.fixes(c, v), k.origin
	return one(cause)
}

// refusalCause is what all causes from the scheduler's summary have in common.
func refusalCause(c *diagnose.Case, v verdict, summary string) diagnose.Cause {
	cause := diagnose.Cause{
		Object:     nodeObject(v),
		Summary:    summary + "." + v.rest() + autoscalerSays(c),
		Confidence: diagnose.Likely,
		State:      diagnose.StateError,
		Chain:      []string{"Workspace " + c.Name(), "Pod gets no node", v.words()},
		Evidence:   append(slices.Clone(v.evidence), notTriggered(c)...),
	}
	if v.proven {
		cause.Confidence = diagnose.Certain
	}
	return cause
}

func nodeObject(v verdict) string {
	if names := v.names(); len(names) == 1 {
		return "Node/" + names[0]
	}
	return "Node"
}

// names are the nodes that the verdict is about.
func (v verdict) names() []string {
	var out []string
	for _, f := range v.nodes {
		out = append(out, f.node.Name)
	}
	return out
}

// words is the scheduler's own wording of the decisive reasons, with the numbers.
func (v verdict) words() string { return refusalWords(v.refusals) }

func refusalWords(refusals []nodeRefusal) string {
	var out []string
	for _, r := range refusals {
		text := r.text
		if r.nodes > 0 {
			text = fmt.Sprintf("%d %s", r.nodes, r.text)
		}
		out = append(out, text)
	}
	return strings.Join(out, ", ")
}

// rest mentions the reasons that are not decisive, as a sentence of its own.
func (v verdict) rest() string {
	if len(v.others) == 0 {
		return ""
	}
	return fmt.Sprintf(" The other nodes are ruled out, too: %s.", refusalWords(v.others))
}

// onNodes names the nodes, or counts them as far as the scheduler does.
func (v verdict) onNodes() string {
	names := v.names()
	switch {
	case len(names) == 1:
		return "node " + names[0]
	case len(names) > 1 && len(names) <= 4:
		return "nodes " + strings.Join(names, ", ")
	}
	n := v.count()
	switch {
	case n == 0:
		return "the nodes"
	case n == 1 && v.total == 1:
		return "the only node"
	case n == v.total:
		return fmt.Sprintf("all %d nodes", n)
	case v.total > 0:
		return fmt.Sprintf("%d of %d nodes", n, v.total)
	case n == 1:
		return "1 node"
	}
	return fmt.Sprintf("%d nodes", n)
}

// count is on how many nodes the decisive reasons are; 0 if the scheduler does not say.
func (v verdict) count() int {
	n := len(v.nodes)
	for _, r := range v.refusals {
		n = max(n, r.nodes)
	}
	return n
}

// oneOrMore chooses between the forms of a verb for what onNodes returns.
func (v verdict) oneOrMore(one, more string) string {
	if v.count() == 1 {
		return one
	}
	return more
}

func podConfig(c *diagnose.Case) string { return c.Workspace.Spec.PodTemplate.Options.PodConfig }

// --- resources ---

func explainResources(c *diagnose.Case, v verdict) string {
	requests := corev1.ResourceList{}
	if spec := c.PodSpec(); spec != nil {
		requests = podRequests(spec)
	}
	var lack []string
	for _, name := range v.resources() {
		switch want, ok := requests[corev1.ResourceName(name)]; {
		case name == "pods":
			lack = append(lack, "pods (they already run as many as they may"+v.most("pods")+")")
		case ok:
			lack = append(lack, fmt.Sprintf("%s (the Pod asks for %s%s)", name, want.String(), v.most(name)))
		default:
			lack = append(lack, name)
		}
	}
	if len(lack) == 0 {
		return fmt.Sprintf("No node has room for Workspace %s: %s", c.Name(), v.words())
	}
	return fmt.Sprintf("No node has room for Workspace %s, which runs with podConfig %q: Insufficient %s on %s",
		c.Name(), podConfig(c), strings.Join(lack, ", "), v.onNodes())
}

// resources are those that the decisive reasons name, in their order.
func (v verdict) resources() []string {
	var out []string
	for _, r := range v.refusals {
		if r.detail != "" && !slices.Contains(out, r.detail) {
			out = append(out, r.detail)
		}
	}
	return out
}

// most says how much of a resource the best node has in all, if that is known.
func (v verdict) most(name string) string {
	if len(v.nodes) == 0 {
		return ""
	}
	best := v.nodes[0]
	has := best.node.Status.Allocatable[corev1.ResourceName(name)]
	for _, f := range v.nodes[1:] {
		if q := f.node.Status.Allocatable[corev1.ResourceName(name)]; q.Cmp(has) > 0 {
			best, has = f, q
		}
	}
	switch {
	case has.IsZero():
		return "; no eligible node offers any"
	case len(best.node.Status.Allocatable) == 0:
		return ""
	}
	return fmt.Sprintf("; %s has %s in all", best.node.Name, has.String())
}

func fixResources(c *diagnose.Case, v verdict) []diagnose.Fix {
	var fixes []diagnose.Fix
	if id := smallerPodConfig(c, v.resources()); id != "" {
		fixes = append(fixes, choosePodConfig(c, id, "Choose a podConfig that asks for less"))
	}
	if slices.ContainsFunc(v.resources(), func(r string) bool { return isExtended(corev1.ResourceName(r)) }) {
		fixes = append(fixes, diagnose.Fix{
			Text:    "See which nodes offer the device; if none does, its device plugin does not run there",
			Command: diagnose.Command("kubectl", "get", "nodes", "-o", "custom-columns=NAME:.metadata.name,ALLOCATABLE:.status.allocatable"),
			Risk:    diagnose.RiskInspect,
		})
	}
	return append(fixes, diagnose.Fix{
		Text:    "See what is taken on the nodes; a Workspace that nobody uses can be paused to make room",
		Command: "kubectl describe nodes",
		Risk:    diagnose.RiskInspect,
	})
}

// smallerPodConfig finds the podConfig that asks for the most among those that ask
// for less of every scarce resource; empty if there is none.
func smallerPodConfig(c *diagnose.Case, scarce []string) string {
	spec := c.PodSpec()
	if !c.Kind.IsFound() || spec == nil || len(scarce) == 0 {
		return ""
	}
	now := podRequests(spec)
	best, most := "", corev1.ResourceList(nil)
	for _, v := range c.Kind.Value.Spec.PodTemplate.Options.PodConfig.Values {
		if v.ID == podConfig(c) || v.Redirect != nil {
			continue
		}
		asks := corev1.ResourceList{}
		if v.Spec.Resources != nil {
			asks = requestsOf(*v.Spec.Resources)
		}
		less := true
		for _, name := range scarce {
			q, limit := asks[corev1.ResourceName(name)], now[corev1.ResourceName(name)]
			less = less && q.Cmp(limit) < 0
		}
		first := corev1.ResourceName(scarce[0])
		if q := asks[first]; less && (best == "" || q.Cmp(most[first]) > 0) {
			best, most = v.ID, asks
		}
	}
	return best
}

func choosePodConfig(c *diagnose.Case, id, text string) diagnose.Fix {
	return diagnose.Fix{
		Text: text + " (and then delete the Pod, as its StatefulSet does not replace one that was never Ready)",
		Command: diagnose.Command("kubectl", "patch", "workspace", c.Name(), "-n", c.Namespace(), "--type=merge",
			"-p", fmt.Sprintf(`{"spec":{"podTemplate":{"options":{"podConfig":%q}}}}`, id)),
		Risk: diagnose.RiskDisruptive,
	}
}

// --- taints ---

func explainTaint(c *diagnose.Case, v verdict) string {
	return fmt.Sprintf("Workspace %s (podConfig %q) does not tolerate the taint %sof %s",
		c.Name(), podConfig(c), v.taint("untolerated-taint"), v.onNodes())
}

// taint names the taints of a kind, from the nodes or else from the message, followed
// by a space; empty if neither tells.
func (v verdict) taint(cause string) string {
	var out []string
	add := func(s string) {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	for _, f := range v.nodes {
		for _, t := range f.taints {
			if taintCause(t.Key) == cause {
				add(strings.TrimSuffix(t.Key+"="+t.Value, "="))
			}
		}
	}
	if len(out) == 0 {
		for _, r := range v.refusals {
			if m := taintPattern.FindStringSubmatch(r.text); m != nil {
				add(strings.TrimSuffix(m[1]+"="+strings.TrimSpace(m[2]), "="))
			}
		}
	}
	if len(out) == 0 {
		return ""
	}
	return strings.Join(out, ", ") + " "
}

func fixTaint(c *diagnose.Case, v verdict) []diagnose.Fix {
	fixes := []diagnose.Fix{{
		Text:    "See the taints of the nodes, and whether another podConfig is meant for them",
		Command: diagnose.Command("kubectl", "get", "nodes", "-o", "custom-columns=NAME:.metadata.name,TAINTS:.spec.taints"),
		Risk:    diagnose.RiskInspect,
	}}
	if c.Kind.IsFound() {
		for _, value := range c.Kind.Value.Spec.PodTemplate.Options.PodConfig.Values {
			if value.ID != podConfig(c) && value.Redirect == nil && v.toleratedBy(value.Spec.Tolerations) {
				return append([]diagnose.Fix{choosePodConfig(c, value.ID, "Choose a podConfig that tolerates the taint")}, fixes...)
			}
		}
	}
	return append(fixes, diagnose.Fix{
		Text: fmt.Sprintf("If the Workspace is meant for those nodes, ask whoever keeps WorkspaceKind %s to add a toleration to podConfig %s", c.Workspace.Spec.Kind, podConfig(c)),
		Risk: diagnose.RiskInspect,
	})
}

func (v verdict) toleratedBy(tolerations []corev1.Toleration) bool {
	return slices.ContainsFunc(v.nodes, func(f nodeFit) bool {
		return !slices.ContainsFunc(f.taints, func(t corev1.Taint) bool { return !tolerates(tolerations, t) })
	})
}

func explainPressure(c *diagnose.Case, v verdict) string {
	var kinds []string
	for _, kind := range []string{"memory", "disk", "pid"} {
		if strings.Contains(v.taint("node-pressure")+strings.ToLower(v.words()), kind) {
			kinds = append(kinds, kind)
		}
	}
	return fmt.Sprintf("Workspace %s waits for %s, which %s %s pressure and %s no new Pods until that is over",
		c.Name(), v.onNodes(), v.oneOrMore("has", "have"), strings.Join(kinds, " and "), v.oneOrMore("takes", "take"))
}

func explainCordon(c *diagnose.Case, v verdict) string {
	if len(v.nodes) == 0 {
		return fmt.Sprintf("Workspace %s fits on no open node: %s %s cordoned (unschedulable) and %s no new Pods",
			c.Name(), v.onNodes(), v.oneOrMore("is", "are"), v.oneOrMore("takes", "take"))
	}
	return fmt.Sprintf("Workspace %s fits on %s only, and %s cordoned (unschedulable): %s no new Pods",
		c.Name(), v.onNodes(), v.oneOrMore("that is", "those are"), v.oneOrMore("it takes", "they take"))
}

func fixCordon(_ *diagnose.Case, v verdict) []diagnose.Fix {
	fixes := []diagnose.Fix{seeNodes()}
	for _, name := range v.names() {
		fixes = append(fixes, diagnose.Fix{
			Text:    "If its maintenance is over, open the node again",
			Command: diagnose.Command("kubectl", "uncordon", name),
			Risk:    diagnose.RiskSafe,
		})
	}
	return fixes
}

func seeNodes() diagnose.Fix {
	return diagnose.Fix{Text: "See the nodes", Command: "kubectl get nodes", Risk: diagnose.RiskInspect}
}

func fixNode(_ *diagnose.Case, v verdict) []diagnose.Fix {
	fixes := []diagnose.Fix{seeNodes()}
	for _, name := range v.names() {
		fixes = append(fixes, describeNode(name))
	}
	return fixes
}

func describeNode(name string) diagnose.Fix {
	return diagnose.Fix{
		Text:    "See what the node says about itself, or hand it to an administrator",
		Command: diagnose.Command("kubectl", "describe", "node", name),
		Risk:    diagnose.RiskInspect,
	}
}

// --- selectors and rules between Pods ---

func explainSelector(c *diagnose.Case, _ verdict) string {
	wanted := ""
	if spec := c.PodSpec(); spec != nil {
		if w := wantedLabels(spec); len(w) > 0 {
			wanted = " (" + strings.Join(w, ", ") + ")"
		}
	}
	return fmt.Sprintf("No node matches the node affinity/selector%s of Workspace %s, which podConfig %q asks for", wanted, c.Name(), podConfig(c))
}

// wantedLabels spells out the node selector and the required node affinity.
func wantedLabels(spec *corev1.PodSpec) []string {
	var out []string
	for _, key := range slices.Sorted(maps.Keys(spec.NodeSelector)) {
		out = append(out, key+"="+spec.NodeSelector[key])
	}
	if required := requiredNodeAffinity(spec); required != nil {
		for _, t := range required.NodeSelectorTerms {
			for _, r := range slices.Concat(t.MatchExpressions, t.MatchFields) {
				out = append(out, strings.TrimSpace(fmt.Sprintf("%s %s %s", r.Key, r.Operator, strings.Join(r.Values, "|"))))
			}
		}
	}
	return out
}

func fixSelector(c *diagnose.Case, _ verdict) []diagnose.Fix {
	args := []string{"kubectl", "get", "nodes"}
	if spec := c.PodSpec(); spec != nil {
		keys := slices.Sorted(maps.Keys(spec.NodeSelector))
		if required := requiredNodeAffinity(spec); required != nil {
			for _, t := range required.NodeSelectorTerms {
				for _, r := range t.MatchExpressions {
					keys = append(keys, r.Key)
				}
			}
		}
		if len(keys) > 0 {
			args = append(args, "-L", strings.Join(slices.Compact(keys), ","))
		}
	}
	return []diagnose.Fix{{Text: "See how the nodes are labelled", Command: diagnose.Command(args...), Risk: diagnose.RiskInspect}, {
		Text: fmt.Sprintf("Choose another podConfig, or ask whoever keeps WorkspaceKind %s to correct this one or to label a node", c.Workspace.Spec.Kind),
		Risk: diagnose.RiskInspect,
	}}
}

func explainTopology(c *diagnose.Case, v verdict) string {
	rule := "pod affinity or anti-affinity rules"
	for _, r := range v.refusals {
		switch {
		case strings.Contains(r.text, "topology spread"):
			rule = "pod topology spread constraints"
		case strings.Contains(r.text, "existing pods"):
			rule = "pod anti-affinity rules (those of Pods that already run)"
		case strings.Contains(r.text, "pod anti-affinity"):
			rule = "pod anti-affinity rules"
		case strings.Contains(r.text, "pod affinity rules"):
			rule = "pod affinity rules"
		}
	}
	wanted := ""
	if spec := c.PodSpec(); spec != nil {
		wanted = topologyTerms(spec)
	}
	return fmt.Sprintf("The %s of Workspace %s (podConfig %q) cannot be met on %s%s", rule, c.Name(), podConfig(c), v.onNodes(), wanted)
}

// topologyTerms spells out the rules between Pods.
func topologyTerms(spec *corev1.PodSpec) string {
	var out []string
	add := func(what string, terms []corev1.PodAffinityTerm) {
		for _, t := range terms {
			if t.LabelSelector != nil {
				out = append(out, fmt.Sprintf("%s Pods with %s per %s", what, labelsOf(t.LabelSelector.MatchLabels), t.TopologyKey))
			}
		}
	}
	if a := spec.Affinity; a != nil && a.PodAffinity != nil {
		add("beside", a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution)
	}
	if a := spec.Affinity; a != nil && a.PodAntiAffinity != nil {
		add("apart from", a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution)
	}
	for _, t := range spec.TopologySpreadConstraints {
		if t.WhenUnsatisfiable == corev1.DoNotSchedule {
			out = append(out, fmt.Sprintf("spread over %s with skew %d at most", t.TopologyKey, t.MaxSkew))
		}
	}
	if len(out) == 0 {
		return ""
	}
	return ": it wants to run " + strings.Join(out, "; ")
}

func labelsOf(m map[string]string) string {
	var out []string
	for _, key := range slices.Sorted(maps.Keys(m)) {
		out = append(out, key+"="+m[key])
	}
	if len(out) == 0 {
		return "certain labels"
	}
	return strings.Join(out, ",")
}

func fixTopology(c *diagnose.Case, _ verdict) []diagnose.Fix {
	return []diagnose.Fix{{
		Text:    "See which Pods run where",
		Command: diagnose.Command("kubectl", "get", "pods", "-n", c.Namespace(), "-o", "wide", "--show-labels"),
		Risk:    diagnose.RiskInspect,
	}, {
		Text: fmt.Sprintf("Ask whoever keeps WorkspaceKind %s to relax the rule, or choose another podConfig", c.Workspace.Spec.Kind),
		Risk: diagnose.RiskInspect,
	}}
}

func explainPorts(c *diagnose.Case, v verdict) string {
	var ports []string
	if spec := c.PodSpec(); spec != nil {
		for _, container := range spec.Containers {
			for _, p := range container.Ports {
				if p.HostPort != 0 {
					ports = append(ports, fmt.Sprint(p.HostPort))
				}
			}
		}
	}
	which := "a host port"
	if len(ports) > 0 {
		which = "host port " + strings.Join(ports, ", ")
	}
	return fmt.Sprintf("Workspace %s needs %s, which another Pod holds on %s", c.Name(), which, v.onNodes())
}
