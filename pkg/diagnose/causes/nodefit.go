package causes

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/diagnose"
)

// nodeFit is what the spec of one node says to a Pod. What depends on the other Pods
// of the node is not in it.
type nodeFit struct {
	node *corev1.Node
	// taints are those that the Pod does not tolerate.
	taints []corev1.Taint
	// selected is false if the Pod's node selector or affinity rules the node out.
	selected bool
	// tooSmall are the resources of which the Pod asks for more than the whole node has.
	tooSmall []corev1.ResourceName
	// elsewhere is the claim of the Pod whose volume cannot be reached from the node.
	elsewhere string
}

// fits compares the Pod with every node that could be read.
func fits(c *diagnose.Case) []nodeFit {
	spec := c.PodSpec()
	if spec == nil || !c.Nodes.IsFound() {
		return nil
	}
	requests := podRequests(spec)
	out := make([]nodeFit, 0, len(c.Nodes.Value))
	for i := range c.Nodes.Value {
		node := &c.Nodes.Value[i]
		fit := nodeFit{node: node, selected: selects(spec, node)}
		for _, t := range nodeTaints(node) {
			if t.Effect != corev1.TaintEffectPreferNoSchedule && !tolerates(spec.Tolerations, t) {
				fit.taints = append(fit.taints, t)
			}
		}
		for name, want := range requests {
			// A node that does not say what it has is not held to be too small.
			if has, ok := node.Status.Allocatable[name]; len(node.Status.Allocatable) > 0 && want.Cmp(has) > 0 && (ok || isExtended(name)) {
				fit.tooSmall = append(fit.tooSmall, name)
			}
		}
		slices.Sort(fit.tooSmall)
		for _, claim := range podClaims(c) {
			if a := c.Claims[claim]; a.IsFound() {
				if pv := c.Volumes[a.Value.Spec.VolumeName]; pv.IsFound() && !pvReaches(pv.Value, node) {
					fit.elsewhere = claim
				}
			}
		}
		out = append(out, fit)
	}
	return out
}

// nodeTaints are the taints of a node, and that of a cordon also where the node
// controller has not added it yet.
func nodeTaints(node *corev1.Node) []corev1.Taint {
	taints := node.Spec.Taints
	cordon := corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}
	if node.Spec.Unschedulable && !slices.ContainsFunc(taints, func(t corev1.Taint) bool { return t.Key == cordon.Key }) {
		taints = append(slices.Clone(taints), cordon)
	}
	return taints
}

// taintCause is the cause that an untolerated taint stands for: some mark a node that
// is broken, full or cordoned, and are no matter of tolerations.
func taintCause(key string) string {
	if cause := classify("node(s) had untolerated taint {" + key + ": }").cause; cause != "" {
		return cause
	}
	return "untolerated-taint"
}

// isControlPlane recognises the taints that keep ordinary Pods off the control plane
// in nearly every cluster: nobody means to lift them.
func isControlPlane(key string) bool {
	return key == "node-role.kubernetes.io/control-plane" || key == "node-role.kubernetes.io/master" ||
		key == "node-role.kubernetes.io/controlplane" || key == "node-role.kubernetes.io/etcd"
}

// tolerates is the rule of Kubernetes without its comparison operators (1.35, alpha).
func tolerates(tolerations []corev1.Toleration, t corev1.Taint) bool {
	return slices.ContainsFunc(tolerations, func(o corev1.Toleration) bool {
		switch {
		case o.Effect != "" && o.Effect != t.Effect, o.Key != "" && o.Key != t.Key:
			return false
		case o.Operator == corev1.TolerationOpExists:
			return true
		}
		return (o.Operator == "" || o.Operator == corev1.TolerationOpEqual) && o.Value == t.Value && o.Key == t.Key
	})
}

func selects(spec *corev1.PodSpec, node *corev1.Node) bool {
	if !labels.SelectorFromSet(spec.NodeSelector).Matches(labels.Set(node.Labels)) {
		return false
	}
	required := requiredNodeAffinity(spec)
	return required == nil || matchesTerms(required.NodeSelectorTerms, node)
}

func requiredNodeAffinity(spec *corev1.PodSpec) *corev1.NodeSelector {
	if spec.Affinity == nil || spec.Affinity.NodeAffinity == nil {
		return nil
	}
	return spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
}

// pvReaches reports whether a volume can be used on a node.
func pvReaches(pv *corev1.PersistentVolume, node *corev1.Node) bool {
	if pv.Spec.NodeAffinity == nil || pv.Spec.NodeAffinity.Required == nil {
		return true
	}
	return matchesTerms(pv.Spec.NodeAffinity.Required.NodeSelectorTerms, node)
}

// matchesTerms: one term is enough, and an empty one matches nothing.
func matchesTerms(terms []corev1.NodeSelectorTerm, node *corev1.Node) bool {
	fields := labels.Set{"metadata.name": node.Name}
	return slices.ContainsFunc(terms, func(t corev1.NodeSelectorTerm) bool {
		return len(t.MatchExpressions)+len(t.MatchFields) > 0 &&
			matchesAll(t.MatchExpressions, labels.Set(node.Labels)) && matchesAll(t.MatchFields, fields)
	})
}

func matchesAll(requirements []corev1.NodeSelectorRequirement, set labels.Set) bool {
	for _, r := range requirements {
		op, ok := map[corev1.NodeSelectorOperator]selection.Operator{
			corev1.NodeSelectorOpIn: selection.In, corev1.NodeSelectorOpNotIn: selection.NotIn,
			corev1.NodeSelectorOpExists: selection.Exists, corev1.NodeSelectorOpDoesNotExist: selection.DoesNotExist,
			corev1.NodeSelectorOpGt: selection.GreaterThan, corev1.NodeSelectorOpLt: selection.LessThan,
		}[r.Operator]
		if !ok {
			return false
		}
		requirement, err := labels.NewRequirement(r.Key, op, r.Values)
		if err != nil || !requirement.Matches(set) {
			return false
		}
	}
	return true
}

// podRequests is what the scheduler counts: the containers and native sidecars
// together, or an init container if that asks for more, and the overhead.
func podRequests(spec *corev1.PodSpec) corev1.ResourceList {
	total := corev1.ResourceList{corev1.ResourcePods: resource.MustParse("1")}
	add := func(list corev1.ResourceList) {
		for name, q := range list {
			sum := total[name]
			sum.Add(q)
			total[name] = sum
		}
	}
	for _, c := range spec.Containers {
		add(requestsOf(c.Resources))
	}
	for _, c := range spec.InitContainers {
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			add(requestsOf(c.Resources))
		}
	}
	for _, c := range spec.InitContainers {
		for name, q := range requestsOf(c.Resources) {
			if q.Cmp(total[name]) > 0 {
				total[name] = q.DeepCopy()
			}
		}
	}
	add(spec.Overhead)
	return total
}

// requestsOf adds the limits that the API server takes as requests.
func requestsOf(r corev1.ResourceRequirements) corev1.ResourceList {
	out := corev1.ResourceList{}
	for name, q := range r.Limits {
		out[name] = q
	}
	for name, q := range r.Requests {
		out[name] = q
	}
	return out
}

// isExtended recognises resources of device plugins: a node that does not list one has
// none of it.
func isExtended(name corev1.ResourceName) bool { return strings.Contains(string(name), "/") }
