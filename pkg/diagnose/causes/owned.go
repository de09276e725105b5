package causes

import (
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/diagnose"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/facts"
)

// ownedRules are about the objects that the controller makes for a Workspace, and about the
// controllers that should act on them.
func ownedRules() []diagnose.Rule {
	return slices.Concat([]diagnose.Rule{{
		ID:         "multiple-statefulsets",
		Title:      "The Workspace owns several StatefulSets",
		Recognised: "More than one StatefulSet has the Workspace as its controller, or the controller says so in the status.",
		Fix:        "Delete all but one. The Workspace controller does nothing for the Workspace until then.",
		Match:      matchMultipleStatefulSets,
	}, {
		ID:         "service-account-not-owned",
		Title:      "The ServiceAccount of the Workspace belongs to somebody else",
		Recognised: "The controller says in the status that ServiceAccount ws-NAME already exists and is not owned by the Workspace.",
		Fix:        "Delete that ServiceAccount if nobody needs it, then change something about the Workspace: the controller does not look again by itself.",
		Match:      matchServiceAccountNotOwned,
	}, {
		ID:         "statefulset-create-rejected",
		Title:      "The API server refuses the StatefulSet",
		Recognised: "There is neither a status nor a StatefulSet, and the name of the Workspace or its WorkspaceKind has something that the API server does not accept; or the controller has made the ServiceAccount and nothing else.",
		Fix:        "Correct what is invalid. The refusal itself is only in the log of the Workspace controller.",
		Match:      matchStatefulSetRejected,
	}, {
		ID:         "statefulset-not-observed",
		Blocks:     diagnose.RungPodCreated,
		Title:      "Nobody acts on the StatefulSet",
		Recognised: "There is no Pod, and status.observedGeneration of the StatefulSet is absent or behind its generation.",
		Fix:        "See whether kube-controller-manager works.",
		Match:      matchStatefulSetNotObserved,
	}, {
		ID:         "pod-stuck-on-old-template",
		Blocks:     diagnose.RungReady,
		Title:      "The Pod is of an earlier template and is not replaced",
		Recognised: "The StatefulSet has a newer template (updateRevision differs from the Pod's controller-revision-hash), and the Pod is not Ready. A StatefulSet waits for such a Pod before it replaces it (kubernetes#67250).",
		Fix:        "Delete the Pod: the new one has the new template.",
		Match:      matchStuckOnOldTemplate,
	}, {
		ID:         "pod-template-outdated",
		Title:      "A change of the Workspace is not in its Pod yet",
		Recognised: "The StatefulSet's observedGeneration is behind, or a Pod that is Ready has an earlier template, or a volume of the Workspace is neither in its Pod nor in the template.",
		Fix:        "Wait a moment. If nothing happens, see whether the Workspace controller and kube-controller-manager run.",
		Match:      matchTemplateOutdated,
	}, {
		ID:         "kubelet-silent",
		Blocks:     diagnose.RungMounted,
		Title:      "The kubelet does not act on the Pod",
		Recognised: "The Pod has a node and no startTime, which is the first thing a kubelet sets, and the node is not known to be down.",
		Fix:        "See whether the kubelet of the node runs; or delete the Pod, so that it is placed again.",
		Match:      matchKubeletSilent,
	}}, mountRules())
}

// ownServiceAccount is the name of the ServiceAccount that the controller makes.
func ownServiceAccount(c *diagnose.Case) string { return "ws-" + c.Name() }

func controllerPods() diagnose.Fix {
	return inspect("See whether the Workspace controller runs (its namespace may have another name)", "kubectl", "get", "pods", "-n", "kubeflow-workspaces")
}

func matchMultipleStatefulSets(c *diagnose.Case) []diagnose.Cause {
	var names []string
	for _, s := range c.StatefulSets {
		names = append(names, s.Name)
	}
	cause := diagnose.Cause{
		Object:     c.WorkspaceRef(),
		Confidence: diagnose.Certain,
		State:      diagnose.StateError,
	}
	said, ok := strings.CutPrefix(c.Workspace.Status.StateMessage, "Workspace owns multiple StatefulSets: ")
	if ok {
		cause.Evidence = []diagnose.Evidence{c.WorkspaceEvidence()}
	}
	switch {
	case len(names) > 1:
	case ok && !c.Facts.StatefulSets.IsComplete():
		cause.Confidence = diagnose.Likely
		names = strings.Split(said, ", ")
	default:
		return nil
	}
	cause.Summary = fmt.Sprintf("Workspace %s owns several StatefulSets (%s), where there must be one: the Workspace controller does nothing for it until that is so.",
		c.Name(), strings.Join(names, ", "))
	cause.Chain = []string{"Workspace " + c.Name(), "several StatefulSets: " + strings.Join(names, ", "), "the Workspace controller stops"}
	cause.Fixes = []diagnose.Fix{
		inspect("See which one is in use", "kubectl", "get", "statefulsets,pods", "-n", c.Namespace(), "-l", "notebooks.kubeflow.org/workspace-name="+c.Name()),
		{
			Text:    "Delete the other one",
			Command: diagnose.Command("kubectl", "delete", "statefulset", names[len(names)-1], "-n", c.Namespace()),
			Risk:    diagnose.RiskDisruptive,
		},
	}
	return one(cause)
}

func matchServiceAccountNotOwned(c *diagnose.Case) []diagnose.Cause {
	rest, ok := strings.CutPrefix(c.Workspace.Status.StateMessage, "Workspace ServiceAccount ")
	name, ok2 := strings.CutSuffix(rest, " already exists and is not owned by the Workspace")
	if !ok || !ok2 {
		return nil
	}
	cause := diagnose.Cause{
		Object:     "ServiceAccount/" + name,
		Confidence: diagnose.Likely,
		State:      diagnose.StateError,
		Chain:      []string{"Workspace " + c.Name(), "the Workspace controller stops", "ServiceAccount " + name + " is in its way"},
		Evidence:   []diagnose.Evidence{c.WorkspaceEvidence()},
		Summary: fmt.Sprintf("The Workspace controller says that ServiceAccount %q already exists in namespace %s and is not owned by Workspace %s; it goes no further.",
			name, c.Namespace(), c.Name()),
	}
	remove := []diagnose.Fix{
		inspect("See whose it is", "kubectl", "get", "serviceaccount", name, "-n", c.Namespace(), "-o", "yaml"),
		{
			Text:    "If nobody needs it, delete it",
			Command: diagnose.Command("kubectl", "delete", "serviceaccount", name, "-n", c.Namespace()),
			Risk:    diagnose.RiskDisruptive,
		},
	}
	account := c.ServiceAccounts[name]
	switch {
	case account.IsAbsent(), account.IsFound() && ownedByWorkspace(c, account.Value):
		cause.Object = c.WorkspaceRef()
		cause.Confidence = diagnose.Certain
		cause.Summary = fmt.Sprintf("ServiceAccount %q is no longer in the way of Workspace %s, but the Workspace controller has not looked again.", name, c.Name())
		remove = nil
	case account.IsFound():
		cause.Confidence = diagnose.Certain
		cause.Summary = fmt.Sprintf("ServiceAccount %q exists in namespace %s and is not owned by Workspace %s: the Workspace controller goes no further.", name, c.Namespace(), c.Name())
	}
	cause.Fixes = append(remove, diagnose.Fix{
		Text:    "Make the controller look again: it does not do so by itself",
		Command: diagnose.Command("kubectl", "annotate", "workspace", c.Name(), "-n", c.Namespace(), "--overwrite", "kubectl-workspace/look-again="+c.Now.UTC().Format("20060102-150405")),
		Risk:    diagnose.RiskSafe,
	})
	return one(cause)
}

// ownedByWorkspace goes by kind and name, as the controller does.
func ownedByWorkspace(c *diagnose.Case, object metav1.Object) bool {
	owner := metav1.GetControllerOf(object)
	return owner != nil && owner.Kind == "Workspace" && owner.Name == c.Name()
}

// neverActedOn reports whether there is neither a status nor a StatefulSet, and the
// WorkspaceKind is not what is wrong: the controller is off, or what it wants to make is
// refused.
func neverActedOn(c *diagnose.Case) bool {
	return c.Workspace.Status.State == "" && c.Workspace.DeletionTimestamp == nil && c.StatefulSet == nil && c.Pod == nil &&
		c.Facts.StatefulSets.IsComplete() && !c.Kind.IsAbsent()
}

func matchStatefulSetRejected(c *diagnose.Case) []diagnose.Cause {
	if said, ok := strings.CutPrefix(c.Workspace.Status.StateMessage, "Workspace failed to generate StatefulSet with error: "); ok {
		return one(diagnose.Cause{
			Object:     "WorkspaceKind/" + c.Workspace.Spec.Kind,
			Summary:    sentence(fmt.Sprintf("The Workspace controller cannot make the StatefulSet of Workspace %s from WorkspaceKind %q", c.Name(), c.Workspace.Spec.Kind), said),
			Confidence: diagnose.Likely,
			State:      diagnose.StateError,
			Origin:     "spec.kind",
			Chain:      []string{"Workspace " + c.Name(), "its StatefulSet cannot be made", "WorkspaceKind " + c.Workspace.Spec.Kind},
			Evidence:   []diagnose.Evidence{c.WorkspaceEvidence()},
			Fixes:      []diagnose.Fix{correctKind(c)},
		})
	}
	if !neverActedOn(c) || len(matchOptionInvalid(c)) > 0 {
		return nil
	}
	account := c.ServiceAccounts[ownServiceAccount(c)]
	made := account.IsFound() && ownedByWorkspace(c, account.Value)
	invalid := invalidParts(c)
	if len(invalid) == 0 && (!made || c.Now.Sub(account.Value.CreationTimestamp.Time) < controllerGrace) {
		return nil
	}
	cause := diagnose.Cause{
		Object:     c.WorkspaceRef(),
		Confidence: diagnose.Likely,
		State:      diagnose.StateError,
		Origin:     "spec.kind",
		Chain:      []string{"Workspace " + c.Name() + " has no StatefulSet", "the API server refuses it"},
		Summary:    fmt.Sprintf("The API server seems to refuse the StatefulSet of Workspace %s: the Workspace controller has made its ServiceAccount, but no StatefulSet. Why is only in the controller's log.", c.Name()),
		Fixes: []diagnose.Fix{
			inspect("Look for the refusal in the log of the Workspace controller; this shows its Pod (its namespace may have another name)",
				"kubectl", "get", "pods", "-n", "kubeflow-workspaces"),
		},
	}
	if made {
		cause.Evidence = append(cause.Evidence, diagnose.Evidence{Source: "ServiceAccount/" + account.Value.Name, Reason: "ownerReferences", Message: c.WorkspaceRef()})
	}
	if len(invalid) > 0 {
		first := invalid[0]
		cause.Object, cause.Origin = first.object, first.origin
		cause.Summary = fmt.Sprintf("The API server refuses the StatefulSet of Workspace %s: %s.", c.Name(), first.what)
		cause.Chain = append(cause.Chain, first.what)
		for _, p := range invalid {
			cause.Evidence = append(cause.Evidence, diagnose.Evidence{Source: p.object, Reason: "invalid", Message: p.what})
		}
		cause.Fixes = slices.Insert(cause.Fixes, 0, first.fix)
	}
	return one(cause)
}

// observedBehind reports whether the StatefulSet controller has not seen the StatefulSet
// as it is now.
func observedBehind(s *appsv1.StatefulSet) bool { return s.Status.ObservedGeneration < s.Generation }

// observeGrace is how long a StatefulSet controller that is alive may take to see a change.
const observeGrace = 5 * time.Second

func matchStatefulSetNotObserved(c *diagnose.Case) []diagnose.Cause {
	s := c.StatefulSet
	if s == nil || !c.HasNoPod() || !observedBehind(s) || len(failedCreates(c)) > 0 {
		return nil
	}
	cause := diagnose.Cause{
		Object:     "StatefulSet/" + s.Name,
		Confidence: diagnose.Likely,
		State:      diagnose.StatePending,
		Chain:      []string{"Workspace " + c.Name() + " has no Pod", "nobody acts on StatefulSet " + s.Name, "kube-controller-manager"},
		Evidence: []diagnose.Evidence{{Source: "StatefulSet/" + s.Name, Reason: "status.observedGeneration",
			Message: fmt.Sprintf("%d, of generation %d", s.Status.ObservedGeneration, s.Generation)}},
	}
	age := c.Now.Sub(s.CreationTimestamp.Time)
	if age < observeGrace {
		cause.Summary = fmt.Sprintf("StatefulSet %s of Workspace %s is new (%s); its Pod comes next.", s.Name, c.Name(), duration.HumanDuration(age))
		return one(cause)
	}
	cause.Summary = fmt.Sprintf("No controller acts on StatefulSet %s of Workspace %s, which is %s old: kube-controller-manager does not seem to work.",
		s.Name, c.Name(), duration.HumanDuration(age))
	cause.Fixes = []diagnose.Fix{inspect("Ask whoever runs the cluster to look at kube-controller-manager", "kubectl", "get", "pods", "-n", "kube-system", "-l", "component=kube-controller-manager")}
	return one(cause)
}

// revisionLabel is on every Pod of a StatefulSet.
const revisionLabel = appsv1.ControllerRevisionHashLabelKey

// oldTemplate reports whether the Pod was made from an earlier template than the
// StatefulSet has now, and its controller knows.
func oldTemplate(c *diagnose.Case) bool {
	if c.StatefulSet == nil || c.Pod == nil || c.Pod.DeletionTimestamp != nil || observedBehind(c.StatefulSet) {
		return false
	}
	revision, wanted := c.Pod.Labels[revisionLabel], c.StatefulSet.Status.UpdateRevision
	return revision != "" && wanted != "" && revision != wanted
}

func matchStuckOnOldTemplate(c *diagnose.Case) []diagnose.Cause {
	// Failed and Succeeded Pods are replaced at once.
	if !oldTemplate(c) || c.Pod.Status.Phase == corev1.PodFailed || c.Pod.Status.Phase == corev1.PodSucceeded {
		return nil
	}
	s, pod := c.StatefulSet, c.Pod
	changes := templateChanges(&pod.Spec, &s.Spec.Template.Spec)
	cause := diagnose.Cause{
		Object: "Pod/" + pod.Name,
		Summary: fmt.Sprintf("The change of Workspace %s is in its StatefulSet, but not in its Pod: a Pod that is not Ready is not replaced. Delete Pod %s.",
			c.Name(), pod.Name),
		Confidence: diagnose.Certain,
		State:      diagnose.StateError,
		Chain: []string{"Workspace " + c.Name(), fmt.Sprintf("Pod %s is of the earlier template %s", pod.Name, pod.Labels[revisionLabel]),
			"StatefulSet " + s.Name + " waits for it to become Ready first"},
		Evidence: []diagnose.Evidence{{Source: "StatefulSet/" + s.Name, Reason: "status.updateRevision",
			Message: fmt.Sprintf("%s, the Pod has %s", s.Status.UpdateRevision, pod.Labels[revisionLabel])}},
		Fixes: []diagnose.Fix{replacePod(c, "Delete the Pod: the new one has the new template")},
	}
	if len(changes) > 0 {
		cause.Summary = fmt.Sprintf("The Pod of Workspace %s hangs on with an earlier template (changed since: %s): a Pod that is not Ready is not replaced. Delete Pod %s.",
			c.Name(), strings.Join(changes, ", "), pod.Name)
	}
	for _, e := range c.CurrentOf("Pod") {
		cause.Evidence = append(cause.Evidence, e.Evidence())
	}
	if !templateHelps(c, changes) {
		// What the Pod waits for, its successor would wait for too.
		cause.State = diagnose.StateRunning
		cause.Summary = fmt.Sprintf("Pod %s is of an earlier template, and is not replaced before it is Ready: delete it when the cause is repaired.", pod.Name)
	}
	return one(cause)
}

// The parts of a Pod that can be why it does not start.
const (
	changedPlacement   = "placement and resources"
	changedVolumes     = "volumes"
	changedEnvironment = "environment"
	changedImage       = "image"
	changedContainer   = "container settings"
)

// templateChanges says what differs between a Pod and a template, as far as the template
// says anything about it: admission adds to a Pod, but does not take away.
func templateChanges(pod, template *corev1.PodSpec) []string {
	var out []string
	add := func(what string, differs bool) {
		if differs && !slices.Contains(out, what) {
			out = append(out, what)
		}
	}
	same := equality.Semantic.DeepEqual
	add(changedVolumes, !same(ownVolumes(pod), ownVolumes(template)))
	add(changedPlacement, !same(pod.NodeSelector, template.NodeSelector) || !same(pod.Affinity, template.Affinity) ||
		slices.ContainsFunc(template.Tolerations, func(t corev1.Toleration) bool {
			return !slices.ContainsFunc(pod.Tolerations, func(p corev1.Toleration) bool { return same(p, t) })
		}))
	add(changedContainer, !same(pod.SecurityContext, template.SecurityContext))
	containers := slices.Concat(pod.InitContainers, pod.Containers)
	for _, t := range slices.Concat(template.InitContainers, template.Containers) {
		i := slices.IndexFunc(containers, func(p corev1.Container) bool { return p.Name == t.Name })
		if i < 0 {
			add(changedContainer, true)
			continue
		}
		p := containers[i]
		add(changedImage, p.Image != t.Image || p.ImagePullPolicy != t.ImagePullPolicy)
		add(changedEnvironment, !same(p.Env, t.Env) || !same(p.EnvFrom, t.EnvFrom))
		add(changedPlacement, !covers(p.Resources, t.Resources))
		add(changedVolumes, !same(ownMounts(p), ownMounts(t)))
		add(changedContainer, !same(p.Command, t.Command) || !same(p.Args, t.Args) || !same(p.SecurityContext, t.SecurityContext) ||
			!same(p.LivenessProbe, t.LivenessProbe) || !same(p.ReadinessProbe, t.ReadinessProbe) || !same(p.StartupProbe, t.StartupProbe))
	}
	return out
}

// covers reports whether a Pod's resources are those of the template. A LimitRange may
// have added to them.
func covers(pod, template corev1.ResourceRequirements) bool {
	in := func(all, some corev1.ResourceList) bool {
		for name, q := range some {
			if other, ok := all[name]; !ok || q.Cmp(other) != 0 {
				return false
			}
		}
		return true
	}
	return in(pod.Requests, template.Requests) && in(pod.Limits, template.Limits)
}

// ownVolumes are the volumes of a Pod without the one that admission adds.
func ownVolumes(spec *corev1.PodSpec) []corev1.Volume {
	return slices.DeleteFunc(slices.Clone(spec.Volumes), func(v corev1.Volume) bool { return strings.HasPrefix(v.Name, apiAccessPrefix) })
}

func ownMounts(container corev1.Container) []corev1.VolumeMount {
	return slices.DeleteFunc(slices.Clone(container.VolumeMounts), func(m corev1.VolumeMount) bool { return strings.HasPrefix(m.Name, apiAccessPrefix) })
}

// apiAccessPrefix is that of the volume with the API credentials.
const apiAccessPrefix = "kube-api-access-"

// templateHelps reports whether a Pod of the present template would get further: what
// has changed since is what this one can be stuck on, and does not need what is missing.
func templateHelps(c *diagnose.Case, changes []string) bool {
	template := facts.References(&c.StatefulSet.Spec.Template.Spec)
	for _, r := range facts.References(&c.Pod.Spec) {
		if blocks(c, r) && status(c, r.Object) == facts.Absent {
			return !slices.ContainsFunc(template, func(t facts.Reference) bool { return t.Object == r.Object })
		}
	}
	stuckOn := map[diagnose.Rung][]string{
		diagnose.RungPodCreated:  {changedPlacement, changedVolumes},
		diagnose.RungScheduled:   {changedVolumes},
		diagnose.RungMounted:     nil,
		diagnose.RungSandbox:     {changedImage, changedEnvironment, changedContainer, changedVolumes},
		diagnose.RungInitialised: {changedImage, changedEnvironment, changedContainer, changedVolumes},
		diagnose.RungStarted:     {changedImage, changedEnvironment, changedContainer, changedVolumes, changedPlacement},
	}[c.Reached]
	return slices.ContainsFunc(changes, func(what string) bool { return slices.Contains(stuckOn, what) })
}

func matchTemplateOutdated(c *diagnose.Case) []diagnose.Cause {
	s := c.StatefulSet
	if s == nil || c.Pod == nil || c.Pod.DeletionTimestamp != nil || c.Workspace.Spec.Paused {
		return nil
	}
	cause := diagnose.Cause{Object: "StatefulSet/" + s.Name, Confidence: diagnose.Certain, State: diagnose.StatePending}
	switch {
	case observedBehind(s):
		cause.Summary = fmt.Sprintf("A change of Workspace %s is not in its Pod %s yet: nobody has acted on StatefulSet %s since it changed (observed generation %d of %d).",
			c.Name(), c.Pod.Name, s.Name, s.Status.ObservedGeneration, s.Generation)
		cause.Fixes = []diagnose.Fix{inspect("If it stays like this, ask whoever runs the cluster to look at kube-controller-manager", "kubectl", "get", "pods", "-n", "kube-system", "-l", "component=kube-controller-manager")}
	case oldTemplate(c):
		if c.Reached != diagnose.RungReady {
			return nil // pod-stuck-on-old-template
		}
		cause.Object = "Pod/" + c.Pod.Name
		cause.Summary = fmt.Sprintf("A change of Workspace %s is not in its Pod yet: StatefulSet %s is about to replace Pod %s.", c.Name(), s.Name, c.Pod.Name)
	default:
		var pending []string
		for _, m := range c.Mounts {
			if m.Status == diagnose.MountPending && !templateMounts(s, m.Path) {
				pending = append(pending, fmt.Sprintf("%s at %s", m.Object, m.Path))
			}
		}
		if len(pending) == 0 {
			return nil
		}
		cause.Object = c.WorkspaceRef()
		cause.Summary = fmt.Sprintf("A change of Workspace %s is not in its Pod yet: the Workspace controller has not put it into StatefulSet %s (%s).",
			c.Name(), s.Name, strings.Join(pending, ", "))
		cause.Origin = "spec.podTemplate.volumes"
		cause.Fixes = []diagnose.Fix{controllerPods()}
	}
	cause.Chain = []string{"Workspace " + c.Name(), "Pod " + c.Pod.Name + " is of an earlier template", strings.Replace(cause.Object, "/", " ", 1) + " is behind"}
	return one(cause)
}

func templateMounts(s *appsv1.StatefulSet, path string) bool {
	for _, container := range s.Spec.Template.Spec.Containers {
		for _, m := range container.VolumeMounts {
			if m.MountPath == path {
				return true
			}
		}
	}
	return false
}

// silentAfter is how long a kubelet that is alive may take to see a new Pod. It watches
// its Pods and reports on each at once; 10 seconds is its slowest round.
const silentAfter = 20 * time.Second

// otherReporters are the reasons of Events about a Pod with a node that are not the
// kubelet's.
var otherReporters = []string{"Scheduled", "FailedScheduling", "TriggeredScaleUp", "NotTriggerScaleUp", "SuccessfulAttachVolume", "FailedAttachVolume", "NodeNotReady", "TaintManagerEviction"}

func matchKubeletSilent(c *diagnose.Case) []diagnose.Cause {
	if c.Pod == nil || c.Pod.Spec.NodeName == "" || c.Pod.DeletionTimestamp != nil || c.Pod.Status.StartTime != nil || len(c.Containers()) > 0 ||
		c.Pod.Status.Phase != corev1.PodPending && c.Pod.Status.Phase != "" {
		return nil
	}
	for _, e := range c.All {
		if e.Object.Kind == "Pod" && !e.FromController && !slices.Contains(otherReporters, e.Reason) {
			return nil
		}
	}
	if c.Node.IsAbsent() {
		return nil // node-not-ready
	}
	if c.Node.IsFound() {
		if ready := nodeCondition(c.Node.Value, corev1.NodeReady); ready != nil && ready.Status != corev1.ConditionTrue {
			return nil // node-not-ready
		}
	}
	bound := c.Pod.CreationTimestamp.Time
	if s := diagnose.Condition(c.Pod, corev1.PodScheduled); s != nil && s.LastTransitionTime.After(bound) {
		bound = s.LastTransitionTime.Time
	}
	waited := c.Now.Sub(bound)
	if waited < silentAfter {
		return nil
	}
	node := c.Pod.Spec.NodeName
	words := ""
	if c.Node.IsFound() {
		words = ", although the node still counts as Ready"
	}
	return one(diagnose.Cause{
		Object: "Node/" + node,
		Summary: fmt.Sprintf("The kubelet of node %s has done nothing about the Pod of Workspace %s, which was assigned to it %s ago%s.",
			node, c.Name(), duration.HumanDuration(waited), words),
		Confidence: diagnose.Likely,
		State:      diagnose.StatePending,
		Chain:      []string{"Workspace " + c.Name(), "Pod " + c.Pod.Name + " has a node, but no startTime", "the kubelet of node " + node + " does not act"},
		Fixes: []diagnose.Fix{
			inspect("Ask whoever runs the cluster to look at the node", "kubectl", "describe", "node", node),
			replacePod(c, "Or have the Pod placed again"),
		},
	})
}
