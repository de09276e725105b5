package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Workspace is one notebook server.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=ws
// +kubebuilder:printcolumn:name="State",type="string",JSONPath=".status.state",description="What the Workspace is doing"
type Workspace struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +optional
	Spec WorkspaceSpec `json:"spec,omitzero"`

	// Status is absent until the controller has handled the Workspace for the first time.
	// +optional
	Status WorkspaceStatus `json:"status,omitzero"`
}

// WorkspaceList is a list of Workspaces.
//
// +kubebuilder:object:root=true
type WorkspaceList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Workspace `json:"items"`
}

// WorkspaceSpec is what the owner of a Workspace asks for.
type WorkspaceSpec struct {
	// Paused asks for no Pod: the StatefulSet is scaled to 0, volumes stay. Default: false.
	// +optional
	// +kubebuilder:default=false
	Paused bool `json:"paused"`

	// Kind is the name of the WorkspaceKind. It cannot be changed later.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="Workspace 'kind' is immutable"
	Kind string `json:"kind"`

	// DisplayName is the name that the web UI shows instead of metadata.name. Nothing is derived from
	// it.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	DisplayName string `json:"displayName,omitempty"`

	// PodTemplate is what goes into the Pod. (It is the only kind of WorkspaceKind so far.)
	PodTemplate WorkspacePodTemplate `json:"podTemplate"`
}

// WorkspacePodTemplate is a Workspace's part of its Pod; the rest comes from the WorkspaceKind.
type WorkspacePodTemplate struct {
	// PodMetadata is put on the Pod, over that of the WorkspaceKind.
	// +optional
	PodMetadata *PodMetadata `json:"podMetadata,omitempty"`

	// Volumes are the PersistentVolumeClaims and Secrets to mount.
	Volumes WorkspaceVolumes `json:"volumes"`

	// Options are the choices among what the WorkspaceKind offers.
	Options WorkspaceOptions `json:"options"`
}

// PodMetadata is a set of labels and annotations for a Pod. A Workspace and its WorkspaceKind can
// both have one; the Workspace's wins, key by key. The two labels by which the controller finds the
// Pod ([LabelWorkspaceName], [LabelStatefulSet]) win over both.
type PodMetadata struct {
	// +optional
	Labels map[string]string `json:"labels,omitzero"`

	// +optional
	Annotations map[string]string `json:"annotations,omitzero"`
}

// WorkspaceVolumes are the volumes that a Workspace mounts. The controller compares mount paths as
// text and silently leaves out a volume whose exact path is already taken by one before it, in the
// order home, data, secrets, and then those of the WorkspaceKind.
type WorkspaceVolumes struct {
	// Home is the name of the PersistentVolumeClaim for the home directory. It is mounted at the path
	// that the WorkspaceKind sets. Without it the home directory lives as long as the Pod.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	Home string `json:"home,omitempty"`

	// Data are further PersistentVolumeClaims. One claim may be mounted at several paths.
	// +optional
	// +listType=map
	// +listMapKey=mountPath
	Data []DataMount `json:"data,omitzero"`

	// Secrets are mounted as directories with one file per key. One Secret may be mounted at several
	// paths.
	// +optional
	// +listType=map
	// +listMapKey=mountPath
	Secrets []SecretMount `json:"secrets,omitzero"`
}

// DataMount mounts a PersistentVolumeClaim of the Workspace's namespace. Its identity within the list
// is the mount path.
type DataMount struct {
	// PVCName is the name of the claim.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	PVCName string `json:"pvcName"`

	// MountPath is the absolute path in the container.
	// +kubebuilder:validation:MinLength=2
	// +kubebuilder:validation:MaxLength=4096
	// +kubebuilder:validation:Pattern=`^/[^/].*$`
	MountPath string `json:"mountPath"`

	// ReadOnly is set on both the claim's volume and its mount. Default: false.
	// +optional
	// +kubebuilder:default=false
	ReadOnly bool `json:"readOnly"`
}

// DefaultSecretMode is the mode of the files of a mounted Secret where none is given. It is 420 in the
// decimal notation of JSON.
const DefaultSecretMode int32 = 0o644

// SecretMount mounts a Secret of the Workspace's namespace. Its identity within the list is the mount
// path.
type SecretMount struct {
	// SecretName is the name of the Secret. The API does not require it to exist.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	SecretName string `json:"secretName"`

	// MountPath is the absolute path of the directory in the container.
	// +kubebuilder:validation:MinLength=2
	// +kubebuilder:validation:MaxLength=4096
	// +kubebuilder:validation:Pattern=`^/[^/].*$`
	MountPath string `json:"mountPath"`

	// DefaultMode is the mode of the files, as chmod means it: 0 to 511 (octal 0777), default
	// [DefaultSecretMode]. JSON has no octal numbers, so 0644 is written as 420.
	//
	// A pointer, because 0 is a valid mode that must not be taken for an absent one. See [SecretMount.Mode].
	// +optional
	// +kubebuilder:default=420
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=511
	DefaultMode *int32 `json:"defaultMode,omitempty"`
}

// Mode returns the mode that the files will have: DefaultMode, or [DefaultSecretMode] where none is set.
func (s *SecretMount) Mode() int32 {
	if s.DefaultMode == nil {
		return DefaultSecretMode
	}
	return *s.DefaultMode
}

// WorkspaceOptions are ids of options that the WorkspaceKind defines.
type WorkspaceOptions struct {
	// ImageConfig is an id in the WorkspaceKind's spec.podTemplate.options.imageConfig.values.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	ImageConfig string `json:"imageConfig"`

	// PodConfig is an id in the WorkspaceKind's spec.podTemplate.options.podConfig.values.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	PodConfig string `json:"podConfig"`
}

// WorkspaceStatus is what the controller last found. All times in it are UNIX epoch in milliseconds,
// 0 for "never" or "not now".
type WorkspaceStatus struct {
	// Activity is about when the Workspace was last used. It stays all zero without an activity probe.
	Activity WorkspaceActivity `json:"activity"`

	// LastRunningTime is when the Workspace last became Running.
	// +kubebuilder:default=0
	LastRunningTime int64 `json:"lastRunningTime"`

	// PauseTime is when the Workspace was paused, 0 when it is not.
	// +kubebuilder:default=0
	PauseTime int64 `json:"pauseTime"`

	// PendingRestart is true while one of the chosen options is redirected. It promises more than a
	// restart does: the controller goes on building the Pod from the option that was chosen.
	// +kubebuilder:default=false
	PendingRestart bool `json:"pendingRestart"`

	// PodTemplateOptions tells where the redirects of the chosen options lead.
	PodTemplateOptions OptionsStatus `json:"podTemplateOptions"`

	// PodTemplatePod describes the Pod.
	PodTemplatePod PodStatus `json:"podTemplatePod"`

	// State sums the Workspace up. Default: Unknown.
	// +kubebuilder:default="Unknown"
	State WorkspaceState `json:"state"`

	// StateMessage explains State to a person. Programs should not parse it.
	// +kubebuilder:default=""
	StateMessage string `json:"stateMessage"`
}

// WorkspaceState sums up what a Workspace is doing.
//
// +kubebuilder:validation:Enum={"Running","Terminating","Paused","Pending","Error","Unknown"}
type WorkspaceState string

// The states of a Workspace.
const (
	// WorkspaceStateRunning: the Pod is ready.
	WorkspaceStateRunning WorkspaceState = "Running"
	// WorkspaceStateTerminating: the Pod is being deleted.
	WorkspaceStateTerminating WorkspaceState = "Terminating"
	// WorkspaceStatePaused: there is no Pod, on request.
	WorkspaceStatePaused WorkspaceState = "Paused"
	// WorkspaceStatePending: the Pod has not started, and nothing was found wrong.
	WorkspaceStatePending WorkspaceState = "Pending"
	// WorkspaceStateError: something keeps the Pod from being created or from running.
	WorkspaceStateError WorkspaceState = "Error"
	// WorkspaceStateUnknown: none of the others applies.
	WorkspaceStateUnknown WorkspaceState = "Unknown"
)

// WorkspaceActivity is what the activity probe has found. Times are UNIX epoch in milliseconds.
type WorkspaceActivity struct {
	// LastActivity is when the Workspace was last used, according to the last successful probe, which
	// may also set it back. 0: unknown.
	// +kubebuilder:default=0
	LastActivity int64 `json:"lastActivity"`

	// LastUpdate is when the last successful probe ended. The next probe is due an interval later.
	// +kubebuilder:default=0
	LastUpdate int64 `json:"lastUpdate"`

	// LastProbe is the last probe, successful or not.
	// +optional
	LastProbe *ProbeRecord `json:"lastProbe,omitempty"`

	// Rules tells how the WorkspaceKind's activity rules apply.
	// +optional
	Rules *ActivityRulesStatus `json:"rules,omitempty"`
}

// ProbeRecord is one execution of the activity probe.
type ProbeRecord struct {
	// StartTime is when it began (UNIX epoch in milliseconds).
	StartTime int64 `json:"startTime"`

	// EndTime is when it ended (UNIX epoch in milliseconds).
	EndTime int64 `json:"endTime"`

	Result ProbeResult `json:"result"`

	// Message explains Result to a person. Programs should not parse it.
	// +kubebuilder:default=""
	Message string `json:"message"`
}

// ProbeResult is how an activity probe ended.
//
// +kubebuilder:validation:Enum={"Success","Failure","Timeout"}
type ProbeResult string

// The results of an activity probe.
const (
	ProbeResultSuccess ProbeResult = "Success"
	ProbeResultFailure ProbeResult = "Failure"
	ProbeResultTimeout ProbeResult = "Timeout"
)

// ActivityRulesStatus has one entry per effect that an activity rule can have.
type ActivityRulesStatus struct {
	// +optional
	PauseWorkspace *PauseRuleStatus `json:"pauseWorkspace,omitempty"`
}

// PauseRuleStatus tells when the rule that pauses idle Workspaces applies.
type PauseRuleStatus struct {
	// EligibleAfter is the time from which on an evaluation pauses the Workspace (UNIX epoch in
	// milliseconds). 0: never, because the last activity is unknown.
	// +kubebuilder:default=0
	EligibleAfter int64 `json:"eligibleAfter"`
}

// OptionsStatus tells where the redirects of a Workspace's options lead.
type OptionsStatus struct {
	ImageConfig OptionStatus `json:"imageConfig"`
	PodConfig   OptionStatus `json:"podConfig"`
}

// OptionStatus tells where the redirects of one option lead.
type OptionStatus struct {
	// Desired is the id at the end of the redirects, and the chosen id itself if there are none. The
	// Pod keeps the chosen option: nothing follows a redirect by itself.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Desired string `json:"desired,omitempty"`

	// RedirectChain is the way from the chosen option to Desired, step by step.
	// +optional
	RedirectChain []RedirectStep `json:"redirectChain,omitempty"`
}

// RedirectStep is one redirect from an option to another.
type RedirectStep struct {
	// Source is the id of the option that is redirected.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Source string `json:"source"`

	// Target is the id of the option it is redirected to.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Target string `json:"target"`
}

// PodStatus describes a Workspace's Pod. Without a Pod all but ServiceAccountName is empty.
type PodStatus struct {
	// Name is the name of the Pod.
	Name string `json:"name"`

	// NodeName is the node that the Pod was scheduled to.
	NodeName string `json:"nodeName"`

	// Containers of the Pod. The notebook server runs in "main"; others were injected.
	// +optional
	Containers []ContainerStatus `json:"containers,omitempty"`

	// InitContainers of the Pod.
	// +optional
	InitContainers []ContainerStatus `json:"initContainers,omitempty"`

	// ServiceAccountName is the ServiceAccount that the Pod runs as. The controller makes one for each
	// Workspace; it is reported so that policies need not derive its name.
	// +optional
	ServiceAccountName string `json:"serviceAccountName,omitempty"`
}

// ContainerStatus names a container of a Workspace's Pod.
type ContainerStatus struct {
	Name string `json:"name"`
}
