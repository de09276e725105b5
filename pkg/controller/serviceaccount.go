package controller

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/api/v1beta1"
)

// buildServiceAccount returns the ServiceAccount that the Pod of a Workspace runs as.
func buildServiceAccount(w *v1beta1.Workspace) *corev1.ServiceAccount {
	sa := &corev1.ServiceAccount{ObjectMeta: ownedMeta(w)}
	sa.Name = serviceAccountName(w.Name)
	return sa
}

// mergeServiceAccount puts the labels and annotations of the desired ServiceAccount into an
// existing one and tells whether that changed anything. What others have put there stays:
// cloud identities are bound to ServiceAccounts by annotation.
func mergeServiceAccount(existing, desired *corev1.ServiceAccount) bool {
	labels := mergeInto(&existing.Labels, desired.Labels)
	annotations := mergeInto(&existing.Annotations, desired.Annotations)
	return labels || annotations
}

func mergeInto(existing *map[string]string, desired map[string]string) bool {
	changed := false
	for k, v := range desired {
		if old, ok := (*existing)[k]; ok && old == v {
			continue
		}
		if *existing == nil {
			*existing = map[string]string{}
		}
		(*existing)[k], changed = v, true
	}
	return changed
}
