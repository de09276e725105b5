package causes

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/diagnose"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/facts"
)

// imageRules are about images that cannot be pulled or run.
func imageRules() []diagnose.Rule {
	rules := make([]diagnose.Rule, 0, len(imageKinds))
	for _, k := range imageKinds {
		rules = append(rules, diagnose.Rule{
			ID:         k.id,
			Blocks:     diagnose.RungReady, // a sidecar's image can be at fault while main runs
			Title:      k.title,
			Recognised: k.recognised,
			Fix:        k.fix,
			Match: func(c *diagnose.Case) []diagnose.Cause {
				var out []diagnose.Cause
				for _, f := range imageFailures(c) {
					if f.kind == k.id {
						out = append(out, imageCause(c, f, k.say))
					}
				}
				return out
			},
		})
	}
	return rules
}

const pullSays = "A container waits with ErrImagePull or ImagePullBackOff (or a Failed Event is newer than Pulling), and its message or the newest Failed Event that gives a reason says: "

// imageKinds are the kinds of image failure in order of rank, each with the end of the
// sentence "… cannot pull image X for container main:".
var imageKinds = []struct {
	id, title, recognised, fix string
	say                        func(c *diagnose.Case, f imageFailure) string
}{{
	id: imageName, title: "The image reference is invalid",
	recognised: "A container waits with InvalidImageName, or an Event says that the reference cannot be parsed, or that it is a short name which the runtime does not complete.",
	fix:        "Correct the image in the WorkspaceKind: no scheme (https://), a lower-case repository, one tag, and the registry in front of it.",
	say: func(_ *diagnose.Case, f imageFailure) string {
		if strings.Contains(f.image(), "://") {
			return "the reference is invalid, as it must not begin with a scheme such as https://"
		}
		if strings.Contains(f.reason, "short-name") {
			return "the reference names no registry, and the runtime of the node does not choose one"
		}
		return "the reference is invalid"
	},
}, {
	id: imagePlatform, title: "The image is for another CPU architecture",
	recognised: pullSays + "no match for platform, no matching manifest; or a container ends with exec format error.",
	fix:        "Use an image that is built for the architecture of the node, or choose a podConfig with other nodes.",
	say: func(c *diagnose.Case, _ imageFailure) string {
		return "it has no variant for the platform of the node" + architecture(c)
	},
}, {
	id: imageDiskFull, title: "The disk of the node is full",
	recognised: pullSays + "no space left on device.",
	fix:        "Free space on the node (unused images, logs), or let the Pod run on another one.",
	say: func(*diagnose.Case, imageFailure) string {
		return "the disk of the node is full"
	},
}, {
	id: imageRateLimited, title: "The registry limits the rate of pulls",
	recognised: pullSays + "toomanyrequests, 429, rate limit, throttled.",
	fix:        "Wait for the limit to reset, give the ServiceAccount credentials for the registry, or use a mirror.",
	say: func(_ *diagnose.Case, f imageFailure) string {
		if strings.Contains(f.reason, "QPS") {
			return "the kubelet's own rate limit for pulls (registryPullQPS) is used up"
		}
		return fmt.Sprintf("registry %s answers that its rate limit is reached", f.registry())
	},
}, {
	id: imageTLS, title: "The TLS connection to the registry fails",
	recognised: pullSays + "x509, a TLS failure, or that the server speaks plain HTTP.",
	fix:        "Make the node trust the certificate of the registry (or of the proxy before it).",
	say: func(_ *diagnose.Case, f imageFailure) string {
		return fmt.Sprintf("the TLS connection to %s fails", f.host())
	},
}, {
	id: imageUnreachable, title: "The node cannot reach the registry",
	recognised: pullSays + "a DNS failure, a timeout, a refused connection, or a gateway error.",
	fix:        "See whether the name of the registry is right, and whether the node can resolve and reach it.",
	say: func(_ *diagnose.Case, f imageFailure) string {
		if strings.Contains(f.reason, "lookup ") || strings.Contains(f.reason, "name resolution") {
			return fmt.Sprintf("the name %s cannot be resolved by DNS", f.host())
		}
		return fmt.Sprintf("registry %s cannot be reached", f.host())
	},
}, {
	id: imageForbidden, title: "The registry refuses the credentials",
	recognised: pullSays + "401, 403, unauthorized, pull access denied. A Secret of imagePullSecrets that does not exist is the cause, if there is one.",
	fix:        "Create or correct the Secret of type kubernetes.io/dockerconfigjson, and name it in imagePullSecrets of the ServiceAccount.",
	say: func(c *diagnose.Case, f imageFailure) string {
		without := ", and the Pod names no imagePullSecrets"
		if c.Pod == nil || len(c.Pod.Spec.ImagePullSecrets) > 0 {
			without = ""
		}
		return fmt.Sprintf("registry %s refuses it%s", f.registry(), without)
	},
}, {
	id: imageNotFound, title: "The image does not exist",
	recognised: pullSays + "not found, manifest unknown, 404; or ErrImageNeverPull, where the node does not have the image.",
	fix:        "Correct the image (repository, tag, digest) in the WorkspaceKind or choose another imageConfig. With imagePullPolicy Never, load the image on the node or use IfNotPresent.",
	say: func(_ *diagnose.Case, f imageFailure) string {
		if f.never() {
			return "it is not on the node, and its imagePullPolicy Never forbids to pull it"
		}
		return fmt.Sprintf("registry %s has no such repository, tag or digest", f.registry())
	},
}, {
	id: imageFailed, title: "The image cannot be pulled",
	recognised: "A container waits with ErrImagePull or ImagePullBackOff, and no message gives a reason that is known.",
	fix:        "Read the message; see whether the node can pull the image by hand.",
	say: func(c *diagnose.Case, f imageFailure) string {
		switch {
		case policyPattern.MatchString(f.reason):
			return "a policy of the registry or of the node forbids to use it"
		case f.reason != "":
		case c.Pod == nil || !c.HeardAll("Pod", c.Pod.Name):
			return "why is in the Events of its Pod, which could not be read"
		default:
			return "Kubernetes does not say why any more (Events last one hour)"
		}
		return "the runtime gives a reason that is not known here"
	},
}}

// policyPattern recognises images that exist and may not be used: Harbor's scanner and
// signature policies, CRI-O's and containerd's image verification.
var policyPattern = regexp.MustCompile(`(?i)vulnerabilit|412 Precondition Failed|signature|configured policy|image verifier|rejected by policy`)

// inBrackets puts somebody's words behind a clause.
func inBrackets(s string) string {
	if s == "" {
		return ""
	}
	return " (" + quote(s) + ")"
}

func architecture(c *diagnose.Case) string {
	if c.Node.IsFound() && c.Node.Value.Status.NodeInfo.Architecture != "" {
		return ", " + c.Node.Value.Status.NodeInfo.Architecture
	}
	return ""
}

// imageFailure is a container whose image cannot be had.
type imageFailure struct {
	container diagnose.Container
	kind      string
	reason    string
	certain   bool
	// unnamed is set if the image is not known; then it stands for the container main.
	unnamed bool
	// pulled is set if the image is there but cannot be run.
	pulled   bool
	evidence []diagnose.Evidence
}

func (f imageFailure) image() string    { return f.container.Spec.Image }
func (f imageFailure) registry() string { return registryOf(f.image()) }

func (f imageFailure) host() string {
	if h := hostIn(f.reason); h != "" {
		return h
	}
	return f.registry()
}

func (f imageFailure) never() bool {
	return slices.ContainsFunc(f.evidence, func(e diagnose.Evidence) bool {
		return e.Reason == "ErrImageNeverPull" || strings.Contains(e.Message, "pull policy of Never")
	})
}

// configuredImage is the image that the WorkspaceKind has for the imageConfig of the
// Workspace; else, unnamed, a word for it.
func configuredImage(c *diagnose.Case) (image string, unnamed bool) {
	id := c.Workspace.Spec.PodTemplate.Options.ImageConfig
	if c.Kind.IsFound() {
		for _, v := range c.Kind.Value.Spec.PodTemplate.Options.ImageConfig.Values {
			if v.ID == id {
				return v.Spec.Image, false
			}
		}
	}
	return "of imageConfig " + id, true
}

// pullReasons are the waiting reasons of a container whose image cannot be had
// (pkg/kubelet/images/types.go).
var pullReasons = []string{
	"ErrImagePull", "ImagePullBackOff", "ErrImageNeverPull", "InvalidImageName", "ImageInspectError",
	"RegistryUnavailable", "SignatureValidationFailed",
}

// placeholders are the waiting reasons of a container whose turn has not come, or of
// which the kubelet has not reported more yet.
var placeholders = []string{"", "ContainerCreating", "PodInitializing"}

type imageFailuresKey struct{}

// imageFailures returns the containers whose image cannot be had, init containers first.
func imageFailures(c *diagnose.Case) []imageFailure {
	return diagnose.Memo(c, imageFailuresKey{}, findImageFailures)
}

func findImageFailures(c *diagnose.Case) []imageFailure {
	var out []imageFailure
	for _, container := range c.PodContainers() {
		if container.Running() || container.Settled() {
			continue
		}
		if f, ok := imageFailureOf(c, container); ok {
			out = append(out, f)
		}
	}
	if c.Pod == nil {
		for _, e := range c.CurrentOf("Pod", "Failed") {
			if f, ok := quotedPullFailure(c, e); ok {
				out = append(out, f)
			}
		}
	}
	return out
}

// quotedPullFailure is for a person who may not read the Pod: the controller's status
// quotes the kubelet.
func quotedPullFailure(c *diagnose.Case, e diagnose.Event) (imageFailure, bool) {
	image, symptom := imageIn(e.Message), pullSymptoms.MatchString(e.Plain())
	f := imageFailure{unnamed: image == "", evidence: []diagnose.Evidence{e.Evidence()}}
	switch {
	case image == "" && !symptom:
		return f, false
	case image == "":
		image, f.unnamed = configuredImage(c)
	}
	f.container.Spec.Image = image
	if f.kind = pullKind(e.Message, image); f.kind == "" {
		f.kind = imageFailed
	}
	if !symptom {
		f.reason = pullReason(e.Message)
	}
	return f, true
}

func imageFailureOf(c *diagnose.Case, container diagnose.Container) (imageFailure, bool) {
	f := imageFailure{container: container, kind: imageFailed}
	reason, message := container.Waiting()
	waits := slices.Contains(pullReasons, reason)
	events := pullWarnings(container)
	_, pulling := pullingNow(c, container)
	switch {
	case pulling:
		return f, false
	case !waits && (!slices.Contains(placeholders, reason) || container.Ended() != nil || !pullFailedLast(container)):
		ok := runFailure(c, &f)
		return f, ok
	}
	if waits {
		f.evidence = append(f.evidence, diagnose.Evidence{Source: "Pod/" + c.Pod.Name, Reason: reason, Message: message})
		f.take(reason, message, true)
	}
	// Beside the status one Event is quoted: the newest that says something.
	var said *diagnose.Event
	for i, e := range events {
		if f.take(e.Reason, e.Plain(), false) || said == nil || pullSymptoms.MatchString(said.Plain()) && !pullSymptoms.MatchString(e.Plain()) {
			said = &events[i]
		}
	}
	switch {
	case said == nil:
	case f.certain && message != "":
		f.evidence = append(f.evidence, said.Evidence())
	default:
		f.evidence = append([]diagnose.Evidence{said.Evidence()}, f.evidence...)
	}
	return f, true
}

// take learns what a message has to say about the failure. It reports whether that was
// something new.
func (f *imageFailure) take(reason, message string, fromStatus bool) bool {
	if f.kind != imageFailed && f.reason != "" {
		return false
	}
	// The reason alone is telling too: InvalidImageName, ErrImageNeverPull.
	kind := pullKind(reason+": "+message, f.image())
	says := message != "" && !pullSymptoms.MatchString(message)
	switch {
	case f.kind == imageFailed && kind != "":
		f.kind, f.reason, f.certain = kind, "", fromStatus
	case f.reason != "" || f.kind != imageFailed && f.kind != kind:
		return false
	case !says:
		return false
	}
	if says && !strings.Contains(message, "pull policy of Never") {
		f.reason = pullReason(message)
	}
	return true
}

// runFailures are failures to run an image that was pulled, with the words of the
// kernel: an executable of another architecture, a node without space for the container.
var runFailures = []struct{ words, kind string }{{"exec format error", imagePlatform}, {"no space left on device", imageDiskFull}}

// isRunFailure reports whether a message is about one of the runFailures.
func isRunFailure(message string) bool {
	m := strings.ToLower(message)
	return slices.ContainsFunc(runFailures, func(r struct{ words, kind string }) bool { return strings.Contains(m, r.words) })
}

func runFailure(c *diagnose.Case, f *imageFailure) bool {
	texts := startTexts(c, f.container)
	if t := f.container.Ended(); t != nil && len(texts) == 0 && strings.Contains(t.Message, "exec format error") {
		texts = []diagnose.Evidence{{Source: "Pod/" + c.Pod.Name, Reason: t.Reason, Message: t.Message}}
	}
	for _, e := range texts {
		for _, r := range runFailures {
			if strings.Contains(strings.ToLower(e.Message), r.words) {
				f.certain = confidenceIn(e) == diagnose.Certain
				f.kind, f.reason, f.evidence, f.pulled = r.kind, r.words, []diagnose.Evidence{e}, true
				return true
			}
		}
	}
	return false
}

// pullWarnings are the container's Warnings about its image, newest first.
func pullWarnings(container diagnose.Container) []diagnose.Event {
	var out []diagnose.Event
	for _, e := range container.Events {
		if e.IsWarning() && isPullFailure(e) {
			out = append(out, e)
		}
	}
	return out
}

func isPullFailure(e diagnose.Event) bool {
	switch e.Reason {
	case "InspectFailed", "ErrImageNeverPull":
		return true
	case "BackOff": // Normal, for an image
		return imageIn(e.Message) != ""
	case "Failed":
		m := e.Plain()
		return imageIn(m) != "" || pullSymptoms.MatchString(m) || slices.Contains(pullReasons, strings.TrimPrefix(m, "Error: "))
	}
	return false
}

var imagePattern = regexp.MustCompile(`(?i)(?:failed to pull|back-off pulling|failed to inspect|container) image "([^"]+)"|apply default image tag "([^"]+)"`)

// imageIn is the image that a message about a failed pull names; empty if it is about
// something else.
func imageIn(message string) string {
	// Every Event is asked, and the pattern searches in vain from every position.
	if !strings.Contains(message, "image ") {
		return ""
	}
	m := imagePattern.FindStringSubmatch(message)
	if m == nil || strings.Contains(message, "already present on machine") {
		return ""
	}
	return m[1] + m[2]
}

// pullFailedLast reports whether the newest word about the container's image is a failure.
func pullFailedLast(container diagnose.Container) bool {
	for _, e := range container.Events {
		if isPullFailure(e) {
			return true
		}
		if slices.Contains([]string{"Pulling", "Pulled", "Created", "Started"}, e.Reason) {
			return false
		}
	}
	return false
}

// A pull that the registry refuses fails within a second or two, one that cannot reach
// the registry takes up to a minute: only then is a repeated pull progress.
const (
	refusalTime = 3 * time.Second
	timeoutTime = time.Minute
)

// pullingNow returns the Event that says that the container's image is being pulled now.
// While it is, the status still tells of the failure before, if there was one.
func pullingNow(c *diagnose.Case, container diagnose.Container) (diagnose.Event, bool) {
	reason, message := container.Waiting()
	if container.Running() || container.Ended() != nil || !slices.Contains(append(slices.Clone(placeholders), "ErrImagePull", "ImagePullBackOff"), reason) {
		return diagnose.Event{}, false
	}
	var pulling, failed *diagnose.Event
	for i, e := range container.Events { // newest first
		switch {
		case e.Reason == "Pulling":
			if pulling == nil {
				pulling = &container.Events[i]
			}
		case isPullFailure(e):
			if failed == nil {
				failed = &container.Events[i]
			}
		case e.Reason == "Pulled", e.Reason == "Created", e.Reason == "Started":
			if pulling == nil || !pulling.Last.After(e.Last) {
				return diagnose.Event{}, false
			}
		}
	}
	switch {
	case pulling == nil:
		return diagnose.Event{}, false
	case failed == nil:
		// A failure without an Event: the Events are not all there.
		return *pulling, slices.Contains(placeholders, reason)
	case !pulling.Last.After(failed.Last):
		return diagnose.Event{}, false
	}
	takes := refusalTime
	for _, m := range []string{message, failed.Message} {
		if pullKind(m, container.Spec.Image) == imageUnreachable {
			takes = timeoutTime
		}
	}
	return *pulling, c.Now.Sub(pulling.Last) > takes
}

func imageCause(c *diagnose.Case, f imageFailure, say func(*diagnose.Case, imageFailure) string) diagnose.Cause {
	verb := "pull"
	if f.pulled {
		verb = "run"
	}
	cause := diagnose.Cause{
		Object:     "Image/" + f.image(),
		Summary:    fmt.Sprintf("%s cannot %s image %s%s: %s%s.", nodeWords(c), verb, f.image(), forContainer(f.container), say(c, f), inBrackets(f.reason)),
		Confidence: diagnose.Likely,
		Origin:     imageOrigin(f.container),
		Evidence:   f.evidence,
		State:      diagnose.StateError,
		Chain:      []string{"Workspace " + c.Name(), "Pod cannot start", strings.TrimSpace("image " + f.image() + forContainer(f.container)), say(c, f)},
	}
	if f.unnamed {
		cause.Object = "Container/" + diagnose.MainContainer
	}
	if f.certain {
		cause.Confidence = diagnose.Certain
	}
	secret, sure := missingPullSecret(c)
	switch {
	case secret == "" || f.kind != imageForbidden && f.kind != imageNotFound:
	case f.kind == imageNotFound:
		// Registries hide private images as missing ones.
		cause.Summary += fmt.Sprintf(" Perhaps it needs the credentials of imagePullSecrets, and %s.", pullSecretWords(secret, sure))
	default:
		cause.Object = facts.Ref{Kind: "Secret", Name: secret}.String()
		cause.Summary += fmt.Sprintf(" The credentials should come from imagePullSecrets, but %s.", pullSecretWords(secret, sure))
		cause.Chain = append(cause.Chain, pullSecretWords(secret, sure))
		cause.Origin = "imagePullSecrets of ServiceAccount " + c.Pod.Spec.ServiceAccountName
		if !sure {
			cause.Confidence = diagnose.Likely
		}
		for _, e := range c.CurrentOf("Pod", "FailedToRetrieveImagePullSecret") {
			cause.Evidence = append(cause.Evidence, e.Evidence())
		}
	}
	cause.Fixes = imageFixes(c, f, secret)
	return cause
}

// nodeWords names the node as the subject of a sentence.
func nodeWords(c *diagnose.Case) string {
	if n := podNode(c); n != "" {
		return "Node " + n
	}
	return "The node"
}

// podNode is the Pod's node, from the Workspace's status where the Pod cannot be read.
func podNode(c *diagnose.Case) string {
	if c.Pod != nil {
		return c.Pod.Spec.NodeName
	}
	return c.Workspace.Status.PodTemplatePod.NodeName
}

func forContainer(container diagnose.Container) string {
	switch {
	case container.Name() == "":
		return ""
	case container.Init:
		return " for init container " + container.Name()
	}
	return " for container " + container.Name()
}

// imageOrigin is where an image comes from, if that is the Workspace: the images of
// other containers than main come from whatever adds them.
func imageOrigin(container diagnose.Container) string {
	if container.Name() == diagnose.MainContainer && !container.Init {
		return "spec.podTemplate.options.imageConfig"
	}
	return ""
}

// missingPullSecret returns a Secret of the Pod's imagePullSecrets that does not exist,
// and whether that is our own finding or the kubelet's word; empty if there is none.
func missingPullSecret(c *diagnose.Case) (name string, sure bool) {
	if c.Pod == nil {
		return "", false
	}
	for _, s := range c.Pod.Spec.ImagePullSecrets {
		switch c.Secrets[s.Name].Status {
		case facts.Absent:
			return s.Name, true
		case facts.Found:
		default:
			for _, e := range c.CurrentOf("Pod", "FailedToRetrieveImagePullSecret") {
				if slices.Contains(pullSecretsIn(e.Plain()), s.Name) {
					name = s.Name
				}
			}
		}
	}
	return name, false
}

var pullSecretsPattern = regexp.MustCompile(`image pull secrets \(([^)]*)\)`)

// pullSecretsIn are the Secrets that the kubelet could not retrieve
// (FailedToRetrieveImagePullSecret, since 1.27).
func pullSecretsIn(message string) []string {
	m := pullSecretsPattern.FindStringSubmatch(message)
	if m == nil {
		return nil
	}
	return strings.FieldsFunc(m[1], func(r rune) bool { return r == ',' || r == ' ' })
}

func pullSecretWords(name string, sure bool) string {
	if sure {
		return fmt.Sprintf("Secret %q does not exist in the namespace", name)
	}
	return fmt.Sprintf("the kubelet reports that it could not retrieve Secret %q", name)
}

func imageFixes(c *diagnose.Case, f imageFailure, secret string) []diagnose.Fix {
	var fixes []diagnose.Fix
	main := imageOrigin(f.container) != ""
	switch f.kind {
	case imageForbidden, imageRateLimited:
		fixes = append(fixes, credentialFixes(c, secret)...)
	case imageNotFound, imageName, imagePlatform:
		if secret != "" {
			fixes = append(fixes, credentialFixes(c, secret)...)
		}
		if main {
			fixes = append(fixes, imageConfigFixes(c)...)
		} else if f.container.Name() != "" {
			fixes = append(fixes, diagnose.Fix{Text: fmt.Sprintf("Container %s is not from the WorkspaceKind: ask whoever adds it (an admission webhook) to correct its image", f.container.Name()), Risk: diagnose.RiskInspect})
		}
	default:
		fixes = append(fixes, inspectNode(c)...)
	}
	return append(fixes, inspectPod(c)...)
}

// credentialFixes make a Secret for the registry known to the Workspace's ServiceAccount.
// Its name is that of the missing one, if there is one.
func credentialFixes(c *diagnose.Case, secret string) []diagnose.Fix {
	name := secret
	if name == "" {
		name = "registry-credentials"
	}
	fixes := []diagnose.Fix{{
		Text: "Create the Secret from your own login (docker login writes that file)",
		// The path is left to the shell; a password on a command line ends up in its history.
		Command: diagnose.Command("kubectl", "create", "secret", "docker-registry", name, "-n", c.Namespace()) +
			` --from-file=.dockerconfigjson="$HOME/.docker/config.json"`,
		Risk: diagnose.RiskSafe,
	}}
	if secret != "" || c.Pod == nil || c.Pod.Spec.ServiceAccountName == "" {
		return fixes
	}
	return append(fixes, diagnose.Fix{
		Text: "Let the ServiceAccount of the Workspace use it",
		Command: diagnose.Command("kubectl", "patch", "serviceaccount", c.Pod.Spec.ServiceAccountName, "-n", c.Namespace(),
			"-p", fmt.Sprintf(`{"imagePullSecrets":[{"name":%q}]}`, name)),
		Risk: diagnose.RiskSafe,
	}, replacePod(c, "and then replace the Pod, since imagePullSecrets are put into a new Pod only"))
}

// replacePod deletes the Pod, which must exist.
func replacePod(c *diagnose.Case, text string) diagnose.Fix {
	return diagnose.Fix{Text: text, Command: diagnose.Command("kubectl", "delete", "pod", c.Pod.Name, "-n", c.Namespace()), Risk: diagnose.RiskDisruptive}
}

// imageConfigFixes correct the image of main, or get along without it.
func imageConfigFixes(c *diagnose.Case) []diagnose.Fix {
	id := c.Workspace.Spec.PodTemplate.Options.ImageConfig
	fixes := []diagnose.Fix{editKind(c, fmt.Sprintf("Correct the image of imageConfig %s in the WorkspaceKind", id))}
	if c.Kind.IsFound() {
		var others []option
		for _, v := range c.Kind.Value.Spec.PodTemplate.Options.ImageConfig.Values {
			if v.ID != id {
				others = append(others, option{v.ID, redirectTarget(v.Redirect)})
			}
		}
		if len(others) > 0 {
			fixes = append(fixes, chooseOption(c, "imageConfig", others))
		}
	}
	return append(fixes, replacePod(c, "and then replace the Pod: its StatefulSet does not replace one that was never Ready"))
}

func inspectNode(c *diagnose.Case) []diagnose.Fix {
	node := podNode(c)
	if node == "" {
		return nil
	}
	return []diagnose.Fix{{
		Text:    "Ask whoever runs the cluster to look at the node",
		Command: diagnose.Command("kubectl", "describe", "node", node),
		Risk:    diagnose.RiskInspect,
	}}
}

func inspectPod(c *diagnose.Case) []diagnose.Fix {
	if c.Pod == nil {
		return nil
	}
	return []diagnose.Fix{{
		Text:    "See the Pod's Events",
		Command: diagnose.Command("kubectl", "describe", "pod", c.Pod.Name, "-n", c.Namespace()),
		Risk:    diagnose.RiskInspect,
	}}
}
