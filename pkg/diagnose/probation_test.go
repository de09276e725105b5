package diagnose

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestProbation(t *testing.T) {
	now := time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC)
	at := func(d time.Duration) metav1.Time { return metav1.NewTime(now.Add(d)) }
	running := func(name string, started time.Duration) corev1.ContainerStatus {
		return corev1.ContainerStatus{Name: name, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: at(started)}}}
	}
	crashed := func(s corev1.ContainerStatus, code int32, ran time.Duration) corev1.ContainerStatus {
		s.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ExitCode: code, StartedAt: at(-24 * time.Hour), FinishedAt: at(ran - 24*time.Hour)}
		return s
	}
	probe := []corev1.Container{{Name: "main", ReadinessProbe: &corev1.Probe{}}}
	for name, c := range map[string]struct {
		containers []corev1.Container
		statuses   []corev1.ContainerStatus
		since      time.Duration
		want       time.Duration
	}{
		"no probe":                {nil, []corev1.ContainerStatus{running("main", -2*time.Second)}, -2 * time.Second, 5 * time.Second},
		"a probe":                 {probe, []corev1.ContainerStatus{running("main", -2*time.Second)}, -2 * time.Second, 0},
		"another one has a probe": {probe, []corev1.ContainerStatus{running("main", -3*time.Second), running("proxy", -2*time.Second)}, -2 * time.Second, 5 * time.Second},
		"crashed before":          {probe, []corev1.ContainerStatus{crashed(running("main", 0), 1, 20*time.Second)}, 0, 25 * time.Second},
		"crashed after a while":   {probe, []corev1.ContainerStatus{crashed(running("main", 0), 1, 9*time.Minute)}, 0, 65 * time.Second},
		"crashed after long":      {probe, []corev1.ContainerStatus{crashed(running("main", 0), 137, 3*time.Hour)}, 0, 0},
		"ended well":              {nil, []corev1.ContainerStatus{crashed(running("main", 0), 0, 20*time.Second)}, 0, 5 * time.Second},
		"nothing runs":            {nil, []corev1.ContainerStatus{{Name: "main"}}, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: c.containers}, Status: corev1.PodStatus{ContainerStatuses: c.statuses}}
			since, length := Probation(pod)
			if name != "nothing runs" && !since.Equal(now.Add(c.since)) || length != c.want {
				t.Errorf("since %s for %s, want %s", since, length, c.want)
			}
		})
	}
}
