package controller

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/api/v1beta1"
)

// setOptions records where the redirects of the options lead. It touches only what is known:
// if the podConfig is wrong, that of the imageConfig is still recorded.
func setOptions(status *v1beta1.WorkspaceStatus, image, pod *v1beta1.OptionStatus) {
	if image != nil {
		status.PodTemplateOptions.ImageConfig = *image
	}
	if pod != nil {
		status.PodTemplateOptions.PodConfig = *pod
	}
	status.PendingRestart = image != nil && len(image.RedirectChain) > 0 || pod != nil && len(pod.RedirectChain) > 0
}

// setState derives the rest of the status from what the cluster shows.
func setState(status *v1beta1.WorkspaceStatus, s Situation, serviceAccount string) State {
	now := s.Now.UnixMilli()
	switch {
	case !s.Paused:
		status.PauseTime = 0
	case status.PauseTime == 0:
		status.PauseTime = now
	}
	status.PodTemplatePod = podStatus(s.Pod, serviceAccount)
	state := DeriveState(s)
	// A Workspace that an earlier release has left running has no time yet.
	if state.State == v1beta1.WorkspaceStateRunning && (status.State != v1beta1.WorkspaceStateRunning || status.LastRunningTime == 0) {
		status.LastRunningTime = now
		status.Activity = v1beta1.WorkspaceActivity{}
	}
	status.State, status.StateMessage = state.State, state.Message
	return state
}

func podStatus(pod *corev1.Pod, serviceAccount string) v1beta1.PodStatus {
	out := v1beta1.PodStatus{ServiceAccountName: serviceAccount}
	if pod == nil {
		return out
	}
	out.Name, out.NodeName = pod.Name, pod.Spec.NodeName
	out.Containers = containerNames(pod.Spec.Containers)
	out.InitContainers = containerNames(pod.Spec.InitContainers)
	return out
}

func containerNames(containers []corev1.Container) []v1beta1.ContainerStatus {
	var out []v1beta1.ContainerStatus
	for i := range containers {
		out = append(out, v1beta1.ContainerStatus{Name: containers[i].Name})
	}
	return out
}
