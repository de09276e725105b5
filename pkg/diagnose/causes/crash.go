package causes

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/diagnose"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/facts"
)

// crashRules are about containers that start and end. Those about main and its
// neighbours are always asked: a Workspace that runs again has something to tell.
func crashRules() []diagnose.Rule {
	return []diagnose.Rule{{
		ID:         initFailing,
		Blocks:     diagnose.RungReady,
		Title:      "An init container fails",
		Recognised: "An init container ended with an error and is started again and again.",
		Fix:        "Read its log; it is not from the WorkspaceKind, so ask whoever adds it.",
		Match: func(c *diagnose.Case) []diagnose.Cause {
			return append(matchCrash(c, func(container diagnose.Container, _ string) bool { return container.Init }), quotedCauses(c, initFailing)...)
		},
	}, {
		ID:         crashLiveness,
		Title:      "The kubelet kills the container, as its liveness or startup probe fails",
		Recognised: "The container restarts, and an Event says that it was killed for its liveness or startup probe. Without Events: it ended by SIGTERM or SIGKILL and has such a probe.",
		Fix:        "See why the probe fails (wrong path or port, too slow a start), and correct it in the WorkspaceKind.",
		Match:      matchCrashKind(crashLiveness),
	}, {
		ID:         crashOOM,
		Title:      "The container is killed for its memory limit",
		Recognised: "The last run ended with reason OOMKilled, or the runtime says that the memory limit is too low even to start it. It is a warning if the Workspace runs again.",
		Fix:        "Choose a podConfig with more memory, or use less.",
		Match:      matchCrashKind(crashOOM),
	}, {
		ID:         crashError,
		Title:      "The program in the container ends by itself",
		Recognised: "The container waits with CrashLoopBackOff, or has just restarted, and its last run ended with an exit code of its own. It is a warning if the Workspace runs again: after the second crash in a row, only once it runs longer than it did the last time.",
		Fix:        "Read the log of the last run: kubectl logs --previous.",
		Match:      matchCrashKind(crashError),
	}}
}

func matchCrashKind(kind string) func(c *diagnose.Case) []diagnose.Cause {
	return func(c *diagnose.Case) []diagnose.Cause {
		crashed := matchCrash(c, func(container diagnose.Container, k string) bool { return !container.Init && k == kind })
		if kind == crashOOM {
			return append(crashed, matchStart(c, kind)...)
		}
		return append(crashed, quotedCauses(c, kind)...)
	}
}

func matchCrash(c *diagnose.Case, wanted func(container diagnose.Container, kind string) bool) []diagnose.Cause {
	// A Pod on its way out has ended containers that nobody starts again.
	if c.Pod == nil || c.Pod.DeletionTimestamp != nil || c.Pod.Status.Phase == corev1.PodFailed || c.Pod.Status.Phase == corev1.PodSucceeded {
		return nil
	}
	var out []diagnose.Cause
	for _, container := range c.PodContainers() {
		if !crashes(c, container) && !recovered(c, container) {
			continue
		}
		if kind := crashKind(container); wanted(container, kind) {
			out = append(out, crashCause(c, container, kind))
		}
	}
	return out
}

// crashes reports whether a container ends again and again, or has only just been
// started once more.
func crashes(c *diagnose.Case, container diagnose.Container) bool {
	reason, _ := container.Waiting()
	t := container.Ended()
	justNow := container.Running() && c.Now.Sub(container.Status.State.Running.StartedAt.Time) < diagnose.StableAfter
	switch {
	case t == nil:
		return reason == "CrashLoopBackOff" || container.Status.RestartCount > 0 && justNow && !container.Status.Ready
	case c.Relapses(container):
		return true
	case container.Settled(), slices.Contains(pullReasons, reason), cannotStart(container):
		return false
	case container.Running():
		return justNow && !diagnose.NeverRan(t)
	}
	return !runFailure(c, &imageFailure{container: container})
}

// recovered reports whether a container that runs well crashed not long ago. That one
// was killed for its memory is told for as long as the status tells it.
func recovered(c *diagnose.Case, container diagnose.Container) bool {
	t := container.Status.LastTerminationState.Terminated
	if t == nil || container.Init || !container.Settled() || diagnose.NeverRan(t) {
		return false
	}
	return outOfMemory(t) || t.ExitCode != 0 && c.Now.Sub(t.FinishedAt.Time) < time.Hour
}

func crashKind(container diagnose.Container) string {
	reason, _ := container.Waiting()
	switch {
	case outOfMemory(container.Ended()):
		return crashOOM
	case reason != "PostStartHookError" && killedByProbe(container):
		return crashLiveness
	}
	return crashError
}

// outOfMemory reports whether a container that ran ended for its memory limit.
func outOfMemory(t *corev1.ContainerStateTerminated) bool { return t != nil && t.Reason == "OOMKilled" }

// killedByProbe reports whether the kubelet ended the container's last run for a probe.
func killedByProbe(container diagnose.Container) bool {
	t := container.Ended()
	if t == nil {
		t = &corev1.ContainerStateTerminated{}
	}
	killed, failed, heard := false, false, false
	for _, e := range container.Events {
		// An Event of an earlier run says nothing about the last one.
		if e.Last.Before(t.StartedAt.Time) {
			continue
		}
		heard = true
		probe, _ := parseProbe(e.Plain())
		killed = killed || e.Reason == "Killing" && probeKilled.MatchString(e.Message)
		failed = failed || e.Reason == "Unhealthy" && (probe == "Liveness" || probe == "Startup")
	}
	signalled := t.ExitCode == 137 || t.ExitCode == 143
	hasProbe := container.Spec.LivenessProbe != nil || container.Spec.StartupProbe != nil
	// One failed probe does not kill, and a program that crashes does not answer.
	// Without a word of it the probe is blamed only where its Events may have expired or
	// cannot be read.
	return killed || failed && (signalled || t.ExitCode == 0) || signalled && hasProbe && t.Reason != statusUnknown && !heard
}

// probeKilled matches "Container main failed liveness probe, will be restarted", and
// "Killing container with id docker://main:Container failed liveness probe.. Container
// will be killed and recreated." before 1.14.
var probeKilled = regexp.MustCompile(`(?i)failed (liveness|startup) probe`)

func crashCause(c *diagnose.Case, container diagnose.Container, kind string) diagnose.Cause {
	t := container.Ended()
	what := containerWords(container)
	what = strings.ToUpper(what[:1]) + what[1:]
	cause := diagnose.Cause{
		Object:     container.Ref(),
		Confidence: diagnose.Certain,
		State:      diagnose.StateError,
		Chain:      []string{"Workspace " + c.Name(), containerWords(container) + " ends and is restarted"},
	}
	var ended string
	if t != nil {
		ended = fmt.Sprintf("exit code %d", t.ExitCode)
		cause.Evidence = append(cause.Evidence, diagnose.Evidence{
			Source: "Pod/" + c.Pod.Name, Reason: t.Reason,
			Message: strings.TrimSuffix(fmt.Sprintf("container %s ended with exit code %d: %s", container.Name(), t.ExitCode, strings.TrimSpace(t.Message)), ": "),
		})
	}
	switch {
	case kind == crashOOM && !container.Init:
		cause.Summary = fmt.Sprintf("%s was killed for its memory%s (OOMKilled, %s)%s.", what, memoryLimit(container), ended, restarts(c, container))
		cause.Chain = append(cause.Chain, "OOMKilled")
		if container.Name() == diagnose.MainContainer {
			cause.Origin = "spec.podTemplate.options.podConfig"
		}
		cause.Fixes = append(cause.Fixes, moreMemory(c, container)...)
	case kind == crashLiveness && !container.Init:
		describeProbeKill(&cause, container, what, restarts(c, container))
		cause.Fixes = append(cause.Fixes, probeFix(c, container)...)
	default:
		describeExit(c, &cause, container, what)
	}
	cause.Evidence = append(cause.Evidence, crashEvents(container, kind)...)
	cause.Fixes = append([]diagnose.Fix{readLog(c, container)}, cause.Fixes...)
	if container.Settled() && !c.Relapses(container) {
		cause.State = diagnose.StateRunning
	}
	return cause
}

// crashEvents quotes the newest Events that tell of the crash.
func crashEvents(container diagnose.Container, kind string) []diagnose.Evidence {
	var out []diagnose.Evidence
	for _, e := range container.Events {
		probe, _ := parseProbe(e.Plain())
		if kind == crashLiveness && (e.Reason == "Killing" && probeKilled.MatchString(e.Message) || e.Reason == "Unhealthy" && probe != "Readiness") ||
			kind != crashLiveness && e.IsWarning() && (e.Reason == "BackOff" || e.Reason == "FailedPostStartHook") {
			out = append(out, e.Evidence())
		}
	}
	return out[:min(2, len(out))]
}

// restarts tells how often a container was restarted and what it does now, as the end
// of a sentence.
func restarts(c *diagnose.Case, container diagnose.Container) string {
	out := ""
	switch n := container.Status.RestartCount; n {
	case 0:
	case 1:
		out = ", with one restart so far"
	default:
		out = fmt.Sprintf(", with %d restarts so far", n)
	}
	if r := container.Status.State.Running; r != nil {
		out += fmt.Sprintf("; it runs again, for %s now", duration.HumanDuration(c.Now.Sub(r.StartedAt.Time)))
	}
	return out
}

func memoryLimit(container diagnose.Container) string {
	limit, ok := container.Spec.Resources.Limits[corev1.ResourceMemory]
	if !ok {
		return ": it has no limit of its own, so its node or Pod ran short"
	}
	return fmt.Sprintf(" limit of %s", limit.String())
}

// moreMemory offers podConfigs that allow more memory.
func moreMemory(c *diagnose.Case, container diagnose.Container) []diagnose.Fix {
	if container.Name() != diagnose.MainContainer || container.Init || !c.Kind.IsFound() {
		return nil
	}
	limit := container.Spec.Resources.Limits[corev1.ResourceMemory]
	var larger []option
	for _, v := range c.Kind.Value.Spec.PodTemplate.Options.PodConfig.Values {
		if v.ID == c.Workspace.Spec.PodTemplate.Options.PodConfig {
			continue
		}
		other := resource.Quantity{}
		if r := v.Spec.Resources; r != nil {
			other = r.Limits[corev1.ResourceMemory]
		}
		if !limit.IsZero() && (other.IsZero() || other.Cmp(limit) > 0) {
			larger = append(larger, option{v.ID, redirectTarget(v.Redirect)})
		}
	}
	if len(larger) == 0 {
		return []diagnose.Fix{editKind(c, fmt.Sprintf("Raise the memory limit of podConfig %s in the WorkspaceKind", c.Workspace.Spec.PodTemplate.Options.PodConfig))}
	}
	fix := chooseOption(c, "podConfig", larger)
	fix.Text = "With more memory: " + fix.Text
	return []diagnose.Fix{fix}
}

// readLog is the command that shows why a program ended.
func readLog(c *diagnose.Case, container diagnose.Container) diagnose.Fix {
	args := []string{"kubectl", "logs", c.Pod.Name, "-c", container.Name(), "-n", c.Namespace()}
	if container.Status.RestartCount > 0 {
		args = append(args, "--previous")
	}
	return diagnose.Fix{Text: "Read the log of the run that ended", Command: diagnose.Command(args...), Risk: diagnose.RiskInspect}
}

// statusUnknown is the kubelet's reason for a container that is gone and that it did not
// see end (since 1.22).
const statusUnknown = "ContainerStatusUnknown"

// exitCodes say what an exit code means: those of shells, and 128 plus the number of a
// signal.
var exitCodes = map[int32]string{
	0:   "without an error, though it should keep running",
	126: "its command may not be executed",
	127: "a command that it runs is not in the image",
	129: "SIGHUP",
	130: "SIGINT",
	132: "SIGILL, an instruction that the CPU does not have",
	134: "SIGABRT, it gave up by itself",
	135: "SIGBUS",
	136: "SIGFPE",
	137: "SIGKILL: the node ran out of memory, or somebody killed it",
	139: "SIGSEGV, a segmentation fault in the program",
	143: "SIGTERM: somebody asked it to end",
}

var (
	portInUse  = regexp.MustCompile(`(?i)address already in use|port \d* ?is already (in use|allocated)|EADDRINUSE`)
	deniedPath = regexp.MustCompile(`(?i)permission denied:? ?['"` + "`" + `]?(/[^'"’\s:` + "`" + `]+)|(/[^'"’\s:` + "`" + `]+)['"’` + "`" + `]?: permission denied`)
)

// deniedIn is the path that a program may not use; denied is false if it does not
// complain of one.
func deniedIn(message string) (path string, denied bool) {
	if m := deniedPath.FindStringSubmatch(message); m != nil {
		return m[1] + m[2], true
	}
	return "", strings.Contains(strings.ToLower(message), "permission denied")
}

// describeExit explains a program that ended by itself.
func describeExit(c *diagnose.Case, cause *diagnose.Cause, container diagnose.Container, what string) {
	t := container.Ended()
	if t == nil {
		cause.Summary = fmt.Sprintf("%s starts and ends again and again%s; its log says why.", what, restarts(c, container))
		cause.Confidence = diagnose.Likely
		return
	}
	how := fmt.Sprintf("exit code %d", t.ExitCode)
	meaning := exitCodes[t.ExitCode]
	switch {
	case t.Reason == statusUnknown:
		meaning = "the kubelet lost sight of it, as when its node restarts"
	case outOfMemory(t):
		meaning = "OOMKilled, for its memory" + memoryLimit(container)
	case portInUse.MatchString(t.Message):
		meaning = "a port that it needs is in use"
	case meaning == "" && t.Reason != "" && t.Reason != "Error":
		meaning = t.Reason
	}
	if meaning != "" {
		how += " (" + meaning + ")"
	}
	if why, failed := hookFailure(container); failed {
		cause.Summary = fmt.Sprintf("The kubelet kills %s, as its postStart hook fails (%s)%s.", containerName(what), quote(why), restarts(c, container))
		cause.Chain = append(cause.Chain, "postStart hook fails: "+why)
		return
	}
	verb := "ends"
	if container.Running() && !c.Relapses(container) {
		verb = "ended"
	}
	cause.Summary = fmt.Sprintf("%s %s with %s%s; its log says why.", what, verb, how, restarts(c, container))
	if said := strings.TrimSpace(t.Message); said != "" {
		cause.Summary = fmt.Sprintf("%s %s with %s%s: %s", what, verb, how, restarts(c, container), quote(shorten(said)))
	}
	cause.Chain = append(cause.Chain, "image "+container.Spec.Image, how)
	describeHome(c, cause, container, t.Message)
}

// hookFailure is why the kubelet ended the last run of a container for its postStart hook,
// if it did.
func hookFailure(container diagnose.Container) (why string, failed bool) {
	if reason, message := container.Waiting(); reason == "PostStartHookError" {
		return shorten(strings.TrimPrefix(message, "PostStartHookError: ")), true
	}
	for _, e := range container.Events {
		if e.Reason == "FailedPostStartHook" && !e.Last.Before(container.Ended().StartedAt.Time) {
			return shorten(e.Plain()), true
		}
	}
	return "", false
}

// describeHome blames the volume that a program may not write to, or says how to tell
// where only the exit code is known.
func describeHome(c *diagnose.Case, cause *diagnose.Cause, container diagnose.Container, message string) {
	path, denied := deniedIn(message)
	for _, m := range container.Spec.VolumeMounts {
		ref := behind(volumeNamed(&c.Pod.Spec, m.Name))
		switch {
		case ref.Kind != "PersistentVolumeClaim":
		case denied && strings.HasPrefix(path+"/", strings.TrimSuffix(m.MountPath, "/")+"/"):
			cause.Object = ref.String()
			cause.Summary = fmt.Sprintf("%s: %s may not write to %s, which is on PersistentVolumeClaim %s.", strings.TrimSuffix(cause.Summary, "."), containerWords(container), path, ref.Name)
			cause.Chain = append(cause.Chain, fmt.Sprintf("PersistentVolumeClaim %s is not writable for it", ref.Name))
			cause.Origin = originOf(c, ref)
			cause.Fixes = append(cause.Fixes, volumeOwner(c, fmt.Sprintf("Make %s writable: compare runAsUser and fsGroup of the Pod with the owner of the files", m.MountPath)))
			return
		case !denied && path == "" && message == "" && originOf(c, ref) == "spec.podTemplate.volumes.home" && container.Ended().ExitCode < 126 && container.Ended().ExitCode != 0:
			cause.Fixes = append(cause.Fixes, volumeOwner(c, fmt.Sprintf("If the log says Permission denied below %s, PersistentVolumeClaim %s belongs to another user: compare runAsUser and fsGroup of the Pod", m.MountPath, ref.Name)))
			return
		}
	}
}

func originOf(c *diagnose.Case, ref facts.Ref) string {
	if m := mountOf(c, ref); m != nil {
		return m.Origin
	}
	return ""
}

func volumeOwner(c *diagnose.Case, text string) diagnose.Fix {
	return diagnose.Fix{
		Text:    text,
		Command: diagnose.Command("kubectl", "get", "pod", c.Pod.Name, "-n", c.Namespace(), "-o", "jsonpath={.spec.securityContext}"),
		Risk:    diagnose.RiskInspect,
	}
}
