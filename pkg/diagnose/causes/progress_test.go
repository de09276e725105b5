package causes

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/diagnose"
)

func TestProgress(t *testing.T) {
	creating := waitingWith("ContainerCreating", "")
	const pulling = `Pulling image "` + scipy + `"`
	for name, c := range map[string]struct {
		set  func(p *podCase)
		want podWant
	}{
		"pulling": {func(p *podCase) { p.container("main", creating).event("main", "Pulling", pulling, 10*minute) },
			podWant{"image-pulling", "Image/" + scipy, diagnose.StatePending, false, "is pulling image " + scipy + " for container main, for 10m now", ""}},
		"pulling, before 1.14": {func(p *podCase) {
			p.container("main", creating).event("main", "Pulling", `pulling image "`+scipy+`"`, minute)
		}, podWant{"image-pulling", "Image/" + scipy, diagnose.StatePending, false, "", ""}},
		"pulling, nothing reported yet": {func(p *podCase) { p.event("main", "Pulling", pulling, second) },
			podWant{"image-pulling", "Image/" + scipy, diagnose.StatePending, false, "", ""}},
		"pulling under an old Warning": {func(p *podCase) {
			p.container("main", creating).event("", "FailedMount", `secret "minio-creds" not found`, 5*minute).event("main", "Pulling", pulling, minute)
		}, podWant{"image-pulling", "Image/" + scipy, diagnose.StatePending, false, "", ""}},
		"a sidecar's image while main runs": {func(p *podCase) {
			p.container("main", p.runs(minute, true)).container("proxy", creating).event("proxy", "Pulling", `Pulling image "registry.example.com/proxy:1"`, second)
		}, podWant{"image-pulling", "Image/registry.example.com/proxy:1", diagnose.StatePending, false, "for container proxy", ""}},
		"pulled": {func(p *podCase) {
			p.container("main", creating).event("main", "Pulling", pulling, minute).event("main", "Pulled", "Successfully pulled image", minute)
		}, podWant{"container-starting", "", diagnose.StatePending, false, "containers are being made on node node-1", ""}},
		"nothing said": {func(p *podCase) { p.container("main", creating) },
			podWant{"container-starting", "", diagnose.StatePending, false, "", ""}},
		"an init container at work": {func(p *podCase) {
			p.container("main", waitingWith("PodInitializing", "")).init("fetch", p.runs(9*minute, false))
			p.pod.Status.Conditions[1].Status = corev1.ConditionFalse
		}, podWant{"container-starting", "InitContainer/fetch", diagnose.StatePending, false, "its init container fetch runs, for 9m now", ""}},
		"nothing said for long": {func(p *podCase) {
			p.container("main", creating).event("main", "Pulled", "Container image already present on machine", 20*minute)
			p.pod.CreationTimestamp = metav1.Time{Time: p.facts.Now.Add(-30 * minute)}
		}, podWant{"container-starting", "", diagnose.StatePending, false, "nothing has been heard of it for 20m, which is long", ""}},
		"changing the owner of every file": {func(p *podCase) {
			p.container("main", creating).sandbox(corev1.ConditionFalse)
			p.facts.Claims["alice-home"].Value.Spec.VolumeName = "pvc-1"
			p.event("", permissionChange, "Setting volume ownership for 0f2/volumes/kubernetes.io~csi/pvc-1/mount is taking longer than expected, consider using OnRootMismatch - https://kubernetes.io/docs/", 9*minute).
				event("", permissionChange, "Setting volume ownership for 0f2/volumes/kubernetes.io~csi/pvc-1/mount, processed 51200 files.", second)
		}, podWant{"container-starting", "PersistentVolumeClaim/alice-home", diagnose.StatePending, false, "gives every file on PersistentVolumeClaim alice-home to the group of the Pod", ""}},
		"it has changed the owner of every file": {func(p *podCase) {
			p.container("main", creating).event("", permissionChange, "Setting volume ownership for 0f2/volumes/kubernetes.io~csi/pvc-1/mount is taking longer than expected", minute)
		}, podWant{"container-starting", "", diagnose.StatePending, false, "containers are being made", ""}},
		"started, not ready yet": {func(p *podCase) { p.container("main", p.runs(second, false)) },
			podWant{"container-starting", "", diagnose.StatePending, false, "still waits for container main to become ready", ""}},
		"a Warning that nobody knows": {func(p *podCase) { p.container("main", creating).event("", "Strange", "something is wrong", second) },
			podWant{diagnose.UnexplainedID, "Pod/ws-alice-notebook-x7k2p-0", diagnose.StateError, false, "something is wrong", ""}},
		"waits for something else": {func(p *podCase) { p.container("main", waitingWith("CreateContainerError", "something is wrong")) },
			podWant{startFailed, "Container/main", diagnose.StateError, true, "something is wrong", ""}},
		"all containers are ready, the Pod is not": {func(p *podCase) { p.container("main", p.runs(minute, true)) },
			podWant{diagnose.UnexplainedID, "Pod/ws-alice-notebook-x7k2p-0", diagnose.StatePending, false, "", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPodCase(t)
			c.set(p)
			p.check(t, c.want)
		})
	}
}

func TestAPodOnItsWayOutMakesNoProgress(t *testing.T) {
	p := newPodCase(t).container("main", waitingWith("ContainerCreating", "")).event("main", "Pulling", `Pulling image "`+scipy+`"`, second)
	p.pod.DeletionTimestamp = &metav1.Time{Time: p.facts.Now}
	for _, c := range Diagnose(p.facts).Causes {
		if c.ID == "image-pulling" || c.ID == "container-starting" {
			t.Errorf("%s: %s", c.ID, c.Summary)
		}
	}
}

func TestNativeSidecarFailingHoldsUpTheStart(t *testing.T) {
	p := newPodCase(t).container("main", waitingWith("PodInitializing", ""))
	p.init("proxy", p.ended(waitingWith("CrashLoopBackOff", ""), 1, "Error", "", second))
	always := corev1.ContainerRestartPolicyAlways
	p.pod.Spec.InitContainers[0].RestartPolicy = &always
	p.check(t, podWant{"init-container-failing", "InitContainer/proxy", diagnose.StateError, true, "", ""})
}
