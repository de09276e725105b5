package cluster

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/facts"
)

// referencesOf collects the objects that a Workspace needs in its namespace: what it
// asks for, what its Pod uses, and where there is no Pod, what the StatefulSet's
// template would use.
func referencesOf(f *facts.Facts) map[facts.Ref]bool {
	refs := map[facts.Ref]bool{}
	need := func(kind, name string) {
		if name != "" {
			refs[facts.Ref{Kind: kind, Name: name}] = true
		}
	}
	volumes := f.Workspace.Spec.PodTemplate.Volumes
	need(Claims.Kind, volumes.Home)
	for _, d := range volumes.Data {
		need(Claims.Kind, d.PVCName)
	}
	for _, s := range volumes.Secrets {
		need(Secrets.Kind, s.SecretName)
	}
	addPod := func(spec *corev1.PodSpec) {
		need(ServiceAccounts.Kind, spec.ServiceAccountName)
		for _, s := range spec.ImagePullSecrets {
			need(Secrets.Kind, s.Name)
		}
		for _, r := range facts.References(spec) {
			refs[r.Object] = true
		}
	}
	for i := range f.Pods.Value {
		addPod(&f.Pods.Value[i].Spec)
	}
	if f.StatefulSets.IsComplete() && len(f.StatefulSets.Value) == 0 {
		// The first thing that the controller makes: whose it is tells how far it got.
		need(ServiceAccounts.Kind, "ws-"+f.Workspace.Name)
	}
	if len(f.Pods.Value) == 0 {
		for i := range f.StatefulSets.Value {
			addPod(&f.StatefulSets.Value[i].Spec.Template.Spec)
		}
	}
	return refs
}
