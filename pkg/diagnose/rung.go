package diagnose

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Rung is a step of the ladder that a Workspace climbs on its way to Running.
type Rung int

// The ladder. A Workspace that reached a rung is stuck on the next one.
const (
	// RungNone: the controller has not acted on the Workspace.
	RungNone Rung = iota
	// RungAccepted: the StatefulSet exists.
	RungAccepted
	// RungPodCreated: the StatefulSet's Pod exists.
	RungPodCreated
	// RungScheduled: the Pod has a node.
	RungScheduled
	// RungMounted: its volumes are mounted.
	RungMounted
	// RungSandbox: its sandbox (network, cgroups) is made.
	RungSandbox
	// RungInitialised: its init containers are done.
	RungInitialised
	// RungStarted: the container main has been started.
	RungStarted
	// RungReady: the Pod is Ready.
	RungReady
)

var rungNames = [...]string{"none", "accepted", "pod-created", "scheduled", "volumes-mounted", "sandbox-ready", "initialised", "started", "ready"}

// String returns the rung's name in the JSON output.
func (r Rung) String() string { return rungNames[r] }

// MarshalText implements encoding.TextMarshaler.
func (r Rung) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler; it accepts what MarshalText writes.
func (r *Rung) UnmarshalText(text []byte) error {
	*r = Rung(max(0, slices.Index(rungNames[:], string(text))))
	return nil
}

// Stuck says what a Workspace that has reached r lacks, as the end of a sentence:
// "its volumes have not been mounted".
func (r Rung) Stuck() string { return stuckWords[r] }

var stuckWords = [...]string{
	"the Workspace controller has not acted on it",
	"its Pod has not been created",
	"its Pod has not been assigned to a node",
	"its volumes have not been mounted",
	"its Pod sandbox has not been created",
	"its init containers have not finished",
	"its container has not started",
	"its container is not ready",
	"it is ready",
}

// MainContainer is the container that the controller builds from the WorkspaceKind.
const MainContainer = "main"

// podRung tells how far a Pod got, from its status alone: conditions, node name and
// container states. A rung without a condition of its own (volumes mounted) counts
// as reached when a later one is.
func podRung(pod *corev1.Pod) Rung {
	main := containerStatus(pod.Status.ContainerStatuses, MainContainer)
	switch {
	case conditionIs(pod, corev1.PodReady):
		return RungReady
	case main != nil && hasStarted(*main):
		return RungStarted
	case main != nil && beyondCreating(*main):
		return RungInitialised
	case slices.ContainsFunc(pod.Status.ContainerStatuses, func(s corev1.ContainerStatus) bool { return hasStarted(s) || beyondCreating(s) }):
		return RungInitialised
	case slices.ContainsFunc(pod.Status.InitContainerStatuses, func(s corev1.ContainerStatus) bool { return hasStarted(s) || beyondCreating(s) }),
		conditionIs(pod, corev1.PodReadyToStartContainers):
		// Initialized is True from the start in a Pod without init containers, so it
		// proves something only once the sandbox is known to exist.
		if conditionIs(pod, corev1.PodInitialized) {
			return RungInitialised
		}
		return RungSandbox
	case pod.Spec.NodeName != "", conditionIs(pod, corev1.PodScheduled):
		return RungScheduled
	}
	return RungPodCreated
}

// hasStarted reports whether the container runs, or ran until it ended.
func hasStarted(s corev1.ContainerStatus) bool {
	if t := cmp.Or(s.State.Terminated, s.LastTerminationState.Terminated); s.State.Running == nil && t != nil {
		return !NeverRan(t)
	}
	return s.State.Running != nil || s.RestartCount > 0
}

// NeverRan reports whether a container "ended" without having run: the runtime could not
// start it. The words are those of containerd and of docker.
func NeverRan(t *corev1.ContainerStateTerminated) bool {
	return t != nil && (t.Reason == "StartError" || t.Reason == "ContainerCannotRun")
}

// beyondCreating reports whether the kubelet got as far as pulling the image or
// making the container: before that the reason is one of two placeholders.
func beyondCreating(s corev1.ContainerStatus) bool {
	w := s.State.Waiting
	return w != nil && w.Reason != "" && w.Reason != "ContainerCreating" && w.Reason != "PodInitializing"
}

// Broken reports whether the Pod's own status shows a fault: it has failed, or one of
// its containers waits for something else than its turn.
func (c *Case) Broken() bool {
	return c.Pod != nil && (c.Pod.Status.Phase == corev1.PodFailed || slices.ContainsFunc(c.Containers(), beyondCreating))
}

func containerStatus(statuses []corev1.ContainerStatus, name string) *corev1.ContainerStatus {
	for i := range statuses {
		if statuses[i].Name == name {
			return &statuses[i]
		}
	}
	return nil
}

// Condition returns the Pod's condition of this type, nil if it has none or pod is nil.
func Condition(pod *corev1.Pod, t corev1.PodConditionType) *corev1.PodCondition {
	if pod == nil {
		return nil
	}
	for i := range pod.Status.Conditions {
		if pod.Status.Conditions[i].Type == t {
			return &pod.Status.Conditions[i]
		}
	}
	return nil
}

func conditionIs(pod *corev1.Pod, t corev1.PodConditionType) bool {
	c := Condition(pod, t)
	return c != nil && c.Status == corev1.ConditionTrue
}

// eventRungs gives the rung that a Warning complains about, by its reason. A reason
// that is not listed is not bound to a rung.
var eventRungs = map[string]Rung{
	"FailedCreate":                     RungPodCreated,
	"FailedScheduling":                 RungScheduled,
	"Unschedulable":                    RungScheduled,
	"NotTriggerScaleUp":                RungScheduled,
	"FailedAttachVolume":               RungMounted,
	"FailedMount":                      RungMounted,
	"FailedMapVolume":                  RungMounted,
	"VolumePermissionChangeInProgress": RungMounted,
	"FailedCreatePodSandBox":           RungSandbox,
	networkNotReady:                    RungSandbox,
	"CNINotReady":                      RungSandbox,
	"Failed":                           RungStarted,
	"InspectFailed":                    RungStarted,
	"ErrImageNeverPull":                RungStarted,
	"BackOff":                          RungStarted,
	"Unhealthy":                        RungReady,
	"ProbeWarning":                     RungReady,
}
