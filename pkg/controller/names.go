package controller

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/api/v1beta1"
)

const (
	// namePrefix begins the name of every object that is made for a Workspace.
	namePrefix = "ws-"

	// A StatefulSet's name becomes part of its Pod's labels; 52 characters is what the
	// StatefulSet controller can take (kubernetes/kubernetes#64023).
	maxStatefulSetName = 52
	// maxServiceName is the length of a DNS label, which the name of a Service is.
	maxServiceName = 63
	// maxObjectName is the length of a DNS subdomain, which every other name is.
	maxObjectName = 253

	// generatedSuffix is what is set aside for the random end of a generated name. The API
	// server uses five characters; the in-cluster controller sets aside six.
	generatedSuffix = 6
	hashLength      = 8
)

// generateName is the prefix of a name to which the API server adds a random end, so that the
// whole fits max characters.
func generateName(workspace string, max int) string {
	prefix := namePrefix + workspace
	if limit := max - generatedSuffix - 1; len(prefix) > limit {
		prefix = prefix[:limit]
	}
	if strings.HasSuffix(prefix, "-") {
		return prefix
	}
	return prefix + "-"
}

// serviceAccountName is the name of a Workspace's ServiceAccount. It is not generated, so that
// policies can name it.
func serviceAccountName(workspace string) string {
	name := namePrefix + workspace
	if len(name) <= maxObjectName {
		return name
	}
	return name[:maxObjectName-hashLength-1] + "-" + shortHash(workspace)
}

// roleBindingName is the name of the RoleBinding of one ClusterRole.
func roleBindingName(workspace, clusterRole string) string {
	prefix := namePrefix + workspace
	if limit := maxObjectName - hashLength - 1; len(prefix) > limit {
		prefix = prefix[:limit]
	}
	return prefix + "-" + shortHash(workspace+"/"+clusterRole)
}

func shortHash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])[:hashLength]
}

// ownerLabels are on every object made for a Workspace.
func ownerLabels(w *v1beta1.Workspace) map[string]string {
	return map[string]string{v1beta1.LabelWorkspaceName: w.Name}
}

// podSelector selects the Pod of a Workspace.
func podSelector(w *v1beta1.Workspace) map[string]string {
	return map[string]string{v1beta1.LabelWorkspaceName: w.Name, v1beta1.LabelStatefulSet: w.Name}
}

func ownedMeta(w *v1beta1.Workspace) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace: w.Namespace,
		Labels:    ownerLabels(w),
		OwnerReferences: []metav1.OwnerReference{{
			APIVersion: v1beta1.GroupVersion.String(), Kind: v1beta1.WorkspaceGVK.Kind,
			Name: w.Name, UID: w.UID,
			Controller: ptr.To(true), BlockOwnerDeletion: ptr.To(true),
		}},
	}
}

// IsOwned tells whether an object is controlled by the Workspace of that name. Ownership goes
// by name, not by uid: a Workspace that was deleted and created again at once takes over the
// objects of the old one.
func IsOwned(object metav1.Object, workspace string) bool {
	ref := metav1.GetControllerOfNoCopy(object)
	return ref != nil && ref.APIVersion == v1beta1.GroupVersion.String() &&
		ref.Kind == v1beta1.WorkspaceGVK.Kind && ref.Name == workspace
}
