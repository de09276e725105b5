package v1beta1

// Labels and finalizers that the controller and the web UI's backend agree on. They are part of the
// API as much as the fields are: Pods are found by them, and the backend refuses Secrets by them.
const (
	// LabelWorkspaceName is on every object that the controller makes for a Workspace, and on its Pod.
	// Its value is the name of the Workspace. Label values end at 63 characters, which is therefore
	// also the practical limit of a Workspace's name.
	LabelWorkspaceName = "notebooks.kubeflow.org/workspace-name"

	// LabelStatefulSet is the second label of a Workspace's Pod and of the selectors of its
	// StatefulSet and Service. Its value is the name of the Workspace, not of the StatefulSet.
	LabelStatefulSet = "statefulset"

	// LabelCanMount marks a Secret that the web UI may offer and accept for mounting. Without the value
	// [LabelValueTrue] on every Secret of a Workspace its backend refuses each edit of that Workspace.
	// The API server and the controller do not look at it.
	LabelCanMount = "notebooks.kubeflow.org/can-mount"

	// LabelValueTrue is the one value that switches a yes-or-no label on.
	LabelValueTrue = "true"

	// FinalizerWorkspaceKind keeps a WorkspaceKind from disappearing while a Workspace uses it.
	FinalizerWorkspaceKind = "notebooks.kubeflow.org/workspacekind-protection"
)
