package causes

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/diagnose"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/facts"
)

// missingObjectRules are about Secrets and ConfigMaps that a Pod needs.
func missingObjectRules() []diagnose.Rule {
	return []diagnose.Rule{{
		ID:         "secret-not-found",
		Blocks:     diagnose.RungReady, // of a sidecar, while main runs
		Title:      "A Secret that the Pod needs does not exist",
		Recognised: "The server has no such Secret in the namespace; or the kubelet says so in a current Warning (secret \"x\" not found) and the Secret could not be checked.",
		Fix:        "Create the Secret in the namespace of the Workspace, or remove the mount.",
		Match:      func(c *diagnose.Case) []diagnose.Cause { return matchMissing(c, "Secret") },
	}, {
		ID:         "configmap-not-found",
		Blocks:     diagnose.RungReady,
		Title:      "A ConfigMap that the Pod needs does not exist, or lacks a key",
		Recognised: "As for secret-not-found. Or it lacks a key, as for secret-key-not-found.",
		Fix:        "Create the ConfigMap (or its key) in the namespace of the Workspace, or remove the reference from the WorkspaceKind.",
		Match: func(c *diagnose.Case) []diagnose.Cause {
			return append(matchMissing(c, "ConfigMap"), matchMissingKey(c, "ConfigMap")...)
		},
	}, {
		ID:         "secret-key-not-found",
		Blocks:     diagnose.RungReady,
		Title:      "A Secret lacks a key that the Pod needs",
		Recognised: "A current Warning of the kubelet says: references non-existent secret key (a volume), or: couldn't find key (an environment variable). A container that waits with CreateContainerConfigError says the latter too.",
		Fix:        "Add the key to the Secret, or correct the reference in the WorkspaceKind.",
		Match:      func(c *diagnose.Case) []diagnose.Cause { return matchMissingKey(c, "Secret") },
	}, {
		ID:         "waiting-for-kubelet-retry",
		Blocks:     diagnose.RungReady,
		Title:      "What was missing exists now, the kubelet has not tried again yet",
		Recognised: "A current Warning says that a Secret or ConfigMap is missing, and the server has it.",
		Fix:        "Wait: the kubelet tries again at least every two minutes or so.",
		Match:      matchRecovering,
	}, {
		ID:         "running-next-restart-fails",
		Title:      "Something that the next start needs does not exist",
		Recognised: "A Secret or ConfigMap that the Pod refers to does not exist, though nothing waits for it right now.",
		Fix:        "Create it before the Workspace restarts.",
		Match:      matchNextStart,
	}}
}

func matchMissing(c *diagnose.Case, kind string) []diagnose.Cause {
	if c.Pod == nil {
		return missingBySay(c, kind)
	}
	var out []diagnose.Cause
	for _, r := range facts.References(&c.Pod.Spec) {
		if r.Object.Kind != kind || !blocks(c, r) || slices.ContainsFunc(out, func(o diagnose.Cause) bool { return o.Object == r.Object.String() }) {
			continue
		}
		said := saidMissing(c, r.Object)
		switch status(c, r.Object) {
		case facts.Absent:
			out = append(out, missingCause(c, r, said))
		case facts.Found:
			if len(said) > 0 && cacheLags(c, r.Object, said) {
				out = append(out, lagCause(c, r, said))
			}
		default:
			if len(said) > 0 || waitsFor(c, r.Object) {
				out = append(out, missingCause(c, r, said))
			}
		}
	}
	return out
}

// missingBySay is for a person who may read the Workspace and nothing else: the
// controller's status quotes the kubelet.
func missingBySay(c *diagnose.Case, kind string) []diagnose.Cause {
	for _, e := range c.Current {
		if !e.FromController {
			continue
		}
		if ref, ok := parseMissing(e.Message); ok && ref.Kind == kind && status(c, ref) != facts.Found {
			return one(missingCause(c, facts.Reference{Object: ref, Volume: volumeIn(e.Message)}, []diagnose.Event{e}))
		}
	}
	return nil
}

func missingCause(c *diagnose.Case, r facts.Reference, said []diagnose.Event) diagnose.Cause {
	kind, name := r.Object.Kind, r.Object.Name
	where := ""
	if c.PodSpec() != nil || mountOf(c, r.Object) != nil {
		where = "; " + mountedAt(c, r)
	}
	cause := diagnose.Cause{
		Object:     r.Object.String(),
		Summary:    fmt.Sprintf("%s %q does not exist in namespace %s%s.", kind, name, c.Namespace(), where),
		Confidence: diagnose.Certain,
		State:      diagnose.StateError,
		Chain: []string{
			"Workspace " + c.Name(), "Pod cannot start", r.String() + " cannot be set up",
			fmt.Sprintf("%s %s does not exist", kind, name),
		},
		Fixes: missingFixes(c, r.Object),
	}
	if status(c, r.Object) != facts.Absent {
		cause.Confidence = diagnose.Likely
		cause.Summary = fmt.Sprintf("The kubelet reports that %s %q does not exist in namespace %s%s.", kind, name, c.Namespace(), where)
	}
	if m := mountOf(c, r.Object); m != nil {
		cause.Origin = m.Origin
	}
	for _, e := range said {
		cause.Evidence = append(cause.Evidence, e.Evidence())
	}
	cause.Evidence = append(cause.Evidence, configErrors(c, func(message string) bool {
		ref, ok := parseMissing(message)
		return ok && ref == r.Object
	})...)
	if len(cause.Evidence) == 0 {
		cause.Evidence = []diagnose.Evidence{notFound(kind, name)}
	}
	return cause
}

// notFound is the answer of the server to our own question, in its words.
func notFound(kind, name string) diagnose.Evidence {
	return diagnose.Evidence{Source: kind + "/" + name, Reason: "NotFound", Message: fmt.Sprintf("%ss %q not found", strings.ToLower(kind), name)}
}

// configErrors quotes the containers that wait for an object of their environment.
func configErrors(c *diagnose.Case, about func(message string) bool) []diagnose.Evidence {
	var out []diagnose.Evidence
	for _, s := range c.Containers() {
		if w := s.State.Waiting; w != nil && w.Reason == configError && about(w.Message) {
			out = append(out, diagnose.Evidence{Source: "Pod/" + c.Pod.Name, Reason: w.Reason, Message: w.Message})
		}
	}
	return out
}

// configError is the reason with which a container waits for an object of its environment.
const configError = "CreateContainerConfigError"

// waitsFor reports whether a container's status, which outlives Events, calls an object
// missing.
func waitsFor(c *diagnose.Case, ref facts.Ref) bool {
	return len(configErrors(c, func(message string) bool {
		got, ok := parseMissing(message)
		return ok && got == ref
	})) > 0
}

// retryAtMost is the longest that a kubelet waits before it tries again: two minutes and
// two seconds for a volume, five minutes for a container, but the latter asks for its
// objects on every sync of about a minute.
const retryAtMost = 150 * time.Second

// cacheLags reports whether the kubelet has called an object missing long after it was
// made: then waiting for the next try does not help.
func cacheLags(c *diagnose.Case, ref facts.Ref, said []diagnose.Event) bool {
	made := created(c, ref)
	return len(said) > 0 && !made.IsZero() && said[0].Last.Sub(made) > retryAtMost
}

func lagCause(c *diagnose.Case, r facts.Reference, said []diagnose.Event) diagnose.Cause {
	cause := diagnose.Cause{
		Object: r.Object.String(),
		Summary: fmt.Sprintf("%s %q exists in namespace %s (for %s), but the kubelet of node %s did not see it when it last tried, %s ago; %s.",
			r.Object.Kind, r.Object.Name, c.Namespace(), duration.HumanDuration(c.Now.Sub(created(c, r.Object))), c.Pod.Spec.NodeName,
			duration.HumanDuration(c.Now.Sub(said[0].Last)), mountedAt(c, r)),
		Confidence: diagnose.Likely,
		State:      diagnose.StateError,
		Chain:      []string{"Workspace " + c.Name(), "Pod cannot start", r.String() + " cannot be set up", "the kubelet's view of the namespace lags"},
		Fixes: []diagnose.Fix{
			inspect("See that it is there", "kubectl", "get", strings.ToLower(r.Object.Kind), r.Object.Name, "-n", c.Namespace()),
			replacePod(c, "Have the Pod made anew; if that does not help, the kubelet of the node has to be restarted"),
		},
	}
	if m := mountOf(c, r.Object); m != nil {
		cause.Origin = m.Origin
	}
	for _, e := range said {
		cause.Evidence = append(cause.Evidence, e.Evidence())
	}
	return cause
}

func missingFixes(c *diagnose.Case, ref facts.Ref) []diagnose.Fix {
	create := diagnose.Fix{
		Text:    "Create it; every KEY becomes a file",
		Command: diagnose.Command("kubectl", "create", "secret", "generic", ref.Name, "-n", c.Namespace(), "--from-env-file=/dev/stdin"),
		Risk:    diagnose.RiskSafe,
	}
	if ref.Kind == "ConfigMap" {
		create.Command = diagnose.Command("kubectl", "create", "configmap", ref.Name, "-n", c.Namespace(), "--from-env-file=/dev/stdin")
	}
	// Values on a command line end up in the shell's history.
	create.Text += " (type KEY=VALUE lines, end with Ctrl-D)"
	fixes := []diagnose.Fix{create}
	if m := mountOf(c, ref); m != nil && ref.Kind == "Secret" {
		remove := []string{"kubectl", "workspace", "secrets", "remove", c.Name(), "--mount-path", m.Path, "-n", c.Namespace()}
		if c.Pod != nil && c.Reached < diagnose.RungReady {
			// Its StatefulSet does not replace a Pod that was never Ready.
			remove = append(remove, "--restart")
		}
		fixes = append(fixes, diagnose.Fix{Text: "Or do without it", Command: diagnose.Command(remove...), Risk: diagnose.RiskDisruptive})
	}
	return fixes
}

// overdue reports whether the kubelet has been silent for longer than it takes to try
// again, since the object was made and since it last complained.
func overdue(c *diagnose.Case, ref facts.Ref, said []diagnose.Event) bool {
	latest := created(c, ref)
	if len(said) > 0 && said[0].Last.After(latest) {
		latest = said[0].Last
	}
	return !latest.IsZero() && c.Now.Sub(latest) > 2*retryAtMost
}

func matchRecovering(c *diagnose.Case) []diagnose.Cause {
	if c.Pod == nil {
		return nil
	}
	var out []diagnose.Cause
	for _, r := range facts.References(&c.Pod.Spec) {
		if !blocks(c, r) || status(c, r.Object) != facts.Found {
			continue
		}
		said := saidMissing(c, r.Object)
		if len(said) == 0 && !waitsFor(c, r.Object) || cacheLags(c, r.Object, said) {
			continue
		}
		if overdue(c, r.Object, said) {
			continue // it should have tried long since: something else holds it up
		}
		cause := diagnose.Cause{
			Object: r.Object.String(),
			Summary: fmt.Sprintf("%s %q exists now; the kubelet, which missed it before, tries again within about two minutes.",
				r.Object.Kind, r.Object.Name),
			Confidence: diagnose.Certain,
			State:      diagnose.StatePending,
			Chain:      []string{"Workspace " + c.Name(), "Pod waits for " + r.String(), "the kubelet has not tried again yet"},
		}
		for _, e := range said {
			cause.Evidence = append(cause.Evidence, e.Evidence())
		}
		out = append(out, cause)
	}
	return out
}

func matchNextStart(c *diagnose.Case) []diagnose.Cause {
	spec := c.PodSpec()
	if spec == nil {
		return nil
	}
	var out []diagnose.Cause
	for _, r := range facts.References(spec) {
		if blocks(c, r) || status(c, r.Object) != facts.Absent {
			continue
		}
		// Before the Pod has a node, a missing claim is a cause: pvc-not-found.
		isClaim := r.Object.Kind == "PersistentVolumeClaim"
		if isClaim && c.Pod != nil && c.Reached < diagnose.RungScheduled {
			continue
		}
		when := "the next start fails"
		if c.Pod != nil && c.Reached < diagnose.RungStarted {
			when = "the start will fail"
		}
		cause := diagnose.Cause{
			Object:     r.Object.String(),
			Summary:    fmt.Sprintf("%s %q does not exist (any more); %s, so %s.", r.Object.Kind, r.Object.Name, mountedAt(c, r), when),
			Confidence: diagnose.Certain,
			State:      diagnose.StateRunning,
		}
		if !isClaim { // what was in a claim cannot be made again with one command
			cause.Fixes = missingFixes(c, r.Object)[:1]
		}
		out = append(out, cause)
	}
	return out
}

// saidMissing returns the current Warnings that call an object missing, newest first.
func saidMissing(c *diagnose.Case, ref facts.Ref) []diagnose.Event {
	return diagnose.Memo(c, missingSaidKey{}, func(c *diagnose.Case) map[facts.Ref][]diagnose.Event {
		out := map[facts.Ref][]diagnose.Event{}
		for _, e := range c.CurrentOf("Pod") {
			if ref, ok := parseMissing(e.Message); ok {
				out[ref] = append(out[ref], e)
			}
		}
		return out
	})[ref]
}

type missingSaidKey struct{}

var (
	secretRef     = regexp.MustCompile(`(?:Node(?:Stage|Publish|Expand)|Controller(?:Publish|Expand))SecretRef`)
	inNamespace   = regexp.MustCompile(`\bnamespace "?[a-z0-9]`)
	volumePattern = regexp.MustCompile(`for volume "([^"]+)"`)
)

// parseMissing finds the Secret or ConfigMap that a message of the kubelet calls
// missing.
func parseMissing(message string) (facts.Ref, bool) {
	for rest := message; ; {
		before, after, ok := strings.Cut(rest, `" not found`)
		if !ok {
			return facts.Ref{}, false
		}
		if i := strings.LastIndex(before, ` "`); i >= 0 {
			word := before[:i]
			word = word[strings.LastIndexFunc(word, func(r rune) bool { return !unicode.IsLetter(r) })+1:]
			// Kubernetes before 1.9 wrote the plural: secrets "x" not found.
			kind := missingKinds[strings.TrimSuffix(word, "s")]
			if name := before[i+len(` "`):]; kind != "" && name != "" && !isOfOtherNamespace(message) {
				return facts.Ref{Kind: kind, Name: name}, true
			}
		}
		rest = after
	}
}

// missingKinds are what the kubelet calls the kinds that it misses.
var missingKinds = map[string]string{"secret": "Secret", "configmap": "ConfigMap"}

// isOfOtherNamespace reports whether a message is about a CSI driver's own credentials:
// those are in a namespace of its own, and a missing one is not the user's to create.
func isOfOtherNamespace(message string) bool {
	return strings.Contains(message, "rpc error") || strings.Contains(message, "SecretRef") && secretRef.MatchString(message) ||
		strings.Contains(message, "namespace ") && inNamespace.MatchString(message)
}

// volumeIn finds the volume that a message of the kubelet is about; empty if it names
// none.
func volumeIn(message string) string {
	if m := volumePattern.FindStringSubmatch(message); m != nil {
		return m[1]
	}
	return ""
}
