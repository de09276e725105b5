package v1beta1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// WorkspaceKind is a template for Workspaces: what can be chosen and what every Pod gets. Most
// changes to it reach the Workspaces that use it at their next reconcile, and restart their Pods.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName=wsk
// +kubebuilder:printcolumn:name="Workspaces",type="integer",JSONPath=".status.workspaces",description="How many Workspaces use it"
// +kubebuilder:printcolumn:name="Deprecated",type="boolean",JSONPath=".spec.spawner.deprecated",description="Whether it should no longer be chosen"
// +kubebuilder:printcolumn:name="Hidden",type="boolean",JSONPath=".spec.spawner.hidden",description="Whether the web UI leaves it out"
type WorkspaceKind struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +optional
	Spec WorkspaceKindSpec `json:"spec,omitzero"`

	// Status is absent until the controller has handled the WorkspaceKind for the first time.
	// +optional
	Status WorkspaceKindStatus `json:"status,omitzero"`
}

// WorkspaceKindList is a list of WorkspaceKinds.
//
// +kubebuilder:object:root=true
type WorkspaceKindList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []WorkspaceKind `json:"items"`
}

// WorkspaceKindSpec is what the platform team defines.
type WorkspaceKindSpec struct {
	// Spawner is how the web UI presents the kind.
	Spawner WorkspaceKindSpawner `json:"spawner"`

	// PodTemplate is how the Pods are made.
	PodTemplate WorkspaceKindPodTemplate `json:"podTemplate"`

	// ActivityRules say what happens to idle Workspaces. For each effect, the first rule that matches
	// decides. A rule without conditions matches everything, so it has to be the last of its effect.
	// +optional
	// +listType=atomic
	ActivityRules []ActivityRule `json:"activityRules,omitzero"`

	// FilterRules hide or deny kinds and options depending on where a Workspace is to be made. Only
	// the web UI's backend evaluates them: neither the API server nor the controller does.
	// +optional
	// +listType=atomic
	FilterRules []FilterRule `json:"filterRules,omitzero"`
}

// WorkspaceKindSpawner is how the web UI presents a WorkspaceKind.
type WorkspaceKindSpawner struct {
	// +kubebuilder:validation:MinLength=2
	// +kubebuilder:validation:MaxLength=128
	DisplayName string `json:"displayName"`

	// +kubebuilder:validation:MinLength=2
	// +kubebuilder:validation:MaxLength=4096
	Description string `json:"description"`

	// Hidden leaves the kind out of the choice for new Workspaces. Default: false.
	// +optional
	// +kubebuilder:default=false
	Hidden bool `json:"hidden"`

	// Deprecated marks the kind as one to move away from. Default: false.
	// +optional
	// +kubebuilder:default=false
	Deprecated bool `json:"deprecated"`

	// DeprecationMessage is shown for a deprecated kind.
	// +optional
	// +kubebuilder:validation:MinLength=2
	// +kubebuilder:validation:MaxLength=256
	DeprecationMessage string `json:"deprecationMessage,omitempty"`

	// Icon is a small picture, of the size of a favicon.
	Icon Asset `json:"icon"`

	// Logo is a square picture, of the size of a card.
	Logo Asset `json:"logo"`
}

// Asset is a picture, from exactly one of two sources.
//
// +kubebuilder:validation:XValidation:rule="!(has(self.url) && has(self.configMap)) && (has(self.url) || has(self.configMap))",message="must specify exactly one of 'url' or 'configMap'"
type Asset struct {
	// URL is where the browser finds the picture. A pointer, because even an empty one counts as set.
	// +optional
	URL *string `json:"url,omitempty"`

	// ConfigMap is where the web UI's backend finds the picture.
	// +optional
	ConfigMap *AssetConfigMap `json:"configMap,omitempty"`
}

// AssetConfigMap is a key of a ConfigMap that holds a picture.
type AssetConfigMap struct {
	// Name of the ConfigMap.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	Name string `json:"name"`

	// Namespace of the ConfigMap.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Namespace string `json:"namespace"`

	// Key of the entry with the picture.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[-._a-zA-Z0-9]+$`
	Key string `json:"key"`

	// MediaType of the picture.
	MediaType AssetMediaType `json:"mediaType"`
}

// AssetMediaType is the media type of a picture in a ConfigMap.
//
// +kubebuilder:validation:Enum={"image/svg+xml"}
type AssetMediaType string

// AssetMediaTypeSVG is the only media type so far.
const AssetMediaTypeSVG AssetMediaType = "image/svg+xml"

// WorkspaceKindPodTemplate is how the Pods of a WorkspaceKind's Workspaces are made.
type WorkspaceKindPodTemplate struct {
	// PodMetadata is put on the Pods, under that of the Workspace.
	// +optional
	PodMetadata *PodMetadata `json:"podMetadata,omitempty"`

	// ServiceAccount is about the ServiceAccount that the controller makes for each Workspace.
	// +optional
	ServiceAccount *WorkspaceKindServiceAccount `json:"serviceAccount,omitempty"`

	// ActivityProbe finds out whether a Workspace is in use. Without it no activity rule applies.
	// +optional
	ActivityProbe *ActivityProbe `json:"activityProbe,omitempty"`

	// Probes are the kubelet's probes of the container "main".
	// +optional
	Probes *WorkspaceKindProbes `json:"probes,omitempty"`

	// VolumeMounts are the paths that the kind decides on.
	VolumeMounts WorkspaceKindVolumeMounts `json:"volumeMounts"`

	// Ports are the services that an image of this kind can offer. An image says on which port number
	// it serves which of them; the id stays the same, and with it the URL.
	// +kubebuilder:validation:MinItems=1
	// +listType=map
	// +listMapKey=id
	Ports []WorkspaceKindPort `json:"ports"`

	// ExtraEnv are environment variables of the container "main". Values are Go templates with the
	// function httpPathPrefix, which takes the id of a port and returns the URL path under which it is
	// served.
	// +optional
	// +listType=map
	// +listMapKey=name
	ExtraEnv []corev1.EnvVar `json:"extraEnv,omitzero"`

	// ExtraVolumeMounts are mounts of the container "main". One is left out silently if its path is
	// taken by a volume of the Workspace or its volume does not exist.
	// +optional
	// +listType=map
	// +listMapKey=mountPath
	ExtraVolumeMounts []corev1.VolumeMount `json:"extraVolumeMounts,omitzero"`

	// ExtraVolumes are volumes of the Pod. One is left out silently if its name is that of a volume
	// which the controller makes for the Workspace.
	// +optional
	// +listType=map
	// +listMapKey=name
	ExtraVolumes []corev1.Volume `json:"extraVolumes,omitzero"`

	// SecurityContext of the Pod.
	// +optional
	SecurityContext *corev1.PodSecurityContext `json:"securityContext,omitempty"`

	// ContainerSecurityContext of the container "main".
	// +optional
	ContainerSecurityContext *corev1.SecurityContext `json:"containerSecurityContext,omitempty"`

	// Options are what a Workspace can choose from.
	Options WorkspaceKindOptions `json:"options"`
}

// WorkspaceKindServiceAccount is about the ServiceAccount of each Workspace, which the controller
// makes and names "ws-" and the name of the Workspace.
type WorkspaceKindServiceAccount struct {
	// ClusterRoles are granted to the ServiceAccount in the Workspace's own namespace only, by one
	// RoleBinding each. Changes take effect at once, without a restart.
	// +optional
	// +listType=map
	// +listMapKey=name
	ClusterRoles []ClusterRoleName `json:"clusterRoles,omitzero"`
}

// ClusterRoleName names a ClusterRole, which need not exist yet.
type ClusterRoleName struct {
	// Name may contain nearly everything, in particular ":" and capitals, but no "/" or "%", and is not
	// "." or "..": the rule of Kubernetes for names that are a segment of a URL path.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^([^./%][^/%]*|\.[^./%][^/%]*|\.[^/%][^/%]+)$`
	Name string `json:"name"`
}

// ActivityProbe finds out when a Workspace was last used, in exactly one of two ways.
//
// +kubebuilder:validation:XValidation:rule="!(has(self.podExec) && has(self.jupyter)) && (has(self.podExec) || has(self.jupyter))",message="must specify exactly one of 'podExec' or 'jupyter'"
// +kubebuilder:validation:XValidation:rule="self.minProbeIntervalSeconds <= self.probeIntervalSeconds",message="minProbeIntervalSeconds must be less than or equal to probeIntervalSeconds"
type ActivityProbe struct {
	// ProbeIntervalSeconds is the time from a successful probe to the next. Rules are evaluated only
	// right after a probe, so an idle Workspace can run on for as long as this. Default: 3600; at most a
	// year.
	// +optional
	// +kubebuilder:default=3600
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=31536000
	ProbeIntervalSeconds int32 `json:"probeIntervalSeconds,omitempty"`

	// MinProbeIntervalSeconds is the least time between any two probes, and so the wait after a failed
	// one. Default: 300; at most a year.
	// +optional
	// +kubebuilder:default=300
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=31536000
	MinProbeIntervalSeconds int32 `json:"minProbeIntervalSeconds,omitempty"`

	// PodExec runs a script in the container.
	// +optional
	PodExec *ActivityProbePodExec `json:"podExec,omitempty"`

	// Jupyter asks the API of a Jupyter server.
	// +optional
	Jupyter *ActivityProbeJupyter `json:"jupyter,omitempty"`
}

// ActivityProbePodExec runs a script in the container "main".
type ActivityProbePodExec struct {
	// TimeoutSeconds is how long the script may take. Default: 60.
	// +optional
	// +kubebuilder:default=60
	// +kubebuilder:validation:Minimum=1
	TimeoutSeconds int32 `json:"timeoutSeconds,omitempty"`

	// Script is a program with a shebang line; the image must have /bin/sh, cat, chmod and rm. It must
	// exit with 0, and reports by writing a JSON object to the file named in $OUTPUT_JSON_PATH:
	//
	//   - nothing, or {"has_activity": true}: in use now;
	//   - {"has_activity": false}: not in use, the time of the last activity stays as it was;
	//   - {"last_activity": "<ISO 8601 time>"}: last used at that time. Ignored next to has_activity.
	//
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=2048
	Script string `json:"script"`
}

// ActivityProbeJupyter reads the last activity from a Jupyter server's /api/status.
//
// +kubebuilder:validation:XValidation:rule="has(self.lastActivity) && self.lastActivity",message="'lastActivity' must be true"
type ActivityProbeJupyter struct {
	// LastActivity switches the probe on. Nothing but true is allowed.
	LastActivity bool `json:"lastActivity"`

	// PortID is the id of the port (of spec.podTemplate.ports) that the server listens on.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([a-z0-9_-]*[a-z0-9])?$`
	PortID PortId `json:"portId"`
}

// WorkspaceKindProbes are the kubelet's probes of the container "main".
type WorkspaceKindProbes struct {
	// +optional
	StartupProbe *corev1.Probe `json:"startupProbe,omitempty"`

	// +optional
	LivenessProbe *corev1.Probe `json:"livenessProbe,omitempty"`

	// +optional
	ReadinessProbe *corev1.Probe `json:"readinessProbe,omitempty"`
}

// WorkspaceKindVolumeMounts are the mount paths that a WorkspaceKind decides on.
type WorkspaceKindVolumeMounts struct {
	// Home is where the home volume is mounted. It cannot be changed later.
	// +kubebuilder:validation:MinLength=2
	// +kubebuilder:validation:MaxLength=4096
	// +kubebuilder:validation:Pattern=`^/[^/].*$`
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="mount path of 'home' is immutable"
	Home string `json:"home"`
}

// PortId identifies a port within a WorkspaceKind. Templates fail on anything but a literal where
// they name a port, and users read the name of this type in the error.
type PortId string //nolint:revive // the name that the error has in the in-cluster controller

// WorkspaceKindPort is a service that images of a WorkspaceKind can offer.
type WorkspaceKindPort struct {
	// ID is what images refer to, and a segment of the URL path.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([a-z0-9_-]*[a-z0-9])?$`
	ID PortId `json:"id"`

	Protocol PortProtocol `json:"protocol"`

	// DefaultDisplayName is shown where an image does not give its own.
	// +kubebuilder:validation:MinLength=2
	// +kubebuilder:validation:MaxLength=64
	DefaultDisplayName string `json:"defaultDisplayName"`

	// HTTPProxy is how requests are changed on their way to the container.
	// +optional
	HTTPProxy *HTTPProxy `json:"httpProxy,omitempty"`
}

// PortProtocol is the protocol of a port.
//
// +kubebuilder:validation:Enum={"HTTP"}
type PortProtocol string

// PortProtocolHTTP is the only protocol so far.
const PortProtocolHTTP PortProtocol = "HTTP"

// HTTPProxy is how requests are changed on their way to the container. It takes effect in the Istio
// VirtualService, so without Istio not at all.
type HTTPProxy struct {
	// RemovePathPrefix strips the prefix under which the port is served from the path, so that the server
	// sees "/". It works only for servers that refer to their own pages by relative URLs. Default: false.
	// +optional
	// +kubebuilder:default=false
	RemovePathPrefix bool `json:"removePathPrefix"`

	// RequestHeaders are the changes to the headers of requests.
	// +optional
	RequestHeaders *RequestHeaders `json:"requestHeaders,omitempty"`
}

// RequestHeaders are changes to the headers of requests, as in an Istio VirtualService. Values are Go
// templates, as those of [WorkspaceKindPodTemplate.ExtraEnv].
type RequestHeaders struct {
	// Set replaces headers.
	// +optional
	Set map[string]string `json:"set,omitzero"`

	// Add appends to headers, separated by a comma.
	// +optional
	Add map[string]string `json:"add,omitzero"`

	// Remove drops headers.
	// +optional
	Remove []string `json:"remove,omitzero"`
}

// WorkspaceKindOptions are what a Workspace can choose from.
type WorkspaceKindOptions struct {
	// ImageConfig offers images.
	ImageConfig ImageConfig `json:"imageConfig"`

	// PodConfig offers sizes and places to run.
	PodConfig PodConfig `json:"podConfig"`
}

// ImageConfig offers images.
type ImageConfig struct {
	Spawner OptionsSpawner `json:"spawner"`

	// +kubebuilder:validation:MinItems=1
	// +listType=map
	// +listMapKey=id
	Values []ImageConfigValue `json:"values"`
}

// PodConfig offers sizes and places to run.
type PodConfig struct {
	Spawner OptionsSpawner `json:"spawner"`

	// +kubebuilder:validation:MinItems=1
	// +listType=map
	// +listMapKey=id
	Values []PodConfigValue `json:"values"`
}

// OptionsSpawner is how the web UI presents a set of options.
type OptionsSpawner struct {
	// Default is the id of the option that is selected at first. The API server does not require that
	// it exists, and does not put it into a Workspace without a choice.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Default string `json:"default"`
}

// ImageConfigValue is an image that a Workspace can choose.
type ImageConfigValue struct {
	// ID is what Workspaces refer to.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	ID string `json:"id"`

	// Spawner is how the web UI presents the option.
	Spawner OptionSpawner `json:"spawner"`

	// Redirect names the option to use instead. See [OptionRedirect].
	// +optional
	Redirect *OptionRedirect `json:"redirect,omitempty"`

	Spec ImageConfigSpec `json:"spec"`
}

// PodConfigValue is a size that a Workspace can choose.
type PodConfigValue struct {
	// ID is what Workspaces refer to.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	ID string `json:"id"`

	// Spawner is how the web UI presents the option.
	Spawner OptionSpawner `json:"spawner"`

	// Redirect names the option to use instead. See [OptionRedirect].
	// +optional
	Redirect *OptionRedirect `json:"redirect,omitempty"`

	Spec PodConfigSpec `json:"spec"`
}

// OptionSpawner is how the web UI presents one option.
type OptionSpawner struct {
	// +kubebuilder:validation:MinLength=2
	// +kubebuilder:validation:MaxLength=128
	DisplayName string `json:"displayName"`

	// +optional
	// +kubebuilder:validation:MinLength=2
	// +kubebuilder:validation:MaxLength=1024
	Description string `json:"description,omitempty"`

	// Labels describe the option; activity and filter rules can select by them. They are not put on
	// any object, and do not follow the syntax of Kubernetes labels.
	// +optional
	// +kubebuilder:validation:MaxItems=32
	// +listType=map
	// +listMapKey=key
	Labels []OptionLabel `json:"labels,omitzero"`

	// Hidden leaves the option out of the choice for new Workspaces. Default: false.
	// +optional
	// +kubebuilder:default=false
	Hidden bool `json:"hidden"`
}

// OptionLabel describes an option.
type OptionLabel struct {
	// +kubebuilder:validation:MinLength=2
	// +kubebuilder:validation:MaxLength=64
	Key string `json:"key"`

	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	Value string `json:"value"`
}

// OptionRedirect says that another option should be used instead. The controller reports that in
// the status of the Workspaces concerned, and otherwise leaves them as they are.
type OptionRedirect struct {
	// To is the id of the other option, which may be redirected itself.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	To string `json:"to"`

	// Message tells the user about it.
	// +optional
	Message *RedirectMessage `json:"message,omitempty"`
}

// RedirectMessage tells the user about a redirect.
type RedirectMessage struct {
	Level RedirectMessageLevel `json:"level"`

	// +kubebuilder:validation:MinLength=2
	// +kubebuilder:validation:MaxLength=1024
	Text string `json:"text"`
}

// RedirectMessageLevel is how important a message about a redirect is.
//
// +kubebuilder:validation:Enum={"Info","Warning","Danger"}
type RedirectMessageLevel string

// The levels of a message about a redirect.
const (
	RedirectMessageLevelInfo    RedirectMessageLevel = "Info"
	RedirectMessageLevelWarning RedirectMessageLevel = "Warning"
	RedirectMessageLevelDanger  RedirectMessageLevel = "Danger"
)

// ImageConfigSpec is what choosing an image puts into the container "main".
type ImageConfigSpec struct {
	// +kubebuilder:validation:MinLength=2
	Image string `json:"image"`

	// Default: IfNotPresent.
	// +optional
	// +kubebuilder:default="IfNotPresent"
	// +kubebuilder:validation:Enum={"Always","IfNotPresent","Never"}
	ImagePullPolicy corev1.PullPolicy `json:"imagePullPolicy,omitempty"`

	// Ports that the image listens on. The port numbers must differ, though only the ids are checked
	// by the API server.
	// +kubebuilder:validation:MinItems=1
	// +listType=map
	// +listMapKey=id
	Ports []ImagePort `json:"ports"`
}

// ImagePort is a port that an image listens on.
type ImagePort struct {
	// ID is that of the service, in spec.podTemplate.ports.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([a-z0-9_-]*[a-z0-9])?$`
	ID PortId `json:"id"`

	// Port is the TCP port number.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port int32 `json:"port"`

	// DisplayName replaces the service's default.
	// +optional
	// +kubebuilder:validation:MinLength=2
	// +kubebuilder:validation:MaxLength=64
	DisplayName string `json:"displayName,omitempty"`
}

// PodConfigSpec is what choosing a size puts into the Pod.
type PodConfigSpec struct {
	// +optional
	Affinity *corev1.Affinity `json:"affinity,omitempty"`

	// +optional
	NodeSelector map[string]string `json:"nodeSelector,omitzero"`

	// +optional
	Tolerations []corev1.Toleration `json:"tolerations,omitzero"`

	// Resources of the container "main".
	// +optional
	Resources *corev1.ResourceRequirements `json:"resources,omitempty"`
}

// ActivityRule says what happens to a Workspace that has been idle for a while.
type ActivityRule struct {
	// Match selects Workspaces. Without it, or if it is empty, the rule is for all.
	// +optional
	Match *ActivityRuleMatch `json:"match,omitempty"`

	// Config says how long a while is.
	Config ActivityRuleConfig `json:"config"`

	// Effect says what happens.
	Effect ActivityRuleEffect `json:"effect"`
}

// ActivityRuleMatch selects Workspaces by all of its conditions.
type ActivityRuleMatch struct {
	// MatchNamespace looks at the labels of the Workspace's namespace.
	// +optional
	MatchNamespace *SelectorMatch `json:"matchNamespace,omitempty"`

	// MatchPodConfig looks at the labels ([OptionSpawner.Labels]) of the Workspace's podConfig.
	// +optional
	MatchPodConfig *SelectorMatch `json:"matchPodConfig,omitempty"`
}

// SelectorMatch is a condition on labels.
type SelectorMatch struct {
	Selector metav1.LabelSelector `json:"selector"`
}

// ActivityRuleConfig says when an activity rule has its effect.
type ActivityRuleConfig struct {
	// SecondsSinceActive is how long nothing must have happened. At least 16, so that a Workspace that
	// is only starting up or briefly unreachable is not taken for an idle one.
	// +kubebuilder:validation:Minimum=16
	SecondsSinceActive int32 `json:"secondsSinceActive"`

	// MinRunningSeconds is how long the Workspace must have been running. Default: 0.
	// +optional
	// +kubebuilder:default=0
	// +kubebuilder:validation:Minimum=0
	MinRunningSeconds int32 `json:"minRunningSeconds"`
}

// ActivityRuleEffect says what an activity rule does.
//
// +kubebuilder:validation:XValidation:rule="has(self.pauseWorkspace)",message="must specify at least one effect"
type ActivityRuleEffect struct {
	// PauseWorkspace says whether to pause the Workspace. An explicit false exempts those that match
	// from the rules further down. A pointer, because absent is not allowed.
	// +optional
	PauseWorkspace *bool `json:"pauseWorkspace,omitempty"`
}

// FilterRule hides or denies a WorkspaceKind or some of its options.
type FilterRule struct {
	// Scope is what the rule is about.
	Scope FilterScope `json:"scope"`

	// Match are conditions, all of which must hold.
	// +kubebuilder:validation:MinItems=1
	// +listType=atomic
	Match []FilterRuleMatch `json:"match"`

	// Effect says what happens to what matches.
	Effect FilterRuleEffect `json:"effect"`
}

// FilterScope is what a filter rule is about.
//
// +kubebuilder:validation:Enum={"WORKSPACE_KIND","POD_CONFIG","IMAGE_CONFIG"}
type FilterScope string

// The scopes of a filter rule.
const (
	FilterScopeWorkspaceKind FilterScope = "WORKSPACE_KIND"
	FilterScopePodConfig     FilterScope = "POD_CONFIG"
	FilterScopeImageConfig   FilterScope = "IMAGE_CONFIG"
)

// FilterRuleMatch is exactly one condition.
//
// +kubebuilder:validation:XValidation:rule="(has(self.matchNamespace) ? 1 : 0) + (has(self.matchImageConfig) ? 1 : 0) + (has(self.matchPodConfig) ? 1 : 0) == 1",message="must specify exactly one of 'matchNamespace', 'matchImageConfig', or 'matchPodConfig'"
type FilterRuleMatch struct {
	// MatchNamespace looks at the labels of the namespace that the Workspace is to be in.
	// +optional
	MatchNamespace *SelectorMatch `json:"matchNamespace,omitempty"`

	// MatchImageConfig looks at the labels ([OptionSpawner.Labels]) of an imageConfig.
	// +optional
	MatchImageConfig *SelectorMatch `json:"matchImageConfig,omitempty"`

	// MatchPodConfig looks at the labels ([OptionSpawner.Labels]) of a podConfig.
	// +optional
	MatchPodConfig *SelectorMatch `json:"matchPodConfig,omitempty"`
}

// FilterRuleEffect says what happens to what a filter rule matches.
//
// +kubebuilder:validation:XValidation:rule="has(self.ui) || has(self.api)",message="must specify at least one of 'ui' or 'api'"
type FilterRuleEffect struct {
	// UI is a hint to the browser; the backend still returns the item.
	// +optional
	UI *FilterEffectUI `json:"ui,omitempty"`

	// API is enforced by the backend.
	// +optional
	API *FilterEffectAPI `json:"api,omitempty"`
}

// FilterEffectUI is a hint to the browser.
type FilterEffectUI struct {
	// Hide says that the item should not be shown.
	Hide bool `json:"hide"`
}

// FilterEffectAPI is what the backend enforces. Its booleans have no default in the API, so that
// absent and false are kept apart.
//
// +kubebuilder:validation:XValidation:rule="!has(self.denyMessage) || (has(self.deny) && self.deny)",message="'denyMessage' may only be set when 'deny' is true"
type FilterEffectAPI struct {
	// Hide leaves the item out of the answer.
	// +optional
	Hide *bool `json:"hide,omitempty"`

	// Deny returns the item, but refuses Workspaces that choose it.
	// +optional
	Deny *bool `json:"deny,omitempty"`

	// DenyMessage says why.
	// +optional
	DenyMessage *DenyMessage `json:"denyMessage,omitempty"`
}

// DenyMessage says why an item is denied.
type DenyMessage struct {
	// +kubebuilder:validation:MinLength=2
	// +kubebuilder:validation:MaxLength=1024
	Text string `json:"text"`
}

// WorkspaceKindStatus is what the controller last found.
type WorkspaceKindStatus struct {
	// Workspaces is how many Workspaces use the kind.
	// +kubebuilder:default=0
	Workspaces int32 `json:"workspaces"`

	// PodTemplateOptions is how many Workspaces use which option.
	PodTemplateOptions OptionsMetrics `json:"podTemplateOptions"`

	// SpawnerIcon is about spec.spawner.icon.
	SpawnerIcon AssetStatus `json:"spawnerIcon"`

	// SpawnerLogo is about spec.spawner.logo.
	SpawnerLogo AssetStatus `json:"spawnerLogo"`
}

// OptionsMetrics counts Workspaces per option. An id that Workspaces have but the kind does not
// define is not listed. Both lists are required, so a writer must make them empty rather than nil.
type OptionsMetrics struct {
	// +listType=map
	// +listMapKey=id
	ImageConfig []OptionMetric `json:"imageConfig"`

	// +listType=map
	// +listMapKey=id
	PodConfig []OptionMetric `json:"podConfig"`
}

// OptionMetric counts the Workspaces that use one option.
type OptionMetric struct {
	// ID of the option.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	ID string `json:"id"`

	// Workspaces is how many Workspaces use the option.
	Workspaces int32 `json:"workspaces"`
}

// AssetStatus is about a picture.
type AssetStatus struct {
	// SHA256 of the picture's content, where that comes from a ConfigMap.
	// +optional
	SHA256 string `json:"sha256,omitempty"`

	// ConfigMap tells what went wrong with reading it.
	// +optional
	ConfigMap *AssetConfigMapStatus `json:"configMap,omitempty"`
}

// AssetConfigMapStatus tells what went wrong with reading a picture from a ConfigMap.
type AssetConfigMapStatus struct {
	// +optional
	ErrorType AssetErrorType `json:"errorType,omitempty"`

	// ErrorMessage explains ErrorType to a person.
	// +optional
	ErrorMessage string `json:"errorMessage,omitempty"`
}

// AssetErrorType is why a picture could not be read from a ConfigMap.
//
// +kubebuilder:validation:Enum={"NotFound","KeyNotFound","Other"}
type AssetErrorType string

// The errors of reading a picture.
const (
	AssetErrorNotFound    AssetErrorType = "NotFound"
	AssetErrorKeyNotFound AssetErrorType = "KeyNotFound"
	AssetErrorOther       AssetErrorType = "Other"
)
