package causes

import (
	"regexp"
	"strconv"
	"strings"
)

// nodeRefusal is one reason of a scheduler's summary: why it turned some nodes down.
type nodeRefusal struct {
	// cause is the ID of the cause that the reason stands for; empty if the words are
	// not known.
	cause string
	// nodes is how many nodes the reason is about; 0 if the scheduler gives no number,
	// since it did not get as far as looking at nodes.
	nodes int
	// text is the scheduler's own wording, without the number.
	text string
	// detail is the resource, the key of the taint or the name of the claim.
	detail string
}

// schedulerSummary is what a scheduler says about a Pod that it finds no node for.
type schedulerSummary struct {
	// nodes is how many nodes there are; 0 if the message does not tell.
	nodes    int
	refusals []nodeRefusal
}

// covers reports whether a reason holds for every node, so that nothing helps unless
// it is lifted.
func (s schedulerSummary) covers(r nodeRefusal) bool { return r.nodes == 0 || r.nodes == s.nodes }

// refusalPatterns are the reasons of the scheduler's filters: those of the framework,
// those of 1.16 and 1.17 (node conditions), and the predicate names before 1.9. The
// first group is the detail. A more special pattern stands before a more general one.
var refusalPatterns = []struct {
	cause   string
	pattern *regexp.Regexp
}{
	{"no-nodes-available", regexp.MustCompile(`(?i)^no nodes available to schedule pods`)},
	{"node-unschedulable", regexp.MustCompile(`^node\(s\) were unschedulable|^NodeUnschedulable$|taint \{(?:node\.kubernetes\.io/unschedulable|ToBeDeletedByClusterAutoscaler|karpenter\.sh/disrupt(?:ed|ion)):`)},
	{"node-not-ready", regexp.MustCompile(`taint \{(node\.(?:alpha\.)?kubernetes\.io/(?:unreachable|not-ready|notReady|network-unavailable|out-of-service)|[\w.-]+/agent-not-ready|karpenter\.sh/unregistered|node\.cloudprovider\.kubernetes\.io/(?:shutdown|uninitialized)):`)},
	{"node-not-ready", regexp.MustCompile(`^node\(s\) (?:were not ready|had unknown network status|had unavailable network|were unavailable)|^Node(?:NotReady|NetworkUnavailable|UnknownCondition)$`)},
	{"node-pressure", regexp.MustCompile(`taint \{node\.kubernetes\.io/((?:memory|disk|pid)-pressure|out-of-disk):`)},
	{"node-pressure", regexp.MustCompile(`(?i)^node\(s\) (?:had (memory|disk|pid) pressure|were out of disk space)|^NodeUnder(Memory|Disk|PID)Pressure$|^NodeOutOfDisk$`)},
	{"untolerated-taint", regexp.MustCompile(`taints? \{([^:}]+)`)},
	{"untolerated-taint", regexp.MustCompile(`untolerated taint|had taints? that the pod didn't tolerate|^PodToleratesNodeTaints$`)},
	{"node-selector-mismatch", regexp.MustCompile(`didn't match (?:node selector|Pod's node affinity|scheduler-enforced node affinity|the requested (?:node ?name|hostname))|^(?:MatchNodeSelector|HostName)$`)},
	{"host-port-conflict", regexp.MustCompile(`didn't have free ports|^PodFitsHostPorts$`)},
	{"insufficient-resources", regexp.MustCompile(`^Insufficient (\S+)`)},
	{"insufficient-resources", regexp.MustCompile(`^Too many (pods)`)},
	{"insufficient-resources", regexp.MustCompile(`cannot allocate all claims|(?i)^node\(s\) resource fit failed`)},
	{"volume-in-use", regexp.MustCompile(`ReadWriteOncePod access mode|had no available disk|^NoDiskConflict$`)},
	{"volume-limit-exceeded", regexp.MustCompile(`exceed(?:ed)? max volume count|^MaxVolumeCount$|^Max\w+VolumeCount$`)},
	{"volume-node-affinity-conflict", regexp.MustCompile(`volume node affinity conflict|didn't match PersistentVolume's node affinity|had no available volume zone|^No(?:VolumeNodeConflict|VolumeZoneConflict)$|^VolumeNodeAffinityConflict$`)},
	{"pvc-unbound", regexp.MustCompile(`persistentvolumeclaim "([^"]+)" (?:bound to non-existent persistentvolume|is not bound)`)},
	{"pvc-terminating", regexp.MustCompile(`persistentvolumeclaim "([^"]+)" is being deleted`)},
	{"pvc-not-found", regexp.MustCompile(`persistentvolumeclaims? "([^"]+)" not found`)},
	{"pvc-unbound", regexp.MustCompile(`unbound (?:immediate )?PersistentVolumeClaims|didn't find available persistent volumes to bind|bound to non-existent pv|could not find v1\.PersistentVolume|did(?:n't| not) have enough free storage|^VolumeBindingNoMatch$|plugin "VolumeBinding"|[Bb]inding volumes:|AssumePodVolumes`)},
	{"pod-topology-unsatisfied", regexp.MustCompile(`didn't (?:match|satisfy) (?:pod topology spread|pod (?:anti-)?affinity|existing pods'? anti-affinity)|^MatchInterPodAffinity$|didn't match inter-pod`)},
}

var (
	availablePattern = regexp.MustCompile(`(?s)\b\d+/(\d+) nodes are (?:un)?available:? (.*)`)
	// Volcano counts nothing in front.
	volcanoPattern = regexp.MustCompile(`(?s)all nodes are unavailable: (.*)`)
	// Kubernetes before 1.9: "Insufficient cpu (2), MatchNodeSelector (3)".
	oldItemPattern = regexp.MustCompile(`([A-Za-z][^,()\n:]*?) \((\d+)\)`)
	// What follows repeats the summary from the point of view of preemption, 1.22 and
	// later, or adds that of other plugins, 1.26 and later.
	tailPattern  = regexp.MustCompile(`(?s)[.,]?\s*(?:preemption: |no new claims to deallocate|still not schedulable).*$`)
	taintPattern = regexp.MustCompile(`taint \{([^:}]+):\s*([^}]*)\}`)
	itemPattern  = regexp.MustCompile(`^(\d+) (.*)$`)
	// A reason without a number, from a filter that ran before any node was looked at.
	numberless = regexp.MustCompile(`^(?:pod has unbound|persistentvolumeclaim)`)
)

const combinedPrefix = "(combined from similar events): "

// parseScheduler reads the message of a FailedScheduling Event or of the condition
// PodScheduled, of any Kubernetes from 1.5 on.
func parseScheduler(message string) schedulerSummary {
	message = strings.TrimPrefix(message, combinedPrefix)
	message = tailPattern.ReplaceAllString(message, "")
	if m := availablePattern.FindStringSubmatch(message); m != nil {
		s := schedulerSummary{nodes: atoi(m[1])}
		for _, item := range splitItems(m[2]) {
			s.add(item)
		}
		if s.nodes == 0 && len(s.refusals) == 0 {
			s.refusals = []nodeRefusal{{cause: "no-nodes-available", text: "no nodes available to schedule pods"}}
		}
		return s
	}
	if m := volcanoPattern.FindStringSubmatch(message); m != nil {
		var s schedulerSummary
		for _, item := range splitItems(m[1]) {
			s.add(item)
		}
		return s
	}
	if strings.Contains(message, "failed to fit in any node") || strings.Contains(message, "match all of the") {
		var s schedulerSummary
		for _, m := range oldItemPattern.FindAllStringSubmatch(message, -1) {
			if r := classify(m[1]); r.cause != "" {
				r.nodes = atoi(m[2])
				s.refusals = append(s.refusals, r)
			}
		}
		return s
	}
	if r := classify(message); r.cause != "" {
		return schedulerSummary{refusals: []nodeRefusal{r}}
	}
	return schedulerSummary{}
}

func (s *schedulerSummary) add(item string) {
	count := 0
	if m := itemPattern.FindStringSubmatch(item); m != nil {
		count, item = atoi(m[1]), m[2]
	}
	if item == "" {
		return
	}
	r := classify(item)
	r.nodes = count
	s.refusals = append(s.refusals, r)
}

// splitItems separates the reasons. A comma alone does not: reasons contain some
// ("had taint {a: b}, that the pod didn't tolerate").
func splitItems(body string) []string {
	var items []string
	for part := range strings.SplitSeq(body, ", ") {
		if n := len(items); n > 0 && !itemPattern.MatchString(part) && !numberless.MatchString(part) {
			items[n-1] += ", " + part
			continue
		}
		items = append(items, part)
	}
	for i, item := range items {
		item = strings.TrimSpace(item)
		// 1.34 and later end a message with the empty-handed "not found" of an extender.
		item = strings.TrimSuffix(item, ". not found")
		items[i] = strings.TrimRight(item, ". ")
	}
	return items
}

func classify(text string) nodeRefusal {
	for _, p := range refusalPatterns {
		if m := p.pattern.FindStringSubmatch(text); m != nil {
			r := nodeRefusal{cause: p.cause, text: text}
			for _, g := range m[1:] {
				if g != "" {
					r.detail = g
					break
				}
			}
			return r
		}
	}
	return nodeRefusal{text: text}
}

func atoi(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0 // too long to be a number of nodes
	}
	return n
}
