package secretmount

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/api/v1beta1"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/facts"
)

// Status is one mount with what is known around it. Its JSON form is part of the
// output of secrets list.
type Status struct {
	Namespace  string `json:"namespace"`
	Workspace  string `json:"workspace"`
	SecretName string `json:"secretName"`
	MountPath  string `json:"mountPath"`
	// DefaultMode is decimal, as in the API.
	DefaultMode int32 `json:"defaultMode"`
	// SecretExists is null where nobody could look.
	SecretExists *bool `json:"secretExists" jsonschema:"nullable"`
	// UIMountable tells whether the Secret has the label without which the web UI
	// refuses to edit the Workspace; null where the Secret is absent or nobody could look.
	UIMountable *bool `json:"uiMountable" jsonschema:"nullable"`
	InPod       InPod `json:"inPod"`
	// HeldBy names what is mounted at the path instead, if InPod is "dropped".
	HeldBy string `json:"heldBy,omitempty"`
	// Keys are the names of the Secret's keys, sorted; absent unless asked for and found.
	Keys []string `json:"keys,omitempty"`
	// Pod is the name of the Pod that was looked into.
	Pod string `json:"pod,omitempty"`
}

// StatusList is the JSON form of the mounts of several Workspaces.
type StatusList struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Items      []Status `json:"items"`
	// Unchecked is what could not be read.
	Unchecked []facts.Unchecked `json:"unchecked"`
}

// NewStatusList wraps mounts and what could not be checked about them. Its lists are
// never nil: scripts expect [], not null.
func NewStatusList(items []Status, unchecked []facts.Unchecked) StatusList {
	list := StatusList{APIVersion: facts.APIVersion, Kind: "SecretMountList", Items: items, Unchecked: unchecked}
	if list.Items == nil {
		list.Items = []Status{}
	}
	if list.Unchecked == nil {
		list.Unchecked = []facts.Unchecked{}
	}
	return list
}

// SecretAnswer is the metadata of a Secret, if it could be read.
type SecretAnswer = facts.Answer[*unstructured.Unstructured]

// StatusOf describes the mounts of one Workspace. secret answers for a Secret in its
// namespace; pods are those with the Workspace's label.
func StatusOf(workspace *unstructured.Unstructured, secret func(name string) SecretAnswer, pods facts.Answer[[]corev1.Pod]) ([]Status, error) {
	mounts, err := List(workspace.Object)
	if err != nil {
		return nil, err
	}
	pod := PodOf(pods.Value)
	statuses := make([]Status, len(mounts))
	for i, m := range mounts {
		s := Status{
			Namespace: workspace.GetNamespace(), Workspace: workspace.GetName(),
			SecretName: m.SecretName, MountPath: m.MountPath, DefaultMode: m.Mode(),
		}
		s.InPod, s.HeldBy = LookInPod(workspace.Object, pod, m)
		if pod != nil {
			s.Pod = pod.Name
		} else if s.InPod == InPodNone && !pods.IsComplete() {
			s.InPod = InPodUnknown
		}
		switch a := secret(m.SecretName); a.Status {
		case facts.Found:
			s.SecretExists, s.UIMountable = new(true), new(CanMount(a.Value))
		case facts.Absent:
			s.SecretExists = new(false)
		}
		statuses[i] = s
	}
	return statuses, nil
}

// CanMount reports whether the web UI accepts a Secret.
func CanMount(secret *unstructured.Unstructured) bool {
	return secret.GetLabels()[v1beta1.LabelCanMount] == v1beta1.LabelValueTrue
}
