package causes

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/diagnose"
)

func TestProbeCauses(t *testing.T) {
	const said = "Readiness probe failed: HTTP probe failed with statuscode: 503"
	slow := func(c *corev1.Container) {
		c.ReadinessProbe = &corev1.Probe{InitialDelaySeconds: 300, PeriodSeconds: 10, FailureThreshold: 3}
	}
	for name, c := range map[string]struct {
		set  func(p *podCase)
		want podWant
	}{
		"main": {func(p *podCase) {
			p.container("main", p.runs(5*minute, false)).event("main", "Unhealthy", said, second)
		},
			podWant{"readiness-probe-failing", "Container/main", diagnose.StateError, true, `Readiness probe failed ("HTTP probe failed with statuscode: 503")`, ""}},
		"combined": {func(p *podCase) {
			p.container("main", p.runs(5*minute, false)).event("main", "Unhealthy", "(combined from similar events): "+said, second)
		}, podWant{"readiness-probe-failing", "Container/main", diagnose.StateError, true, "statuscode: 503", ""}},
		"a sidecar": {func(p *podCase) {
			p.container("main", p.runs(5*minute, true)).container("istio-proxy", p.runs(5*minute, false)).event("istio-proxy", "Unhealthy", said, second)
		}, podWant{"readiness-probe-failing", "Container/istio-proxy", diagnose.StateError, true, "Container istio-proxy runs for 5m", ""}},
		"a sidecar's old failure is not main's": {func(p *podCase) {
			p.container("main", p.runs(5*second, false)).container("istio-proxy", p.runs(5*minute, true)).event("istio-proxy", "Unhealthy", said, minute)
		}, podWant{"container-starting", "", diagnose.StatePending, false, "waits for container main", ""}},
		"within its time": {func(p *podCase) {
			p.spec(slow).container("main", p.runs(2*minute, false)).event("main", "Unhealthy", said, second)
		},
			podWant{"readiness-probe-failing", "Container/main", diagnose.StatePending, true, "", ""}},
		"Events expired": {func(p *podCase) { p.spec(slow).container("main", p.runs(3*time.Hour, false)) },
			podWant{"readiness-probe-failing", "Container/main", diagnose.StateError, false, "its probe does not succeed", ""}},
		"has just started": {func(p *podCase) { p.spec(slow).container("main", p.runs(5*second, false)) },
			podWant{"container-starting", "", diagnose.StatePending, false, "", ""}},
		"startup probe, not killed yet": {func(p *podCase) {
			p.container("main", p.runs(30*second, false)).event("main", "Unhealthy", "Startup probe failed: x", second)
		}, podWant{"readiness-probe-failing", "Container/main", diagnose.StatePending, true, "Startup probe failed", ""}},
		"before the last restart": {func(p *podCase) {
			p.container("main", p.ended(p.runs(20*minute, false), 1, "Error", "", 20*minute)).event("main", "Unhealthy", said, 30*minute)
		}, podWant{"container-starting", "", diagnose.StatePending, false, "", ""}},
		"readiness gate": {func(p *podCase) { p.gated(minute, corev1.ConditionFalse) },
			podWant{"readiness-gate-not-met", "Pod/ws-alice-notebook-x7k2p-0", diagnose.StatePending, true, "readiness gate example.com/lb, for 60s now", ""}},
		"readiness gate, for long": {func(p *podCase) { p.gated(time.Hour, corev1.ConditionUnknown) },
			podWant{"readiness-gate-not-met", "Pod/ws-alice-notebook-x7k2p-0", diagnose.StateError, true, "", ""}},
		"readiness gate that is met": {func(p *podCase) { p.gated(time.Hour, corev1.ConditionTrue) },
			podWant{diagnose.UnexplainedID, "Pod/ws-alice-notebook-x7k2p-0", diagnose.StatePending, false, "", ""}},
		"ready": {func(p *podCase) {
			p.ready().container("main", p.runs(5*minute, true)).event("main", "Unhealthy", said, second)
		},
			podWant{"", "", diagnose.StateRunning, false, "", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPodCase(t)
			c.set(p)
			p.check(t, c.want)
		})
	}
}

// gated makes the containers ready and gives the Pod a readiness gate.
func (p *podCase) gated(ago time.Duration, met corev1.ConditionStatus) {
	p.container("main", p.runs(2*ago, true))
	p.pod.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: "example.com/lb"}}
	p.pod.Status.Conditions = append(p.pod.Status.Conditions,
		corev1.PodCondition{Type: corev1.ContainersReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Time{Time: p.facts.Now.Add(-ago)}},
		corev1.PodCondition{Type: "example.com/lb", Status: met})
}

func TestParseProbe(t *testing.T) {
	for in, want := range map[string][2]string{
		"Readiness probe failed: Get \"http://10.0.0.1/\": context deadline exceeded\n": {"Readiness", `Get "http://10.0.0.1/": context deadline exceeded`},
		"Liveness probe failed: ":          {"Liveness", ""},
		"Startup probe errored: rpc error": {"Startup", "rpc error"},
		"Readiness probe errored and resulted in unknown state: rpc error: code = NotFound desc = no container": {"Readiness", "rpc error: code = NotFound desc = no container"},
		"Liveness probe warning: Probe terminated redirects":                                                    {"Liveness", "Probe terminated redirects"},
		"something else": {"", "something else"},
	} {
		kind, reason := parseProbe(in)
		if got := [2]string{kind, reason}; got != want {
			t.Errorf("parseProbe(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzParseProbe(f *testing.F) {
	f.Add("Liveness probe failed: x")
	f.Fuzz(func(_ *testing.T, s string) { parseProbe(s) })
}
