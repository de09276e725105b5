package causes

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/diagnose"
)

func TestStartCauses(t *testing.T) {
	noCommand := `failed to generate container "1" spec: failed to generate spec: no command specified`
	mounting := `OCI runtime create failed: error mounting "/var/lib/kubelet/pods/1/volumes/kubernetes.io~secret/secret-volume-1" to rootfs at "/secrets/git-token": not a directory`
	for name, c := range map[string]struct {
		set  func(p *podCase)
		want podWant
	}{
		"image runs as root": {func(p *podCase) {
			p.container("main", waitingWith("CreateContainerConfigError", "container has runAsNonRoot and image will run as root"))
		}, podWant{startAsRoot, "Container/main", diagnose.StateError, true, "runs as root", ""}},
		"user by name": {func(p *podCase) {
			p.container("main", waitingWith("CreateContainerConfigError", "container has runAsNonRoot and image has non-numeric user (jovyan), cannot verify user is non-root"))
		}, podWant{startAsRoot, "Container/main", diagnose.StateError, true, "is not a number", ""}},
		"a missing Secret is another cause": {func(p *podCase) {
			p.container("main", waitingWith("CreateContainerConfigError", `secret "x" not found`))
		}, podWant{diagnose.UnexplainedID, "Pod/ws-alice-notebook-x7k2p-0", diagnose.StateError, false, "", ""}},
		"no command": {func(p *podCase) { p.container("main", waitingWith("CreateContainerError", noCommand)) },
			podWant{startCommand, "Image/" + scipy, diagnose.StateError, true, "no command of its own", ""}},
		"no command, told by an Event": {func(p *podCase) {
			p.container("main", waitingWith("CreateContainerError", "")).event("main", "Failed", "Error: "+noCommand, minute).event("main", "Failed", "Error: CreateContainerError", second)
		}, podWant{startCommand, "Image/" + scipy, diagnose.StateError, false, "no command of its own", ""}},
		"the spec's command": {func(p *podCase) {
			p.spec(func(c *corev1.Container) { c.Command = []string{"lab"} }).
				container("main", p.ended(waitingWith("CrashLoopBackOff", ""), 128, "StartError", `exec: "lab": executable file not found in $PATH: unknown`, minute))
		}, podWant{startCommand, "Container/main", diagnose.StateError, true, `its command "lab" is not in image`, ""}},
		"an Event of an earlier trouble": {func(p *podCase) {
			p.container("main", p.ended(waitingWith("CrashLoopBackOff", ""), 1, "Error", "", minute)).event("main", "Failed", "Error: "+noCommand, 2*minute)
		}, podWant{crashError, "Container/main", diagnose.StateError, true, "exit code 1", ""}},
		"got over it": {func(p *podCase) {
			p.container("main", waitingWith("ContainerCreating", "")).event("main", "Failed", "Error: "+noCommand, minute).event("main", "Created", "Created container main", second)
		}, podWant{"container-starting", "", diagnose.StatePending, false, "", ""}},
		"name reserved": {func(p *podCase) {
			p.container("main", waitingWith("CreateContainerError", "context deadline exceeded")).event("main", "Failed", `Error: failed to reserve container name "x": name "x" is reserved for "y"`, minute)
		}, podWant{startName, "Container/main", diagnose.StateError, false, "still holds its name", ""}},
		"only a symptom": {func(p *podCase) {
			p.container("main", waitingWith("CreateContainerError", "context deadline exceeded"))
		},
			podWant{diagnose.UnexplainedID, "Pod/ws-alice-notebook-x7k2p-0", diagnose.StateError, false, "", ""}},
		"mount": {func(p *podCase) {
			p.container("main", p.ended(waitingWith("RunContainerError", mounting), 128, "StartError", mounting, minute))
		}, podWant{startMount, "Volume/secret-volume-1", diagnose.StateError, true, "volume secret-volume-1 (Secret git-token) cannot be mounted at /secrets/git-token", ""}},
		"a sidecar's command, main runs": {func(p *podCase) {
			p.container("main", p.runs(minute, true)).container("proxy", waitingWith("CreateContainerError", noCommand))
		}, podWant{startCommand, "Image/registry.example.com/proxy:1", diagnose.StateError, true, "Container proxy", ""}},
		"the node's disk is full": {func(p *podCase) {
			p.container("main", waitingWith("CreateContainerError", `failed to create containerd task: error mounting "/x/resolv.conf" to rootfs: no space left on device`))
		}, podWant{imageDiskFull, "Image/" + scipy, diagnose.StateError, true, "cannot run image", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPodCase(t)
			c.set(p)
			p.check(t, c.want)
		})
	}
}

func TestMountFaultNamesTheWorkspacesField(t *testing.T) {
	p := newPodCase(t).container("main", waitingWith("RunContainerError", `error mounting "/x" to rootfs at "/secrets/git-token": not a directory`))
	d := p.check(t, podWant{startMount, "Volume/secret-volume-1", diagnose.StateError, true, "", ""})
	if d.Causes[0].Origin != "spec.podTemplate.volumes.secrets[1]" {
		t.Errorf("origin = %q", d.Causes[0].Origin)
	}
}
