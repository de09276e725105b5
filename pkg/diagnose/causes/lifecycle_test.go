package causes

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/diagnose"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/facts"
)

const (
	bobPod  = "Pod/ws-bob-notebook-9fj2k-0"
	nodeOne = "Node/node-1"
)

func TestTerminating(t *testing.T) {
	const terminating = diagnose.StateTerminating
	gone := func(e *demoCase) { e.Node = facts.Answer[*corev1.Node]{Status: facts.Absent} }
	for name, c := range map[string]struct {
		edit func(e *demoCase)
		want outcome
	}{
		"within its grace":                         {func(e *demoCase) { e.terminating(5 * time.Second).node(corev1.ConditionTrue) }, outcome{"terminating-in-progress", bobPod, terminating, true}},
		"within its grace, on a node that is lost": {func(e *demoCase) { e.terminating(5 * time.Second).node(corev1.ConditionUnknown) }, outcome{"terminating-in-progress", bobPod, terminating, true}},
		"overdue, on a node that is lost":          {func(e *demoCase) { e.terminating(time.Hour).node(corev1.ConditionUnknown) }, outcome{"terminating-node-lost", nodeOne, terminating, true}},
		"overdue, on a node that is gone":          {func(e *demoCase) { gone(e.terminating(time.Hour)) }, outcome{"terminating-node-lost", nodeOne, terminating, true}},
		"overdue, on a node that is well":          {func(e *demoCase) { e.terminating(time.Hour).node(corev1.ConditionTrue) }, outcome{"terminating-in-progress", bobPod, terminating, true}},
		"overdue, node unknown, an Event says so": {func(e *demoCase) {
			e.terminating(2*time.Minute).says("NodeNotReady", "Node is not ready", time.Minute)
			for i := range e.pod().Status.Conditions {
				e.pod().Status.Conditions[i].Status = corev1.ConditionFalse
			}
		}, outcome{"terminating-node-lost", nodeOne, terminating, false}},
		"long overdue, node unknown, nothing ended": {func(e *demoCase) { e.terminating(time.Hour) }, outcome{"terminating-node-lost", nodeOne, terminating, false}},
		"old status": {func(e *demoCase) {
			e.terminating(time.Hour).pod().Status.Reason = "NodeLost"
		}, outcome{"terminating-node-lost", nodeOne, terminating, true}},
		"finalizer, within its grace": {func(e *demoCase) { e.terminating(5*time.Second, "example.com/hold") }, outcome{"terminating-in-progress", bobPod, terminating, true}},
		"finalizer, overdue":          {func(e *demoCase) { e.terminating(time.Hour, "example.com/hold").node(corev1.ConditionTrue) }, outcome{"terminating-finalizer", bobPod, terminating, true}},
		"finalizer, ended": {func(e *demoCase) {
			e.terminating(5*time.Second, "example.com/hold")
			e.pod().Status.ContainerStatuses[0].State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}
		}, outcome{"terminating-finalizer", bobPod, terminating, true}},
		"paused": {func(e *demoCase) { e.terminating(5 * time.Second); e.Workspace.Spec.Paused = true }, outcome{"pausing", bobPod, terminating, true}},
		"preempted": {func(e *demoCase) {
			e.terminating(5 * time.Second)
			e.pod().Status.Conditions = append(e.pod().Status.Conditions, corev1.PodCondition{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue,
				Reason: "PreemptionByScheduler", Message: "default-scheduler: preempting to accommodate a higher priority pod"})
		}, outcome{"pod-preempted", bobPod, terminating, true}},
		"disrupted otherwise": {func(e *demoCase) {
			e.terminating(5 * time.Second)
			e.pod().Status.Conditions = append(e.pod().Status.Conditions, corev1.PodCondition{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "EvictionByEvictionAPI"})
		}, outcome{"terminating-in-progress", bobPod, terminating, true}},
	} {
		t.Run(name, func(t *testing.T) {
			e := newDemoCase(t, bob)
			c.edit(e)
			e.check(c.want)
		})
	}
}

func TestWhoEndsThePod(t *testing.T) {
	e := newDemoCase(t, bob)
	e.terminating(5 * time.Second)
	e.pod().Status.Conditions = append(e.pod().Status.Conditions, corev1.PodCondition{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue,
		Reason: "DeletionByTaintManager", Message: "Taint manager: deleting due to NoExecute taint"})
	e.check(outcome{"terminating-in-progress", bobPod, diagnose.StateTerminating, true}, "deleting due to NoExecute taint. Its StatefulSet makes a new one")
}

func TestEnded(t *testing.T) {
	for name, c := range map[string]struct {
		reason, message string
		id              string
		mention         string
	}{
		"memory":                    {"Evicted", "The node was low on resource: memory. Threshold quantity: 100Mi, available: 60Mi. ", "pod-evicted", "low on resource: memory"},
		"own limit":                 {"Evicted", "Usage of EmptyDir volume \"cache\" exceeds the limit \"1Gi\". ", "pod-evicted", "more than its own limit"},
		"own limit of one":          {"Evicted", "Container main exceeded its local ephemeral storage limit \"2Gi\". ", "pod-evicted", "more than its own limit"},
		"at admission":              {"Evicted", "Pod was rejected: The node had condition: [MemoryPressure]. ", "pod-evicted", "MemoryPressure"},
		"node shuts down":           {"Terminated", "Pod was terminated in response to imminent node shutdown.", "pod-evicted", "shuts down"},
		"no device":                 {"UnexpectedAdmissionError", "Pod was rejected: Allocate failed due to no healthy devices present; cannot allocate unhealthy devices nvidia.com/gpu, which is unexpected", "pod-admission-rejected", "nvidia.com/gpu"},
		"no room":                   {"OutOfcpu", "Pod Node didn't have enough resource: cpu, requested: 2000, used: 3000, capacity: 4000", "pod-admission-rejected", "OutOfcpu"},
		"no room for GPUs":          {"OutOfnvidia.com/gpu", "Pod Node didn't have enough resource: nvidia.com/gpu", "pod-admission-rejected", "not enough of a resource"},
		"shut down before it began": {"NodeShutdown", "Pod was rejected as the node is shutting down.", "pod-admission-rejected", "as it is shutting down: Pod was rejected as the node is shutting down."},
		"new reason":                {"Whatever", "Pod was rejected: for a new reason", "pod-admission-rejected", "for a new reason"},
		"NUMA":                      {"TopologyAffinityError", "Pod Resources cannot be allocated with Topology locality", "pod-admission-rejected", "NUMA"},
		"deadline":                  {"DeadlineExceeded", "Pod was active on the node longer than the specified deadline", "pod-ended", "has ended (Failed, DeadlineExceeded): Pod was active"},
		"no reason":                 {"", "", "pod-ended", "has ended (Failed)"},
		"preempted":                 {"Preempting", "Preempted in order to admit critical pod", "pod-preempted", "critical pod"},
	} {
		t.Run(name, func(t *testing.T) {
			e := newDemoCase(t, alice).noEvents().failed(c.reason, c.message)
			object := nodeOne
			if c.id == "pod-preempted" || c.id == "pod-ended" {
				object = "Pod/" + e.pod().Name
			}
			e.check(outcome{c.id, object, diagnose.StateError, true}, c.mention)
		})
	}
	t.Run("its container ended well", func(t *testing.T) {
		e := newDemoCase(t, alice).noEvents()
		e.pod().Status = corev1.PodStatus{Phase: corev1.PodSucceeded, ContainerStatuses: []corev1.ContainerStatus{{Name: diagnose.MainContainer,
			State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "Completed"}}}}}
		e.check(outcome{"pod-ended", "Pod/" + e.pod().Name, diagnose.StateError, true}, "has ended (Succeeded): container main ended with exit code 0")
		if d, _ := e.top(); strings.Contains(d.Summary, "not been") {
			t.Errorf("a rung is named: %s", d.Summary)
		}
	})
	t.Run("a container that failed by itself", func(t *testing.T) {
		e := newDemoCase(t, alice).noEvents().failed("", "")
		if _, top := e.top(); top.ID == "pod-evicted" || top.ID == "pod-admission-rejected" {
			t.Errorf("%+v", top)
		}
	})
	t.Run("evicted, but the container heeded the signal", func(t *testing.T) {
		e := newDemoCase(t, alice).noEvents().says("Evicted", "The node was low on resource: memory. ", time.Minute)
		e.pod().Status = corev1.PodStatus{Phase: corev1.PodSucceeded}
		e.check(outcome{"pod-evicted", nodeOne, diagnose.StateError, false})
	})
}

func TestPausing(t *testing.T) {
	e := newDemoCase(t, bob)
	e.Workspace.Spec.Paused = true
	e.check(outcome{"pausing", bobPod, diagnose.StateTerminating, true}, "has not acted")
	zero := int32(0)
	e.set().Spec.Replicas = &zero
	e.check(outcome{"pausing", bobPod, diagnose.StateTerminating, true}, "is being paused")
}

func TestDeleting(t *testing.T) {
	e := newDemoCase(t, bob).terminating(time.Hour, "example.com/hold")
	now := metav1.NewTime(e.Now)
	e.Workspace.DeletionTimestamp = &now
	e.check(outcome{"workspace-deleting", bobPod, diagnose.StateTerminating, true}, "example.com/hold")
}
