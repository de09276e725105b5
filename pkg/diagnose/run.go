package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/facts"
)

// UnexplainedID is the cause of a Workspace that no rule of the catalogue explains.
const UnexplainedID = "unexplained"

// Run explains one Workspace with the given rules. Their order is their rank: of
// several causes that hold, the one whose rule comes first is the primary one.
func Run(f *facts.Facts, rules []Rule) Diagnosis {
	c := New(f)
	causes, warnings := c.match(rules)
	summary := fmt.Sprintf("Workspace %s is running.", c.Name())
	if len(causes) == 0 && c.Reached != RungReady {
		if cause := c.unexplained(); cause.State == StateRunning {
			// It runs, says the controller; the Pod could not be read.
			summary = cause.Summary
		} else {
			causes = []Cause{cause}
		}
	}

	d := Diagnosis{
		APIVersion: facts.APIVersion,
		Kind:       "Diagnosis",
		Workspace: Workspace{
			Namespace:   c.Namespace(),
			Name:        c.Name(),
			Kind:        c.Workspace.Spec.Kind,
			ImageConfig: c.Workspace.Spec.PodTemplate.Options.ImageConfig,
			PodConfig:   c.Workspace.Spec.PodTemplate.Options.PodConfig,
			Paused:      c.Workspace.Spec.Paused,
			Created:     timePointer(c.Workspace.CreationTimestamp.Time),
		},
		State:     StateRunning,
		Rung:      c.Reached,
		Since:     c.since(),
		Summary:   summary,
		Causes:    causes,
		Warnings:  warnings,
		Mounts:    c.Mounts,
		Unchecked: c.Unchecked(),
		Objects:   c.objects(),
		CheckedAt: c.Now,
	}
	if len(causes) > 0 {
		d.State, d.Summary = causes[0].State, causes[0].Summary
	}
	for _, e := range c.Overtaken {
		d.History = append(d.History, e.Evidence())
	}
	for _, e := range slices.Backward(c.All) {
		if !e.FromController {
			d.Timeline = append(d.Timeline, TimelineEntry{e.Last, e.Object.String(), e.Type, e.Reason, e.Message, e.Count})
		}
	}
	d.Controller = c.controller(d)
	d.fillEmpty()
	return d
}

// match asks the rules, and separates what keeps the Workspace from running from what
// does not.
func (c *Case) match(rules []Rule) (causes []Cause, warnings []Warning) {
	for _, r := range rules {
		// While something is broken, progress elsewhere is no news.
		if !r.applies(c) || r.Progress && slices.ContainsFunc(causes, isError) {
			continue
		}
		for _, cause := range r.Match(c) {
			cause.ID = r.ID
			// A Workspace that runs has no causes, unless it is on its way out.
			if cause.State == StateRunning || c.Reached == RungReady && stateRank(cause.State) > 0 {
				warnings = append(warnings, Warning{cause.ID, cause.Object, cause.Summary, cause.Fixes, r.Advice})
				continue
			}
			causes = append(causes, cause)
		}
	}
	slices.SortStableFunc(causes, func(a, b Cause) int { return cmp.Compare(stateRank(a.State), stateRank(b.State)) })
	return causes, warnings
}

func isError(c Cause) bool { return c.State == StateError }

// stateRank puts what somebody did on purpose before faults, and faults before
// progress: while a Secret is missing, it does not matter that the Pod is new.
func stateRank(s State) int {
	switch s {
	case StatePaused, StateTerminating:
		return 0
	case StateError:
		return 1
	}
	return 2
}

// unexplained is the honest answer: which rung it is on, and the newest message that
// may have to do with it, quoted.
func (c *Case) unexplained() Cause {
	cause := Cause{
		ID:         UnexplainedID,
		Object:     c.objectAtRung(),
		Summary:    fmt.Sprintf("Workspace %s is not running: %s.", c.Name(), c.Reached.Stuck()),
		Confidence: Likely,
		State:      StatePending,
	}
	status := c.Workspace.Status
	if c.Broken() || len(c.Current) > 0 && (slices.ContainsFunc(c.Current, isBound) || c.Pod == nil || c.Now.Sub(c.Pod.CreationTimestamp.Time) > unknownPatience) {
		cause.State = StateError
	}
	switch {
	case len(c.Current) > 0:
		newest := c.Current[0]
		if newest.FromController && newest.Reason == "" {
			// The controller quotes words alone. What these are about, and so the rung, is not known.
			cause.Summary = fmt.Sprintf("Workspace %s is not running.", c.Name())
		}
		cause.Summary += " The newest Warning about it: " + newest.Message
		cause.Evidence = []Evidence{newest.Evidence()}
	case c.Pod == nil && !c.Pods.IsComplete() && status.State != "":
		// All that can be read is what the controller says.
		cause.State = State(status.State)
		cause.Summary = fmt.Sprintf("The Workspace controller reports: %s. What it goes by could not be read.", status.StateMessage)
		cause.Evidence = []Evidence{c.WorkspaceEvidence()}
	case unscheduled(c.Pod) != "": // its Events have expired
		cause.State = StateError
		cause.Summary += " The scheduler says: " + unscheduled(c.Pod)
	case len(c.All) > 0:
		cause.Evidence = []Evidence{c.All[0].Evidence()}
	}
	if i := slices.IndexFunc(c.Containers(), beyondCreating); i >= 0 && len(c.Current) == 0 {
		waits := c.Containers()[i]
		cause.Summary += strings.TrimSuffix(fmt.Sprintf(" Container %s waits with %s: %s", waits.Name, waits.State.Waiting.Reason, waits.State.Waiting.Message), ": ")
	}
	cause.Evidence = append(cause.Evidence, c.podEvidence()...)
	if c.Pod != nil {
		cause.Fixes = []Fix{{
			Text:    "Look at everything Kubernetes has on the Pod",
			Command: Command("kubectl", "describe", "pod", c.Pod.Name, "-n", c.Namespace()),
			Risk:    RiskInspect,
		}}
	}
	return cause
}

// unscheduled is what the Pod's status quotes of a scheduler that found no node for it.
func unscheduled(pod *corev1.Pod) string {
	if s := Condition(pod, corev1.PodScheduled); s != nil && s.Status == corev1.ConditionFalse {
		return s.Message
	}
	return ""
}

// unknownPatience is how long a Pod may start under Warnings of which nothing is known.
// Many are no obstacle: policies that only audit, a DNS setting, a slow endpoint.
const unknownPatience = 2 * time.Minute

// isBound reports whether a Warning is known to be about a rung.
func isBound(e Event) bool {
	_, bound := eventRungs[e.Reason]
	return bound || e.FromController
}

// podEvidence quotes what the Pod's own status has to say for itself.
func (c *Case) podEvidence() []Evidence {
	if c.Pod == nil {
		return nil
	}
	source := facts.Ref{Kind: "Pod", Name: c.Pod.Name}.String()
	var out []Evidence
	if s := c.Pod.Status; s.Reason != "" || s.Message != "" {
		out = append(out, Evidence{Source: source, Reason: s.Reason, Message: s.Message})
	}
	if s := Condition(c.Pod, corev1.PodScheduled); s != nil && s.Status != corev1.ConditionTrue {
		out = append(out, Evidence{Source: source, Reason: s.Reason, Message: s.Message})
	}
	for _, s := range c.Containers() {
		in := fmt.Sprintf("container %s", s.Name)
		if w := s.State.Waiting; w != nil && w.Reason != "" {
			out = append(out, Evidence{Source: source, Reason: w.Reason, Message: strings.TrimSuffix(in+": "+w.Message, ": ")})
		}
		for _, t := range []*corev1.ContainerStateTerminated{s.State.Terminated, s.LastTerminationState.Terminated} {
			if t != nil && t.ExitCode != 0 {
				out = append(out, Evidence{Source: source, Reason: t.Reason, Message: strings.TrimSuffix(fmt.Sprintf("%s ended with exit code %d: %s", in, t.ExitCode, t.Message), ": ")})
			}
		}
	}
	return out
}

func (c *Case) objectAtRung() string {
	switch {
	case c.Pod != nil:
		return facts.Ref{Kind: "Pod", Name: c.Pod.Name}.String()
	case c.StatefulSet != nil:
		return facts.Ref{Kind: "StatefulSet", Name: c.StatefulSet.Name}.String()
	}
	return c.WorkspaceRef()
}

// objects is the line of ownership from the Workspace down, as far as it exists.
func (c *Case) objects() []string {
	out := []string{c.WorkspaceRef()}
	if c.StatefulSet != nil {
		out = append(out, facts.Ref{Kind: "StatefulSet", Name: c.StatefulSet.Name}.String())
	}
	if c.Pod != nil {
		out = append(out, facts.Ref{Kind: "Pod", Name: c.Pod.Name}.String())
	}
	return out
}

// since is when the present rung was reached, nil if nothing tells.
func (c *Case) since() *time.Time {
	var t time.Time
	switch {
	case c.Workspace.DeletionTimestamp != nil:
		t = c.Workspace.DeletionTimestamp.Time
	case c.Pod == nil && c.Workspace.Spec.Paused:
		if ms := c.Workspace.Status.PauseTime; ms > 0 {
			t = time.UnixMilli(ms)
		}
	case c.Pod == nil && c.StatefulSet != nil:
		t = c.StatefulSet.CreationTimestamp.Time
	case c.Pod == nil:
		t = c.Workspace.CreationTimestamp.Time
	case c.Reached == RungReady:
		t = Condition(c.Pod, corev1.PodReady).LastTransitionTime.Time
	default:
		t = c.Pod.CreationTimestamp.Time
	}
	return timePointer(t)
}

// timePointer returns nil for the zero time.
func timePointer(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

// fillEmpty makes lists of the JSON output [] and not null.
func (d *Diagnosis) fillEmpty() {
	for i := range d.Causes {
		notNil(&d.Causes[i].Chain)
		notNil(&d.Causes[i].Evidence)
		notNil(&d.Causes[i].Fixes)
	}
	notNil(&d.Causes)
	notNil(&d.Warnings)
	notNil(&d.Mounts)
	notNil(&d.History)
	notNil(&d.Unchecked)
	notNil(&d.Timeline)
}

func notNil[T any](s *[]T) {
	if *s == nil {
		*s = []T{}
	}
}
