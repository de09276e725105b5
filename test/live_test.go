package test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/diagnose"
	"github.com/kubectl-workspace/kubectl-workspace/test/env"
)

// TestLiveCauses makes notebooks fail in many ways and checks what describe says, while
// the real scheduler, controllers and kubelet report the failure in their own words.
// Failures of the container runtime are injected into the test node.
func TestLiveCauses(t *testing.T) {
	e := env.Get(t)
	applyKind(t, e)
	for name, c := range map[string]struct {
		// objects are created first. NS stands for the namespace, as everywhere here.
		objects string
		// pod patches the spec of the Pod.
		pod string
		// rules fail the runtime; they apply to this namespace only.
		rules []env.Rule
		// controller false leaves the Workspace to itself.
		noController bool
		// alone is for what the scheduler says about all nodes: it runs before the others, and
		// so while none of them has added a node.
		alone bool

		cause, object string
		state         diagnose.State
	}{
		"no controller": {
			noController: true,
			cause:        "controller-not-running", state: diagnose.StatePending,
		},
		"more GPUs than there are": {
			pod:   `containers: [{name: main, resources: {limits: {example.com/gpu: "8"}}}]`,
			alone: true,
			cause: "insufficient-resources", object: "Node/node-a", state: diagnose.StateError,
		},
		"a taint that it does not tolerate": {
			objects: node("NS", `taints: [{key: example.com/dedicated, value: research, effect: NoSchedule}]`, "True"),
			pod:     `nodeSelector: {example.com/test: NS}`,
			alone:   true,
			cause:   "untolerated-taint", object: "Node/NS", state: diagnose.StateError,
		},
		"a node selector that no node has": {
			pod:   `nodeSelector: {example.com/zone: nowhere}`,
			alone: true,
			cause: "node-selector-mismatch", object: "Node", state: diagnose.StateError,
		},
		"the node is gone": {
			objects: node("NS", `unschedulable: false`, "Unknown"),
			pod:     `nodeName: NS`,
			cause:   "node-not-ready", object: "Node/NS", state: diagnose.StateError,
		},
		"a claim whose class does not exist": {
			objects: `{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: alice-home, namespace: NS},
				spec: {storageClassName: fast-NS, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}`,
			pod:   `volumes: [{name: home-volume, persistentVolumeClaim: {claimName: alice-home}}]`,
			cause: "storage-class-not-found", object: "StorageClass/fast-NS", state: diagnose.StateError,
		},
		"a claim that does not exist": {
			pod:   `volumes: [{name: home-volume, persistentVolumeClaim: {claimName: alice-home}}]`,
			cause: "pvc-not-found", object: "PersistentVolumeClaim/alice-home", state: diagnose.StateError,
		},
		"a used-up quota": {
			objects: `{apiVersion: v1, kind: ResourceQuota, metadata: {name: team-limits, namespace: NS}, spec: {hard: {pods: "0"}}}`,
			cause:   "quota-exceeded", object: "ResourceQuota/team-limits", state: diagnose.StateError,
		},
		"Pod Security": {
			objects: `{apiVersion: v1, kind: Namespace, metadata: {name: NS, labels: {pod-security.kubernetes.io/enforce: restricted}}}`,
			cause:   "pod-security-violation", object: "Namespace/NS", state: diagnose.StateError,
		},
		"no such image": {
			pod:   `containers: [{name: main, image: registry.example.com/lab:gone-NS}]`,
			rules: []env.Rule{{PullError: `failed to pull and unpack image "registry.example.com/lab:gone-NS": failed to resolve image: registry.example.com/lab:gone-NS: not found`}},
			cause: "image-not-found", object: "Image/registry.example.com/lab:gone-NS", state: diagnose.StateError,
		},
		"no access to the image": {
			pod:   `containers: [{name: main, image: registry.example.com/private-NS:1}]`,
			rules: []env.Rule{{PullError: `failed to resolve image: failed to authorize: failed to fetch anonymous token: unexpected status from GET request: 401 Unauthorized`}},
			cause: "image-pull-unauthorized", object: "Image/registry.example.com/private-NS:1", state: diagnose.StateError,
		},
		"a crash loop": {
			rules: []env.Rule{{Container: "main", Exit: &env.Exit{Code: 3}}},
			cause: "crash-loop-application-error", object: "Container/main", state: diagnose.StateError,
		},
		"out of memory": {
			pod:   `containers: [{name: main, resources: {limits: {memory: 64Mi}}}]`,
			rules: []env.Rule{{Container: "main", Exit: &env.Exit{Code: 137, Reason: "OOMKilled"}}},
			cause: "crash-loop-oom-killed", object: "Container/main", state: diagnose.StateError,
		},
		"an init container that fails": {
			pod:   `initContainers: [{name: prepare, image: registry.example.com/prepare:1}]`,
			rules: []env.Rule{{Container: "prepare", Exit: &env.Exit{Code: 2}}},
			cause: "init-container-failing", object: "InitContainer/prepare", state: diagnose.StateError,
		},
		"not ready": {
			pod: `containers: [{name: main, ports: [{containerPort: 8888}],
				readinessProbe: {httpGet: {path: /api, port: 8888}, periodSeconds: 1}}]`,
			rules: []env.Rule{{HTTPStatus: 503}},
			cause: "readiness-probe-failing", object: "Container/main", state: diagnose.StateError,
		},
		"no network for the sandbox": {
			rules: []env.Rule{{SandboxError: `failed to setup network for sandbox "0123": plugin type="calico" failed (add): error getting ClusterInformation: connection is unauthorized: Unauthorized`}},
			cause: "sandbox-creation-failed", object: "Node/node-a", state: diagnose.StateError,
		},
		"a command that the image lacks": {
			rules: []env.Rule{{StartError: `failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: exec: "start-notebook.sh": executable file not found in $PATH`}},
			cause: "container-command-invalid", object: "Image/registry.example.com/jupyter-scipy:2.0.0", state: diagnose.StateError,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if !c.alone {
				t.Parallel()
			}
			ns := e.Namespace(t)
			fill := func(s string) string { return strings.ReplaceAll(s, "NS", ns) }
			for i := range c.rules {
				r := c.rules[i]
				r.Namespace, r.PullError = ns, fill(r.PullError)
				e.AddRules(t, r)
			}
			if c.objects != "" {
				apply(t, e, fill(c.objects))
			}
			createWorkspace(t, e, ns, "alice-notebook")
			if !c.noController {
				playController(t, e, ns, "alice-notebook", fill(c.pod))
			}
			env.Eventually(t, patience, func() error {
				r := kubectl(t, e, env.Admin, "workspace", "describe", "alice-notebook", "-n", ns, "-o", "json")
				var d diagnose.Diagnosis
				if err := json.Unmarshal([]byte(r.stdout), &d); err != nil {
					return fmt.Errorf("%w: %s", err, r.stderr)
				}
				if d.Reason() != c.cause || d.State != c.state || c.object != "" && d.Causes[0].Object != fill(c.object) {
					return fmt.Errorf("want %s %s about %s, got:\n%s", c.state, c.cause, fill(c.object), r.stdout)
				}
				return nil
			})
		})
	}
}

// node is a Node that no kubelet serves, labelled example.com/test=NAME.
func node(name, spec, ready string) string {
	return fmt.Sprintf(`{apiVersion: v1, kind: Node, metadata: {name: %[1]s, labels: {example.com/test: %[1]s}}, spec: {%s},
		status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}, capacity: {cpu: "4", memory: 8Gi, pods: "10"},
			conditions: [{type: Ready, status: "%s", reason: Test, message: of a test, lastHeartbeatTime: "2026-01-01T00:00:00Z", lastTransitionTime: "2026-01-01T00:00:00Z"}]}}`, name, spec, ready)
}

// apply applies a manifest and its status, and deletes what is not in a namespace of
// the test at the end.
func apply(t testing.TB, e *env.Env, manifest string) {
	t.Helper()
	manifest = strings.ReplaceAll(manifest, "\t", " ")
	if out, err := e.Kubectl(t, env.Admin, manifest, "apply", "--server-side", "--force-conflicts", "-f", "-"); err != nil {
		t.Fatal(out)
	}
	if strings.Contains(manifest, "kind: Node,") {
		if out, err := e.Kubectl(t, env.Admin, manifest, "apply", "--server-side", "--force-conflicts", "--subresource=status", "-f", "-"); err != nil {
			t.Fatal(out)
		}
		t.Cleanup(func() {
			// With the administrator's client: the test's own context has ended.
			_ = e.Client(t, env.Admin).CoreV1().Nodes().Delete(context.Background(), nodeName(manifest), metav1.DeleteOptions{})
		})
	}
}

func nodeName(manifest string) string {
	_, rest, _ := strings.Cut(manifest, "metadata: {name: ")
	name, _, _ := strings.Cut(rest, ",")
	return name
}
