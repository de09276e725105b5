package diagnose

import (
	"encoding/json"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func condition(t corev1.PodConditionType, s corev1.ConditionStatus) corev1.PodCondition {
	return corev1.PodCondition{Type: t, Status: s}
}

func waiting(reason string) corev1.ContainerState {
	return corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason}}
}

func TestPodRung(t *testing.T) {
	initialised := condition(corev1.PodInitialized, corev1.ConditionTrue)
	sandbox := condition(corev1.PodReadyToStartContainers, corev1.ConditionTrue)
	main := func(s corev1.ContainerState) []corev1.ContainerStatus {
		return []corev1.ContainerStatus{{Name: MainContainer, State: s}}
	}
	for name, c := range map[string]struct {
		node   string
		status corev1.PodStatus
		want   Rung
	}{
		"new":   {"", corev1.PodStatus{}, RungPodCreated},
		"bound": {"node", corev1.PodStatus{}, RungScheduled},
		"Initialized from the start": {"node", corev1.PodStatus{
			Conditions:        []corev1.PodCondition{initialised, condition(corev1.PodReadyToStartContainers, corev1.ConditionFalse)},
			ContainerStatuses: main(waiting("ContainerCreating"))}, RungScheduled},
		"sandbox made, no init containers": {"node", corev1.PodStatus{
			Conditions: []corev1.PodCondition{initialised, sandbox}, ContainerStatuses: main(waiting("ContainerCreating"))}, RungInitialised},
		"init container runs": {"node", corev1.PodStatus{
			Conditions:            []corev1.PodCondition{condition(corev1.PodInitialized, corev1.ConditionFalse)},
			InitContainerStatuses: []corev1.ContainerStatus{{State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}},
			ContainerStatuses:     main(waiting("PodInitializing"))}, RungSandbox},
		"image cannot be pulled":  {"node", corev1.PodStatus{ContainerStatuses: main(waiting("ErrImagePull"))}, RungInitialised},
		"crash loop":              {"node", corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{Name: MainContainer, RestartCount: 3, State: waiting("CrashLoopBackOff")}}}, RungStarted},
		"runs, not ready":         {"node", corev1.PodStatus{ContainerStatuses: main(corev1.ContainerState{Running: &corev1.ContainerStateRunning{}})}, RungStarted},
		"ready":                   {"node", corev1.PodStatus{Conditions: []corev1.PodCondition{condition(corev1.PodReady, corev1.ConditionTrue)}}, RungReady},
		"only the sidecar is bad": {"node", corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{Name: "proxy", State: waiting("ErrImagePull")}}}, RungInitialised},
	} {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{Spec: corev1.PodSpec{NodeName: c.node}, Status: c.status}
			if got := podRung(pod); got != c.want {
				t.Errorf("podRung = %s, want %s", got, c.want)
			}
		})
	}
}

func TestRungsHaveNamesAndWords(t *testing.T) {
	for r := RungNone; r <= RungReady; r++ {
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		var back Rung
		if err := json.Unmarshal(text, &back); err != nil || back != r {
			t.Errorf("%s reads back as %s, %v", r, back, err)
		}
		if r.Stuck() == "" {
			t.Errorf("%s has no words", r)
		}
	}
}
