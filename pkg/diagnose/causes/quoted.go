package causes

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/api/v1beta1"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/diagnose"
)

// quotedCauses explains a container by what the Workspace's status quotes, for a person
// who may not read Pods. id is the rule that asks.
func quotedCauses(c *diagnose.Case, id string) []diagnose.Cause {
	if c.Pod != nil {
		return nil // then the quote is among the Events of its container
	}
	for _, e := range c.Current {
		if !e.FromController {
			continue
		}
		found, what := quotedKind(c, e)
		if found != id {
			continue
		}
		object, name := quotedContainer(c, e.Plain())
		cause := diagnose.Cause{
			Object: object,
			Summary: fmt.Sprintf("The Workspace controller reports that container %s %s. Its Pod could not be read.",
				name, what),
			Confidence: diagnose.Likely,
			State:      diagnose.StateError,
			Chain:      []string{"Workspace " + c.Name(), "Pod is not Ready", fmt.Sprintf("container %s %s", name, what)},
			Evidence:   []diagnose.Evidence{e.Evidence()},
		}
		if pod := c.Workspace.Status.PodTemplatePod.Name; pod != "" {
			args := []string{"kubectl", "logs", pod, "-c", name, "-n", c.Namespace()}
			switch id {
			case crashError, crashLiveness, initFailing:
				cause.Fixes = []diagnose.Fix{inspect("Have somebody who may read its log, or do so if you may", append(args, "--previous")...)}
			case unready:
				cause.Fixes = []diagnose.Fix{inspect("Have somebody who may read its log, or do so if you may", args...)}
			}
		}
		return one(cause)
	}
	return nil
}

// quotedKind is the cause that a quoted Warning about a container stands for, and the
// words for it; empty if it is about something else, or other rules explain it.
func quotedKind(c *diagnose.Case, e diagnose.Event) (id, what string) {
	message := e.Plain()
	switch e.Reason {
	case "Unhealthy":
		probe, reason := parseProbe(message)
		id, what = unready, fmt.Sprintf("is not ready: %s probe failed (%s)", probe, quote(reason))
		if probe == "Liveness" {
			id, what = crashLiveness, fmt.Sprintf("is killed by the kubelet, as its Liveness probe fails (%s)", quote(reason))
		}
		return id, what
	case "BackOff":
		if object, _ := quotedContainer(c, message); strings.HasPrefix(object, "InitContainer/") {
			return initFailing, fmt.Sprintf("ends and is started again and again (%s)", quote(shorten(message)))
		}
		return crashError, fmt.Sprintf("starts and ends again and again (%s); why, an error of its own, its memory limit or a probe, is in the status of its Pod", quote(shorten(message)))
	case "Failed":
		if imageIn(message) != "" || pullSymptoms.MatchString(message) || explainedElsewhere(e.Evidence()) {
			return "", ""
		}
		kind := startKind(message)
		switch {
		case startHangs.MatchString(message):
			kind = startName
		case kind == "":
			kind = startFailed
		}
		return kind, fmt.Sprintf("cannot start: %s (%s)", startWords[kind], quote(runtimeReason(message)))
	}
	return "", ""
}

// startWords say in general what each kind of failure to start a container is.
var startWords = map[string]string{
	startAsRoot:  "it must not run as root, and its image does",
	startName:    "the container runtime hangs in making it, or holds its name",
	startCommand: "its command cannot be executed",
	startMount:   "a volume cannot be mounted at its path in it",
	startFailed:  "the container runtime cannot make it",
	crashOOM:     "its memory limit is too low even for that",
}

var quotedName = regexp.MustCompile(`container[= ]"?([a-z0-9][a-z0-9-]*)"? (?:in )?pod`)

// quotedContainer is the container that a quoted message names; main if it names none,
// since the controller looks at that.
func quotedContainer(c *diagnose.Case, message string) (object, name string) {
	name = diagnose.MainContainer
	if m := quotedName.FindStringSubmatch(message); m != nil {
		name = m[1]
	}
	if slices.ContainsFunc(c.Workspace.Status.PodTemplatePod.InitContainers, func(i v1beta1.ContainerStatus) bool { return i.Name == name }) {
		return "InitContainer/" + name, name
	}
	return "Container/" + name, name
}
