package secretmount

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// InPod says whether the Pod that runs now has a mount.
type InPod string

// The values of InPod.
const (
	// InPodApplied: the Pod has it.
	InPodApplied InPod = "applied"
	// InPodPending: the Pod was made before the mount was added or changed.
	InPodPending InPod = "pending"
	// InPodDropped: the controller leaves it out, because something else is mounted at
	// exactly that path.
	InPodDropped InPod = "dropped"
	// InPodNone: there is no Pod.
	InPodNone InPod = "none"
	// InPodUnknown: nobody could look.
	InPodUnknown InPod = "unknown"
)

// mainContainer is the name of the container into which everything is mounted, and
// homeVolume that of the volume of the home directory, which comes first.
const (
	mainContainer = "main"
	homeVolume    = "home-volume"
)

// LookInPod compares a mount of a Workspace with its Pod; pod is nil if there is none.
// The second result names what holds the path of a dropped mount.
//
// The controller mounts home, data volumes and Secrets in this order and skips one
// whose path, compared as text, is taken. The home path is in the WorkspaceKind, but
// the Pod tells it as well, to users who may not read WorkspaceKinds.
func LookInPod(workspace map[string]any, pod *corev1.Pod, m Mount) (state InPod, holder string) {
	// Only data volumes can be among these: without a kind nothing else is known.
	others, _ := otherHolders(workspace, nil)
	for _, h := range others {
		if h.path == m.MountPath {
			return InPodDropped, h.what
		}
	}
	if pod == nil {
		return InPodNone, ""
	}
	volume := volumeAt(pod, m.MountPath)
	switch {
	case volume == nil:
		return InPodPending, ""
	case volume.Name == homeVolume:
		if home, _ := valueAt(workspace, homeField); home != nil && home != "" {
			return InPodDropped, fmt.Sprintf("the home volume %q", home)
		}
	case volume.Secret != nil && volume.Secret.SecretName == m.SecretName && modeOf(volume.Secret) == m.Mode():
		return InPodApplied, ""
	}
	return InPodPending, ""
}

func modeOf(s *corev1.SecretVolumeSource) int32 { return Mount{DefaultMode: s.DefaultMode}.Mode() }

// volumeAt returns the volume at a path of the main container.
func volumeAt(pod *corev1.Pod, mountPath string) *corev1.Volume {
	for _, c := range pod.Spec.Containers {
		if c.Name != mainContainer {
			continue
		}
		for _, m := range c.VolumeMounts {
			if m.MountPath != mountPath {
				continue
			}
			for i, v := range pod.Spec.Volumes {
				if v.Name == m.Name {
					return &pod.Spec.Volumes[i]
				}
			}
		}
	}
	return nil
}

// PodOf picks the Pod of a Workspace's StatefulSet among those with the Workspace's
// label; nil if there is none. A Pod that is going counts only if no other is there.
func PodOf(pods []corev1.Pod) *corev1.Pod {
	var chosen *corev1.Pod
	for i := range pods {
		p := &pods[i]
		if !strings.HasSuffix(p.Name, "-0") || len(p.OwnerReferences) == 0 || p.OwnerReferences[0].Kind != "StatefulSet" {
			continue
		}
		if chosen == nil || chosen.DeletionTimestamp != nil && p.DeletionTimestamp == nil {
			chosen = p
		}
	}
	return chosen
}
