package cluster

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/api/v1beta1"
)

// Resource describes one resource that this program reads: the static
// replacement for discovery and a REST mapper.
type Resource struct {
	schema.GroupVersionResource
	Kind string
	// Namespaced is false for cluster-scoped resources.
	Namespaced bool
	// MetadataOnly marks resources whose content is none of our business.
	MetadataOnly bool
}

// GVK returns the group, version and kind of the resource's objects.
func (r Resource) GVK() schema.GroupVersionKind { return r.GroupVersion().WithKind(r.Kind) }

// The resources that this program reads.
var (
	Workspaces      = Resource{v1beta1.GroupVersion.WithResource("workspaces"), "Workspace", true, false}
	WorkspaceKinds  = Resource{v1beta1.GroupVersion.WithResource("workspacekinds"), "WorkspaceKind", false, false}
	StatefulSets    = Resource{schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "statefulsets"}, "StatefulSet", true, false}
	Pods            = core("pods", "Pod", true, false)
	Events          = core("events", "Event", true, false)
	Claims          = core("persistentvolumeclaims", "PersistentVolumeClaim", true, false)
	Secrets         = core("secrets", "Secret", true, true)
	ConfigMaps      = core("configmaps", "ConfigMap", true, true)
	ServiceAccounts = core("serviceaccounts", "ServiceAccount", true, true)
	Nodes           = core("nodes", "Node", false, false)
	Volumes         = core("persistentvolumes", "PersistentVolume", false, false)
	StorageClasses  = Resource{schema.GroupVersionResource{Group: "storage.k8s.io", Version: "v1", Resource: "storageclasses"}, "StorageClass", false, false}
	Namespaces      = core("namespaces", "Namespace", false, true)
)

func core(resource, kind string, namespaced, metadataOnly bool) Resource {
	return Resource{schema.GroupVersionResource{Version: "v1", Resource: resource}, kind, namespaced, metadataOnly}
}
