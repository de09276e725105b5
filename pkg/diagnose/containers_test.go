package diagnose

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestConcerned(t *testing.T) {
	running := corev1.ContainerStatus{Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}
	containers := []Container{
		{Spec: corev1.Container{Name: "main", Image: "lab:1"}, Init: true},
		{Spec: corev1.Container{Name: "main", Image: "lab:2"}},
		{Spec: corev1.Container{Name: "proxy", Image: "proxy:1"}, Status: running},
	}
	for name, c := range map[string]struct {
		event Event
		want  []int
	}{
		"field path":                      {Event{Reason: "Failed", FieldPath: "spec.containers{main}", Message: "Error"}, []int{1}},
		"field path of an init container": {Event{Reason: "Failed", FieldPath: "spec.initContainers{main}"}, []int{0}},
		"field path of none":              {Event{Reason: "Failed", FieldPath: "spec.containers{gone}", Message: `"lab:2"`}, nil},
		"by image":                        {Event{Reason: "Pulling", Message: `Pulling image "proxy:1"`}, []int{2}},
		"by name":                         {Event{Reason: "BackOff", Message: "Back-off restarting failed container proxy in pod x"}, []int{2}},
		"names neither":                   {Event{Reason: "BackOff", Message: "Back-off restarting failed container"}, []int{0, 1}},
		"about the Pod":                   {Event{Reason: "FailedMount", Message: `"lab:2"`}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if got := concerned(c.event, containers); !slices.Equal(got, c.want) {
				t.Errorf("concerned = %v, want %v", got, c.want)
			}
		})
	}
}

func TestPlain(t *testing.T) {
	if got := (Event{Message: "(combined from similar events): it failed\n"}).Plain(); got != "it failed" {
		t.Errorf("Plain = %q", got)
	}
}
