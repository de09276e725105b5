package causes

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

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
		}, podWant{startAsRoot, "Container/main", diagnose.StateError, true, `the user "jovyan" of image`, ""}},
		"a missing Secret is another cause": {func(p *podCase) {
			p.container("main", waitingWith("CreateContainerConfigError", `secret "x" not found`))
		}, podWant{diagnose.UnexplainedID, "Pod/ws-alice-notebook-x7k2p-0", diagnose.StateError, false, `Container main waits with CreateContainerConfigError: secret "x" not found`, ""}},
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
		"the runtime hangs": {func(p *podCase) {
			p.container("main", waitingWith("CreateContainerError", "context deadline exceeded"))
		}, podWant{startName, "Container/main", diagnose.StateError, true, "hangs in making it", ""}},
		"the program's own deadline": {func(p *podCase) {
			p.container("main", p.ended(waitingWith("CrashLoopBackOff", ""), 1, "Error", "context deadline exceeded", minute))
		}, podWant{crashError, "Container/main", diagnose.StateError, true, "context deadline exceeded", ""}},
		"only the reason is known": {func(p *podCase) {
			p.container("main", waitingWith("CreateContainerError", "")).event("main", "Failed", "Error: CreateContainerError", second)
		}, podWant{startFailed, "Container/main", diagnose.StateError, false, "CreateContainerError", ""}},
		"the kubelet is not ready for it": {func(p *podCase) {
			p.container("main", waitingWith("CreateContainerConfigError", "services have not yet been read at least once, cannot construct envvars"))
		}, podWant{diagnose.UnexplainedID, "Pod/ws-alice-notebook-x7k2p-0", diagnose.StateError, false, "", ""}},
		"mount": {func(p *podCase) {
			p.container("main", p.ended(waitingWith("RunContainerError", mounting), 128, "StartError", mounting, minute))
		}, podWant{startMount, "Volume/secret-volume-1", diagnose.StateError, true, "volume secret-volume-1 (Secret git-token) cannot be mounted at /secrets/git-token", ""}},
		"a sidecar's command, main runs": {func(p *podCase) {
			p.container("main", p.runs(minute, true)).container("proxy", waitingWith("CreateContainerError", noCommand))
		}, podWant{startCommand, "Image/registry.example.com/proxy:1", diagnose.StateError, true, "Container proxy", ""}},
		"a sidecar's Secret, main runs": {func(p *podCase) {
			p.container("main", p.runs(minute, true)).container("proxy", waitingWith("CreateContainerConfigError", `secret "proxy-config" not found`))
			p.pod.Spec.Containers[1].EnvFrom = []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "proxy-config"}}}}
		}, podWant{"secret-not-found", "Secret/proxy-config", diagnose.StateError, false, "container proxy takes environment variables from it", ""}},
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

// How the kubelet shows a container that the runtime cannot start changes from try to try.
// The answer may not, and never points to a log that does not exist.
func TestAContainerThatNeverRanHasOneExplanation(t *testing.T) {
	const wrapped = "failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: "
	limited := func(c *corev1.Container) {
		c.Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("4Mi")}
	}
	for name, c := range map[string]struct {
		message string
		want    podWant
	}{
		"no driver": {wrapped + "error during container init: error running prestart hook #0: exit status 1, stdout: , stderr: nvidia-container-cli: initialization error: nvml error: driver not loaded: unknown",
			podWant{startFailed, "Container/main", diagnose.StateError, true, "NVIDIA driver", ""}},
		"an old driver": {wrapped + "error during container init: error running prestart hook #0: exit status 1, stdout: , stderr: nvidia-container-cli: requirement error: unsatisfied condition: cuda>=12.4, please update your driver to a newer version: unknown",
			podWant{startFailed, "Container/main", diagnose.StateError, true, "NVIDIA driver is too old for the image", ""}},
		"a volume that it may not write to": {wrapped + "error during container init: mkdir /home/jovyan/work: permission denied: unknown",
			podWant{startFailed, "PersistentVolumeClaim/alice-home", diagnose.StateError, true, "may not write to /home/jovyan/work, which is on PersistentVolumeClaim alice-home", ""}},
		"no words for it":             {wrapped + "something odd: unknown", podWant{startFailed, "Container/main", diagnose.StateError, true, `("something odd")`, ""}},
		"memory limit, runc":          {wrapped + "container init was OOM-killed (memory limit too low?): unknown", podWant{crashOOM, "Container/main", diagnose.StateError, true, "limit of 4Mi is too low", ""}},
		"memory limit, CRI-O":         {"set memory limit 4194304 too low; should be at least 12582912 bytes", podWant{crashOOM, "Container/main", diagnose.StateError, true, "limit of 4Mi is too low", ""}},
		"a command that is not there": {wrapped + `exec: "lab": executable file not found in $PATH: unknown`, podWant{startCommand, "Image/" + scipy, diagnose.StateError, true, `"lab"`, ""}},
	} {
		for shape, status := range map[string]func(p *podCase) corev1.ContainerStatus{
			"RunContainerError": func(*podCase) corev1.ContainerStatus { return waitingWith("RunContainerError", c.message) },
			"RunContainerError, second try": func(p *podCase) corev1.ContainerStatus {
				return p.ended(waitingWith("RunContainerError", c.message), 128, "StartError", c.message, minute)
			},
			"CrashLoopBackOff": func(p *podCase) corev1.ContainerStatus {
				return p.ended(waitingWith("CrashLoopBackOff", "back-off 20s restarting failed container=main"), 128, "StartError", c.message, minute)
			},
			"CrashLoopBackOff, docker": func(p *podCase) corev1.ContainerStatus {
				return p.ended(waitingWith("CrashLoopBackOff", ""), 127, "ContainerCannotRun", c.message, minute)
			},
			"between two tries": func(p *podCase) corev1.ContainerStatus {
				s := p.ended(corev1.ContainerStatus{}, 128, "StartError", c.message, second)
				s.State.Terminated, s.LastTerminationState.Terminated = s.LastTerminationState.Terminated, nil
				return s
			},
		} {
			t.Run(name+", "+shape, func(t *testing.T) {
				p := newPodCase(t)
				p.spec(limited).container("main", status(p))
				d := p.check(t, c.want)
				for _, f := range d.Causes[0].Fixes {
					if strings.Contains(f.Command, "kubectl logs") {
						t.Errorf("there is no log: %s", f.Command)
					}
				}
				if d.Rung >= diagnose.RungStarted || len(d.Causes) != 1 {
					t.Errorf("rung = %s, causes = %+v", d.Rung, d.Causes)
				}
			})
		}
	}
	t.Run("a memory limit that the spec does not show", func(t *testing.T) {
		p := newPodCase(t)
		p.container("main", waitingWith("CreateContainerError", "Error response from daemon: Minimum memory limit allowed is 6MB"))
		p.check(t, podWant{crashOOM, "Container/main", diagnose.StateError, true, "its memory limit is too low even for the start", ""})
	})
	t.Run("it starts at last", func(t *testing.T) {
		p := newPodCase(t)
		p.ready().container("main", p.ended(p.runs(minute, true), 128, "StartError", wrapped+"something odd", minute))
		if d := Diagnose(p.facts); d.State != diagnose.StateRunning || slices.ContainsFunc(d.Warnings, func(w diagnose.Warning) bool { return w.ID == crashError }) {
			t.Errorf("%s, %+v", d.State, d.Warnings)
		}
	})
	t.Run("a program that quotes the runtime", func(t *testing.T) {
		p := newPodCase(t)
		p.container("main", p.ended(waitingWith("CrashLoopBackOff", ""), 1, "Error", "container init was OOM-killed", minute))
		p.check(t, podWant{crashError, "Container/main", diagnose.StateError, true, "exit code 1", ""})
	})
}
