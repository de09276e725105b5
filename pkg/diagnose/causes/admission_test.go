package causes

import (
	"strings"
	"testing"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/diagnose"
)

const createFailed = `create Pod ws-x-0 in StatefulSet ws-x failed error: `

func TestClassifyRefusal(t *testing.T) {
	for name, c := range map[string]struct {
		message, id, object string
	}{
		"ServiceAccount": {`pods "ws-x-0" is forbidden: error looking up service account ns/editor: serviceaccount "editor" not found`,
			"service-account-not-found", "ServiceAccount/editor"},
		"ServiceAccount, old wording": {`pods "ws-x-0" is forbidden: service account ns/editor was not found, retry after the service account is created`,
			"service-account-not-found", "ServiceAccount/editor"},
		"ServiceAccount without a token": {`No API token found for service account "editor", retry after the token is automatically created and added to the service account`,
			"service-account-not-found", "ServiceAccount/editor"},
		"quota": {`pods "ws-x-0" is forbidden: exceeded quota: gpus, requested: requests.nvidia.com/gpu=1, used: requests.nvidia.com/gpu=4, limited: requests.nvidia.com/gpu=4`,
			"quota-exceeded", "ResourceQuota/gpus"},
		"quota of a scope": {`pods "ws-x-0" is forbidden: insufficient quota to match these scopes: [{PriorityClass In [high]}]`,
			"quota-exceeded", "ResourceQuota"},
		"quota wants limits": {`pods "ws-x-0" is forbidden: failed quota: mem: must specify limits.memory for: main`,
			"quota-requires-limits", "ResourceQuota/mem"},
		"quota wants limits, old wording": {`pods "ws-x-0" is forbidden: failed quota: mem: must specify limits.cpu,limits.memory`,
			"quota-requires-limits", "ResourceQuota/mem"},
		"limit range": {`pods "ws-x-0" is forbidden: [minimum cpu usage per Container is 100m, but request is 50m, maximum memory usage per Pod is 1Gi, but limit is 2Gi]`,
			"limit-range-violated", "LimitRange"},
		"limit range without a limit": {`pods "ws-x-0" is forbidden: maximum cpu usage per Container is 2.  No limit is specified`,
			"limit-range-violated", "LimitRange"},
		"limit range, two ratios": {`pods "ws-x-0" is forbidden: [memory max limit to request ratio per Container is 2, but provided ratio is 4.000000, cpu max limit to request ratio per Container is 4, but provided ratio is 8.000000]`,
			"limit-range-violated", "LimitRange"},
		"limit range, ratio": {`pods "ws-x-0" is forbidden: memory max limit to request ratio per Container is 2, but provided ratio is 8.000000`,
			"limit-range-violated", "LimitRange"},
		"Pod Security": {`pods "ws-x-0" is forbidden: violates PodSecurity "baseline:v1.30": privileged (container "main" must not set securityContext.privileged=true)`,
			"pod-security-violation", "Namespace/team-a"},
		"PodSecurityPolicy": {`pods "ws-x-0" is forbidden: PodSecurityPolicy: unable to admit pod: [spec.containers[0].securityContext.runAsUser: Invalid value: 0: running with the root UID is forbidden]`,
			"pod-security-violation", "Namespace/team-a"},
		"PodSecurityPolicy, old wording": {`pods "ws-x-0" is forbidden: unable to validate against any pod security policy: []`,
			"pod-security-violation", "Namespace/team-a"},
		"OpenShift": {`pods "ws-x-0" is forbidden: unable to validate against any security context constraint: [provider "anyuid": Forbidden: not usable by user or serviceaccount]`,
			"pod-security-violation", "Namespace/team-a"},
		"webhook": {`admission webhook "validate.kyverno.svc-fail" denied the request: resource Pod/ns/ws-x-0 was blocked due to the following policies`,
			"admission-webhook-denied", "ValidatingWebhook/validate.kyverno.svc-fail"},
		"webhook without a word": {`admission webhook "pod.sidecar-injector.example.com" denied the request without explanation`,
			"admission-webhook-denied", "MutatingWebhook/pod.sidecar-injector.example.com"},
		"webhook that quotes": {`admission webhook "w.example.com" denied the request: violates PodSecurity "restricted:latest": no; exceeded quota: no`,
			"admission-webhook-denied", "ValidatingWebhook/w.example.com"},
		"webhook down": {`Internal error occurred: failed calling webhook "w.example.com": failed to call webhook: Post "https://guard.policy.svc:443/validate?timeout=10s": no endpoints available for service "guard"`,
			"admission-webhook-unreachable", "ValidatingWebhook/w.example.com"},
		"webhook down, old wording": {`Internal error occurred: failed calling admission webhook "w.example.com": Post https://guard.policy.svc:443/mutate?timeout=30s: x509: certificate has expired`,
			"admission-webhook-unreachable", "MutatingWebhook/w.example.com"},
		"webhook answers nonsense": {`Internal error occurred: failed calling webhook "w.example.com": received invalid webhook response: expected response.uid="5d2", got ""`,
			"admission-webhook-unreachable", "ValidatingWebhook/w.example.com"},
		"some webhook too slow": {`Timeout: request did not complete within requested timeout - context deadline exceeded`,
			"admission-webhook-unreachable", "MutatingWebhook"},
		"some webhook too slow, old wording": {`Internal error occurred: failed to complete mutation in 13s`,
			"admission-webhook-unreachable", "MutatingWebhook"},
		"some webhook's patch": {`Internal error occurred: jsonpatch add operation does not apply: doc is missing path: "/metadata/annotations/x": missing value`,
			"admission-webhook-unreachable", "MutatingWebhook"},
		"some webhook's patch, old wording": {`Internal error occurred: add operation does not apply: doc is missing path: /spec/volumes/-: missing value`,
			"admission-webhook-unreachable", "MutatingWebhook"},
		"quota that nobody has counted": {`pods "ws-x-0" is forbidden: status unknown for quota: gpus, resources: requests.cpu`,
			"quota-exceeded", "ResourceQuota/gpus"},
		"policy": {`pods "ws-x-0" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no`,
			"admission-policy-denied", "ValidatingAdmissionPolicy/p"},
		"policy, reason Invalid": {`Pod "ws-x-0" is invalid: : ValidatingAdmissionPolicy 'p' with binding 'b' denied request: failed expression: object.spec`,
			"admission-policy-denied", "ValidatingAdmissionPolicy/p"},
		"invalid": {`Pod "ws-x-0" is invalid: spec.containers[0].resources.requests: Invalid value: "2Gi": must be less than or equal to memory limit of 1Gi`,
			"pod-spec-invalid", "StatefulSet/ws-alice-notebook-x7k2p"},
		"PriorityClass": {`pods "ws-x-0" is forbidden: no PriorityClass with name batch was found`,
			"pod-spec-invalid", "PriorityClass/batch"},
		"RuntimeClass": {`pods "ws-x-0" is forbidden: pod rejected: RuntimeClass "gvisor" not found`,
			"pod-spec-invalid", "RuntimeClass/gvisor"},
		"something else": {`the server is currently unable to handle the request`, "", ""},
		"a name":         {`pods "exceeded-quota" already exists`, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			for _, prefix := range []string{"", createFailed, "Reissued from statefulset/ws-x: " + createFailed, "Error creating: "} {
				r, m := classifyRefusal(prefix + c.message)
				if r == nil {
					if c.id != "" {
						t.Fatalf("%q is not classified", prefix+c.message)
					}
					continue
				}
				cause := r.explain(blank(), m)
				if r.id != c.id || cause.Object != c.object || cause.Summary == "" {
					t.Errorf("%s about %s, want %s about %s\n%s", r.id, cause.Object, c.id, c.object, cause.Summary)
				}
			}
		})
	}
}

func FuzzClassifyRefusal(f *testing.F) {
	f.Add(createFailed + `pods "x" is forbidden: exceeded quota: a, requested: b`)
	f.Add(`failed calling webhook "": `)
	f.Fuzz(func(t *testing.T, message string) {
		if r, m := classifyRefusal(message); r != nil {
			if cause := r.explain(blank(), m); cause.Object == "" {
				t.Errorf("%s has no object", r.id)
			}
			originOfField(message)
		}
	})
}

// refusedDemo is the demo's alice with a StatefulSet that cannot create its Pod.
func refusedDemo(message string, more ...string) []string {
	return append([]string{
		"kind: Pod\n  metadata:\n    name: ws-alice", "kind: Other\n  metadata:\n    name: ws-alice",
		"involvedObject: {apiVersion: v1, kind: Pod, name: ws-alice-notebook-x7k2p-0, namespace: team-a, uid: alice-1-pod}\n  type: Warning",
		"involvedObject: {apiVersion: apps/v1, kind: StatefulSet, name: ws-alice-notebook-x7k2p, namespace: team-a, uid: alice-1-sts}\n  type: Warning",
		"reason: FailedMount", "reason: FailedCreate",
		`message: 'MountVolume.SetUp failed for volume "secret-volume-0" : secret "minio-creds" not found'`, "message: '" + strings.ReplaceAll(message, "'", "''") + "'",
	}, more...)
}

func TestRefusals(t *testing.T) {
	missing := createFailed + `pods "ws-x-0" is forbidden: error looking up service account team-a/editor: serviceaccount "editor" not found`
	own := strings.ReplaceAll(missing, "editor", "ws-alice-notebook")
	account := "kind: ServiceAccount\n  metadata:\n    name: ws-alice-notebook"
	template := `spec: {containers: [{name: main, image: "registry.example.com/jupyter-scipy:2.0.0"}]}`
	for name, c := range map[string]struct {
		edits   []string
		id      string
		state   diagnose.State
		certain bool
	}{
		"the word of the API server": {refusedDemo(missing), "service-account-not-found", diagnose.StateError, false},
		"and ours": {refusedDemo(own, account, "kind: ServiceAccount\n  metadata:\n    name: other", template, "spec: {serviceAccountName: ws-alice-notebook, containers: [{name: main}]}"),
			"service-account-not-found", diagnose.StateError, true},
		"it exists now": {refusedDemo(own, template, "spec: {serviceAccountName: ws-alice-notebook, containers: [{name: main}]}"),
			"service-account-not-found", diagnose.StatePending, true},
		"not understood": {refusedDemo(createFailed + "boom"), diagnose.UnexplainedID, diagnose.StateError, false},
		"overtaken": {append(refusedDemo(missing), "type: Normal\n  reason: Scheduled", "type: Normal\n  reason: SuccessfulCreate",
			"kind: Pod, name: ws-alice-notebook-x7k2p-0, namespace: team-a, uid: alice-1-pod", "kind: StatefulSet, name: ws-alice-notebook-x7k2p, namespace: team-a, uid: alice-1-sts",
			`eventTime: "2026-01-15T11:56:42.104233Z"`, `eventTime: "2026-01-15T11:59:30.000000Z"`), diagnose.UnexplainedID, diagnose.StateError, false},
	} {
		t.Run(name, func(t *testing.T) {
			d := explain(t, demo(t, c.edits...), alice)
			if len(d.Causes) == 0 || d.Causes[0].ID != c.id || d.State != c.state || (d.Causes[0].Confidence == diagnose.Certain) != c.certain {
				t.Errorf("%s, %+v", d.State, d.Causes)
			}
		})
	}
}

// The Pod that was refused is there now: the Event is history.
func TestRefusalIsHistoryOnceThereIsAPod(t *testing.T) {
	edits := refusedDemo(createFailed + `pods "ws-x-0" is forbidden: exceeded quota: gpus, requested: x`)
	d := explain(t, demo(t, edits[2:]...), alice)
	for _, c := range d.Causes {
		if c.ID == "quota-exceeded" {
			t.Errorf("%+v", c)
		}
	}
}
