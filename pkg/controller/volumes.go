package controller

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/api/v1beta1"
)

// buildVolumes returns the volumes of a Workspace's Pod and their mounts, in the order home,
// data, secrets, WorkspaceKind.
//
// Whatever comes first keeps a mount path or a volume's name; what comes later with the same
// is left out without a word. Paths are compared as text: /a and /a/ are two. Names count an
// entry's place in its own list, also past entries that were left out, so that dropping or
// reordering entries renames volumes, and with that replaces the Pod.
func buildVolumes(w *v1beta1.Workspace, kind *v1beta1.WorkspaceKindPodTemplate) ([]corev1.Volume, []corev1.VolumeMount) {
	var b volumeBuilder
	v := &w.Spec.PodTemplate.Volumes
	if v.Home != "" {
		b.add("home-volume", claim(v.Home, false), kind.VolumeMounts.Home, false)
	}
	for i, d := range v.Data {
		b.add(fmt.Sprintf("data-volume-%d", i), claim(d.PVCName, d.ReadOnly), d.MountPath, d.ReadOnly)
	}
	for i := range v.Secrets {
		s := &v.Secrets[i]
		b.add(fmt.Sprintf("secret-volume-%d", i), corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{
			SecretName: s.SecretName, DefaultMode: ptr.To(s.Mode()),
		}}, s.MountPath, false)
	}
	for i := range kind.ExtraVolumes {
		if e := &kind.ExtraVolumes[i]; !b.hasVolume(e.Name) {
			b.volumes = append(b.volumes, *e.DeepCopy())
		}
	}
	for i := range kind.ExtraVolumeMounts {
		if m := &kind.ExtraVolumeMounts[i]; b.hasVolume(m.Name) && !b.hasMount(m.MountPath) {
			b.mounts = append(b.mounts, *m.DeepCopy())
		}
	}
	return b.volumes, b.mounts
}

type volumeBuilder struct {
	volumes []corev1.Volume
	mounts  []corev1.VolumeMount
}

func (b *volumeBuilder) add(name string, source corev1.VolumeSource, path string, readOnly bool) {
	if b.hasMount(path) {
		return
	}
	b.volumes = append(b.volumes, corev1.Volume{Name: name, VolumeSource: source})
	b.mounts = append(b.mounts, corev1.VolumeMount{Name: name, MountPath: path, ReadOnly: readOnly})
}

func (b *volumeBuilder) hasVolume(name string) bool {
	for i := range b.volumes {
		if b.volumes[i].Name == name {
			return true
		}
	}
	return false
}

func (b *volumeBuilder) hasMount(path string) bool {
	for i := range b.mounts {
		if b.mounts[i].MountPath == path {
			return true
		}
	}
	return false
}

func claim(name string, readOnly bool) corev1.VolumeSource {
	return corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name, ReadOnly: readOnly}}
}
