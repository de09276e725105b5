package causes

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/diagnose"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/facts"
)

// sandboxRules are about Pod sandboxes that cannot be made.
func sandboxRules() []diagnose.Rule {
	return []diagnose.Rule{{
		ID:         "pod-ip-exhausted",
		Blocks:     diagnose.RungSandbox,
		Title:      "There is no IP address left for the Pod",
		Recognised: "A current FailedCreatePodSandBox says that the network plugin has no address to give.",
		Fix:        "Free addresses on the node (ended Pods, leaked reservations of the network plugin), or enlarge the range.",
		Match:      func(c *diagnose.Case) []diagnose.Cause { return matchSandbox(c, sandboxNoIP) },
	}, {
		ID:         "sandbox-creation-failed",
		Blocks:     diagnose.RungReady, // the network can fail after the sandbox was made
		Title:      "The Pod's sandbox cannot be made",
		Recognised: "A current FailedCreatePodSandBox, FailedCreatePodContainer or NetworkNotReady says so: the network plugin fails, the container runtime fails, or the node cannot pull its pause image. Or SandboxChanged comes again and again.",
		Fix:        "It is the node's fault: have the network plugin or the container runtime on it looked at.",
		Match: func(c *diagnose.Case) []diagnose.Cause {
			return matchSandbox(c, sandboxPause, sandboxNetwork, sandboxRuntime)
		},
	}}
}

// sandboxKind is what part of making a sandbox failed.
type sandboxKind string

const (
	sandboxNoIP    sandboxKind = "no-ip"
	sandboxPause   sandboxKind = "pause-image"
	sandboxNetwork sandboxKind = "network"
	sandboxRuntime sandboxKind = "runtime"
)

var (
	sandboxReasons = []string{"FailedCreatePodSandBox", "FailedCreatePodContainer", "NetworkNotReady"}
	// The words of host-local, AWS VPC CNI, Calico, Cilium, Whereabouts, Azure, Antrea,
	// Terway, Kube-OVN, Spiderpool and OVN-Kubernetes.
	noIPPattern    = regexp.MustCompile(`(?i)no (more )?(free |available )?ip(v[46])?s?( address(es)?)? (available|left|in|free)|failed to assign an ip address to container|assigned 0 out of \d+ requested|no (free|available|more free) (ip|address|affine block)|no more free|range is full|could not allocate ip in range|no available (pod )?ip|no addresses (available|left)|ips? exhausted|pool (is )?exhausted|exhausted.{0,40}\bips?\b|ipnotenough|insufficient (capacity|(free )?ip)|no ips available|not enough ips?( address(es)?)? available|unable to allocate ip|ran out of ip|NoAvailableAddress|enough free (ip|address|cidr)|ips? (address(es)? )?used (out|up)`)
	pausePattern   = regexp.MustCompile(`(?i)sandbox image|pause(:|-amd64|-arm64| image)|infra(structure)? image`)
	networkPattern = regexp.MustCompile(`(?i)network for|set ?up network|networkplugin|network is not ready|network plugin|plugin type=|\bcni\b|/cni/|multus|add cmd|del cmd`)
	pluginPattern  = regexp.MustCompile(`plugin type="([^"]+)"|networkPlugin ([a-z]+) failed|NetworkPlugin ([a-z]+) failed`)
	imageInQuotes  = regexp.MustCompile(`(?i)image "([^"]+)"`)
)

// parseSandbox tells which part failed. A message can name several: without an address
// the network cannot be made, without the network the sandbox.
func parseSandbox(message string) sandboxKind {
	switch {
	case noIPPattern.MatchString(message):
		return sandboxNoIP
	case pausePattern.MatchString(message):
		return sandboxPause
	case networkPattern.MatchString(message):
		return sandboxNetwork
	}
	return sandboxRuntime
}

func matchSandbox(c *diagnose.Case, kinds ...sandboxKind) []diagnose.Cause {
	said := diagnose.Memo(c, sandboxSaidKey{}, telling)
	if said == nil && slices.Contains(kinds, sandboxRuntime) {
		return matchSandboxChanging(c)
	}
	if said == nil {
		return nil
	}
	kind := parseSandbox(said.Plain())
	if !slices.Contains(kinds, kind) {
		return nil
	}
	return one(sandboxCause(c, kind, *said))
}

// tooManySandboxes is from when on a sandbox that is made anew is no accident. One is made
// anew whenever the node or its runtime restarts.
const tooManySandboxes = 3

// matchSandboxChanging is about a sandbox that does not live: there is no Warning about it,
// and the kubelet makes it again and again.
func matchSandboxChanging(c *diagnose.Case) []diagnose.Cause {
	if c.Pod == nil || c.Reached >= diagnose.RungStarted {
		return nil
	}
	for _, e := range c.All { // newest first
		if e.Object.Kind != "Pod" || e.Reason != "SandboxChanged" || e.Count < tooManySandboxes || c.Now.Sub(e.Last) > startPatience {
			continue
		}
		return one(diagnose.Cause{
			Object: facts.Ref{Kind: "Node", Name: c.Pod.Spec.NodeName}.String(),
			Summary: fmt.Sprintf("%s makes the sandbox of the Pod again and again (%d times so far) and says nothing about why it does not live: look at its container runtime and network plugin.",
				nodeWords(c), e.Count),
			Confidence: diagnose.Likely,
			State:      diagnose.StateError,
			Chain:      []string{"Workspace " + c.Name(), "Pod has no sandbox", lowerNode(c) + " makes it again and again"},
			Evidence:   []diagnose.Evidence{e.Evidence()},
			Fixes:      inspectNode(c),
		})
	}
	return nil
}

type sandboxSaidKey struct{}

// telling is the newest Warning about the sandbox that says something; "context deadline
// exceeded" is what follows when an earlier attempt hangs. It is nil if there is none.
func telling(c *diagnose.Case) *diagnose.Event {
	said := c.CurrentOf("Pod", sandboxReasons...)
	for i, e := range said {
		if !sandboxSymptom.MatchString(e.Plain()) {
			return &said[i]
		}
	}
	if len(said) == 0 {
		return nil
	}
	return &said[0]
}

var sandboxSymptom = regexp.MustCompile(`(?i)sandbox: rpc error: code = (DeadlineExceeded|Unknown) desc = context deadline exceeded$|is reserved for|network is not ready`)

func sandboxCause(c *diagnose.Case, kind sandboxKind, e diagnose.Event) diagnose.Cause {
	reason := sandboxReason(e.Plain())
	cause := diagnose.Cause{
		Object:     "Node",
		Confidence: diagnose.Likely,
		State:      diagnose.StateError,
		Chain:      []string{"Workspace " + c.Name(), "Pod has no sandbox"},
		Evidence:   []diagnose.Evidence{e.Evidence()},
	}
	if n := podNode(c); n != "" {
		cause.Object = facts.Ref{Kind: "Node", Name: n}.String()
	}
	what := ""
	switch kind {
	case sandboxNoIP:
		what = "has no IP address left for the Pod"
	case sandboxPause:
		what = "cannot pull its own pause image"
		if m := imageInQuotes.FindStringSubmatch(e.Message); m != nil {
			what += " " + m[1]
		}
		what += ", which every Pod needs (it is not the image of the Workspace)"
		reason = pullReason(reason)
	case sandboxNetwork:
		what = "cannot make the network of the Pod: its network plugin"
		if e.Reason == "NetworkNotReady" {
			what = "does nothing for the Pod as long as its network is not ready: its network plugin"
		}
		for _, name := range firstGroup(pluginPattern, e.Message) {
			if name != "cni" {
				what += " " + name
			}
		}
		what += " fails"
	default:
		what = "cannot make the sandbox of the Pod: its container runtime fails"
		if strings.Contains(strings.ToLower(e.Message), "cgroup") {
			what += " (cgroups)"
		}
	}
	cause.Summary = fmt.Sprintf("%s %s (%s).", nodeWords(c), what, quote(reason))
	cause.Chain = append(cause.Chain, lowerNode(c)+" "+what)
	if n := podNode(c); n != "" {
		cause.Fixes = []diagnose.Fix{{
			Text:    "See whether the network plugin and the other system Pods of the node run",
			Command: diagnose.Command("kubectl", "get", "pods", "-A", "-o", "wide", "--field-selector", "spec.nodeName="+n),
			Risk:    diagnose.RiskInspect,
		}}
	}
	cause.Fixes = append(cause.Fixes, inspectNode(c)...)
	return cause
}

// firstGroup returns what the first group that took part in a match holds, if any.
func firstGroup(p *regexp.Regexp, s string) []string {
	m := p.FindStringSubmatch(s)
	for i := 1; i < len(m); i++ {
		if m[i] != "" {
			return m[i : i+1]
		}
	}
	return nil
}

// sandboxWrappings is what stands before the reason in a message about a sandbox; the
// ids in it differ from try to try.
var sandboxWrappings = regexp.MustCompile(`^(?i:(combined from similar events\): )?fail(ed)? (to )?create pod sandbox: ?|rpc error: code = \w+ desc = |failed to (set ?up (network for sandbox|sandbox container)|start sandbox|create (a sandbox|containerd task|sandbox container)( for pod)?|get sandbox image|reserve sandbox name)( container)? "[^"]*"( network for pod "[^"]*")?: |networkplugin \w+ failed to set ?up pod "[^"]*" network: )`)

func sandboxReason(message string) string {
	// Docker tears down what it has begun, and tells how that went.
	if before, _, found := strings.Cut(message, ", failed to clean up sandbox container"); found {
		message = strings.Replace(before, " desc = [", " desc = ", 1)
	}
	for {
		loc := sandboxWrappings.FindStringIndex(message)
		if loc == nil || loc[1] == 0 || loc[1] == len(message) {
			return shorten(message)
		}
		message = message[loc[1]:]
	}
}
