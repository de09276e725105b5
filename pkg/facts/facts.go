package facts

import (
	"sort"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/api/v1beta1"
)

// APIVersion is that of every document of this program: what it prints as JSON or YAML,
// and the snapshots that it reads.
const APIVersion = "kubectl-workspace/v1"

// Ref names an object next to the Workspace: in its namespace, or cluster-scoped.
type Ref struct {
	Kind string
	Name string
}

// String returns "Kind/name", the form used throughout the output.
func (r Ref) String() string { return r.Kind + "/" + r.Name }

// Facts is everything that was read about one Workspace.
type Facts struct {
	// Now is the moment of reading: the clock for a live cluster, the time of
	// capture for a snapshot. Every age is relative to it.
	Now time.Time

	// Workspace is never nil: without it there is nothing to explain.
	Workspace *v1beta1.Workspace

	// Kind is the WorkspaceKind that the Workspace names.
	Kind Answer[*v1beta1.WorkspaceKind]

	// StatefulSets and Pods are those with the Workspace's label.
	StatefulSets Answer[[]appsv1.StatefulSet]
	Pods         Answer[[]corev1.Pod]

	// Events holds, for each object that was asked about, the Events that name it.
	// Events of an earlier object of the same name are among them.
	Events map[Ref]Answer[[]corev1.Event]

	// Secrets, ConfigMaps and ServiceAccounts are those that the Workspace or its
	// Pod refers to, by name. Only their metadata is ever read.
	Secrets         map[string]Answer[*metav1.PartialObjectMetadata]
	ConfigMaps      map[string]Answer[*metav1.PartialObjectMetadata]
	ServiceAccounts map[string]Answer[*metav1.PartialObjectMetadata]

	// Claims are the PersistentVolumeClaims that the Workspace or its Pod names.
	Claims map[string]Answer[*corev1.PersistentVolumeClaim]

	// Node is the node that the Pod is bound to. Asked only while the Pod is not Ready.
	Node Answer[*corev1.Node]
	// Nodes are all nodes. Asked only while the Pod has none.
	Nodes Answer[[]corev1.Node]
	// Volumes are the PersistentVolumes of bound claims, by name. Asked only while the
	// Pod has no node, since they may tie it to some.
	Volumes map[string]Answer[*corev1.PersistentVolume]
	// Classes are the StorageClasses that claims which are not bound name.
	Classes map[string]Answer[*storagev1.StorageClass]
	// StorageClasses are all of them. Asked only while a claim that is not bound names
	// none, since one may be the default.
	StorageClasses Answer[[]storagev1.StorageClass]
}

// EventsOf returns the Events that name an object of this kind and name; none if
// they could not be read.
func (f *Facts) EventsOf(kind, name string) []corev1.Event {
	return f.Events[Ref{kind, name}].Value
}

// HeardAll reports whether every Event that names an object was read. Only then does
// silence mean something.
func (f *Facts) HeardAll(kind, name string) bool { return f.Events[Ref{kind, name}].IsComplete() }

// OwnStatefulSets returns the StatefulSets that the Workspace controls. It goes by the
// owner's kind and name, as the in-cluster controller does, and not by its uid.
func (f *Facts) OwnStatefulSets() []*appsv1.StatefulSet {
	var out []*appsv1.StatefulSet
	for i := range f.StatefulSets.Value {
		s := &f.StatefulSets.Value[i]
		if owner := metav1.GetControllerOf(s); owner != nil && owner.Kind == "Workspace" && owner.Name == f.Workspace.Name {
			out = append(out, s)
		}
	}
	return out
}

// OwnPod returns the Pod that runs the Workspace, nil if there is none. Other Pods can
// carry the label: a leftover of an earlier StatefulSet, or one that somebody made.
func (f *Facts) OwnPod() *corev1.Pod {
	pods := f.Pods.Value
	if sets := f.OwnStatefulSets(); len(sets) > 0 {
		for i := range pods {
			if pods[i].Name == sets[0].Name+"-0" {
				return &pods[i]
			}
		}
		return nil
	}
	if f.StatefulSets.IsComplete() {
		return nil
	}
	// The StatefulSet is not known. Its Pod is the one that some StatefulSet controls.
	for i := range pods {
		if owner := metav1.GetControllerOf(&pods[i]); owner != nil && owner.Kind == "StatefulSet" {
			return &pods[i]
		}
	}
	return nil
}

// HasNoPod reports whether it is known that no Pod runs the Workspace.
func (f *Facts) HasNoPod() bool { return f.OwnPod() == nil && f.Pods.IsComplete() }

// NodeName is the node that Node is about; empty if the Pod has none.
func (f *Facts) NodeName() string {
	if pod := f.OwnPod(); pod != nil {
		return pod.Spec.NodeName
	}
	return ""
}

// Unchecked lists every question that got no answer, sorted by object.
func (f *Facts) Unchecked() []Unchecked {
	var out []Unchecked
	add := func(object, reason, detail string, s Status) {
		if s == Unknown {
			out = append(out, Unchecked{Object: object, Reason: reason, Detail: detail})
		}
	}
	add(Ref{"WorkspaceKind", f.Workspace.Spec.Kind}.String(), f.Kind.Reason, f.Kind.Detail, f.Kind.Status)
	add("StatefulSet", f.StatefulSets.Reason, f.StatefulSets.Detail, f.StatefulSets.Status)
	add("Pod", f.Pods.Reason, f.Pods.Detail, f.Pods.Status)
	for ref, a := range f.Events {
		add("Event/"+ref.String(), a.Reason, a.Detail, a.Status)
	}
	addNamed(add, "Secret", f.Secrets)
	addNamed(add, "ConfigMap", f.ConfigMaps)
	addNamed(add, "ServiceAccount", f.ServiceAccounts)
	addNamed(add, "PersistentVolumeClaim", f.Claims)
	addNamed(add, "PersistentVolume", f.Volumes)
	add("Node", f.Nodes.Reason, f.Nodes.Detail, f.Nodes.Status)
	add(Ref{"Node", f.NodeName()}.String(), f.Node.Reason, f.Node.Detail, f.Node.Status)
	addNamed(add, "StorageClass", f.Classes)
	add("StorageClass", f.StorageClasses.Reason, f.StorageClasses.Detail, f.StorageClasses.Status)
	if f.StorageClasses.Partial {
		// The default one, which is asked for, may be among those that are not known.
		add("StorageClass", ReasonNotInSnapshot, "the snapshot may not hold all of them", Unknown)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Object < out[j].Object })
	return out
}

func addNamed[T any](add func(object, reason, detail string, s Status), kind string, answers map[string]Answer[T]) {
	for name, a := range answers {
		add(Ref{kind, name}.String(), a.Reason, a.Detail, a.Status)
	}
}
