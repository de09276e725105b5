package causes

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/diagnose"
)

func TestCrashCauses(t *testing.T) {
	backsOff := waitingWith("CrashLoopBackOff", "back-off 20s restarting failed container=main")
	const main = "Container/main"
	limited := func(c *corev1.Container) {
		c.Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("512Mi")}
	}
	probed := func(c *corev1.Container) { c.LivenessProbe = &corev1.Probe{} }
	const killing = "Container main failed liveness probe, will be restarted"
	for name, c := range map[string]struct {
		set  func(p *podCase)
		want podWant
	}{
		"exit code 1": {func(p *podCase) { p.container("main", p.ended(backsOff, 1, "Error", "", minute)) },
			podWant{crashError, main, diagnose.StateError, true, "exit code 1,", ""}},
		"segmentation fault": {func(p *podCase) { p.container("main", p.ended(backsOff, 139, "Error", "", minute)) },
			podWant{crashError, main, diagnose.StateError, true, "exit code 139 (SIGSEGV", ""}},
		"its own words": {func(p *podCase) {
			p.container("main", p.ended(backsOff, 1, "Error", "Bind failed: Address already in use\n", minute))
		}, podWant{crashError, main, diagnose.StateError, true, "a port that it needs is in use", ""}},
		"may not write to the home volume": {func(p *podCase) {
			p.container("main", p.ended(backsOff, 1, "Error", "PermissionError: [Errno 13] Permission denied: '/home/jovyan/.local'", minute))
		}, podWant{crashError, "PersistentVolumeClaim/alice-home", diagnose.StateError, true, "may not write to /home/jovyan/.local", ""}},
		"may not write elsewhere": {func(p *podCase) {
			p.container("main", p.ended(backsOff, 1, "Error", "mkdir: cannot create directory '/opt/x': Permission denied", minute))
		}, podWant{crashError, main, diagnose.StateError, true, "", ""}},
		"ends without an error": {func(p *podCase) { p.container("main", p.ended(backsOff, 0, "Completed", "", minute)) },
			podWant{crashError, main, diagnose.StateError, true, "though it should keep running", ""}},
		"killed for its postStart hook": {func(p *podCase) {
			p.container("main", p.ended(waitingWith("PostStartHookError", "PostStartHookError: command 'sh -c x' exited with 126: "), 137, "Error", "", minute))
		}, podWant{crashError, main, diagnose.StateError, true, `as its postStart hook fails ("command 'sh -c x' exited with 126:")`, ""}},
		"killed for its postStart hook, backs off": {func(p *podCase) {
			p.container("main", p.ended(backsOff, 137, "Error", "", minute)).event("main", "FailedPostStartHook", "PostStartHook failed", minute)
		}, podWant{crashError, main, diagnose.StateError, true, "postStart hook fails", ""}},
		"a postStart hook that failed in an earlier run": {func(p *podCase) {
			p.container("main", p.ended(backsOff, 1, "Error", "", minute)).event("main", "FailedPostStartHook", "PostStartHook failed", time.Hour)
		}, podWant{crashError, main, diagnose.StateError, true, "exit code 1,", ""}},
		"not restarted yet": {func(p *podCase) {
			p.container("main", corev1.ContainerStatus{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 2, Reason: "Error"}}})
		}, podWant{crashError, main, diagnose.StateError, true, "exit code 2", ""}},
		"just restarted, not ready": {func(p *podCase) { p.container("main", p.ended(p.runs(5*second, false), 1, "Error", "", 20*second)) },
			podWant{crashError, main, diagnose.StateError, true, "it runs again, for 5s now", ""}},
		"just restarted, ready": {func(p *podCase) {
			p.ready().container("main", p.ended(p.runs(5*second, true), 1, "Error", "", 20*second))
		}, podWant{"", "", diagnose.StateRunning, false, "exit code 1", crashError}},
		"ready between two crashes": {func(p *podCase) {
			s := p.ended(p.runs(4*second, true), 1, "Error", "", 20*second)
			s.RestartCount = 3
			p.ready().container("main", s)
		}, podWant{crashError, main, diagnose.StateError, true, "Container main ends with exit code 1, with 3 restarts so far; it runs again, for 4s now", ""}},
		"has outlived its last run": {func(p *podCase) {
			s := p.ended(p.runs(15*second, true), 1, "Error", "", 20*second)
			s.RestartCount = 3
			p.ready().container("main", s)
		}, podWant{"", "", diagnose.StateRunning, false, "", crashError}},
		"crashed after running for long": {func(p *podCase) {
			s := p.ended(p.runs(4*second, true), 1, "Error", "", 20*second)
			s.RestartCount = 3
			s.LastTerminationState.Terminated.StartedAt = metav1.Time{Time: p.facts.Now.Add(-5 * time.Hour)}
			p.ready().container("main", s)
		}, podWant{"", "", diagnose.StateRunning, false, "", crashError}},
		"out of memory between two crashes": {func(p *podCase) {
			s := p.ended(p.runs(4*second, true), 137, "OOMKilled", "", 20*second)
			s.RestartCount = 2
			p.ready().spec(limited).container("main", s)
		}, podWant{crashOOM, main, diagnose.StateError, true, "512Mi", ""}},
		"crashed long ago": {func(p *podCase) {
			p.ready().container("main", p.ended(p.runs(5*time.Hour, true), 1, "Error", "", 5*time.Hour))
		}, podWant{"", "", diagnose.StateRunning, false, "", ""}},
		"no status left of the last run": {func(p *podCase) { p.container("main", backsOff) },
			podWant{crashError, main, diagnose.StateError, false, "its log says why", ""}},
		"a sidecar": {func(p *podCase) {
			p.container("main", p.runs(minute, true)).container("proxy", p.ended(backsOff, 1, "Error", "", minute))
		}, podWant{crashError, "Container/proxy", diagnose.StateError, true, "Container proxy ends", ""}},

		"out of memory": {func(p *podCase) { p.spec(limited).container("main", p.ended(backsOff, 137, "OOMKilled", "", minute)) },
			podWant{crashOOM, main, diagnose.StateError, true, "memory limit of 512Mi (OOMKilled, exit code 137)", ""}},
		"out of memory, has a probe too": {func(p *podCase) { p.spec(probed).container("main", p.ended(backsOff, 137, "OOMKilled", "", minute)) },
			podWant{crashOOM, main, diagnose.StateError, true, "no limit of its own", ""}},
		"out of memory, runs again": {func(p *podCase) {
			p.ready().spec(limited).container("main", p.ended(p.runs(5*time.Hour, true), 137, "OOMKilled", "", 5*time.Hour))
		}, podWant{"", "", diagnose.StateRunning, false, "512Mi", crashOOM}},
		"SIGKILL is not out of memory": {func(p *podCase) { p.container("main", p.ended(backsOff, 137, "Error", "", minute)) },
			podWant{crashError, main, diagnose.StateError, true, "SIGKILL", ""}},

		"liveness probe": {func(p *podCase) {
			p.container("main", p.ended(backsOff, 0, "Completed", "", minute)).
				event("main", "Unhealthy", "Liveness probe failed: no heartbeat", minute).event("main", "Killing", killing, minute)
		}, podWant{crashLiveness, main, diagnose.StateError, true, `as its Liveness probe fails ("no heartbeat")`, ""}},
		"liveness probe, old wording": {func(p *podCase) {
			p.container("main", p.ended(backsOff, 137, "Error", "", minute)).
				event("main", "Killing", "Killing container with id docker://main:Container failed liveness probe.. Container will be killed and recreated.", minute).
				event("main", "Unhealthy", "Liveness probe failed: dial tcp: connection refused", minute)
		}, podWant{crashLiveness, main, diagnose.StateError, true, "connection refused", ""}},
		"startup probe": {func(p *podCase) {
			p.container("main", p.ended(p.runs(second, false), 143, "Error", "", minute)).event("main", "Unhealthy", "Startup probe failed: HTTP probe failed with statuscode: 404", minute)
		}, podWant{crashLiveness, main, diagnose.StateError, true, "Startup probe fails", ""}},
		"liveness probe, Events expired": {func(p *podCase) { p.spec(probed).container("main", p.ended(backsOff, 143, "Error", "", minute)) },
			podWant{crashLiveness, main, diagnose.StateError, false, "most likely", ""}},
		"crashes by itself, a probe noticed": {func(p *podCase) {
			p.spec(probed).container("main", p.ended(backsOff, 1, "Error", "", minute)).event("main", "Unhealthy", "Liveness probe failed: connection refused", minute)
		}, podWant{crashError, main, diagnose.StateError, true, "", ""}},
		"liveness probe, last run not told": {func(p *podCase) {
			s := p.runs(second, false)
			s.RestartCount = 3
			p.container("main", s).event("main", "Unhealthy", "(combined from similar events): Liveness probe failed: x", minute).event("main", "Killing", killing, minute)
		}, podWant{crashLiveness, main, diagnose.StateError, true, "with 3 restarts", ""}},
		"killed before it started": {func(p *podCase) {
			p.spec(limited).container("main", p.ended(backsOff, 128, "StartError", "runc create failed: unable to start container process: container init was OOM-killed (memory limit too low?)", minute))
		}, podWant{crashOOM, main, diagnose.StateError, true, "512Mi", ""}},
		"its words are not the runtime's": {func(p *podCase) {
			p.container("main", p.ended(backsOff, 1, "Error", `exec: "conda": executable file not found in $PATH`, minute))
		}, podWant{crashError, main, diagnose.StateError, true, "conda", ""}},
		"its node restarted": {func(p *podCase) {
			p.ready().spec(probed).container("main", p.ended(p.runs(minute, true), 137, statusUnknown, "The container could not be located when the pod was terminated", minute))
		}, podWant{"", "", diagnose.StateRunning, false, "lost sight of it", crashError}},
		"killed by a probe in an earlier run": {func(p *podCase) {
			p.container("main", p.ended(backsOff, 1, "Error", "", minute)).event("main", "Killing", killing, time.Hour)
		}, podWant{crashError, main, diagnose.StateError, true, "", ""}},
		"a readiness probe does not kill": {func(p *podCase) {
			p.container("main", p.ended(backsOff, 0, "Completed", "", minute)).event("main", "Unhealthy", "Readiness probe failed: x", minute)
		}, podWant{crashError, main, diagnose.StateError, true, "", ""}},

		"init container": {func(p *podCase) {
			p.container("main", waitingWith("PodInitializing", "")).init("prepare", p.ended(backsOff, 255, "Error", "", minute))
		}, podWant{"init-container-failing", "InitContainer/prepare", diagnose.StateError, true, "Init container prepare ends with exit code 255", ""}},
		"init container tries again": {func(p *podCase) {
			p.container("main", waitingWith("PodInitializing", "")).init("prepare", p.ended(p.runs(second, false), 1, "Error", "", minute))
		}, podWant{"init-container-failing", "InitContainer/prepare", diagnose.StateError, true, "exit code 1", ""}},
		"init container out of memory": {func(p *podCase) {
			p.container("main", waitingWith("PodInitializing", "")).init("prepare", p.ended(backsOff, 137, "OOMKilled", "", minute))
		}, podWant{"init-container-failing", "InitContainer/prepare", diagnose.StateError, true, "OOMKilled", ""}},
		"init container done at last": {func(p *podCase) {
			done := p.ended(corev1.ContainerStatus{}, 1, "Error", "", minute)
			done.State.Terminated = &corev1.ContainerStateTerminated{ExitCode: 0, Reason: "Completed"}
			p.container("main", waitingWith("ContainerCreating", "")).init("prepare", done)
		}, podWant{"container-starting", "", diagnose.StatePending, false, "", ""}},

		"evicted": {func(p *podCase) {
			p.pod.Status.Phase = corev1.PodFailed
			p.container("main", corev1.ContainerStatus{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 137, Reason: "Error"}}})
		}, podWant{"pod-ended", "Pod/ws-alice-notebook-x7k2p-0", diagnose.StateError, true, "has ended (Failed): container main ended with exit code 137", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPodCase(t)
			c.set(p)
			p.check(t, c.want)
		})
	}
}

func TestCrashPrintsTheCommandThatShowsWhy(t *testing.T) {
	p := newPodCase(t)
	p.container("main", p.ended(waitingWith("CrashLoopBackOff", ""), 1, "Error", "", minute))
	d := p.check(t, podWant{crashError, "Container/main", diagnose.StateError, true, "", ""})
	var all []string
	for _, f := range d.Causes[0].Fixes {
		all = append(all, f.Text+" "+f.Command)
	}
	text := strings.Join(all, "\n")
	for _, s := range []string{"kubectl logs ws-alice-notebook-x7k2p-0 -c main -n team-a --previous", "PersistentVolumeClaim alice-home"} {
		if !strings.Contains(text, s) {
			t.Errorf("fixes = %s\nwant %q", text, s)
		}
	}
}

func TestMoreMemoryIsOffered(t *testing.T) {
	p := newPodCase(t)
	values := &p.facts.Kind.Value.Spec.PodTemplate.Options.PodConfig.Values
	big := (*values)[0]
	big.ID = "big"
	big.Spec.Resources = &corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("4Gi")}}
	*values = append(*values, big)
	p.spec(func(c *corev1.Container) {
		c.Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")}
	}).container("main", p.ended(waitingWith("CrashLoopBackOff", ""), 137, "OOMKilled", "", minute))
	d := p.check(t, podWant{crashOOM, "Container/main", diagnose.StateError, true, "1Gi", ""})
	if f := d.Causes[0].Fixes[1]; !strings.Contains(f.Command, `"podConfig":"big"`) {
		t.Errorf("fix = %+v", f)
	}
}

func TestDeniedIn(t *testing.T) {
	for in, path := range map[string]string{
		"PermissionError: [Errno 13] Permission denied: '/home/a/.local'": "/home/a/.local",
		"open /home/a/x: permission denied":                               "/home/a/x",
		"touch: cannot touch '/home/a/x': Permission denied":              "/home/a/x",
		"mkdir: cannot create directory ‘/home/a/x’: Permission denied":   "/home/a/x",
		"permission denied":      "",
		"all is well at /home/a": "",
	} {
		got, denied := deniedIn(in)
		if got != path || denied != strings.Contains(strings.ToLower(in), "permission denied") {
			t.Errorf("deniedIn(%q) = %q, %t, want %q", in, got, denied, path)
		}
	}
}

func TestAPodOnItsWayOutDoesNotCrash(t *testing.T) {
	p := newPodCase(t)
	p.container("main", p.ended(waitingWith("CrashLoopBackOff", ""), 1, "Error", "", minute))
	p.pod.DeletionTimestamp = &metav1.Time{Time: p.facts.Now}
	for _, c := range Diagnose(p.facts).Causes {
		if c.ID == crashError {
			t.Errorf("%s: %s", c.ID, c.Summary)
		}
	}
}
