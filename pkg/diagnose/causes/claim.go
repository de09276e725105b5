package causes

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/diagnose"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/facts"
)

const (
	// selectedNode is where the scheduler notes the node that a volume is to be made for.
	selectedNode       = "volume.kubernetes.io/selected-node"
	provisionerNote    = "volume.kubernetes.io/storage-provisioner"
	oldProvisionerNote = "volume.beta.kubernetes.io/storage-provisioner"
	oldClassNote       = "volume.beta.kubernetes.io/storage-class"
	noProvisioner      = "kubernetes.io/no-provisioner"
	defaultClass       = "storageclass.kubernetes.io/is-default-class"
	oldDefaultClass    = "storageclass.beta.kubernetes.io/is-default-class"
)

// claimRules are about PersistentVolumeClaims that keep a Pod from getting a node or
// its volumes. Each claim has at most one of these causes; see judgeClaim.
func claimRules() []diagnose.Rule {
	rules := []diagnose.Rule{{
		ID:         "pvc-not-found",
		Title:      "The PersistentVolumeClaim does not exist",
		Recognised: "The server has no such claim in the namespace; or the scheduler or kubelet says so in a current message and the claim could not be checked.",
		Fix:        "Create the claim, or correct its name in the Workspace.",
	}, {
		ID:         "pvc-terminating",
		Title:      "The PersistentVolumeClaim is being deleted",
		Recognised: "The claim has a deletionTimestamp, or the scheduler says that it is being deleted.",
		Fix:        "Use another claim, or create it anew when it is gone. A deletion cannot be taken back.",
	}, {
		ID:         "storage-class-not-found",
		Title:      "The StorageClass of the claim does not exist",
		Recognised: "The claim is Pending and the server has no StorageClass of the name in its spec, or the volume controller says so; or the claim names none and the cluster has no default.",
		Fix:        "Create the claim anew with a StorageClass that exists, or let an administrator create the class or make one the default.",
	}, {
		ID:         "pvc-provisioning-failed",
		Title:      "No volume is made for the claim",
		Recognised: "A ProvisioningFailed Event of the claim; or it has waited for minutes (ExternalProvisioning) and its provisioner has not said that it is at work (Provisioning).",
		Fix:        "See what the provisioner says: a quota to be raised, a wrong parameter of the class, or a provisioner that does not run.",
	}, {
		ID:         "pvc-unbound",
		Title:      "The claim finds no volume",
		Recognised: "The claim is Pending (or Lost), and nothing is going to make a volume for it: the class has no provisioner and no PersistentVolume fits, or binding waits for a scheduler that the Pod went around.",
		Fix:        "Let an administrator create a PersistentVolume that fits, or use a StorageClass that provisions.",
	}, {
		ID:         "pvc-provisioning",
		Title:      "A volume is being made for the claim",
		Recognised: "The claim is Pending without a fault so far, or has been bound a moment ago.",
		Fix:        "Wait.",
	}}
	for i := range rules {
		id := rules[i].ID
		rules[i].Match = func(c *diagnose.Case) []diagnose.Cause {
			var out []diagnose.Cause
			for _, name := range podClaims(c) {
				if found, cause := judgeClaim(c, name); found == id {
					out = append(out, cause)
				}
			}
			return out
		}
	}
	return rules
}

// podClaims are the claims that the Pod uses, each once, in the order of its spec; of a
// Pod that cannot be read, those that the Workspace asks for.
func podClaims(c *diagnose.Case) []string {
	var out []string
	spec := c.PodSpec()
	if spec == nil {
		for _, m := range c.Mounts {
			if name, ok := strings.CutPrefix(m.Object, "PersistentVolumeClaim/"); ok && !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
		return out
	}
	for _, v := range spec.Volumes {
		switch {
		case v.PersistentVolumeClaim != nil && !slices.Contains(out, v.PersistentVolumeClaim.ClaimName):
			out = append(out, v.PersistentVolumeClaim.ClaimName)
		case v.Ephemeral != nil && c.Pod != nil:
			// The name is fixed by the API. Such a claim is not among the Facts.
			out = append(out, c.Pod.Name+"-"+v.Name)
		}
	}
	return out
}

// claimsBound reports whether every claim of the Pod is known to be bound.
func claimsBound(c *diagnose.Case) bool {
	return !slices.ContainsFunc(podClaims(c), func(name string) bool {
		a := c.Claims[name]
		return !a.IsFound() || a.Value.Status.Phase != corev1.ClaimBound
	})
}

// claimOrigin is where the Workspace or its kind asks for a claim.
func claimOrigin(c *diagnose.Case, claim string) string {
	if m := mountOf(c, facts.Ref{Kind: "PersistentVolumeClaim", Name: claim}); m != nil {
		return m.Origin
	}
	return fmt.Sprintf("WorkspaceKind %s: spec.podTemplate.extraVolumes", c.Workspace.Spec.Kind)
}

// claimView is one claim with all that is known around it.
type claimView struct {
	c     *diagnose.Case
	name  string
	claim *corev1.PersistentVolumeClaim
	// scheduler is what the scheduler says about claims, if that is what it says.
	scheduler verdict
	cause     diagnose.Cause
}

// judgeClaim says what is wrong with a claim: the ID of the cause and the cause; an
// empty ID if nothing is, or if it does not matter at this point.
func judgeClaim(c *diagnose.Case, name string) (string, diagnose.Cause) {
	if c.HasNoPod() || isGated(c) {
		return "", diagnose.Cause{}
	}
	answer := c.Claims[name]
	v := claimView{c: c, name: name, claim: answer.Value, scheduler: judge(c), cause: diagnose.Cause{
		Object:     "PersistentVolumeClaim/" + name,
		Confidence: diagnose.Certain,
		Origin:     claimOrigin(c, name),
		State:      diagnose.StateError,
		Chain:      []string{"Workspace " + c.Name(), claimSymptom(c)},
		Fixes: []diagnose.Fix{{
			Text:    "See the claim and its Events",
			Command: diagnose.Command("kubectl", "describe", "pvc", name, "-n", c.Namespace()),
			Risk:    diagnose.RiskInspect,
		}},
	}}
	if answer.IsFound() && answer.Value.DeletionTimestamp != nil {
		return v.terminating(true)
	}
	if c.Reached >= diagnose.RungMounted {
		return "", diagnose.Cause{}
	}
	switch id := v.said(); {
	case answer.IsAbsent():
		return v.notFound()
	case answer.IsFound():
		return v.phase(id)
	case id == "pvc-not-found":
		return v.notFound()
	case id == "pvc-terminating":
		return v.terminating(false)
	case id == "pvc-unbound" && !v.readableUnbound():
		v.cause.Confidence = diagnose.Likely
		return v.because("pvc-unbound", fmt.Sprintf("The scheduler reports that a claim of Workspace %s is not bound (%s); its claim %s could not be read.",
			c.Name(), v.scheduler.words(), name))
	}
	return "", diagnose.Cause{}
}

func claimSymptom(c *diagnose.Case) string {
	if c.Reached >= diagnose.RungScheduled {
		return "Pod cannot mount its volumes"
	}
	return "Pod gets no node"
}

func isGated(c *diagnose.Case) bool { return len(matchGated(c)) > 0 }

// because finishes a cause.
func (v claimView) because(id, summary string, chain ...string) (string, diagnose.Cause) {
	v.cause.Summary = summary
	v.cause.Chain = append(v.cause.Chain, chain...)
	return id, v.cause
}

// kubeletClaimPattern is the kubelet's way to say that it will not mount a claim, since
// 1.20: error processing PVC ns/name: failed to fetch PVC from API server: ….
var kubeletClaimPattern = regexp.MustCompile(`error processing PVC [^/\s]+/([^\s:]+): (?:.*(not found|is being deleted|not bound))?`)

// said is what the scheduler or the kubelet says about this claim, as the ID of a
// cause, with the evidence; empty if neither mentions it.
func (v *claimView) said() string {
	for _, r := range v.scheduler.refusals {
		if strings.HasPrefix(r.cause, "pvc-") && (r.detail == "" || r.detail == v.name) {
			v.cause.Evidence = append(v.cause.Evidence, v.scheduler.evidence...)
			return r.cause
		}
	}
	for _, e := range v.c.CurrentOf("Pod", "FailedMount", "FailedAttachVolume") {
		if m := kubeletClaimPattern.FindStringSubmatch(e.Message); m != nil && m[1] == v.name {
			v.cause.Evidence = append(v.cause.Evidence, e.Evidence())
			switch m[2] {
			case "not found":
				return "pvc-not-found"
			case "is being deleted":
				return "pvc-terminating"
			}
			return "pvc-unbound"
		}
	}
	return ""
}

func (v claimView) notFound() (string, diagnose.Cause) {
	summary := fmt.Sprintf("PersistentVolumeClaim %q does not exist in namespace %s; %s needs it.", v.name, v.c.Namespace(), v.cause.Origin)
	if len(v.cause.Evidence) == 0 {
		v.cause.Evidence = []diagnose.Evidence{notFound("PersistentVolumeClaim", v.name)}
	}
	if !v.c.Claims[v.name].IsAbsent() {
		v.cause.Confidence = diagnose.Likely
		summary = fmt.Sprintf("Kubernetes reports that PersistentVolumeClaim %q is not found in namespace %s; %s needs it.", v.name, v.c.Namespace(), v.cause.Origin)
	}
	v.cause.Fixes = []diagnose.Fix{{
		Text:    "See which claims there are: perhaps the name differs",
		Command: diagnose.Command("kubectl", "get", "pvc", "-n", v.c.Namespace()),
		Risk:    diagnose.RiskInspect,
	}, {
		Text: fmt.Sprintf("Create the claim, or correct %s and delete the Pod", v.cause.Origin),
		Risk: diagnose.RiskSafe,
	}}
	return v.because("pvc-not-found", summary, fmt.Sprintf("PersistentVolumeClaim %s does not exist", v.name))
}

func (v claimView) terminating(known bool) (string, diagnose.Cause) {
	since := ""
	if known {
		since = fmt.Sprintf(", for %s now", duration.HumanDuration(v.c.Now.Sub(v.claim.DeletionTimestamp.Time)))
		if f := v.claim.Finalizers; len(f) > 0 {
			since += fmt.Sprintf(" (held by %s)", strings.Join(f, ", "))
		}
	} else {
		v.cause.Confidence = diagnose.Likely
	}
	if v.c.Reached >= diagnose.RungMounted {
		// The kubelet goes on; the claim is kept until the Pod has ended.
		v.cause.State = diagnose.StateRunning
		return v.because("pvc-terminating", fmt.Sprintf("PersistentVolumeClaim %q is being deleted%s: it and its data go when the Workspace stops.", v.name, since))
	}
	v.said()
	return v.because("pvc-terminating", fmt.Sprintf("PersistentVolumeClaim %q is being deleted (Terminating)%s, so no new Pod may use it; %s needs it.", v.name, since, v.cause.Origin),
		fmt.Sprintf("PersistentVolumeClaim %s is being deleted", v.name))
}

// phase judges a claim that exists.
func (v claimView) phase(said string) (string, diagnose.Cause) {
	switch v.claim.Status.Phase {
	case corev1.ClaimBound:
		if said == "" || v.scheduler.mentionsLostVolume() {
			return v.boundToNothing()
		}
		if v.othersUnbound() {
			return "", diagnose.Cause{}
		}
		v.cause.State, v.cause.Confidence = diagnose.StatePending, diagnose.Likely
		return v.because("pvc-provisioning", fmt.Sprintf("PersistentVolumeClaim %q is Bound now; the last word about the Pod of Workspace %s is older, and it should get on in a moment.", v.name, v.c.Name()))
	case corev1.ClaimLost:
		return v.lost()
	}
	if said == "" && !v.holdsUp() {
		return "", diagnose.Cause{}
	}
	return v.pending(said)
}

// holdsUp reports whether a claim that nobody mentions keeps the Pod back all the same.
// One that waits for its first consumer does not as long as the scheduler has other
// reasons: it is bound together with the decision for a node.
func (v claimView) holdsUp() bool {
	if v.c.Reached >= diagnose.RungScheduled {
		return true
	}
	return v.scheduler.cause == "" && (len(v.events()) > 0 || v.claim.Annotations[selectedNode] != "") && !isScalingUp(v.c) && schedulerBusy(v.c)
}

// schedulerBusy tells a Pod that the scheduler holds for its volumes from one that it
// has not seen: the latter has no business with the claim.
func schedulerBusy(c *diagnose.Case) bool {
	return c.Pod != nil && (schedulerActed(c) || diagnose.Condition(c.Pod, corev1.PodScheduled) != nil || c.Now.Sub(c.Pod.CreationTimestamp.Time) < schedulerGrace)
}

func (v verdict) mentionsLostVolume() bool {
	return slices.ContainsFunc(v.refusals, func(r nodeRefusal) bool {
		// The latter is the wording of older schedulers.
		return strings.Contains(r.text, "non-existent") || strings.Contains(r.text, "could not find v1.PersistentVolume")
	})
}

// readableUnbound reports whether a claim that could be read explains the scheduler's
// word, so that those that could not need not be suspected.
func (v claimView) readableUnbound() bool {
	return slices.ContainsFunc(podClaims(v.c), func(name string) bool {
		a := v.c.Claims[name]
		return a.IsAbsent() || a.IsFound() && a.Value.Status.Phase != corev1.ClaimBound
	})
}

// othersUnbound reports whether the scheduler, which names no claim, can mean another.
func (v claimView) othersUnbound() bool {
	return slices.ContainsFunc(podClaims(v.c), func(name string) bool {
		a := v.c.Claims[name]
		return name != v.name && (!a.IsFound() || a.Value.Status.Phase != corev1.ClaimBound)
	})
}

// boundToNothing is a claim that counts as bound although its volume is gone.
func (v claimView) boundToNothing() (string, diagnose.Cause) {
	pv := v.claim.Spec.VolumeName
	if !v.c.Volumes[pv].IsAbsent() && !v.scheduler.mentionsLostVolume() {
		return "", diagnose.Cause{}
	}
	if v.c.Volumes[pv].IsFound() {
		return "", diagnose.Cause{}
	}
	return v.lost()
}

func (v claimView) lost() (string, diagnose.Cause) {
	for _, e := range v.events("ClaimLost", "ClaimMisbound") {
		v.cause.Evidence = append(v.cause.Evidence, e.Evidence())
	}
	return v.because("pvc-unbound", fmt.Sprintf("PersistentVolumeClaim %q has lost its PersistentVolume %s: the data of %s cannot be reached any more.",
		v.name, v.claim.Spec.VolumeName, v.cause.Origin), fmt.Sprintf("PersistentVolumeClaim %s has lost its volume", v.name))
}

// events are those of the claim with one of the reasons (all, if none is given),
// newest first.
func (v claimView) events(reasons ...string) []diagnose.Event {
	var out []diagnose.Event
	for _, e := range v.c.All {
		if e.Object.Kind == "PersistentVolumeClaim" && e.Object.Name == v.name && (len(reasons) == 0 || slices.Contains(reasons, e.Reason)) {
			e.Message = strings.TrimPrefix(e.Message, combinedPrefix)
			out = append(out, e)
		}
	}
	return out
}

// class is the StorageClass that the claim names; none is set if it names none and
// forbidden if it asks for a volume without one.
func (v claimView) class() (name string, none, forbidden bool) {
	if v.claim.Spec.StorageClassName != nil {
		name = *v.claim.Spec.StorageClassName
		return name, false, name == ""
	}
	if name, ok := v.claim.Annotations[oldClassNote]; ok {
		return name, false, name == ""
	}
	return "", true, false
}

// provisioner is who is to make the volume, as far as known.
func (v claimView) provisioner() string {
	name, _, _ := v.class()
	if a := v.c.Classes[name]; a.IsFound() {
		return a.Value.Provisioner
	}
	if p := firstOf(v.claim.Annotations[provisionerNote], v.claim.Annotations[oldProvisionerNote]); p != "" {
		return p
	}
	for _, e := range v.events("ExternalProvisioning") {
		if m := provisionerPattern.FindStringSubmatch(e.Message); m != nil {
			return m[1]
		}
	}
	return ""
}

var (
	classMissingPattern = regexp.MustCompile(`storageclass(?:\.storage\.k8s\.io)?s? "([^"]+)" not found`)
	// "…external provisioner "x" or…" up to 1.28, 'x' since.
	provisionerPattern = regexp.MustCompile(`external provisioner ["']([^"']+)["']`)
	quotaPattern       = regexp.MustCompile(`(?i)quota|limit|ResourceExhausted|exhausted|insufficient (?:capacity|space|storage)|not enough|no space|out of capacity`)
	// Neither a refusal nor a shortage: nobody has answered yet, or an earlier try still runs.
	silentPattern = regexp.MustCompile(`code = (?:DeadlineExceeded|Unavailable|Aborted)|context deadline exceeded|timed out waiting`)
)

// provisionerPatience is how long a provisioner that is alive may be silent. Making a
// disk takes seconds, a file share can take minutes.
const provisionerPatience = 2 * time.Minute

// pending judges a claim that is not bound, in the order of certainty: what the volume
// controller complains about, what the class says, what has been waited for too long.
func (v claimView) pending(said string) (string, diagnose.Cause) {
	class, none, forbidden := v.class()
	failed := v.events("ProvisioningFailed", "ProvisioningCleanupFailed", "FailedBinding", "VolumeMismatch")
	if made := v.events("ProvisioningSucceeded"); len(made) > 0 {
		failed = slices.DeleteFunc(failed, func(e diagnose.Event) bool { return e.Last.Before(made[0].Last) })
	}
	waiting := fmt.Sprintf("PersistentVolumeClaim %s is not bound", v.name)
	if id, cause := v.classMissing(class, none, failed, waiting); id != "" {
		return id, cause
	}
	for _, e := range failed {
		if e.Reason != "ProvisioningFailed" || classMissingPattern.MatchString(e.Message) {
			continue
		}
		v.cause.Evidence = append(v.cause.Evidence, e.Evidence())
		why := "the provisioner refuses"
		switch {
		case quotaPattern.MatchString(e.Message):
			why = "a quota or limit of the storage is reached"
		case silentPattern.MatchString(e.Message):
			why = "the provisioner or the storage behind it does not answer"
		}
		return v.because("pvc-provisioning-failed", fmt.Sprintf("No volume is made for PersistentVolumeClaim %q (%s): %s: %s", v.name, v.cause.Origin, why, e.Message),
			waiting, "its volume cannot be provisioned")
	}
	for _, e := range failed {
		if e.Reason == "VolumeMismatch" || e.Reason == "FailedBinding" {
			v.cause.Evidence = append(v.cause.Evidence, e.Evidence())
			return v.because("pvc-unbound", fmt.Sprintf("PersistentVolumeClaim %q (%s) is not bound: %s.", v.name, v.cause.Origin, strings.TrimSuffix(e.Message, ".")), waiting, "no PersistentVolume fits")
		}
	}
	provisioner := v.provisioner()
	switch {
	case forbidden:
		return v.because("pvc-unbound", fmt.Sprintf("PersistentVolumeClaim %q (%s) is Pending: it asks for a volume without a StorageClass, and no PersistentVolume fits.", v.name, v.cause.Origin),
			waiting, "no PersistentVolume fits")
	case provisioner == noProvisioner, said == "pvc-unbound" && v.noVolumeToBind():
		v.quoteNewest("WaitForFirstConsumer", "WaitForPodScheduled")
		with := " offers none"
		if provisioner == noProvisioner {
			with = " makes no volumes (its provisioner is " + noProvisioner + ")"
		} else if said != "" {
			with += " (" + v.scheduler.words() + ")"
		}
		if len(v.events("WaitForFirstConsumer", "WaitForPodScheduled")) > 0 || v.waitsForConsumer(class) {
			with += ". That it waits for a first consumer, the Pod, is only the other half of it"
		}
		return v.because("pvc-unbound", fmt.Sprintf("PersistentVolumeClaim %q (%s) is not bound: no PersistentVolume fits it, and its StorageClass %q%s.",
			v.name, v.cause.Origin, class, with), waiting, fmt.Sprintf("StorageClass %s has no volume for it", class))
	}
	if waits := v.events("WaitForFirstConsumer"); v.c.Reached >= diagnose.RungScheduled && v.claim.Annotations[selectedNode] == "" && (len(waits) > 0 || v.waitsForConsumer(class)) {
		v.quoteNewest("WaitForFirstConsumer")
		return v.because("pvc-unbound", fmt.Sprintf("PersistentVolumeClaim %q (%s) is not bound: it waits for its first consumer to be scheduled, but the Pod got its node around the Kubernetes scheduler (%s), which alone can tell it for which.",
			v.name, v.cause.Origin, wentAround(v.c)), waiting, "it waits for a first consumer that the scheduler never sees")
	}
	return v.provisioning(said, class, provisioner, waiting)
}

// wentAround says how a Pod got a node for which a claim was not prepared.
func wentAround(c *diagnose.Case) string {
	if name := c.Pod.Spec.SchedulerName; name != "" && name != corev1.DefaultSchedulerName {
		return "schedulerName " + name
	}
	return "spec.nodeName"
}

// noVolumeToBind reports whether the scheduler found no volume, which it says only of a
// class that makes none, or of one that is out of room.
func (v claimView) noVolumeToBind() bool {
	return slices.ContainsFunc(v.scheduler.refusals, func(r nodeRefusal) bool {
		return strings.Contains(r.text, "persistent volumes to bind") || strings.Contains(r.text, "enough free storage") || r.text == "VolumeBindingNoMatch"
	})
}

func (v claimView) waitsForConsumer(class string) bool {
	a := v.c.Classes[class]
	return a.IsFound() && a.Value.VolumeBindingMode != nil && *a.Value.VolumeBindingMode == storagev1.VolumeBindingWaitForFirstConsumer
}

// classMissing judges the StorageClass itself.
func (v claimView) classMissing(class string, none bool, failed []diagnose.Event, waiting string) (string, diagnose.Cause) {
	v.cause.Fixes = append([]diagnose.Fix{{
		Text:    "See which StorageClasses exist; the class of a claim cannot be changed, so create the claim anew",
		Command: "kubectl get storageclasses",
		Risk:    diagnose.RiskInspect,
	}}, v.cause.Fixes...)
	if none {
		return v.noDefault(failed, waiting)
	}
	if class == "" || v.c.Classes[class].IsFound() {
		return "", diagnose.Cause{}
	}
	for _, e := range failed {
		if m := classMissingPattern.FindStringSubmatch(e.Message); m != nil && m[1] == class {
			v.cause.Evidence = append(v.cause.Evidence, e.Evidence())
		}
	}
	object, chain := "StorageClass/"+class, fmt.Sprintf("StorageClass %s does not exist", class)
	switch {
	case v.c.Classes[class].IsAbsent():
		v.cause.Object = object
		return v.because("storage-class-not-found", fmt.Sprintf("StorageClass %q does not exist; PersistentVolumeClaim %q (%s) names it and stays Pending.", class, v.name, v.cause.Origin), waiting, chain)
	case slices.ContainsFunc(failed, func(e diagnose.Event) bool { return classMissingPattern.MatchString(e.Message) }):
		v.cause.Object, v.cause.Confidence = object, diagnose.Likely
		return v.because("storage-class-not-found", fmt.Sprintf("The volume controller reports that StorageClass %q is not found; PersistentVolumeClaim %q (%s) names it and stays Pending.", class, v.name, v.cause.Origin), waiting, chain)
	}
	return "", diagnose.Cause{}
}

// noDefault is a claim without a class in a cluster without a default one. Where there
// is a default, Kubernetes 1.26 and later write it into the claim.
func (v claimView) noDefault(failed []diagnose.Event, waiting string) (string, diagnose.Cause) {
	said := false
	for _, e := range failed {
		if strings.Contains(e.Message, "no storage class is set") {
			v.cause.Evidence = append(v.cause.Evidence, e.Evidence())
			said = true
		}
	}
	classes := v.c.StorageClasses
	isDefault := func(s storagev1.StorageClass) bool {
		return s.Annotations[defaultClass] == "true" || s.Annotations[oldDefaultClass] == "true"
	}
	if slices.ContainsFunc(classes.Value, isDefault) || !classes.IsComplete() && !said {
		return "", diagnose.Cause{}
	}
	v.cause.Object = "StorageClass"
	if !classes.IsComplete() {
		v.cause.Confidence = diagnose.Likely
	}
	return v.because("storage-class-not-found", fmt.Sprintf("PersistentVolumeClaim %q (%s) names no StorageClass and the cluster has no default one, so it stays Pending: no storage class is set.",
		v.name, v.cause.Origin), waiting, "no StorageClass is set and none is the default")
}

// beingMade is a claim whose provisioner itself has said that it is at work. How long that
// takes is up to the storage.
func (v claimView) beingMade(who string, begun []diagnose.Event, waiting string) (string, diagnose.Cause) {
	since := begun[0].First
	for _, e := range begun[1:] {
		if e.First.Before(since) {
			since = e.First
		}
	}
	took := v.c.Now.Sub(since)
	v.cause.Evidence = append(v.cause.Evidence, begun[0].Evidence())
	v.cause.State, v.cause.Confidence = diagnose.StatePending, diagnose.Likely
	summary := fmt.Sprintf("Workspace %s is Pending: a volume for PersistentVolumeClaim %q is being made by %s, for %s now", v.c.Name(), v.name, who, duration.HumanDuration(took))
	if took > provisionerPatience {
		summary += ", which is long for a disk and not for a file share"
		v.cause.Fixes = append(v.cause.Fixes, seeProvisioner("If it does not end, see what the log of the provisioner says (its Pods are often in kube-system)"))
	}
	return v.because("pvc-provisioning", summary+".", waiting, "its volume is being made")
}

func seeProvisioner(text string) diagnose.Fix { return inspect(text, "kubectl", "get", "pods", "-A") }

// provisioning tells a provisioner that is waited for from one that does not answer.
func (v claimView) provisioning(said, class, provisioner, waiting string) (string, diagnose.Cause) {
	who := "its provisioner"
	if provisioner != "" {
		who = "provisioner " + provisioner
	}
	if begun := v.events("Provisioning", "ProvisioningSucceeded"); len(begun) > 0 {
		return v.beingMade(who, begun, waiting)
	}
	events := v.events("ExternalProvisioning")
	waited := v.c.Now.Sub(v.claim.CreationTimestamp.Time)
	if v.claim.Annotations[selectedNode] != "" || v.waitsForConsumer(class) {
		// Made long ago, perhaps, and wanted only since there is a Pod.
		waited = min(waited, podAge(v.c))
	}
	repeats := int32(0)
	for _, e := range events {
		repeats = max(repeats, e.Count)
		waited = max(waited, v.c.Now.Sub(e.First))
	}
	v.quoteNewest("ExternalProvisioning")
	asked := len(events) > 0 || provisioner != ""
	// The controller repeats ExternalProvisioning every 15 seconds.
	const tooOften = 10
	switch {
	case asked && (waited > provisionerPatience || repeats > tooOften):
		v.cause.Confidence = diagnose.Likely
		v.cause.Fixes = append(v.cause.Fixes, seeProvisioner("See whether the provisioner runs (its Pods are often in kube-system)"))
		return v.because("pvc-provisioning-failed", fmt.Sprintf("PersistentVolumeClaim %q (%s) has been waiting for a volume for %s: %s of StorageClass %q does not answer.",
			v.name, v.cause.Origin, duration.HumanDuration(waited), who, class), waiting, who+" does not answer")
	case asked || said == "" || v.c.Now.Sub(v.claim.CreationTimestamp.Time) < provisionerPatience:
		v.cause.State, v.cause.Confidence = diagnose.StatePending, diagnose.Likely
		return v.because("pvc-provisioning", fmt.Sprintf("Workspace %s is Pending: a volume for PersistentVolumeClaim %q is being made by %s, for %s now.",
			v.c.Name(), v.name, who, duration.HumanDuration(waited)), waiting, "its volume is being made")
	}
	v.cause.Confidence = diagnose.Likely
	why := "no PersistentVolume fits it and no provisioner makes one"
	if !v.c.HeardAll("PersistentVolumeClaim", v.name) {
		why = "its Events, which may say why, could not be read"
	}
	return v.because("pvc-unbound", fmt.Sprintf("PersistentVolumeClaim %q (%s, StorageClass %q) is not bound, for %s now: %s.",
		v.name, v.cause.Origin, class, duration.HumanDuration(waited), why), waiting)
}

func podAge(c *diagnose.Case) time.Duration {
	if c.Pod == nil {
		return c.Now.Sub(c.Workspace.CreationTimestamp.Time)
	}
	return c.Now.Sub(c.Pod.CreationTimestamp.Time)
}

// quoteNewest adds the newest Event of the claim with one of the reasons.
func (v *claimView) quoteNewest(reasons ...string) {
	if events := v.events(reasons...); len(events) > 0 {
		v.cause.Evidence = append(v.cause.Evidence, events[0].Evidence())
	}
}
