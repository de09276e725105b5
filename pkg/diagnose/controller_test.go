package diagnose

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/api/v1beta1"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/facts"
)

// The table follows the list of what the controller's status gets wrong.
func TestController(t *testing.T) {
	const (
		mount    = `MountVolume.SetUp failed for volume "v" : secret "s" not found`
		timedOut = `Unable to attach or mount volumes: timed out waiting for the condition`
		noise    = `MountVolume.SetUp failed for volume "k" : object "ns"/"kube-root-ca.crt" not registered`
		unhappy  = `Failed to pull image "i": no`
	)
	yes, now := true, time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC)
	cause := func(id, object string, state State, evidence ...string) []Cause {
		c := Cause{ID: id, Object: object, State: state}
		for _, message := range evidence {
			c.Evidence = append(c.Evidence, Evidence{Reason: "FailedMount", Message: message})
		}
		return []Cause{c}
	}
	running := func(p *corev1.Pod) {
		p.Status.Conditions = []corev1.PodCondition{condition(corev1.PodReady, corev1.ConditionTrue)}
	}
	for name, c := range map[string]struct {
		state, message string
		edit           func(*facts.Facts)
		pod            func(*corev1.Pod)
		noPod          bool
		ours           State
		causes         []Cause
		stale          bool
		why            string
	}{
		"right":                         {state: "Error", message: podEventPrefix + mount, ours: StateError, causes: cause("x", "Secret/s", StateError, mount)},
		"runs":                          {state: "Running", message: "Workspace is running", pod: running, ours: StateRunning},
		"says nothing":                  {ours: StateError, causes: cause("x", "", StateError)},
		"runs by now":                   {state: "Error", message: podEventPrefix + mount, pod: running, ours: StateRunning, stale: true, why: "the Pod is Ready now"},
		"does not run any more":         {state: "Running", message: "Workspace is running", ours: StateError, causes: cause("x", "", StateError), stale: true, why: "the Pod is not Ready"},
		"has no Pod any more":           {state: "Running", message: "Workspace is running", noPod: true, ours: StateError, causes: cause("x", "", StateError), stale: true, why: "there is no Pod"},
		"frozen at Running after pause": {state: "Running", message: "Workspace is running", noPod: true, ours: StatePaused, causes: cause("paused", "", StatePaused), stale: true, why: "the Workspace is paused"},
		"frozen at Running while it pauses": {state: "Running", message: "Workspace is running", edit: func(f *facts.Facts) { f.Workspace.Spec.Paused = true },
			ours: StateTerminating, causes: cause("pausing", "", StateTerminating), stale: true, why: "the Workspace is being paused"},
		"frozen at Running while it is deleted": {state: "Running", message: "Workspace is running", edit: func(f *facts.Facts) { f.Workspace.DeletionTimestamp = &metav1.Time{Time: now} },
			ours: StateTerminating, causes: cause("workspace-deleting", "", StateTerminating), stale: true, why: "the Workspace is being deleted, which the controller does not look at"},
		"unpaused since": {state: "Paused", message: "Workspace is paused", ours: StateError, causes: cause("x", "", StateError), stale: true, why: "the Workspace is not paused any more"},
		"the Secret exists now": {state: "Error", message: podEventPrefix + mount, ours: StatePending, causes: cause("x", "Secret/s", StatePending, mount),
			edit: func(f *facts.Facts) {
				f.Secrets = map[string]facts.Answer[*metav1.PartialObjectMetadata]{"s": {Status: facts.Found}}
			}, stale: true, why: "Secret s exists now"},
		"overtaken": {state: "Error", message: podEventPrefix + mount, pod: func(p *corev1.Pod) {
			p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", State: waiting("ErrImagePull")}}
		}, ours: StateError, causes: cause("x", "", StateError, unhappy), stale: true, why: "it quotes a Warning that has been overtaken since"},
		"noise":                 {state: "Error", message: podEventPrefix + noise, ours: StateError, causes: cause("x", "", StateError, "y"), stale: true, why: "what it quotes means nothing"},
		"quoted after the Pod":  {state: "Error", message: podEventPrefix + mount, noPod: true, ours: StateError, causes: cause("x", "", StateError), stale: true, why: "there is no Pod"},
		"a symptom":             {state: "Error", message: podEventPrefix + timedOut, ours: StateError, causes: cause("x", "", StateError, mount), why: "it quotes a symptom, not the cause"},
		"the wrong Warning":     {state: "Error", message: podEventPrefix + unhappy, ours: StateError, causes: cause("x", "", StateError, mount), why: "it quotes another Warning than the one that explains it"},
		"a state, not a cause":  {state: "Error", message: "Workspace Container is not running (CrashLoopBackOff)", ours: StateError, causes: cause("x", "", StateError), why: "it names the state of the container, not the cause"},
		"unknown, not Ready":    {state: "Unknown", message: "Workspace is in an unknown state", ours: StateError, causes: cause("x", "", StateError), why: "it has no word for a Pod that runs and is not Ready"},
		"unknown, ended":        {state: "Unknown", message: "Workspace is in an unknown state", pod: func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }, ours: StateError, causes: cause("x", "", StateError), why: "it has no word for a Pod that has ended (Failed)"},
		"unknown, no Pod":       {state: "Unknown", message: "Workspace is in an unknown state", noPod: true, ours: StatePending, causes: cause("x", "", StatePending), why: "without a Pod it goes by Events of the StatefulSet alone"},
		"pending, but in error": {state: "Pending", message: "Workspace is pending", ours: StateError, causes: cause("x", "", StateError), why: "it goes by the Pod's phase, and by Events that may have expired"},
		"we do not know either": {state: "Unknown", message: "Workspace is in an unknown state", ours: StateError, causes: cause(UnexplainedID, "", StateError)},
		"the Pod exists now":    {state: "Error", message: statefulSetEventPrefix + "no", ours: StateError, causes: cause("x", "", StateError), stale: true, why: "the Pod exists now"},
		"the kind exists now": {state: "Error", message: "Workspace references unknown WorkspaceKind: k", edit: func(f *facts.Facts) { f.Kind.Status = facts.Found; f.Workspace.Spec.Kind = "k" },
			ours: StateError, causes: cause("x", "", StateError), stale: true, why: "WorkspaceKind k exists now"},
		"one StatefulSet now": {state: "Error", message: "Workspace owns multiple StatefulSets: a, b", ours: StateError, causes: cause("x", "", StateError), stale: true, why: "there is no second StatefulSet any more"},
		"scheduled by now": {state: "Error", message: "Workspace Pod is unschedulable: 0/1", pod: func(p *corev1.Pod) { p.Spec.NodeName = "n" },
			ours: StateError, causes: cause("x", "", StateError), stale: true, why: "the Pod has a node now"},
		"Pods could not be read": {state: "Running", message: "Workspace is running", edit: func(f *facts.Facts) { f.Pods = facts.Answer[[]corev1.Pod]{Status: facts.Unknown} }, ours: StateUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			f := &facts.Facts{Now: now, Workspace: &v1beta1.Workspace{ObjectMeta: metav1.ObjectMeta{Name: "w"}}}
			f.Workspace.Status.State, f.Workspace.Status.StateMessage = v1beta1.WorkspaceState(c.state), c.message
			f.StatefulSets = facts.Answer[[]appsv1.StatefulSet]{Status: facts.Found, Value: []appsv1.StatefulSet{{ObjectMeta: metav1.ObjectMeta{Name: "s",
				OwnerReferences: []metav1.OwnerReference{{Kind: "Workspace", Name: "w", Controller: &yes}}}}}}
			f.Pods.Status = facts.Found
			if !c.noPod {
				pod := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "s-0"}}
				if c.pod != nil {
					c.pod(&pod)
				}
				f.Pods.Value = []corev1.Pod{pod}
			}
			event := func(reason, message string) corev1.Event {
				return corev1.Event{InvolvedObject: corev1.ObjectReference{Kind: "Pod", Name: "s-0"}, Type: "Warning", Reason: reason, Message: message, LastTimestamp: metav1.NewTime(now)}
			}
			f.Events = map[facts.Ref]facts.Answer[[]corev1.Event]{{Kind: "Pod", Name: "s-0"}: {Status: facts.Found, Value: []corev1.Event{
				event("FailedMount", mount), event("FailedMount", timedOut), event("FailedMount", noise), event("Failed", unhappy),
			}}}
			if c.edit != nil {
				c.edit(f)
			}
			got := New(f).controller(Diagnosis{State: c.ours, Causes: c.causes})
			if got.Stale != c.stale || got.Why != c.why {
				t.Errorf("stale %t, %q; want %t, %q", got.Stale, got.Why, c.stale, c.why)
			}
		})
	}
}
