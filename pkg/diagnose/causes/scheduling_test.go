package causes

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/api/v1beta1"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/diagnose"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/facts"
)

var noon = time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC)

func minutesAgo(n int) metav1.Time { return metav1.NewTime(noon.Add(-time.Duration(n) * time.Minute)) }

const testPod = "ws-lab-abcde-0"

// labFacts is a Workspace with a home, whose Pod was created three minutes ago and has not
// been looked at.
func labFacts() *facts.Facts {
	isController := true
	workspace := &v1beta1.Workspace{}
	workspace.Name, workspace.Namespace = "lab", "ns"
	workspace.Spec.Kind = "kind"
	workspace.Spec.PodTemplate.Options.PodConfig = "small"
	workspace.Spec.PodTemplate.Volumes.Home = "my-home"
	workspace.Status.State = "Pending"
	pod := corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: testPod, Namespace: "ns", UID: "pod-1", CreationTimestamp: minutesAgo(3),
			OwnerReferences: []metav1.OwnerReference{{Kind: "StatefulSet", Name: "ws-lab-abcde", Controller: &isController}},
		},
		Spec: corev1.PodSpec{
			Containers: []corev1.Container{{
				Name:         diagnose.MainContainer,
				VolumeMounts: []corev1.VolumeMount{{Name: "home-volume", MountPath: "/home/me"}},
				Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
					corev1.ResourceCPU: resource.MustParse("4"), corev1.ResourceMemory: resource.MustParse("8Gi"),
				}},
			}},
			Volumes: []corev1.Volume{{Name: "home-volume", VolumeSource: corev1.VolumeSource{
				PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "my-home"},
			}}},
		},
		Status: corev1.PodStatus{Phase: corev1.PodPending},
	}
	return &facts.Facts{
		Now: noon, Workspace: workspace,
		Pods:   facts.Answer[[]corev1.Pod]{Status: facts.Found, Value: []corev1.Pod{pod}},
		Events: map[facts.Ref]facts.Answer[[]corev1.Event]{{Kind: "Pod", Name: testPod}: {Status: facts.Found}},
		Claims: map[string]facts.Answer[*corev1.PersistentVolumeClaim]{"my-home": {Status: facts.Found, Value: boundClaim("my-home", "pv-1")}},
	}
}

func boundClaim(name, pv string) *corev1.PersistentVolumeClaim {
	class := "standard"
	return &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "ns", UID: types.UID("uid-" + name), CreationTimestamp: minutesAgo(60)},
		Spec:       corev1.PersistentVolumeClaimSpec{VolumeName: pv, StorageClassName: &class},
		Status:     corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound},
	}
}

// factEdit is a change of the Facts of labFacts.
type factEdit func(*facts.Facts)

// schedulerSays is the scheduler's message, as it stands in the Pod's condition.
func schedulerSays(message string) factEdit {
	return func(f *facts.Facts) {
		f.Pods.Value[0].Status.Conditions = []corev1.PodCondition{{
			Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, Message: message,
		}}
	}
}

// noEvents is what became of the question for the Pod's Events.
func noEvents(s facts.Status) factEdit {
	return func(f *facts.Facts) {
		f.Events = map[facts.Ref]facts.Answer[[]corev1.Event]{{Kind: "Pod", Name: testPod}: {Status: s}}
	}
}

// eventSaid is an Event of minutes ago about the Pod, or with a name about a claim.
func eventSaid(typ, reason, message string, ago int, claim ...string) factEdit {
	return func(f *facts.Facts) {
		ref, uid := facts.Ref{Kind: "Pod", Name: testPod}, types.UID("pod-1")
		if len(claim) > 0 {
			ref, uid = facts.Ref{Kind: "PersistentVolumeClaim", Name: claim[0]}, types.UID("uid-"+claim[0])
		}
		a := f.Events[ref]
		a.Status = facts.Found
		a.Value = append(a.Value, corev1.Event{
			ObjectMeta:     metav1.ObjectMeta{UID: types.UID(reason + message + string(uid))},
			InvolvedObject: corev1.ObjectReference{Kind: ref.Kind, Name: ref.Name, UID: uid},
			Type:           typ, Reason: reason, Message: message, Count: 1, FirstTimestamp: minutesAgo(ago), LastTimestamp: minutesAgo(ago),
		})
		f.Events[ref] = a
	}
}

func podWith(change func(*corev1.Pod)) factEdit {
	return func(f *facts.Facts) { change(&f.Pods.Value[0]) }
}

// hasNode adds a node with 8 CPUs and 32Gi of memory.
func hasNode(name string, change func(*corev1.Node)) factEdit {
	return func(f *facts.Facts) {
		n := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"kubernetes.io/hostname": name}}}
		n.Status.Allocatable = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("8"), corev1.ResourceMemory: resource.MustParse("32Gi"), corev1.ResourcePods: resource.MustParse("110")}
		if change != nil {
			change(&n)
		}
		f.Nodes.Status, f.Nodes.Value = facts.Found, append(f.Nodes.Value, n)
	}
}

func withTaint(key, value string) func(*corev1.Node) {
	return func(n *corev1.Node) {
		n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: key, Value: value, Effect: corev1.TaintEffectNoSchedule})
	}
}

func ofSize(cpu string) func(*corev1.Node) {
	return func(n *corev1.Node) { n.Status.Allocatable[corev1.ResourceCPU] = resource.MustParse(cpu) }
}

// verdictWant is what must come out.
type verdictWant struct {
	cause, object string
	state         diagnose.State
	mention       string
}

type factCase struct {
	edits []factEdit
	want  verdictWant
}

func runFactCases(t *testing.T, cases map[string]factCase) {
	t.Helper()
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			f := labFacts()
			for _, e := range c.edits {
				e(f)
			}
			d := Diagnose(f)
			got := diagnose.Cause{}
			if len(d.Causes) > 0 {
				got = d.Causes[0]
			}
			if got.ID != c.want.cause || got.Object != c.want.object || d.State != c.want.state {
				t.Errorf("%s about %q, %s; want %s about %q, %s\n%s", got.ID, got.Object, d.State, c.want.cause, c.want.object, c.want.state, got.Summary)
			}
			if !strings.Contains(got.Summary, c.want.mention) {
				t.Errorf("%q is not in %q", c.want.mention, got.Summary)
			}
		})
	}
}

func summarySays(reasons string) factEdit {
	return schedulerSays("0/3 nodes are available: " + reasons + ".")
}

func TestScheduling(t *testing.T) {
	selector := podWith(func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"pool": "a"} })
	inPool := func(n *corev1.Node) { n.Labels["pool"] = "a" }
	unreadablePods := func(f *facts.Facts) {
		f.Pods = facts.Answer[[]corev1.Pod]{Status: facts.Unknown, Reason: facts.ReasonForbidden}
		f.Workspace.Status.PodTemplatePod.Name = testPod
	}
	runFactCases(t, map[string]factCase{
		"cpu":                       {[]factEdit{summarySays("3 Insufficient cpu")}, verdictWant{"insufficient-resources", "Node", diagnose.StateError, "cpu (the Pod asks for 4)"}},
		"a taint of the only node":  {[]factEdit{schedulerSays("0/1 nodes are available: 1 node(s) had untolerated taint {team: x}.")}, verdictWant{"untolerated-taint", "Node", diagnose.StateError, "the taint team=x of the only node."}},
		"the only node is cordoned": {[]factEdit{schedulerSays("0/1 nodes are available: 1 node(s) were unschedulable.")}, verdictWant{"node-unschedulable", "Node", diagnose.StateError, "the only node is cordoned (unschedulable) and takes no new Pods"}},
		"node lost for some time": {[]factEdit{podWith(onNode), func(f *facts.Facts) {
			f.Node = facts.Answer[*corev1.Node]{Status: facts.Found, Value: &corev1.Node{Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{
				{Type: corev1.NodeReady, Status: corev1.ConditionUnknown, LastTransitionTime: minutesAgo(17)}}}}}
		}}, verdictWant{"node-not-ready", "Node/a", diagnose.StateError, "its kubelet has not answered for 17m"}},
		"node lost, before 1.13":             {[]factEdit{podWith(onNode), podWith(func(p *corev1.Pod) { p.Status.Phase, p.Status.Reason = corev1.PodUnknown, nodeLost })}, verdictWant{"node-not-ready", "Node/a", diagnose.StateError, "has lost node a"}},
		"ephemeral storage":                  {[]factEdit{summarySays("3 Insufficient ephemeral-storage")}, verdictWant{"insufficient-resources", "Node", diagnose.StateError, "ephemeral-storage"}},
		"pods":                               {[]factEdit{summarySays("3 Too many pods")}, verdictWant{"insufficient-resources", "Node", diagnose.StateError, "pods"}},
		"room before selector":               {[]factEdit{summarySays("1 Insufficient memory, 2 node(s) didn't match Pod's node affinity/selector")}, verdictWant{"insufficient-resources", "Node", diagnose.StateError, "memory"}},
		"selector excludes all":              {[]factEdit{schedulerSays("0/3 nodes are available: 3 node(s) didn't match node selector, 1 Insufficient cpu.")}, verdictWant{"node-selector-mismatch", "Node", diagnose.StateError, "selector"}},
		"GPU nodes are protected":            {[]factEdit{summarySays("1 node(s) had untolerated taint {nvidia.com/gpu: present}, 2 Insufficient nvidia.com/gpu")}, verdictWant{"untolerated-taint", "Node", diagnose.StateError, "nvidia.com/gpu=present"}},
		"GPU nodes are protected by a value": {[]factEdit{summarySays("1 node(s) had untolerated taint {sku: gpu}, 2 Insufficient nvidia.com/gpu")}, verdictWant{"untolerated-taint", "Node", diagnose.StateError, "sku=gpu of 1 of 3 nodes"}},
		"a taint":                            {[]factEdit{summarySays("1 node(s) had taint {node-role.kubernetes.io/master: }, that the pod didn't tolerate, 2 node(s) had taint {dedicated: ml}, that the pod didn't tolerate")}, verdictWant{"untolerated-taint", "Node", diagnose.StateError, "the taint dedicated=ml of 2 of 3 nodes."}},
		"a dead node wants no toleration":    {[]factEdit{summarySays("1 node(s) had untolerated taint {node.kubernetes.io/unreachable: }, 2 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }")}, verdictWant{"node-not-ready", "Node", diagnose.StateError, "unreachable"}},
		"a full node":                        {[]factEdit{summarySays("3 node(s) had untolerated taint {node.kubernetes.io/disk-pressure: }")}, verdictWant{"node-pressure", "Node", diagnose.StateError, "disk pressure"}},
		"cordoned":                           {[]factEdit{summarySays("3 node(s) were unschedulable")}, verdictWant{"node-unschedulable", "Node", diagnose.StateError, "cordoned"}},
		"topology spread":                    {[]factEdit{summarySays("3 node(s) didn't match pod topology spread constraints (missing required label)")}, verdictWant{"pod-topology-unsatisfied", "Node", diagnose.StateError, "topology spread"}},
		"ports":                              {[]factEdit{summarySays("3 node(s) didn't have free ports for the requested pod ports")}, verdictWant{"host-port-conflict", "Node", diagnose.StateError, "port"}},
		"no nodes":                           {[]factEdit{schedulerSays("no nodes available to schedule pods")}, verdictWant{"no-nodes-available", "Node", diagnose.StateError, "no nodes available"}},
		"volume limit":                       {[]factEdit{summarySays("3 node(s) exceed max volume count")}, verdictWant{"volume-limit-exceeded", "Node", diagnose.StateError, "max volume count"}},
		"volume elsewhere":                   {[]factEdit{summarySays("3 node(s) had volume node affinity conflict")}, verdictWant{"volume-node-affinity-conflict", "PersistentVolumeClaim/my-home", diagnose.StateError, "my-home"}},
		"volume zone, old":                   {[]factEdit{summarySays("3 node(s) had no available volume zone")}, verdictWant{"volume-node-affinity-conflict", "PersistentVolumeClaim/my-home", diagnose.StateError, "my-home"}},
		"words nobody knows":                 {[]factEdit{summarySays("3 node(s) were eaten by a grue")}, verdictWant{diagnose.UnexplainedID, "Pod/" + testPod, diagnose.StateError, "eaten by a grue"}},
		"only an Event, similar ones":        {[]factEdit{eventSaid("Warning", "FailedScheduling", combinedPrefix+"0/3 nodes are available: 3 Insufficient cpu.", 1)}, verdictWant{"insufficient-resources", "Node", diagnose.StateError, "cpu"}},
		"the controller's word": {[]factEdit{unreadablePods, func(f *facts.Facts) {
			f.Workspace.Status.StateMessage = unschedulablePrefix + "0/3 nodes are available: 3 Insufficient cpu."
		}}, verdictWant{"insufficient-resources", "Node", diagnose.StateError, "cpu"}},
		"scheduled since": {[]factEdit{summarySays("3 Insufficient cpu"), podWith(func(p *corev1.Pod) { onNode(p); p.Status.Conditions = nil }), eventSaid("Warning", "FailedScheduling", "0/3 nodes are available: 3 Insufficient cpu.", 2)}, verdictWant{"container-starting", "", diagnose.StatePending, ""}},

		"nameless taint is a cordon": {[]factEdit{schedulerSays("0/2 nodes are available: 2 node(s) had untolerated taint(s)."), hasNode("a", withTaint("node-role.kubernetes.io/control-plane", "")), hasNode("b", withTaint("node.kubernetes.io/unschedulable", ""))},
			verdictWant{"node-unschedulable", "Node/b", diagnose.StateError, "node b"}},
		"nameless taint is reserved": {[]factEdit{schedulerSays("0/2 nodes are available: 2 node(s) had untolerated taint(s)."), hasNode("a", withTaint("node-role.kubernetes.io/control-plane", "")), hasNode("b", withTaint("team", "x"))},
			verdictWant{"untolerated-taint", "Node/b", diagnose.StateError, "team=x"}},
		"the big node is reserved": {[]factEdit{schedulerSays("0/2 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint(s)."), hasNode("a", withTaint("team", "x")), hasNode("b", ofSize("2"))},
			verdictWant{"untolerated-taint", "Node/a", diagnose.StateError, "team=x"}},
		"the open node is full": {[]factEdit{schedulerSays("0/2 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint(s)."), hasNode("a", withTaint("team", "x")), hasNode("b", nil)},
			verdictWant{"insufficient-resources", "Node/b", diagnose.StateError, "b has 8 in all"}},
		"the selected node is cordoned": {[]factEdit{selector, schedulerSays("0/2 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 1 node(s) were unschedulable."), hasNode("a", func(n *corev1.Node) { inPool(n); n.Spec.Unschedulable = true }), hasNode("b", nil)},
			verdictWant{"node-unschedulable", "Node/a", diagnose.StateError, "cordoned"}},
		"a cordoned node that is not selected": {[]factEdit{selector, schedulerSays("0/2 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 1 node(s) were unschedulable."), hasNode("a", func(n *corev1.Node) { n.Spec.Unschedulable = true }), hasNode("b", nil)},
			verdictWant{"node-selector-mismatch", "Node", diagnose.StateError, "pool=a"}},
		"nodes have come and gone, and none is selected": {[]factEdit{selector, summarySays("1 node(s) didn't match Pod's node affinity/selector, 2 node(s) had untolerated taint(s)"), hasNode("a", nil)},
			verdictWant{"node-selector-mismatch", "Node", diagnose.StateError, "pool=a"}},
		"nodes have come and gone, and one is selected": {[]factEdit{selector, summarySays("1 node(s) didn't match Pod's node affinity/selector, 2 node(s) had untolerated taint(s)"), hasNode("a", inPool)},
			verdictWant{"untolerated-taint", "Node", diagnose.StateError, "2 of 3 nodes"}},
		"every selected node is too small": {[]factEdit{selector, schedulerSays("0/2 nodes are available: 1 Insufficient cpu, 1 node(s) didn't match Pod's node affinity/selector."), hasNode("a", func(n *corev1.Node) { inPool(n); ofSize("1")(n) }), hasNode("b", nil)},
			verdictWant{"insufficient-resources", "Node/a", diagnose.StateError, "a has 1 in all"}},
		"nodes that are not those of the message": {[]factEdit{schedulerSays("0/3 nodes are available: 3 Insufficient cpu."), hasNode("a", withTaint("team", "x"))},
			verdictWant{"insufficient-resources", "Node", diagnose.StateError, "all 3 nodes"}},

		"gated": {[]factEdit{podWith(func(p *corev1.Pod) { p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/queue"}} })},
			verdictWant{"scheduling-gated", "Pod/" + testPod, diagnose.StatePending, "example.com/queue"}},
		"scaling up": {[]factEdit{summarySays("3 Insufficient cpu"), eventSaid("Normal", "TriggeredScaleUp", "pod triggered scale-up: [{pool 1->2 (max: 3)}]", 1)},
			verdictWant{"scaling-up", "Node", diagnose.StatePending, "scale-up"}},
		"scaling up, and given up": {[]factEdit{summarySays("3 Insufficient cpu"), eventSaid("Normal", "TriggeredScaleUp", "pod triggered scale-up: [{pool 1->2 (max: 3)}]", 20)},
			verdictWant{"insufficient-resources", "Node", diagnose.StateError, "cpu"}},
		"no scaling up": {[]factEdit{summarySays("3 Insufficient cpu"), eventSaid("Normal", "TriggeredScaleUp", "pod triggered scale-up", 2), eventSaid("Normal", "NotTriggerScaleUp", "pod didn't trigger scale-up: 1 max node group size reached", 1)},
			verdictWant{"insufficient-resources", "Node", diagnose.StateError, "autoscaler adds no node"}},
		"no scheduler": {nil, verdictWant{"scheduler-not-running", "", diagnose.StatePending, `"default-scheduler"`}},
		"another scheduler's word": {[]factEdit{podWith(func(p *corev1.Pod) { p.Spec.SchedulerName = "volcano" }), eventSaid("Warning", "Unschedulable", "pod group is not ready", 1)},
			verdictWant{diagnose.UnexplainedID, "Pod/" + testPod, diagnose.StateError, "pod group is not ready"}},
		"Karpenter's word is not the scheduler's": {[]factEdit{eventSaid("Warning", "FailedScheduling", "0/3 nodes are available: 3 Insufficient cpu.", 2), eventSaid("Warning", "FailedScheduling", `Failed to schedule pod, all available instance types exceed limits for nodepool: "default"`, 1)},
			verdictWant{"insufficient-resources", "Node", diagnose.StateError, "Karpenter adds no node for it"}},
		"no scheduler, by the status alone": {[]factEdit{noEvents(facts.Unknown)}, verdictWant{"scheduler-not-running", "", diagnose.StatePending, "default-scheduler"}},
		"its Events are not known, and it may wait for a volume": {[]factEdit{noEvents(facts.Unknown), claimIs(facts.Unknown)},
			verdictWant{diagnose.UnexplainedID, "Pod/" + testPod, diagnose.StatePending, ""}},
		"no custom scheduler":  {[]factEdit{podWith(func(p *corev1.Pod) { p.Spec.SchedulerName = "mine"; p.CreationTimestamp = minutesAgo(9) })}, verdictWant{"scheduler-not-running", "", diagnose.StateError, `"mine"`}},
		"a Pod of this second": {[]factEdit{podWith(func(p *corev1.Pod) { p.CreationTimestamp = minutesAgo(0) })}, verdictWant{diagnose.UnexplainedID, "Pod/" + testPod, diagnose.StatePending, ""}},

		"its node does not answer":   {[]factEdit{podWith(onNode), nodeIs(corev1.ConditionUnknown)}, verdictWant{"node-not-ready", "Node/a", diagnose.StateError, "unreachable"}},
		"its node is fine":           {[]factEdit{podWith(onNode), nodeIs(corev1.ConditionTrue)}, verdictWant{"container-starting", "", diagnose.StatePending, ""}},
		"its node is gone":           {[]factEdit{podWith(onNode), func(f *facts.Facts) { f.Node.Status = facts.Absent }}, verdictWant{"node-not-ready", "Node/a", diagnose.StateError, "does not exist any more"}},
		"the node controller's word": {[]factEdit{podWith(onNode), eventSaid("Warning", "NodeNotReady", "Node is not ready", 0)}, verdictWant{"node-not-ready", "Node/a", diagnose.StateError, "reports"}},
	})
}

func onNode(p *corev1.Pod) {
	started := minutesAgo(1)
	p.Spec.NodeName, p.Status.StartTime = "a", &started
}

func nodeIs(s corev1.ConditionStatus) factEdit {
	return func(f *facts.Facts) {
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "a"}}
		n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: s, Reason: "NodeStatusUnknown", LastTransitionTime: minutesAgo(5)}}
		f.Node = facts.Answer[*corev1.Node]{Status: facts.Found, Value: n}
	}
}

func TestParseScheduler(t *testing.T) {
	for message, want := range map[string]struct {
		cause string
		nodes []int // of each reason
	}{
		`0/12 nodes are available: 3 Insufficient memory, 9 node(s) didn't match Pod's node affinity/selector. preemption: 0/12 nodes are available: 3 No preemption victims found for incoming pod, 9 Preemption is not helpful for scheduling.`: {"insufficient-resources", []int{3, 9}},
		`0/10 nodes are available: 10 node(s) didn't match node selector, 4 Insufficient cpu.`:                                                                           {"node-selector-mismatch", []int{10, 4}},
		`0/2 nodes are available: 2 Insufficient cpu. no new claims to deallocate, preemption: 0/2 nodes are available: 2 No preemption victims found for incoming pod.`: {"insufficient-resources", []int{2}},
		`0/6 nodes are available: 3 Insufficient memory, 3 node(s) had taint {node-role.kubernetes.io/master: }, that the pod didn't tolerate.`:                          {"insufficient-resources", []int{3, 3}},
		`0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims. not found`:                                                                           {"pvc-unbound", []int{0}},
		`0/3 nodes are available: 3 persistentvolumeclaim "x" is being deleted.`:                                                                                         {"pvc-terminating", []int{3}},
		`pod has unbound PersistentVolumeClaims (repeated 3 times)`:                                                                                                      {"pvc-unbound", []int{0}},
		`persistentvolumeclaim "x" not found`: {"pvc-not-found", []int{0}},
		`0/2 nodes are available: 2 node(s) had untolerated taint {karpenter.sh/disruption: disrupting}.`:                                                     {"node-unschedulable", []int{2}},
		`error while running "VolumeBinding" filter plugin for pod "p": could not find v1.PersistentVolume "pvc-1"`:                                           {"pvc-unbound", []int{0}},
		`running PreBind plugin "VolumeBinding": binding volumes: timed out waiting for the condition`:                                                        {"pvc-unbound", []int{0}},
		"pod (x) failed to fit in any node\nfit failure summary on nodes : Insufficient pods (2), PodToleratesNodeTaints (1)":                                 {"insufficient-resources", []int{2, 1}},
		`No nodes are available that match all of the following predicates:: MatchNodeSelector (3), NodeUnschedulable (1).`:                                   {"node-unschedulable", []int{3, 1}},
		`0/5 nodes are available: 1 node(s) had volume node affinity conflict, 4 node(s) didn't match node selector`:                                          {"volume-node-affinity-conflict", []int{1, 4}},
		`0/6 nodes are available: 1 node(s) had untolerated taint {unschedulable: true}, 5 node(s) had untolerated taint {node-role.kubernetes.io/master: }.`: {"untolerated-taint", []int{1, 5}},
		`0/2 nodes are available: 1 node(s) had memory pressure, 1 node(s) were not ready`:                                                                    {"node-pressure", []int{1, 1}},
		`all nodes are unavailable: 2 Insufficient nvidia.com/gpu, 1 node(s) didn't match Pod's node affinity/selector.`:                                      {"insufficient-resources", []int{2, 1}},
		`0/0 nodes are available: .`:         {"no-nodes-available", []int{0}},
		`skip schedule deleting pod: ns/pod`: {"", nil},
		``:                                   {"", nil},
	} {
		t.Run(message, func(t *testing.T) {
			s := parseScheduler(message)
			var nodes []int
			for _, r := range s.refusals {
				nodes = append(nodes, r.nodes)
			}
			if cause, _ := decisive(s); cause != want.cause || len(nodes) != len(want.nodes) {
				t.Fatalf("%s %v, want %s %v", cause, nodes, want.cause, want.nodes)
			}
			for i := range nodes {
				if nodes[i] != want.nodes[i] {
					t.Errorf("nodes = %v, want %v", nodes, want.nodes)
				}
			}
		})
	}
}

func FuzzParseScheduler(f *testing.F) {
	for _, s := range []string{"", "0/1 nodes are available: 1 Insufficient cpu. preemption: x", "0/0 nodes are available: ", "0/99999999999999999999 nodes are available: 99999999999999999999 x, , 1 "} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, message string) {
		s := parseScheduler(message)
		cause, _ := decisive(s)
		for _, r := range s.refusals {
			if r.nodes < 0 {
				t.Errorf("%d nodes", r.nodes)
			}
			if r.cause == cause {
				return
			}
		}
		if cause != "" {
			t.Errorf("%s is not among %+v", cause, s.refusals)
		}
	})
}
