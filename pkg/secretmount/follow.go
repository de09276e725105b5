package secretmount

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Has reports whether a Pod's spec, or that of a template, is one in which an edit of
// the Workspace has taken effect: what was added is there and what was removed is not.
// A mount that the controller leaves out because its path is taken counts as there,
// since no later Pod will have it either.
func Has(spec *corev1.PodSpec, workspace map[string]any, results []Result) bool {
	pod := &corev1.Pod{Spec: *spec}
	for _, r := range results {
		if r.Outcome == Removed {
			v := volumeAt(pod, r.MountPath)
			if v != nil && v.Secret != nil && v.Secret.SecretName == r.SecretName {
				return false
			}
			continue
		}
		if state, _ := LookInPod(workspace, pod, r.Mount); state == InPodPending {
			return false
		}
	}
	return true
}

// Unready reports whether a Pod is one that its StatefulSet leaves as it is when the
// template changes. A StatefulSet replaces its Pods one after the other, each only when
// the one before is Ready; so it waits for a Pod that cannot become Ready, and that
// waits for the change which it would get by being replaced
// (https://github.com/kubernetes/kubernetes/issues/67250). A Pod that has ended or
// is going away is replaced in any case.
func Unready(pod *corev1.Pod) bool {
	if pod == nil || pod.DeletionTimestamp != nil || pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded {
		return false
	}
	return !slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// Outdated reports whether a Pod was made from another template than the one that its
// StatefulSet has now. False also while the StatefulSet's own controller has not seen
// its latest change: a Pod that is deleted then may come back as it was.
func Outdated(pod *corev1.Pod, set *appsv1.StatefulSet) bool {
	revision := pod.Labels[appsv1.ControllerRevisionHashLabelKey]
	return Settled(set) && revision != "" && revision != set.Status.UpdateRevision
}

// Settled reports whether the StatefulSet's controller has seen its latest change.
func Settled(set *appsv1.StatefulSet) bool {
	return set.Status.ObservedGeneration >= set.Generation && set.Status.UpdateRevision != ""
}

// OwnedSet returns the StatefulSet that a Workspace controls; nil if there is none.
func OwnedSet(workspace types.UID, sets []appsv1.StatefulSet) *appsv1.StatefulSet {
	for i := range sets {
		if isControlledBy(&sets[i], workspace) && sets[i].DeletionTimestamp == nil {
			return &sets[i]
		}
	}
	return nil
}

// OwnedPod returns the Pod that a StatefulSet controls; nil if there is none. A Pod that
// is going counts only if no other is there.
func OwnedPod(set *appsv1.StatefulSet, pods []corev1.Pod) *corev1.Pod {
	own := slices.Clone(pods)
	own = slices.DeleteFunc(own, func(p corev1.Pod) bool { return !isControlledBy(&p, set.UID) })
	return PodOf(own)
}

func isControlledBy(object metav1.Object, uid types.UID) bool {
	owner := metav1.GetControllerOf(object)
	return uid != "" && owner != nil && owner.UID == uid
}
