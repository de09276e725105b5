package diagnose

import (
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Container is one container of the Pod: its spec, its status, and what Events say
// about it.
type Container struct {
	Spec corev1.Container
	// Init is set for init containers, sidecars among them.
	Init bool
	// Sidecar is set for init containers that keep running (restartPolicy Always).
	Sidecar bool
	// Status is the zero value as long as the kubelet has not reported any.
	Status corev1.ContainerStatus
	// Events are those about this container, newest first.
	Events []Event
}

// Name returns the container's name.
func (c Container) Name() string { return c.Spec.Name }

// Ref is the container as an object at fault.
func (c Container) Ref() string {
	if c.Init {
		return "InitContainer/" + c.Name()
	}
	return "Container/" + c.Name()
}

// Waiting returns what the container waits for; empty if it does not wait.
func (c Container) Waiting() (reason, message string) {
	if w := c.Status.State.Waiting; w != nil {
		return w.Reason, w.Message
	}
	return "", ""
}

// Ended is how the container's present or last run ended; nil if none did.
func (c Container) Ended() *corev1.ContainerStateTerminated {
	if t := c.Status.State.Terminated; t != nil {
		return t
	}
	return c.Status.LastTerminationState.Terminated
}

// Running reports whether the container runs now.
func (c Container) Running() bool { return c.Status.State.Running != nil }

// Settled reports whether the container is where it should be: Ready, or done if it is
// an init container.
func (c Container) Settled() bool {
	if c.Init && !c.Sidecar {
		t := c.Status.State.Terminated
		return t != nil && t.ExitCode == 0
	}
	return c.Running() && c.Status.Ready
}

// PodContainers returns the containers of the Pod, init containers first; none if
// there is no Pod.
func (c *Case) PodContainers() []Container {
	if c.Pod == nil {
		return nil
	}
	return Memo(c, containersKey{}, (*Case).podContainers)
}

type containersKey struct{}

func (c *Case) podContainers() []Container {
	var out []Container
	add := func(specs []corev1.Container, statuses []corev1.ContainerStatus, init bool) {
		for _, spec := range specs {
			one := Container{Spec: spec, Init: init}
			one.Sidecar = init && spec.RestartPolicy != nil && *spec.RestartPolicy == corev1.ContainerRestartPolicyAlways
			if s := containerStatus(statuses, spec.Name); s != nil {
				one.Status = *s
			}
			out = append(out, one)
		}
	}
	add(c.Pod.Spec.InitContainers, c.Pod.Status.InitContainerStatuses, true)
	add(c.Pod.Spec.Containers, c.Pod.Status.ContainerStatuses, false)
	for _, e := range c.All {
		if e.Object.Kind != "Pod" && !e.FromController {
			continue
		}
		for _, i := range concerned(e, out) {
			out[i].Events = append(out[i].Events, e)
		}
	}
	return out
}

var fieldPathPattern = regexp.MustCompile(`^spec\.(initContainers|containers)\{(.+)\}$`)

// concerned finds the containers that an Event is about. Events through events.k8s.io
// and those of some controllers carry no field path; then the message tells, by the
// container or the image that it names. One that names neither concerns whichever
// container is not in order.
func concerned(e Event, containers []Container) []int {
	var out []int
	where := func(match func(Container) bool) []int {
		out = nil
		for i, c := range containers {
			if match(c) {
				out = append(out, i)
			}
		}
		return out
	}
	if m := fieldPathPattern.FindStringSubmatch(e.FieldPath); m != nil {
		return where(func(c Container) bool { return c.Name() == m[2] && c.Init == (m[1] == "initContainers") })
	}
	if !slices.Contains(containerReasons, e.Reason) {
		return nil
	}
	if byImage := where(func(c Container) bool { return strings.Contains(e.Message, `"`+c.Spec.Image+`"`) }); len(byImage) > 0 {
		return byImage
	}
	if byName := where(func(c Container) bool { return namesContainer(e.Message, c.Name()) }); len(byName) > 0 {
		return byName
	}
	return where(func(c Container) bool { return !c.Settled() })
}

// containerReasons are the reasons of the kubelet's Events about a container
// (pkg/kubelet/events/event.go).
var containerReasons = []string{
	"Pulling", "Pulled", "Created", "Started", "Killing", "Failed", "BackOff", "Unhealthy", "ProbeWarning",
	"InspectFailed", "ErrImageNeverPull", "FailedPostStartHook", "FailedPreStopHook",
}

// namesContainer recognises "container main", "container=main" and `container "main"`.
func namesContainer(message, name string) bool {
	for _, form := range []string{"container " + name + " ", "container=" + name + " ", `container "` + name + `"`} {
		if strings.Contains(strings.ToLower(message+" "), form) {
			return true
		}
	}
	return false
}

// combinedPrefix is put before a message by the recorder when it gives up telling
// variants apart (client-go/tools/record/events_cache.go).
const combinedPrefix = "(combined from similar events): "

// Plain is the message without what recorders put before it.
func (e Event) Plain() string {
	return strings.TrimSpace(strings.TrimPrefix(e.Message, combinedPrefix))
}
