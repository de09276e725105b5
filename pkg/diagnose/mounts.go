package diagnose

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/facts"
)

// homeVolume is the name that the controller gives the volume of the home claim.
const homeVolume = "home-volume"

// mounts lists the volumes that the Workspace asks for, in the controller's order:
// home, data, secrets. A path that an earlier one has taken is left out by the
// controller without a word; it compares paths as text.
func (c *Case) mounts() []Mount {
	volumes := c.Workspace.Spec.PodTemplate.Volumes
	var out []Mount
	taken := map[string]bool{}
	add := func(path string, ref facts.Ref, origin string, status MountStatus) {
		switch {
		case path != "" && taken[path]:
			status = MountDropped
		case status == MountOK && c.Pod != nil && path != "" && !c.podMounts(path):
			status = MountPending
		}
		taken[path] = true
		out = append(out, Mount{Path: path, Object: ref.String(), Origin: origin, Status: status})
	}
	const field = "spec.podTemplate.volumes"
	if volumes.Home != "" {
		add(c.homePath(), facts.Ref{Kind: "PersistentVolumeClaim", Name: volumes.Home}, field+".home", c.claimStatus(volumes.Home))
	}
	for i, d := range volumes.Data {
		add(d.MountPath, facts.Ref{Kind: "PersistentVolumeClaim", Name: d.PVCName}, fmt.Sprintf("%s.data[%d]", field, i), c.claimStatus(d.PVCName))
	}
	for i, s := range volumes.Secrets {
		add(s.MountPath, facts.Ref{Kind: "Secret", Name: s.SecretName}, fmt.Sprintf("%s.secrets[%d]", field, i), existence(c.Secrets[s.SecretName]))
	}
	return out
}

// homePath is set by the WorkspaceKind. A person who may not read that finds it in
// the Pod; it is empty if neither tells.
func (c *Case) homePath() string {
	if c.Kind.IsFound() {
		return c.Kind.Value.Spec.PodTemplate.VolumeMounts.Home
	}
	if spec := c.PodSpec(); spec != nil {
		for _, m := range mainMounts(spec) {
			if m.Name == homeVolume {
				return m.MountPath
			}
		}
	}
	return ""
}

func (c *Case) podMounts(path string) bool {
	for _, m := range mainMounts(&c.Pod.Spec) {
		if m.MountPath == path {
			return true
		}
	}
	return false
}

func mainMounts(spec *corev1.PodSpec) []corev1.VolumeMount {
	for i := range spec.Containers {
		if spec.Containers[i].Name == MainContainer {
			return spec.Containers[i].VolumeMounts
		}
	}
	return nil
}

func (c *Case) claimStatus(name string) MountStatus {
	claim := c.Claims[name]
	if claim.IsFound() && claim.Value.Status.Phase != corev1.ClaimBound {
		return MountNotReady
	}
	return existence(claim)
}

func existence[T any](a facts.Answer[T]) MountStatus {
	switch a.Status {
	case facts.Found:
		return MountOK
	case facts.Absent:
		return MountMissing
	}
	return MountUnknown
}
