package causes

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/diagnose"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/facts"
)

// status is what the Facts know about the existence of a referenced object.
func status(c *diagnose.Case, ref facts.Ref) facts.Status {
	switch ref.Kind {
	case "Secret":
		return c.Secrets[ref.Name].Status
	case "ConfigMap":
		return c.ConfigMaps[ref.Name].Status
	case "PersistentVolumeClaim":
		return c.Claims[ref.Name].Status
	}
	return facts.NotAsked
}

// created is when a Secret or ConfigMap was made; zero if that is not known.
func created(c *diagnose.Case, ref facts.Ref) time.Time {
	answer := c.Secrets[ref.Name]
	if ref.Kind == "ConfigMap" {
		answer = c.ConfigMaps[ref.Name]
	}
	if !answer.IsFound() || answer.Value == nil {
		return time.Time{}
	}
	return answer.Value.CreationTimestamp.Time
}

// blocks reports whether a missing object keeps the Pod from the very next rung.
// Volumes hold up the mounting, environment variables the making of their container.
func blocks(c *diagnose.Case, r facts.Reference) bool {
	if c.Pod == nil {
		return false
	}
	if r.Volume != "" {
		return c.Reached == diagnose.RungScheduled
	}
	for _, container := range c.PodContainers() {
		if container.Name() != r.Container || container.Running() {
			continue
		}
		if reason, _ := container.Waiting(); reason == configError {
			return true
		}
		// The status may lag behind the Event, or not be there at all.
		if slices.ContainsFunc(saidMissing(c, r.Object), func(e diagnose.Event) bool { return slices.Contains(container.Events, e) }) {
			return true
		}
	}
	return false
}

// mountOf finds where the Workspace asks for an object as a volume; nil if it is not
// the Workspace that does.
func mountOf(c *diagnose.Case, ref facts.Ref) *diagnose.Mount {
	for i := range c.Mounts {
		if c.Mounts[i].Object == ref.String() && c.Mounts[i].Status != diagnose.MountDropped {
			return &c.Mounts[i]
		}
	}
	return nil
}

// mountedAt says where a missing object would have been mounted; empty if nowhere.
func mountedAt(c *diagnose.Case, r facts.Reference) string {
	if m := mountOf(c, r.Object); m != nil {
		return fmt.Sprintf("it is mounted at %s", m.Path)
	}
	if r.Volume == "" {
		return fmt.Sprintf("%s takes environment variables from it", containerNamed(c, r.Container))
	}
	for _, container := range slices.Concat(c.PodSpec().Containers, c.PodSpec().InitContainers) {
		for _, m := range container.VolumeMounts {
			if m.Name == r.Volume {
				return fmt.Sprintf("it is mounted at %s", m.MountPath)
			}
		}
	}
	return fmt.Sprintf("%s needs it", r)
}

// containerNamed is how a sentence refers to a container.
func containerNamed(c *diagnose.Case, name string) string {
	if spec := c.PodSpec(); spec != nil && slices.ContainsFunc(spec.InitContainers, func(i corev1.Container) bool { return i.Name == name }) {
		return "init container " + name
	}
	return "container " + name
}
