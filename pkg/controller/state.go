package controller

import (
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/api/v1beta1"
)

// Messages of states that have only one.
const (
	messagePaused      = "Workspace is paused"
	messageTerminating = "Workspace is terminating"
	messageRunning     = "Workspace is running"
	messagePending     = "Workspace is pending"
	messageUnknown     = "Workspace is in an unknown state"
)

// Situation is what the state of a Workspace follows from.
type Situation struct {
	Paused      bool
	StatefulSet *appsv1.StatefulSet
	// Pod is nil if there is none.
	Pod *corev1.Pod
	// Events are those about the Pod, or, without a Pod, those about the StatefulSet. Others
	// may be among them.
	Events []corev1.Event
	Now    time.Time
}

// State is what a controller says about a Workspace.
type State struct {
	State   v1beta1.WorkspaceState
	Message string
	// LookAgain is after how long to reconcile without a reason; 0 for not at all.
	LookAgain time.Duration
}

// DeriveState says what a Workspace is doing. The first rule that fits counts.
func DeriveState(s Situation) State {
	if s.Pod == nil {
		return stateWithoutPod(s)
	}
	if s.Pod.DeletionTimestamp != nil {
		return State{State: v1beta1.WorkspaceStateTerminating, Message: messageTerminating}
	}
	if message, ok := schedulingProblem(s.Pod); ok {
		return failed(message)
	}
	if s.Pod.Status.Phase == corev1.PodRunning && isReady(s.Pod) {
		return State{State: v1beta1.WorkspaceStateRunning, Message: messageRunning}
	}
	if reason := waitingReason(s.Pod); reason == "CrashLoopBackOff" || reason == "ImagePullBackOff" {
		return failed("Workspace Container is not running (" + reason + ")")
	}
	if e := LatestWarning(s.Events, string(s.Pod.UID)); e != nil {
		return failed("Workspace Pod has warning event: " + e.Message)
	}
	if s.Pod.Status.Phase == corev1.PodPending {
		return State{v1beta1.WorkspaceStatePending, messagePending, pendingInterval(s.Now, s.Pod)}
	}
	return State{State: v1beta1.WorkspaceStateUnknown, Message: messageUnknown}
}

func stateWithoutPod(s Situation) State {
	if s.Paused {
		return State{State: v1beta1.WorkspaceStatePaused, Message: messagePaused}
	}
	if s.StatefulSet != nil {
		if e := LatestWarning(s.Events, string(s.StatefulSet.UID)); e != nil {
			return failed("Workspace StatefulSet has warning event: " + e.Message)
		}
	}
	return State{State: v1beta1.WorkspaceStateUnknown, Message: messageUnknown}
}

func failed(message string) State {
	return State{State: v1beta1.WorkspaceStateError, Message: message}
}

func schedulingProblem(pod *corev1.Pod) (string, bool) {
	c := condition(pod, corev1.PodScheduled)
	if c == nil || c.Status == corev1.ConditionTrue {
		return "", false
	}
	switch c.Reason {
	case corev1.PodReasonUnschedulable:
		return "Workspace Pod is unschedulable: " + c.Message, true
	case corev1.PodReasonSchedulingGated:
		return "Workspace Pod is waiting for scheduling gate: " + c.Message, true
	case corev1.PodReasonSchedulerError:
		return "Workspace Pod has scheduler error: " + c.Message, true
	}
	return "", false
}

func isReady(pod *corev1.Pod) bool {
	c := condition(pod, corev1.PodReady)
	return c != nil && c.Status == corev1.ConditionTrue
}

// condition returns the last condition of a type; it is normally the only one.
func condition(pod *corev1.Pod, kind corev1.PodConditionType) *corev1.PodCondition {
	for i := range slices.Backward(pod.Status.Conditions) {
		if pod.Status.Conditions[i].Type == kind {
			return &pod.Status.Conditions[i]
		}
	}
	return nil
}

// waitingReason is why the main container waits; empty if it does not.
func waitingReason(pod *corev1.Pod) string {
	for i := range pod.Status.ContainerStatuses {
		c := &pod.Status.ContainerStatuses[i]
		if c.Name == MainContainer && c.State.Waiting != nil {
			return c.State.Waiting.Reason
		}
	}
	return ""
}

const (
	minPendingInterval = 15 * time.Second
	maxPendingInterval = 5 * time.Minute
)

// pendingInterval is a quarter of the Pod's age (15 s per minute), within limits. What has been
// pending for an hour will not start in the next 15 s, and 15 s for each of a thousand such
// Workspaces is all that a controller with ten reconciles per second can do.
func pendingInterval(now time.Time, pod *corev1.Pod) time.Duration {
	if pod.CreationTimestamp.IsZero() {
		return minPendingInterval
	}
	interval := (now.Sub(pod.CreationTimestamp.Time) / 4).Round(time.Second)
	return min(max(interval, minPendingInterval), maxPendingInterval)
}
