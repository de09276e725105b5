package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupName is the API group of Workspace and WorkspaceKind.
const GroupName = "kubeflow.org"

var (
	// GroupVersion is the API group and version of the types in this package.
	GroupVersion = schema.GroupVersion{Group: GroupName, Version: "v1beta1"}

	// WorkspaceGVR is the resource of Workspaces, as it appears in URLs. It is fixed by the
	// CustomResourceDefinition, so a client needs no discovery to find it.
	WorkspaceGVR = GroupVersion.WithResource("workspaces")

	// WorkspaceKindGVR is the resource of WorkspaceKinds.
	WorkspaceKindGVR = GroupVersion.WithResource("workspacekinds")

	// WorkspaceGVK is the kind of Workspaces, as it appears in manifests.
	WorkspaceGVK = GroupVersion.WithKind("Workspace")

	// WorkspaceKindGVK is the kind of WorkspaceKinds.
	WorkspaceKindGVK = GroupVersion.WithKind("WorkspaceKind")

	// SchemeBuilder collects the functions that register this package's types.
	SchemeBuilder = runtime.NewSchemeBuilder(addKnownTypes)

	// AddToScheme registers this package's types with a scheme.
	AddToScheme = SchemeBuilder.AddToScheme
)

func addKnownTypes(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion,
		&Workspace{}, &WorkspaceList{},
		&WorkspaceKind{}, &WorkspaceKindList{},
	)
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}
