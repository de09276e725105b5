package controller

import (
	"fmt"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/api/v1beta1"
)

// MainContainer is the name of the container that runs the notebook server.
const MainContainer = "main"

// buildStatefulSet returns the StatefulSet of a Workspace. The text of an error ends up in the
// status of the Workspace.
func buildStatefulSet(w *v1beta1.Workspace, kind *v1beta1.WorkspaceKind, image *v1beta1.ImageConfigValue,
	pod *v1beta1.PodConfigValue, serviceAccount string,
) (*appsv1.StatefulSet, error) {
	spec := &kind.Spec.PodTemplate
	ports, err := containerPorts(image.Spec.Ports)
	if err != nil {
		return nil, err
	}
	env, err := renderEnv(spec.ExtraEnv, newTemplates(w, image.Spec.Ports))
	if err != nil {
		return nil, err
	}
	volumes, mounts := buildVolumes(w, spec)

	main := corev1.Container{
		Name: MainContainer, Image: image.Spec.Image, ImagePullPolicy: image.Spec.ImagePullPolicy,
		Ports: ports, Env: env, VolumeMounts: mounts, SecurityContext: spec.ContainerSecurityContext.DeepCopy(),
	}
	if main.ImagePullPolicy == "" {
		main.ImagePullPolicy = corev1.PullIfNotPresent // the CRD's default, absent in files
	}
	if r := pod.Spec.Resources; r != nil {
		main.Resources = *r.DeepCopy()
	}
	if p := spec.Probes; p != nil {
		main.StartupProbe, main.LivenessProbe, main.ReadinessProbe =
			p.StartupProbe.DeepCopy(), p.LivenessProbe.DeepCopy(), p.ReadinessProbe.DeepCopy()
	}

	set := &appsv1.StatefulSet{
		ObjectMeta: ownedMeta(w),
		Spec: appsv1.StatefulSetSpec{
			Replicas: ptr.To(int32(1)),
			Selector: &metav1.LabelSelector{MatchLabels: podSelector(w)},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: podMetadata(w, spec),
				Spec: corev1.PodSpec{
					Volumes:            volumes,
					Containers:         []corev1.Container{main},
					NodeSelector:       maps.Clone(pod.Spec.NodeSelector),
					ServiceAccountName: serviceAccount,
					SecurityContext:    spec.SecurityContext.DeepCopy(),
					Affinity:           pod.Spec.Affinity.DeepCopy(),
					Tolerations:        slices.Clone(pod.Spec.Tolerations),
				},
			},
		},
	}
	set.GenerateName = generateName(w.Name, maxStatefulSetName)
	if w.Spec.Paused {
		set.Spec.Replicas = ptr.To(int32(0))
	}
	// With the defaults the template can be compared with a stored one.
	DefaultTemplate(&set.Spec.Template)
	return set, nil
}

func containerPorts(ports []v1beta1.ImagePort) ([]corev1.ContainerPort, error) {
	var out []corev1.ContainerPort
	seen := map[int32]bool{}
	for _, p := range ports {
		if seen[p.Port] {
			return nil, fmt.Errorf("duplicate port number %d in imageConfig", p.Port)
		}
		seen[p.Port] = true
		out = append(out, corev1.ContainerPort{Name: portName(p.Port), ContainerPort: p.Port, Protocol: corev1.ProtocolTCP})
	}
	return out, nil
}

func portName(port int32) string { return fmt.Sprintf("http-%d", port) }

// renderEnv renders the values of environment variables; what comes from elsewhere (valueFrom)
// is left alone.
func renderEnv(env []corev1.EnvVar, t templates) ([]corev1.EnvVar, error) {
	var out []corev1.EnvVar
	for i := range env {
		v := *env[i].DeepCopy()
		if v.Value != "" {
			rendered, err := t.render(v.Value)
			if err != nil {
				return nil, fmt.Errorf("failed to render extraEnv %q: %w", v.Name, err)
			}
			v.Value = rendered
		}
		out = append(out, v)
	}
	return out, nil
}

// podMetadata merges, from weak to strong: the WorkspaceKind's, the Workspace's, the two labels
// by which the Pod is found.
func podMetadata(w *v1beta1.Workspace, kind *v1beta1.WorkspaceKindPodTemplate) metav1.ObjectMeta {
	meta := metav1.ObjectMeta{Labels: map[string]string{}, Annotations: map[string]string{}}
	for _, m := range []*v1beta1.PodMetadata{kind.PodMetadata, w.Spec.PodTemplate.PodMetadata} {
		if m != nil {
			maps.Copy(meta.Labels, m.Labels)
			maps.Copy(meta.Annotations, m.Annotations)
		}
	}
	maps.Copy(meta.Labels, podSelector(w))
	if len(meta.Annotations) == 0 {
		meta.Annotations = nil
	}
	return meta
}
