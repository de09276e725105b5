package causes

import (
	"fmt"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/diagnose"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/facts"
)

// status is what the Facts know about the existence of a Secret or ConfigMap.
func status(c *diagnose.Case, ref facts.Ref) facts.Status {
	if ref.Kind == "ConfigMap" {
		return c.ConfigMaps[ref.Name].Status
	}
	return c.Secrets[ref.Name].Status
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
	for _, s := range c.Containers() {
		if s.Name == r.Container {
			return s.State.Waiting != nil && s.State.Waiting.Reason == "CreateContainerConfigError"
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
		return fmt.Sprintf("container %s takes environment variables from it", r.Container)
	}
	for _, container := range c.PodSpec().Containers {
		for _, m := range container.VolumeMounts {
			if m.Name == r.Volume {
				return fmt.Sprintf("it is mounted at %s", m.MountPath)
			}
		}
	}
	return fmt.Sprintf("%s needs it", r)
}
