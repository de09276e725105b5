package causes

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/diagnose"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/facts"
)

// containerRules are about containers that cannot be made, or end.
func containerRules() []diagnose.Rule {
	return slices.Concat(startRules(), crashRules())
}

// startRules are about containers that cannot be made or started.
func startRules() []diagnose.Rule {
	const says = "A container waits with CreateContainerConfigError, CreateContainerError, RunContainerError, or ended with StartError, and the message says: "
	rules := []diagnose.Rule{{
		ID:         startAsRoot,
		Title:      "The container must not run as root, and the image does",
		Recognised: says + "runAsNonRoot, breaks non-root policy.",
		Fix:        "Use an image with a numeric USER, or set runAsUser in the security context of the WorkspaceKind.",
	}, {
		ID:         startName,
		Title:      "The runtime hangs in making the container, and holds its name",
		Recognised: says + "name is reserved, name is already in use; or, of CreateContainerError, context deadline exceeded: the name comes next.",
		Fix:        "Wait until the earlier attempt is over (slow storage on the node), or replace the Pod.",
	}, {
		ID:         startCommand,
		Title:      "The container's command cannot be executed",
		Recognised: says + "executable file not found, no command specified, permission denied on exec.",
		Fix:        "Use an image that has the command, or correct the command.",
	}, {
		ID:         startMount,
		Title:      "A volume cannot be mounted at its path in the container",
		Recognised: says + "error mounting, not a directory, read-only file system, subPath.",
		Fix:        "Mount the volume at a directory of its own. After a change of a ConfigMap or Secret that is mounted with subPath, replace the Pod.",
	}, {
		ID:         startFailed,
		Title:      "The container runtime cannot start the container",
		Recognised: "A container waits or ended as above, and what the runtime says is none of the above.",
		Fix:        "Depends on what the runtime says; mostly the node's administrator. There is no log: the container never ran.",
	}}
	for i := range rules {
		kind := rules[i].ID
		rules[i].Blocks = diagnose.RungReady // a sidecar can be at fault while main runs
		rules[i].Match = func(c *diagnose.Case) []diagnose.Cause { return matchStart(c, kind) }
	}
	return rules
}

func matchStart(c *diagnose.Case, kind string) []diagnose.Cause {
	var out []diagnose.Cause
	for _, container := range c.PodContainers() {
		if found, said := startTrouble(c, container); found == kind {
			out = append(out, startCause(c, kind, container, said))
		}
	}
	return append(out, quotedCauses(c, kind)...)
}

type startTroubleKey struct {
	container string
	init      bool
}

type startTroubleFound struct {
	kind string
	said diagnose.Evidence
}

// startTrouble tells why a container cannot be started, by the first text that says; an
// empty kind if it can be, or if other rules explain it.
func startTrouble(c *diagnose.Case, container diagnose.Container) (kind string, said diagnose.Evidence) {
	found := diagnose.Memo(c, startTroubleKey{container.Name(), container.Init}, func(c *diagnose.Case) startTroubleFound {
		kind, said := findStartTrouble(c, container)
		return startTroubleFound{kind, said}
	})
	return found.kind, found.said
}

func findStartTrouble(c *diagnose.Case, container diagnose.Container) (kind string, said diagnose.Evidence) {
	texts := startTexts(c, container)
	for _, e := range texts {
		if kind := startKind(e.Message); kind != "" {
			return kind, e
		}
	}
	if len(texts) == 0 || slices.ContainsFunc(texts, explainedElsewhere) {
		return "", diagnose.Evidence{}
	}
	for _, e := range texts {
		if startHangs.MatchString(e.Message) {
			return startName, e
		}
	}
	for _, e := range texts {
		if !slices.Contains(startReasons, runtimeReason(e.Message)) {
			return startFailed, e
		}
	}
	return startFailed, texts[0]
}

// explainedElsewhere recognises what keeps a container from starting that is no matter of
// the runtime: an object of its environment, the image, a hook of its own.
func explainedElsewhere(e diagnose.Evidence) bool {
	_, missing := parseMissing(e.Message)
	_, key := parseMissingKey(e.Message)
	return missing || key || isRunFailure(e.Message) || notYet.MatchString(e.Message)
}

// notYet is what a kubelet says that has only just started, or is asked too often.
var notYet = regexp.MustCompile(`services have not yet been read|failed to sync (?:secret|configmap) cache|[Bb]ack-off restarting failed`)

// namedUser is what a kubelet says of an image whose USER is a name.
var namedUser = regexp.MustCompile(`non-numeric user \(([^)]*)\)`)

func startCause(c *diagnose.Case, kind string, container diagnose.Container, said diagnose.Evidence) diagnose.Cause {
	what := strings.ToUpper(containerWords(container)[:1]) + containerWords(container)[1:]
	image := container.Spec.Image
	cause := diagnose.Cause{
		Object:     container.Ref(),
		Confidence: confidenceIn(said),
		Evidence:   []diagnose.Evidence{said},
		State:      diagnose.StateError,
	}
	reason := lastErrno(said.Message)
	switch kind {
	case startAsRoot:
		why := "image " + image + " runs as root"
		if m := namedUser.FindStringSubmatch(said.Message); m != nil {
			why = fmt.Sprintf("the user %q of image %s is not a number, so that it could be root", m[1], image)
		} else if strings.Contains(said.Message, "runAsUser breaks") {
			why = "its runAsUser is 0, which is root"
		}
		cause.Summary = fmt.Sprintf("%s may not start: runAsNonRoot is set, and %s.", what, why)
		cause.Origin = "securityContext of the WorkspaceKind"
		cause.Fixes = []diagnose.Fix{editKind(c, "Set runAsUser in the WorkspaceKind to a user of the image other than 0, or use another image")}
	case startName:
		cause.Summary = fmt.Sprintf("%s cannot be made: the container runtime on %s still holds its name from an earlier attempt that hangs or failed (%s).",
			what, lowerNode(c), quote(reason))
		if startHangs.MatchString(said.Message) {
			cause.Summary = fmt.Sprintf("%s cannot be made: the container runtime on %s hangs in making it, and holds its name until that is over (%s). The node may be overloaded, or a volume of it slow.",
				what, lowerNode(c), quote(reason))
		}
		cause.Fixes = append([]diagnose.Fix{replacePod(c, "If it does not pass within minutes, replace the Pod")}, inspectNode(c)...)
	case startCommand:
		cause.Object, cause.Summary = commandFault(container, what, said.Message)
		if imageOrigin(container) != "" {
			cause.Origin = imageOrigin(container)
			cause.Fixes = imageConfigFixes(c)
		}
	case crashOOM:
		limit := "limit"
		if q, ok := container.Spec.Resources.Limits[corev1.ResourceMemory]; ok {
			limit += " of " + q.String()
		}
		cause.Summary = fmt.Sprintf("%s cannot start: its memory %s is too low even for the start (%s).", what, limit, quote(reason))
		if container.Name() == diagnose.MainContainer {
			cause.Origin = podConfigOrigin
		}
		cause.Fixes = moreMemory(c, container)
	case startFailed:
		reason = runtimeReason(said.Message)
		cause.Summary = fmt.Sprintf("%s cannot start: the container runtime on %s cannot make it%s (%s).", what, lowerNode(c), runtimeHint(said.Message), quote(reason))
		cause.Fixes = inspectNode(c)
		if _, denied := deniedIn(said.Message); denied {
			describeHome(c, &cause, container, said.Message)
		}
	case startMount:
		describeMount(c, &cause, container, what, said.Message)
	}
	cause.Chain = []string{"Workspace " + c.Name(), containerWords(container) + " cannot start", reason}
	cause.Fixes = append(cause.Fixes, inspectPod(c)...)
	return cause
}

// confidenceIn is certain of what a status says, not of an Event.
func confidenceIn(e diagnose.Evidence) diagnose.Confidence {
	if strings.HasPrefix(e.Source, "Event/") {
		return diagnose.Likely
	}
	return diagnose.Certain
}

func containerWords(container diagnose.Container) string {
	if container.Init {
		return "init container " + container.Name()
	}
	return "container " + container.Name()
}

func lowerNode(c *diagnose.Case) string {
	n := nodeWords(c)
	return strings.ToLower(n[:1]) + n[1:]
}

// editKind changes the WorkspaceKind, which restarts every Workspace of it.
func editKind(c *diagnose.Case, text string) diagnose.Fix {
	return diagnose.Fix{
		Text:    text,
		Command: diagnose.Command("kubectl", "edit", "workspacekind", c.Workspace.Spec.Kind),
		Risk:    diagnose.RiskDisruptive,
	}
}

// commandFault says what is wrong with a command. It is the image's fault unless the
// spec sets the command.
func commandFault(container diagnose.Container, what, message string) (object, summary string) {
	object = "Image/" + container.Spec.Image
	image := "image " + container.Spec.Image
	if len(container.Spec.Command) > 0 {
		object = container.Ref()
	}
	program, reason := commandIn(message), lastErrno(message)
	m := strings.ToLower(message)
	switch {
	case strings.Contains(m, "no command"):
		return object, fmt.Sprintf("%s cannot start: %s has no command of its own, and the container sets none (%s).", what, image, quote(reason))
	case strings.Contains(m, "chdir to cwd"):
		return object, fmt.Sprintf("%s cannot start: its working directory cannot be entered in %s (%s).", what, image, quote(reason))
	case program == "":
		return object, fmt.Sprintf("%s cannot start: its command cannot be executed in %s (%s).", what, image, quote(reason))
	case strings.Contains(m, "permission denied"):
		return object, fmt.Sprintf("%s cannot start: %q in %s may not be executed (%s).", what, program, image, quote(reason))
	}
	return object, fmt.Sprintf("%s cannot start: its command %q is not in %s (%s).", what, program, image, quote(reason))
}

func describeMount(c *diagnose.Case, cause *diagnose.Cause, container diagnose.Container, what, message string) {
	reason := lastErrno(message)
	m := mountIn(message, &c.Pod.Spec, container.Spec, func(volume string) string { return claimOfVolume(c, volume) })
	if m == nil {
		cause.Summary = fmt.Sprintf("%s cannot start: the container runtime cannot mount something into it (%s).", what, quote(reason))
		return
	}
	cause.Object = "Volume/" + m.Name
	volume := "volume " + m.Name
	if ref := behind(volumeNamed(&c.Pod.Spec, m.Name)); ref.Name != "" {
		volume += fmt.Sprintf(" (%s %s)", ref.Kind, ref.Name)
		if mount := mountOf(c, ref); mount != nil && mount.Path == m.MountPath {
			cause.Origin = mount.Origin
		}
	}
	cause.Summary = fmt.Sprintf("%s cannot start: %s cannot be mounted at %s (%s).", what, volume, m.MountPath, quote(reason))
	if m.SubPath != "" {
		cause.Summary += fmt.Sprintf(" It is mounted with subPath %s, which breaks when the content changes and the container restarts.", m.SubPath)
		cause.Fixes = append(cause.Fixes, replacePod(c, "Replace the Pod, which mounts the present content"))
	}
}

// behind is the object that a volume takes its content from.
func behind(v *corev1.Volume) facts.Ref {
	switch {
	case v == nil:
	case v.Secret != nil:
		return facts.Ref{Kind: "Secret", Name: v.Secret.SecretName}
	case v.ConfigMap != nil:
		return facts.Ref{Kind: "ConfigMap", Name: v.ConfigMap.Name}
	case v.PersistentVolumeClaim != nil:
		return facts.Ref{Kind: "PersistentVolumeClaim", Name: v.PersistentVolumeClaim.ClaimName}
	}
	return facts.Ref{}
}

// claimOfVolume is the claim that is bound to a PersistentVolume; empty if none is.
func claimOfVolume(c *diagnose.Case, volume string) string {
	for name, claim := range c.Claims {
		if claim.IsFound() && claim.Value.Spec.VolumeName == volume {
			return name
		}
	}
	return ""
}
