package causes

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/diagnose"
)

func TestParseSandbox(t *testing.T) {
	for name, c := range map[string]struct {
		message string
		want    sandboxKind
	}{
		"host-local":          {`failed to setup network for sandbox "1": plugin type="host-local" failed (add): failed to allocate for range 0: no IP addresses available in range set: 10.0.0.1-10.0.0.254`, sandboxNoIP},
		"AWS":                 {`failed to set up sandbox container "1" network for pod "x": networkPlugin cni failed to set up pod "x_ns" network: add cmd: failed to assign an IP address to container`, sandboxNoIP},
		"Calico, full":        {`plugin type="calico" failed (add): failed to request IPv4 addresses: Assigned 0 out of 1 requested IPv4 addresses; No more free affine blocks and strict affinity enabled`, sandboxNoIP},
		"Cilium, full":        {`plugin type="cilium-cni" failed (add): unable to allocate IP via local cilium agent: [POST /ipam][502] postIpamFailure "range is full"`, sandboxNoIP},
		"Whereabouts":         {`plugin type="multus" name="multus" failed (add): error at storage engine: Could not allocate IP in range: ip: 10.0.0.1 / - 10.0.0.2`, sandboxNoIP},
		"AWS, subnet":         {`plugin type="aws-cni" failed (add): InsufficientFreeAddressesInSubnet: The specified subnet does not have enough free addresses to satisfy the request`, sandboxNoIP},
		"Kube-OVN, full":      {`plugin type="kube-ovn" failed (add): RPC failed; request ip return 500 configure nic failed: NoAvailableAddress`, sandboxNoIP},
		"Spiderpool, full":    {`plugin type="spiderpool" failed (add): [POST /ipam/ip][500] postIpamIpFailure "all IPs used out"`, sandboxNoIP},
		"Calico, token":       {`failed to setup network for sandbox "1": plugin type="calico" failed (add): error getting ClusterInformation: connection is unauthorized: Unauthorized`, sandboxNetwork},
		"flannel":             {`plugin type="flannel" failed (add): loadFlannelSubnetEnv failed: open /run/flannel/subnet.env: no such file or directory`, sandboxNetwork},
		"docker, CNI":         {`failed to set up sandbox container "1" network for pod "x": networkPlugin cni failed to set up pod "x_ns" network: open /run/x: no such file or directory`, sandboxNetwork},
		"no CNI":              {`network is not ready: container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized`, sandboxNetwork},
		"pause image":         {`failed to get sandbox image "registry.k8s.io/pause:3.9": failed to pull image "registry.k8s.io/pause:3.9": dial tcp: i/o timeout`, sandboxPause},
		"pause image, docker": {`failed pulling image "k8s.gcr.io/pause:3.1": Error response from daemon: Get https://k8s.gcr.io/v2/: net/http: request canceled`, sandboxPause},
		"cgroup driver":       {`failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: expected cgroupsPath to be of format "slice:prefix:name" for systemd cgroups, got "/kubepods/burstable/1" instead: unknown`, sandboxRuntime},
		"runtime class":       {`failed to get sandbox runtime: no runtime for "nvidia" is configured`, sandboxRuntime},
		"name reserved":       {`failed to reserve sandbox name "x": name "x" is reserved for "1"`, sandboxRuntime},
	} {
		t.Run(name, func(t *testing.T) {
			if got := parseSandbox("Failed to create pod sandbox: rpc error: code = Unknown desc = " + c.message); got != c.want {
				t.Errorf("parseSandbox = %q, want %q", got, c.want)
			}
		})
	}
}

func TestSandboxCauses(t *testing.T) {
	const (
		prefix   = "Failed to create pod sandbox: rpc error: code = Unknown desc = "
		notReady = "network is not ready: container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized"
		network  = prefix + `failed to setup network for sandbox "1": plugin type="calico" failed (add): connection is unauthorized`
	)
	for name, c := range map[string]struct {
		set  func(p *podCase)
		want podWant
	}{
		"network down after the sandbox was made": {func(p *podCase) {
			p.container("main", waitingWith("ContainerCreating", "")).event("main", "Pulled", "Container image already present on machine", 5*minute).event("", "NetworkNotReady", notReady, second)
			p.sandbox(corev1.ConditionTrue)
		}, podWant{"sandbox-creation-failed", "Node/node-1", diagnose.StateError, false, "as long as its network is not ready", ""}},
		"made again and again": {func(p *podCase) {
			for range 5 {
				p.event("", "SandboxChanged", "Pod sandbox changed, it will be killed and re-created.", second)
			}
			p.sandbox(corev1.ConditionFalse)
		}, podWant{"sandbox-creation-failed", "Node/node-1", diagnose.StateError, false, "again and again (5 times so far)", ""}},
		"made again once": {func(p *podCase) {
			p.event("", "SandboxChanged", "Pod sandbox changed, it will be killed and re-created.", second).sandbox(corev1.ConditionFalse)
		}, podWant{"container-starting", "", diagnose.StatePending, false, "", ""}},
		"network up again": {func(p *podCase) {
			p.container("main", waitingWith("ContainerCreating", "")).event("", "NetworkNotReady", notReady, 5*minute).event("main", "Pulled", "Container image already present on machine", second)
			p.sandbox(corev1.ConditionTrue)
		}, podWant{"container-starting", "", diagnose.StatePending, false, "", ""}},
		"network down while it runs": {func(p *podCase) {
			p.ready().container("main", p.runs(time.Hour, true)).event("", "NetworkNotReady", notReady, second)
		}, podWant{"", "", diagnose.StateRunning, false, "", ""}},
		"network": {func(p *podCase) { p.event("", "FailedCreatePodSandBox", network, second) },
			podWant{"sandbox-creation-failed", "Node/node-1", diagnose.StateError, false, "network plugin calico fails", ""}},
		"the cause is older than the symptom": {func(p *podCase) {
			p.event("", "FailedCreatePodSandBox", network, minute).event("", "FailedCreatePodSandBox", "Failed to create pod sandbox: rpc error: code = DeadlineExceeded desc = context deadline exceeded", second)
		}, podWant{"sandbox-creation-failed", "Node/node-1", diagnose.StateError, false, "calico", ""}},
		"docker tears it down again": {func(p *podCase) {
			p.event("", "FailedCreatePodSandBox", prefix+`[failed to set up sandbox container "1" network for pod "x": networkPlugin cni failed to set up pod "x_ns" network: open /run/flannel/subnet.env: no such file or directory, failed to clean up sandbox container "1" network for pod "x": networkPlugin cni failed to teardown pod "x_ns" network: odd]`, second)
		}, podWant{"sandbox-creation-failed", "Node/node-1", diagnose.StateError, false, `("open /run/flannel/subnet.env: no such file or directory")`, ""}},
		"only the symptom": {func(p *podCase) {
			p.event("", "FailedCreatePodSandBox", "Failed to create pod sandbox: rpc error: code = DeadlineExceeded desc = context deadline exceeded", second)
		}, podWant{"sandbox-creation-failed", "Node/node-1", diagnose.StateError, false, "context deadline exceeded", ""}},
		"no address": {func(p *podCase) {
			p.event("", "FailedCreatePodSandBox", "(combined from similar events): "+prefix+"add cmd: failed to assign an IP address to container", second)
		}, podWant{"pod-ip-exhausted", "Node/node-1", diagnose.StateError, false, "no IP address left", ""}},
		"pause image": {func(p *podCase) {
			p.event("", "FailedCreatePodSandBox", prefix+`failed to get sandbox image "registry.k8s.io/pause:3.9": failed to pull image "registry.k8s.io/pause:3.9": dial tcp: i/o timeout`, second)
		}, podWant{"sandbox-creation-failed", "Node/node-1", diagnose.StateError, false, "pause image registry.k8s.io/pause:3.9", ""}},
		"made since": {func(p *podCase) {
			p.pod.Status.Conditions[2].Status = corev1.ConditionTrue
			p.event("", "FailedCreatePodSandBox", network, minute)
		}, podWant{"container-starting", "", diagnose.StatePending, false, "", ""}},
		"made since, old kubelet": {func(p *podCase) {
			p.pod.Status.Conditions = append(p.pod.Status.Conditions[:2:2], p.pod.Status.Conditions[3])
			p.event("", "FailedCreatePodSandBox", network, minute).event("main", "Pulling", `Pulling image "`+scipy+`"`, second)
		}, podWant{"image-pulling", "Image/" + scipy, diagnose.StatePending, false, "", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPodCase(t).container("main", waitingWith("ContainerCreating", ""))
			p.pod.Status.Conditions[2].Status = corev1.ConditionFalse
			c.set(p)
			p.check(t, c.want)
		})
	}
}

func FuzzParseSandbox(f *testing.F) {
	for _, s := range []string{"", "Failed to create pod sandbox: ", `plugin type="`, `image "`} {
		f.Add(s)
	}
	f.Fuzz(func(_ *testing.T, s string) {
		parseSandbox(s)
		sandboxReason(s)
		firstGroup(pluginPattern, s)
	})
}
