package diagnose

import (
	"regexp"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/facts"
)

// Case is the view of the Facts that rules reason about: the objects that matter, how
// far they got, and the Events that still say something.
type Case struct {
	*facts.Facts

	// StatefulSets are those that the Workspace controls; StatefulSet is the first of
	// them, nil if there is none.
	StatefulSets []*appsv1.StatefulSet
	StatefulSet  *appsv1.StatefulSet
	// Pod is the StatefulSet's Pod, nil if there is none.
	Pod *corev1.Pod
	// Reached is the last rung that was reached.
	Reached Rung

	// Current are Warnings about what the Workspace is stuck on, newest first.
	Current []Event
	// Overtaken are Warnings of rungs that have been passed since, newest first.
	Overtaken []Event
	// All are the Events of the Workspace, its StatefulSet, its Pod and its claims,
	// newest first.
	All []Event
	// Mounts are the volumes that the Workspace asks for.
	Mounts []Mount

	// memo holds the answers of Memo.
	memo map[any]any
}

// New builds the view.
func New(f *facts.Facts) *Case {
	c := &Case{Facts: f, memo: map[any]any{}}
	c.StatefulSets = f.OwnStatefulSets()
	if len(c.StatefulSets) > 0 {
		c.StatefulSet = c.StatefulSets[0]
	}
	c.Pod = f.OwnPod()
	c.collectEvents()
	c.Reached = c.reached()
	c.sortWarnings()
	c.Mounts = c.mounts()
	return c
}

// Name returns the Workspace's name.
func (c *Case) Name() string { return c.Workspace.Name }

// Namespace returns the Workspace's namespace.
func (c *Case) Namespace() string { return c.Workspace.Namespace }

// collectEvents gathers the Events of the objects at hand. Where the Pod's Events
// cannot be read, the controller's status may still quote one of them.
func (c *Case) collectEvents() {
	add := func(kind string, o metav1.Object) {
		ref := facts.Ref{Kind: kind, Name: o.GetName()}
		c.All = append(c.All, collect(c.EventsOf(kind, o.GetName()), ref, o.GetUID(), o.GetCreationTimestamp().Time)...)
	}
	add("Workspace", c.Workspace)
	if c.StatefulSet != nil {
		add("StatefulSet", c.StatefulSet)
	}
	if c.Pod != nil {
		add("Pod", c.Pod)
	}
	for _, claim := range c.Claims {
		if claim.IsFound() {
			add("PersistentVolumeClaim", claim.Value)
		}
	}
	if e, ok := c.quotedEvent(); ok {
		c.All = append(c.All, e)
	}
	slices.SortFunc(c.All, newestFirst)
}

// reached tells how far the Workspace got.
func (c *Case) reached() Rung {
	switch {
	case c.Pod != nil && slices.ContainsFunc(c.Pod.Status.ContainerStatuses, c.relapses):
		return min(podRung(c.Pod), RungStarted)
	case c.Pod != nil:
		return c.refine(podRung(c.Pod))
	case !c.Pods.IsComplete() || c.StatefulSet == nil && !c.Facts.StatefulSets.IsComplete():
		// That no Pod was seen does not mean that there is none.
		return max(c.reportedRung(), c.ownRung())
	}
	return c.ownRung()
}

// relapses reports whether a container is between two crashes: it has crashed at least
// twice, and does not yet run clearly longer than the last time: twice as long, give or
// take the fractions of seconds that times in a status lack. Without a readiness probe
// it counts as Ready for these seconds, and so does its Pod, over and over again.
func (c *Case) relapses(s corev1.ContainerStatus) bool {
	running, last := s.State.Running, s.LastTerminationState.Terminated
	if running == nil || s.RestartCount < 2 || last == nil || last.ExitCode == 0 || NeverRan(last) {
		return false
	}
	ran := last.FinishedAt.Sub(last.StartedAt.Time)
	return ran < StableAfter && c.Now.Sub(running.StartedAt.Time) < 2*ran+2*time.Second
}

// Relapses is the same of a container of the Pod.
func (c *Case) Relapses(container Container) bool {
	return !container.Init && c.relapses(container.Status)
}

// StableAfter is how long a container has to run until the kubelet forgets that it
// crashed: twice MaxContainerBackOff, which is 5 minutes (pkg/kubelet).
const StableAfter = 10 * time.Minute

// ownRung is how far the Workspace got without a Pod.
func (c *Case) ownRung() Rung {
	if c.StatefulSet != nil {
		return RungAccepted
	}
	return RungNone
}

// refine uses the Pod's Events where status is silent. Kubelets before 1.29 do not
// report PodReadyToStartContainers, so between "scheduled" and "image pull failed"
// only Events show progress: a sandbox is made after the volumes are mounted, an image
// is pulled after that.
func (c *Case) refine(r Rung) Rung {
	if r != RungScheduled {
		return r
	}
	for _, e := range c.All { // newest first
		if e.Object.Kind != "Pod" || isNoise(e) {
			continue
		}
		switch {
		case e.IsWarning() && eventRungs[e.Reason] == RungMounted:
			return r
		case e.IsWarning() && eventRungs[e.Reason] == RungSandbox, e.Reason == sandboxChanged:
			return RungMounted
		case slices.Contains(progress, e.Reason) && Condition(c.Pod, corev1.PodReadyToStartContainers) == nil:
			if strings.HasPrefix(e.FieldPath, "spec.initContainers") {
				return RungSandbox
			}
			return RungInitialised
		}
	}
	return r
}

// sortWarnings separates the Warnings that explain the present from those that later
// progress has overtaken.
func (c *Case) sortWarnings() {
	attached := map[string]time.Time{} // by the words for the volume; of any, by none
	gotOn := c.lastProgress()
	for _, e := range c.All {
		if e.Reason == "SuccessfulAttachVolume" {
			for _, volume := range []string{"", QuotedVolume(e.Message)} {
				attached[volume] = later(attached[volume], e.Last)
			}
		}
		if !e.IsWarning() || e.Object.Kind == "Workspace" && !e.FromController {
			continue
		}
		rung, bound := eventRungs[e.Reason]
		if e.Reason == networkNotReady && c.Reached < RungReady && !gotOn.After(e.Last) {
			// The kubelet does nothing for a Pod whose network is down, though its sandbox
			// may have been made before.
			c.Current = append(c.Current, e)
			continue
		}
		switch {
		case isNoise(e),
			e.Object.Kind == "StatefulSet" && c.Pod != nil,
			bound && rung <= c.Reached && (c.Pod != nil || !e.FromController),
			e.Reason == "FailedAttachVolume" && attached[QuotedVolume(e.Message)].After(e.Last), // newest first
			mountTimeout.MatchString(e.Message) && attached[""].After(e.Last),
			!bound && c.Reached == RungReady:
			c.Overtaken = append(c.Overtaken, e)
		default:
			c.Current = append(c.Current, e)
		}
	}
}

// mountTimeout is how a kubelet up to 1.36 says that it still waits for volumes to be
// attached or mounted: one that is attached after that was what it waited for.
var mountTimeout = regexp.MustCompile(`^Unable to (?:attach or )?mount volumes`)

// sandboxChanged is the kubelet's reason for making a sandbox anew.
const sandboxChanged = "SandboxChanged"

// networkNotReady is the kubelet's reason for leaving a Pod alone as long as the network
// plugin of its node does not work.
const networkNotReady = "NetworkNotReady"

// lastProgress is when the kubelet last got on with the Pod, as far as known: it has made
// the sandbox, or done something about a container.
func (c *Case) lastProgress() time.Time {
	var last time.Time
	if s := Condition(c.Pod, corev1.PodReadyToStartContainers); s != nil && s.Status == corev1.ConditionTrue {
		last = s.LastTransitionTime.Time
	}
	for _, e := range c.All {
		if e.Object.Kind == "Pod" && slices.Contains(containerReasons, e.Reason) {
			last = later(last, e.Last)
		}
	}
	for _, s := range c.Containers() {
		if s.State.Running != nil {
			last = later(last, s.State.Running.StartedAt.Time)
		}
	}
	return last
}

// progress are the reasons of the kubelet's Events about a container that gets on.
var progress = []string{"Pulling", "Pulled", "Created", "Started"}

// CurrentOf returns the current Warnings about objects of a kind whose reason is one
// of those given (any reason, if none is given), newest first.
func (c *Case) CurrentOf(kind string, reasons ...string) []Event {
	var out []Event
	for _, e := range c.Current {
		if (e.Object.Kind == kind || e.FromController) && (len(reasons) == 0 || slices.Contains(reasons, e.Reason)) {
			out = append(out, e)
		}
	}
	return out
}

// Containers returns the statuses of all containers of the Pod, init containers first.
func (c *Case) Containers() []corev1.ContainerStatus {
	if c.Pod == nil {
		return nil
	}
	return slices.Concat(c.Pod.Status.InitContainerStatuses, c.Pod.Status.ContainerStatuses)
}

// PodSpec is the spec of the Pod or, if there is none, of the StatefulSet's template;
// nil if there is neither.
func (c *Case) PodSpec() *corev1.PodSpec {
	switch {
	case c.Pod != nil:
		return &c.Pod.Spec
	case c.StatefulSet != nil:
		return &c.StatefulSet.Spec.Template.Spec
	}
	return nil
}

// WorkspaceRef is the Workspace itself as an object at fault.
func (c *Case) WorkspaceRef() string { return facts.Ref{Kind: "Workspace", Name: c.Name()}.String() }

// WorkspaceEvidence quotes the Workspace's own status.
func (c *Case) WorkspaceEvidence() Evidence {
	return Evidence{Source: c.WorkspaceRef(), Reason: string(c.Workspace.Status.State), Message: c.Workspace.Status.StateMessage}
}
