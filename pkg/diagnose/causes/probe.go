package causes

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/diagnose"
)

// probeRules are about containers that run and do not become ready.
func probeRules() []diagnose.Rule {
	return []diagnose.Rule{{
		ID:         unready,
		Blocks:     diagnose.RungReady,
		Title:      "A container runs and does not become ready",
		Recognised: "A container (main or a sidecar) runs, its status is not ready, and the newest Unhealthy Event about it is of this run; or it has a probe and had ample time. Pending while it is within the time that its probes grant.",
		Fix:        "See what the probe asks for and what the container's log says. A probe with the wrong path or port is corrected in the WorkspaceKind.",
		Match:      matchUnready,
	}, {
		ID:         "readiness-gate-not-met",
		Blocks:     diagnose.RungReady,
		Title:      "A readiness gate holds the Pod back",
		Recognised: "All containers are ready, and a condition that spec.readinessGates of the Pod asks for is not True.",
		Fix:        "See whoever sets that condition: mostly a load balancer's controller.",
		Match:      matchGateNotMet,
	}}
}

// gatePatience is when a readiness gate is no longer put down to its owner being slow: a
// load balancer takes a few health checks.
const gatePatience = 5 * time.Minute

func matchGateNotMet(c *diagnose.Case) []diagnose.Cause {
	ready := diagnose.Condition(c.Pod, corev1.ContainersReady)
	if ready == nil || ready.Status != corev1.ConditionTrue || c.Pod.DeletionTimestamp != nil {
		return nil
	}
	var unmet []string
	for _, g := range c.Pod.Spec.ReadinessGates {
		if s := diagnose.Condition(c.Pod, g.ConditionType); s == nil || s.Status != corev1.ConditionTrue {
			unmet = append(unmet, string(g.ConditionType))
		}
	}
	if len(unmet) == 0 {
		return nil
	}
	waited := c.Now.Sub(ready.LastTransitionTime.Time)
	cause := diagnose.Cause{
		Object: "Pod/" + c.Pod.Name,
		Summary: fmt.Sprintf("The containers of Workspace %s are ready, but its Pod waits for the readiness gate %s, for %s now: whoever set it has not reported that it is met.",
			c.Name(), strings.Join(unmet, ", "), duration.HumanDuration(waited)),
		Confidence: diagnose.Certain,
		State:      diagnose.StatePending,
		Chain:      []string{"Workspace " + c.Name(), "Pod is not Ready", "readiness gate " + strings.Join(unmet, ", ")},
		Fixes:      inspectPod(c),
	}
	if waited > gatePatience {
		cause.State = diagnose.StateError
	}
	for _, t := range append([]string{string(corev1.PodReady)}, unmet...) {
		if s := diagnose.Condition(c.Pod, corev1.PodConditionType(t)); s != nil && s.Reason+s.Message != "" {
			cause.Evidence = append(cause.Evidence, diagnose.Evidence{Source: cause.Object, Reason: s.Reason, Message: s.Message})
		}
	}
	return one(cause)
}

func matchUnready(c *diagnose.Case) []diagnose.Cause {
	var out []diagnose.Cause
	for _, container := range c.PodContainers() {
		running := container.Status.State.Running
		if running == nil || container.Settled() || container.Init && !container.Sidecar || crashes(c, container) || c.Pod.DeletionTimestamp != nil {
			continue
		}
		ran := c.Now.Sub(running.StartedAt.Time)
		said := unhealthy(container, running.StartedAt.Time)
		late := ran > patience(container.Spec)
		if said == nil && (!late || !hasProbe(container.Spec)) {
			continue
		}
		cause := diagnose.Cause{
			Object:     container.Ref(),
			Confidence: diagnose.Likely,
			State:      diagnose.StateError,
			Chain:      []string{"Workspace " + c.Name(), "Pod is not Ready", containerWords(container) + " is not ready"},
			Fixes:      append([]diagnose.Fix{liveLog(c, container)}, probeFix(c, container)...),
		}
		if !late {
			cause.State = diagnose.StatePending
		}
		what := containerWords(container)
		cause.Summary = fmt.Sprintf("%s%s runs for %s and is not ready: its probe does not succeed.", strings.ToUpper(what[:1]), what[1:], duration.HumanDuration(ran))
		if said != nil {
			kind, reason := parseProbe(said.Plain())
			if kind == "" {
				kind = "Readiness"
			}
			cause.Summary = fmt.Sprintf("%s%s runs for %s and is not ready: %s probe failed (%s).",
				strings.ToUpper(what[:1]), what[1:], duration.HumanDuration(ran), kind, quote(reason))
			if !said.FromController {
				cause.Confidence = diagnose.Certain // status says not ready, the kubelet why
			}
			cause.Chain = append(cause.Chain, said.Plain())
			cause.Evidence = []diagnose.Evidence{said.Evidence()}
		}
		if container.Name() == diagnose.MainContainer && !container.Init {
			cause.Origin = "probes of the WorkspaceKind"
		}
		out = append(out, cause)
	}
	return append(out, quotedCauses(c, unready)...)
}

// unhealthy is the newest failure of a probe since the container was started; nil if
// there is none. A failed liveness probe only counts if there is no other: it is not what
// keeps the container from being ready. Event times have no fractions of a second.
func unhealthy(container diagnose.Container, started time.Time) *diagnose.Event {
	var found *diagnose.Event
	for i, e := range container.Events {
		if e.Reason != "Unhealthy" || !e.IsWarning() || !e.FromController && e.Last.Before(started.Truncate(time.Second)) {
			continue
		}
		if kind, _ := parseProbe(e.Plain()); kind != "Liveness" {
			return &container.Events[i]
		}
		if found == nil {
			found = &container.Events[i]
		}
	}
	return found
}

// hasProbe reports whether a container has something that keeps it from being ready.
func hasProbe(spec corev1.Container) bool {
	return spec.ReadinessProbe != nil || spec.StartupProbe != nil
}

// shortestPatience is how long any container may take to become ready.
const shortestPatience = time.Minute

// patience is how long the container's own probes let it take to become ready.
func patience(spec corev1.Container) time.Duration {
	total := time.Duration(0)
	for _, p := range []*corev1.Probe{spec.StartupProbe, spec.ReadinessProbe} {
		if p != nil {
			period, failures := max(p.PeriodSeconds, 1), max(p.FailureThreshold, 1)
			total += time.Duration(p.InitialDelaySeconds)*time.Second + time.Duration(period)*time.Duration(failures)*time.Second
		}
	}
	return max(shortestPatience, total)
}

var probePattern = regexp.MustCompile(`(?s)^(Liveness|Readiness|Startup) probe (?:failed|errored(?: and resulted in \w+ state)?|warning)(?:: ?(.*))?$`)

// parseProbe takes a message of the kubelet about a probe apart: which probe, and why it
// fails. kind is empty if the message is about something else.
func parseProbe(message string) (kind, reason string) {
	m := probePattern.FindStringSubmatch(strings.TrimSpace(message))
	if m == nil {
		return "", strings.TrimSpace(message)
	}
	return m[1], shorten(m[2])
}

// describeProbeKill explains a container that the kubelet kills for a probe.
func describeProbeKill(cause *diagnose.Cause, container diagnose.Container, what, restarts string) {
	probe, reason := "", ""
	for _, e := range container.Events {
		if kind, why := parseProbe(e.Plain()); kind == "Liveness" || kind == "Startup" {
			probe, reason = kind, why
			break
		}
	}
	switch {
	case probe != "":
		cause.Summary = fmt.Sprintf("The kubelet kills %s, as its %s probe fails (%s)%s.", containerName(what), probe, quote(reason), restarts)
		cause.Chain = append(cause.Chain, fmt.Sprintf("%s probe fails: %s", probe, reason))
	default:
		probe = "Liveness"
		if container.Spec.LivenessProbe == nil && container.Spec.StartupProbe != nil {
			probe = "Startup"
		}
		cause.Summary = fmt.Sprintf("%s is ended by a signal (exit code %d)%s; most likely the kubelet kills it, as its %s probe fails.", what, container.Ended().ExitCode, restarts, probe)
		cause.Confidence = diagnose.Likely
		cause.Chain = append(cause.Chain, probe+" probe fails")
	}
	cause.Origin = "probes of the WorkspaceKind"
	if container.Name() != diagnose.MainContainer {
		cause.Origin = ""
	}
}

// containerName undoes the capital letter.
func containerName(what string) string { return strings.ToLower(what[:1]) + what[1:] }

func probeFix(c *diagnose.Case, container diagnose.Container) []diagnose.Fix {
	if container.Name() != diagnose.MainContainer || container.Init {
		return inspectPod(c)
	}
	return append(inspectPod(c), editKind(c, "Correct the probe, or grant more time, in the WorkspaceKind"))
}

func liveLog(c *diagnose.Case, container diagnose.Container) diagnose.Fix {
	return diagnose.Fix{
		Text:    "Read what the container says",
		Command: diagnose.Command("kubectl", "logs", c.Pod.Name, "-c", container.Name(), "-n", c.Namespace()),
		Risk:    diagnose.RiskInspect,
	}
}
