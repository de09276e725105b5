package causes

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/diagnose"
)

// progressRules are about a Pod that gets there by itself.
func progressRules() []diagnose.Rule {
	return []diagnose.Rule{{
		ID:         "image-pulling",
		Progress:   true,
		Blocks:     diagnose.RungReady, // a sidecar's image may come while main runs
		Title:      "An image is being pulled",
		Recognised: "The newest Event about a waiting container is Pulling. The status may still tell of the pull that failed before.",
		Fix:        "Wait; a large image takes minutes.",
		Match:      matchPulling,
	}, {
		ID:         "container-starting",
		Progress:   true,
		Blocks:     diagnose.RungReady,
		Title:      "The containers are being made",
		Recognised: "The Pod has a node, nothing is wrong with its containers, and no Warning is current.",
		Fix:        "Wait.",
		Match:      matchStarting,
	}}
}

func matchPulling(c *diagnose.Case) []diagnose.Cause {
	if c.Pod != nil && c.Pod.DeletionTimestamp != nil {
		return nil
	}
	for _, container := range c.PodContainers() {
		e, ok := pullingNow(c, container)
		if !ok {
			continue
		}
		return one(diagnose.Cause{
			Object: "Image/" + container.Spec.Image,
			Summary: fmt.Sprintf("Workspace %s is Pending: %s is pulling image %s%s, for %s now.",
				c.Name(), lowerNode(c), container.Spec.Image, forContainer(container), duration.HumanDuration(c.Now.Sub(e.Last))),
			Confidence: diagnose.Likely,
			State:      diagnose.StatePending,
			Chain:      []string{"Workspace " + c.Name(), containerWords(container) + " waits for its image"},
			Evidence:   []diagnose.Evidence{e.Evidence()},
		})
	}
	return nil
}

func matchStarting(c *diagnose.Case) []diagnose.Cause {
	if c.Pod == nil || c.Reached < diagnose.RungScheduled || c.Broken() || c.Pod.DeletionTimestamp != nil || slices.ContainsFunc(c.Current, func(e diagnose.Event) bool { return !harmless(c, e) }) {
		return nil
	}
	if len(matchPulling(c)) > 0 || len(matchUnready(c)) > 0 {
		return nil // which say more
	}
	cause := diagnose.Cause{
		Summary: fmt.Sprintf("Workspace %s is Pending: its Pod was created %s ago and its containers are being made on %s.",
			c.Name(), age(c), lowerNode(c)),
		Confidence: diagnose.Likely,
		State:      diagnose.StatePending,
	}
	if container, ok := initNow(c); ok {
		ran := duration.HumanDuration(c.Now.Sub(container.Status.State.Running.StartedAt.Time))
		cause.Object = container.Ref()
		cause.Summary = fmt.Sprintf("Workspace %s is Pending: its init container %s runs, for %s now, and the others start when it is done.", c.Name(), container.Name(), ran)
		cause.Fixes = []diagnose.Fix{liveLog(c, container)}
		return one(cause)
	}
	if c.Reached == diagnose.RungStarted {
		var waits []string
		for _, container := range c.PodContainers() {
			if !container.Settled() {
				waits = append(waits, containerWords(container))
			}
		}
		if len(waits) == 0 {
			return nil // something else than a container keeps the Pod from being Ready
		}
		cause.Summary = fmt.Sprintf("Workspace %s is Pending: its Pod was created %s ago, and it still waits for %s to become ready.",
			c.Name(), age(c), strings.Join(waits, " and "))
	}
	if said := c.CurrentOf("Pod", permissionChange); len(said) > 0 {
		describePermissionChange(c, &cause, said[0])
		return one(cause)
	}
	if silent := c.Now.Sub(lastSign(c)); silent > startPatience {
		cause.Summary = strings.TrimSuffix(cause.Summary, ".") + fmt.Sprintf("; nothing has been heard of it for %s, which is long.", duration.HumanDuration(silent))
		cause.Fixes = append(inspectPod(c), inspectNode(c)...)
	}
	return one(cause)
}

// initNow is the init container that runs now and has to end before others start.
func initNow(c *diagnose.Case) (diagnose.Container, bool) {
	containers := c.PodContainers()
	i := slices.IndexFunc(containers, func(o diagnose.Container) bool { return o.Init && !o.Sidecar && o.Running() })
	if i < 0 {
		return diagnose.Container{}, false
	}
	return containers[i], true
}

// describePermissionChange says that the files of a volume are being given to the Pod.
func describePermissionChange(c *diagnose.Case, cause *diagnose.Cause, e diagnose.Event) {
	volume := "a volume"
	if m := kubeletVolume.FindStringSubmatch(e.Message); m != nil {
		volume = "volume " + m[1]
		if claim := claimOfVolume(c, m[1]); claim != "" {
			volume = "PersistentVolumeClaim " + claim
			cause.Object = "PersistentVolumeClaim/" + claim
		}
	}
	cause.Summary = fmt.Sprintf("Workspace %s is Pending: the kubelet of %s gives every file on %s to the group of the Pod (fsGroup), for %s now, which takes long where there are many.",
		c.Name(), lowerNode(c), volume, duration.HumanDuration(c.Now.Sub(e.First)))
	cause.Chain = []string{"Workspace " + c.Name(), "Pod waits for its volumes", "the files on " + volume + " change hands"}
	cause.Evidence = []diagnose.Evidence{e.Evidence()}
	cause.Fixes = []diagnose.Fix{editKind(c, "To have it done only where it is needed, set fsGroupChangePolicy: OnRootMismatch in the securityContext of the WorkspaceKind")}
}

// asides are Warnings that keep no Pod from starting.
var asides = []string{
	"FailedToRetrieveImagePullSecret", // the pull may work without; if not, the pull says so
	"DNSConfigForming", "FailedPreStopHook", "ProbeWarning", "Unhealthy", permissionChange,
}

// permissionChange is the kubelet's reason (since 1.35) for saying that it gives all files
// of a volume to the Pod's group (fsGroup), which takes long where there are many.
const permissionChange = "VolumePermissionChangeInProgress"

// startPatience is when the start of a Pod of which nothing is heard is no longer put down
// to the node being slow. The longest that a kubelet waits for one answer of its container
// runtime, pulls apart, is twice runtimeRequestTimeout, which is 2 minutes by default
// (k8s.io/cri-client, RunPodSandbox); then it reports a failure.
const startPatience = 5 * time.Minute

// lastSign is when something was last heard of the Pod's start.
func lastSign(c *diagnose.Case) time.Time {
	last := c.Pod.CreationTimestamp.Time
	see := func(t time.Time) {
		if t.After(last) {
			last = t
		}
	}
	for _, s := range c.Pod.Status.Conditions {
		see(s.LastTransitionTime.Time)
	}
	for _, e := range c.All {
		if e.Object.Kind == "Pod" {
			see(e.Last)
		}
	}
	for _, s := range c.Containers() {
		for _, t := range []*corev1.ContainerStateTerminated{s.State.Terminated, s.LastTerminationState.Terminated} {
			if t != nil {
				see(t.FinishedAt.Time)
			}
		}
		if r := s.State.Running; r != nil {
			see(r.StartedAt.Time)
		}
	}
	return last
}

// harmless reports whether a Warning does not tell against progress: it never does, or it
// is about a container that has got over it.
func harmless(c *diagnose.Case, e diagnose.Event) bool {
	if slices.Contains(asides, e.Reason) {
		return true
	}
	if e.Object.Kind != "Pod" || e.Reason != "Failed" && e.Reason != "BackOff" && e.Reason != "InspectFailed" {
		return false
	}
	for _, container := range c.PodContainers() {
		if !slices.Contains(container.Events, e) {
			continue
		}
		newest := container.Events[0]
		if !container.Settled() && (!newest.Last.After(e.Last) || newest.IsWarning()) {
			return false
		}
	}
	return true
}

func age(c *diagnose.Case) string {
	return duration.HumanDuration(c.Now.Sub(c.Pod.CreationTimestamp.Time))
}
