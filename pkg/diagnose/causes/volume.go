package causes

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/diagnose"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/facts"
)

// volumeRules are about volumes that cannot be attached or mounted.
func volumeRules() []diagnose.Rule {
	var rules []diagnose.Rule
	for _, k := range volumeKinds {
		rules = append(rules, diagnose.Rule{
			ID: k.id, Blocks: diagnose.RungMounted, Title: k.title, Recognised: k.recognised, Fix: k.fix,
			Match: func(c *diagnose.Case) []diagnose.Cause {
				var out []diagnose.Cause
				for _, f := range volumeFaults(c) {
					if f.id == k.id {
						out = append(out, volumeCause(c, k, f))
					}
				}
				if len(out) == 0 {
					out = refusedForVolume(c, k)
				}
				return out
			},
		})
	}
	return append(rules, diagnose.Rule{
		ID:         "volume-mount-silent",
		Progress:   true,
		Blocks:     diagnose.RungMounted,
		Title:      "Nothing is mounted, and nobody says why",
		Recognised: "The Pod has had its node for more than two minutes (and no volume was attached within the last two), uses a claim, has no sandbox, and there is neither a Warning nor an Event of progress: Kubernetes 1.37 no longer reports a mount that hangs.",
		Fix:        "See whether the storage server answers, and the network of the node to it.",
		Match:      matchMountSilent,
	})
}

// volumeKind is a cause that Events about attaching and mounting tell.
type volumeKind struct {
	id, title, recognised, fix string
	// explain says what is wrong with a volume in the user's words, without the final
	// full stop.
	explain func(*diagnose.Case, volumeFault) string
	// object is the object at fault; nil if it is the claim.
	object func(*diagnose.Case, volumeFault) string
	// advice is what to do, beside looking at the claim.
	advice func(*diagnose.Case, volumeFault) diagnose.Fix
}

var volumeKinds = []volumeKind{{
	id: "volume-node-affinity-conflict", title: "The volume cannot be reached from where the Pod may run",
	recognised: "The scheduler says volume node affinity conflict (didn't match PersistentVolume's node affinity since 1.34), or the kubelet's NodeAffinity check fails.",
	fix:        "Let the Pod run where the volume is: choose another podConfig or uncordon its node. Or copy the data to a new claim.",
	explain: func(_ *diagnose.Case, f volumeFault) string {
		return f.what() + " has a volume node affinity conflict: its volume cannot be used on the Pod's node"
	},
	advice: adviseVolume,
}, {
	id: "volume-limit-exceeded", title: "The node has as many volumes attached as it can",
	recognised: "The scheduler says exceed max volume count, or attaching fails for a maximum number of volumes.",
	fix:        "Move the Pod to another node, or stop Workspaces with volumes on this one.",
	explain: func(c *diagnose.Case, f volumeFault) string {
		return fmt.Sprintf("Node %s has the max number of volumes attached that it can have, so that %s cannot be attached to it", volumeNode(c), f.what())
	},
	object: func(c *diagnose.Case, _ volumeFault) string { return "Node/" + volumeNode(c) },
	advice: func(c *diagnose.Case, _ volumeFault) diagnose.Fix {
		const text = "Let the scheduler choose again, which may find another node"
		if c.Pod == nil {
			return diagnose.Fix{Text: text + ": have the Pod deleted", Risk: diagnose.RiskDisruptive}
		}
		return replacePod(c, text)
	},
}, {
	id: "volume-in-use", title: "A ReadWriteOncePod claim is used by another Pod",
	recognised: "The scheduler or the kubelet says that a claim with the access mode ReadWriteOncePod is in use by another Pod.",
	fix:        "Stop the other Pod, or use another claim.",
	explain: func(_ *diagnose.Case, f volumeFault) string {
		return f.what() + " may be used by one Pod only (ReadWriteOncePod), and another Pod uses it"
	},
	advice: adviseUsers,
}, {
	id: "volume-multi-attach", title: "The volume is still attached to another node",
	recognised: "FailedAttachVolume: Multi-Attach error, or Waiting for detach; or the storage says that the volume is attached elsewhere.",
	fix:        "Stop the other Pod that uses it. If its node is gone, an administrator has to delete the VolumeAttachment.",
	explain: func(_ *diagnose.Case, f volumeFault) string {
		by := "to another node"
		if users := usersIn(f.event.Message); users != "" {
			by += ", where " + users + " uses it"
		}
		return fmt.Sprintf("%s is still attached %s, and can be attached to one at a time", f.what(), by)
	},
	advice: adviseUsers,
}, {
	id: "csi-driver-not-registered", title: "The storage driver does not run on the node",
	recognised: "The kubelet says driver name X not found in the list of registered CSI drivers.",
	fix:        "An administrator has to see why the driver's node Pod does not run there.",
	explain: func(c *diagnose.Case, f volumeFault) string {
		return fmt.Sprintf("CSI driver %s is not registered on node %s, so that %s cannot be mounted there", f.detail, volumeNode(c), f.what())
	},
	object: func(_ *diagnose.Case, f volumeFault) string { return "CSIDriver/" + f.detail },
	advice: func(c *diagnose.Case, _ volumeFault) diagnose.Fix {
		return diagnose.Fix{
			Text:    "See which Pods of the driver run on the node",
			Command: diagnose.Command("kubectl", "get", "pods", "-A", "-o", "wide", "--field-selector", "spec.nodeName="+volumeNode(c)),
			Risk:    diagnose.RiskInspect,
		}
	},
}, {
	id: "volume-filesystem-corrupt", title: "The file system on the volume is damaged",
	recognised: "FailedMount: fsck found errors that it could not correct, or a bad superblock.",
	fix:        "An administrator has to repair the file system by hand (fsck) or restore a backup.",
	explain: func(_ *diagnose.Case, f volumeFault) string {
		return fmt.Sprintf("The file system on the volume of %s is damaged: %s; somebody has to run fsck on it or restore a backup", f.what(), gist(f.event.Message))
	},
	advice: adviseVolume,
}, {
	id: "volume-attach-failed", title: "The volume cannot be attached to the node",
	recognised: "FailedAttachVolume for another reason: the attacher does not answer, the driver is missing on the CSINode, the storage refuses.",
	fix:        "An administrator has to see what the storage driver's controller says.",
	explain: func(c *diagnose.Case, f volumeFault) string {
		by := ""
		if f.detail != "" {
			by = " by CSI driver " + f.detail
		}
		return fmt.Sprintf("%s cannot be attached to node %s%s: %s", f.what(), volumeNode(c), by, gist(f.event.Message))
	},
	advice: func(*diagnose.Case, volumeFault) diagnose.Fix {
		return diagnose.Fix{
			Text:    "See who is to attach it and what went wrong; then whether the driver's controller (with its external-attacher) runs",
			Command: "kubectl get volumeattachments",
			Risk:    diagnose.RiskInspect,
		}
	},
}, {
	id: "volume-mount-failed", title: "The volume cannot be mounted on the node",
	recognised: "FailedMount for another reason: the server refuses or does not answer, a helper program is missing on the node, a permission.",
	fix:        "Depends on what the mount said; mostly the storage server's or the node's administrator.",
	explain: func(c *diagnose.Case, f volumeFault) string {
		hint := ""
		if f.detail != "" {
			hint = f.detail + ": "
		}
		return fmt.Sprintf("%s cannot be mounted on node %s: %s%s", f.what(), volumeNode(c), hint, gist(f.event.Message))
	},
	advice: adviseVolume,
}}

func adviseVolume(c *diagnose.Case, f volumeFault) diagnose.Fix {
	fix := diagnose.Fix{Text: "See what and where the volume is", Risk: diagnose.RiskInspect}
	switch {
	case f.pv != "":
		fix.Command = diagnose.Command("kubectl", "describe", "pv", f.pv)
	case c.Pod != nil:
		fix.Command = diagnose.Command("kubectl", "describe", "pod", c.Pod.Name, "-n", c.Namespace())
	}
	return fix
}

func adviseUsers(c *diagnose.Case, f volumeFault) diagnose.Fix {
	fix := diagnose.Fix{
		Text:    "See which Pods use it (Used By), and pause the Workspace they belong to",
		Command: diagnose.Command("kubectl", "get", "pods", "-n", c.Namespace(), "-o", "wide"),
		Risk:    diagnose.RiskInspect,
	}
	if f.claim != "" {
		fix.Command = diagnose.Command("kubectl", "describe", "pvc", f.claim, "-n", c.Namespace())
	}
	return fix
}

func volumeNode(c *diagnose.Case) string {
	if c.Pod != nil && c.Pod.Spec.NodeName != "" {
		return c.Pod.Spec.NodeName
	}
	return firstOf(c.Workspace.Status.PodTemplatePod.NodeName, "(unknown)")
}

// capital begins a sentence; what follows is ours and begins with a letter of ASCII.
func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

func volumeCause(c *diagnose.Case, k volumeKind, f volumeFault) diagnose.Cause {
	cause := diagnose.Cause{
		Object:     f.object(),
		Summary:    capital(strings.TrimSuffix(k.explain(c, f), ".")) + ".",
		Confidence: diagnose.Likely,
		Origin:     f.origin(c),
		State:      diagnose.StateError,
		Chain:      []string{"Workspace " + c.Name(), "Pod cannot mount its volumes", f.what(), k.title},
		Evidence:   []diagnose.Evidence{f.event.Evidence()},
		Fixes:      []diagnose.Fix{k.advice(c, f)},
	}
	if k.object != nil {
		cause.Object = k.object(c, f)
	}
	return cause
}

// refusedForVolume is the same fault, noticed by the scheduler already.
func refusedForVolume(c *diagnose.Case, k volumeKind) []diagnose.Cause {
	v := judge(c)
	if v.cause != k.id || isScalingUp(c) {
		return nil
	}
	f := volumeFault{id: k.id, claim: refusedClaim(c, v)}
	if a := c.Claims[f.claim]; a.IsFound() {
		f.pv = a.Value.Spec.VolumeName
	}
	var summary string
	switch k.id {
	case "volume-node-affinity-conflict":
		summary = explainElsewhere(c, v, f)
	case "volume-limit-exceeded":
		summary = fmt.Sprintf("Workspace %s fits on no node, since %s would exceed the max volume count (the number of volumes that a node can have attached)", c.Name(), v.onNodes())
	default:
		summary = strings.TrimSuffix(k.explain(c, f), ".")
	}
	cause := refusalCause(c, v, summary)
	switch k.id {
	case "volume-limit-exceeded":
		cause.Fixes = []diagnose.Fix{{Text: "See how many volumes the nodes can have", Command: "kubectl describe csinodes", Risk: diagnose.RiskInspect}}
	case "volume-in-use":
		cause.Object, cause.Origin = f.object(), f.origin(c)
		cause.Fixes = []diagnose.Fix{adviseUsers(c, f)}
	default:
		cause.Object, cause.Origin = f.object(), f.origin(c)
		cause.Fixes = []diagnose.Fix{adviseVolume(c, f)}
	}
	if f.claim != "" {
		cause.Chain = append(cause.Chain, f.what())
	}
	return one(cause)
}

// refusedClaim guesses the claim that the scheduler means, since it names none: the one
// whose volume cannot be reached from some node, or the one with the access mode; else
// the first, which is the home.
func refusedClaim(c *diagnose.Case, v verdict) string {
	for _, f := range v.fits {
		if v.cause == "volume-node-affinity-conflict" && f.elsewhere != "" {
			return f.elsewhere
		}
	}
	claims := podClaims(c)
	for _, name := range claims {
		a := c.Claims[name]
		if v.cause == "volume-in-use" && a.IsFound() && slices.Contains(a.Value.Spec.AccessModes, corev1.ReadWriteOncePod) {
			return name
		}
	}
	if len(claims) == 0 {
		return ""
	}
	return claims[0]
}

// explainElsewhere says where the volume is and what is wrong with that node.
func explainElsewhere(c *diagnose.Case, v verdict, f volumeFault) string {
	out := fmt.Sprintf("%s has a volume node affinity conflict: its volume cannot be used on the nodes where the Pod of Workspace %s may run", f.what(), c.Name())
	var places []string
	for _, fit := range v.fits {
		if fit.elsewhere == f.claim || c.Volumes[f.pv].Status == "" {
			continue
		}
		why := ""
		switch {
		case fit.hasTaint("node-unschedulable"):
			why = " (cordoned)"
		case fit.hasTaint("node-not-ready"):
			why = " (not ready)"
		case len(fit.taints) > 0:
			why = " (tainted " + fit.taints[0].Key + ")"
		case !fit.selected:
			why = " (not among those that the node selector allows)"
		}
		places = append(places, fit.node.Name+why)
	}
	switch {
	case len(places) > 0 && len(places) <= 4:
		out += "; it lives on " + strings.Join(places, ", ")
	case c.Volumes[f.pv].IsFound():
		var terms []string
		if required := c.Volumes[f.pv].Value.Spec.NodeAffinity; required != nil && required.Required != nil {
			for _, t := range required.Required.NodeSelectorTerms {
				for _, r := range t.MatchExpressions {
					terms = append(terms, fmt.Sprintf("%s %s %s", r.Key, r.Operator, strings.Join(r.Values, "|")))
				}
			}
		}
		if len(terms) > 0 {
			out += "; it is tied to " + strings.Join(terms, ", ")
		}
	}
	return out
}

// mountPatience is how long mounting may take without a word.
const mountPatience = 2 * time.Minute

func matchMountSilent(c *diagnose.Case) []diagnose.Cause {
	claims := podClaims(c)
	if c.Pod == nil || c.Reached != diagnose.RungScheduled || len(c.Current) > 0 || c.Broken() || len(claims) == 0 ||
		c.Pod.Status.StartTime == nil || c.Pod.DeletionTimestamp != nil {
		return nil
	}
	waited := c.Now.Sub(c.Pod.Status.StartTime.Time)
	silent := waited
	for _, e := range successes(c) {
		silent = min(silent, c.Now.Sub(e.Last))
	}
	if ready := nodeReady(c); silent < mountPatience || ready != nil && ready.Status != corev1.ConditionTrue {
		return nil
	}
	sandbox := diagnose.Condition(c.Pod, corev1.PodReadyToStartContainers)
	if sandbox == nil && !slices.ContainsFunc(c.All, func(e diagnose.Event) bool { return e.Object.Kind == "Pod" && e.Reason == "Scheduled" }) {
		return nil // the Events have expired, and the status of an older kubelet does not tell
	}
	f := volumeFault{claim: claims[0]}
	if !claimsBound(c) {
		return nil
	}
	silence := "with no Event why"
	if !c.HeardAll("Pod", c.Pod.Name) {
		// An Event that is not known may call an object missing, unless all are there.
		if slices.ContainsFunc(facts.References(&c.Pod.Spec), func(r facts.Reference) bool { return status(c, r.Object) != facts.Found }) {
			return nil
		}
		silence = "and no Event that could be read says why"
	}
	all := "PersistentVolumeClaim " + strings.Join(claims, ", ")
	cause := diagnose.Cause{
		Object: f.object(),
		Summary: fmt.Sprintf("The Pod of Workspace %s has been on node %s for %s and none of its volumes is mounted, %s: probably the mount of %s hangs.",
			c.Name(), c.Pod.Spec.NodeName, duration.HumanDuration(waited), silence, all),
		Confidence: diagnose.Likely,
		Origin:     f.origin(c),
		State:      diagnose.StatePending,
		Chain:      []string{"Workspace " + c.Name(), "Pod has no sandbox", "its volumes are not mounted", "the mount of " + all + " hangs"},
		Fixes: []diagnose.Fix{{
			Text:    "See what and where the volume is; then whether that storage answers and node " + c.Pod.Spec.NodeName + " reaches it",
			Command: diagnose.Command("kubectl", "describe", "pv", c.Claims[claims[0]].Value.Spec.VolumeName),
			Risk:    diagnose.RiskInspect,
		}},
	}
	if sandbox != nil {
		cause.Evidence = []diagnose.Evidence{{Source: "Pod/" + c.Pod.Name, Reason: sandbox.Reason, Message: firstOf(sandbox.Message, "PodReadyToStartContainers is "+string(sandbox.Status))}}
	}
	return one(cause)
}
