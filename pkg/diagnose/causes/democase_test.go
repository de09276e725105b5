package causes

import (
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/api/v1beta1"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/cluster"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/diagnose"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/facts"
)

// demoCase gives tests a Workspace of the demo to change object by object.
type demoCase struct {
	*facts.Facts
	t *testing.T
}

func newDemoCase(t *testing.T, name string) *demoCase {
	t.Helper()
	f, err := cluster.Gather(t.Context(), demo(t), "team-a", name)
	if err != nil {
		t.Fatal(err)
	}
	return &demoCase{f, t}
}

func (e *demoCase) pod() *corev1.Pod               { return &e.Pods.Value[0] }
func (e *demoCase) set() *appsv1.StatefulSet       { return &e.StatefulSets.Value[0] }
func (e *demoCase) podRef() facts.Ref              { return facts.Ref{Kind: "Pod", Name: e.pod().Name} }
func (e *demoCase) at(ago time.Duration) time.Time { return e.Now.Add(-ago) }

// noEvents forgets those of the Pod.
func (e *demoCase) noEvents() *demoCase {
	e.Events[e.podRef()] = facts.Answer[[]corev1.Event]{Status: facts.Found}
	return e
}

// says adds a Warning about the Pod.
func (e *demoCase) says(reason, message string, ago time.Duration) *demoCase {
	a := e.Events[e.podRef()]
	a.Value = append(a.Value, corev1.Event{
		InvolvedObject: corev1.ObjectReference{Kind: "Pod", Name: e.pod().Name, UID: e.pod().UID},
		Type:           corev1.EventTypeWarning, Reason: reason, Message: message, LastTimestamp: metav1.NewTime(e.at(ago)),
	})
	e.Events[e.podRef()] = a
	return e
}

// terminating asks the Pod to end, that long ago, with 30 seconds of grace.
func (e *demoCase) terminating(ago time.Duration, finalizers ...string) *demoCase {
	grace, end := int64(30), metav1.NewTime(e.at(ago-30*time.Second))
	e.pod().DeletionTimestamp, e.pod().DeletionGracePeriodSeconds, e.pod().Finalizers = &end, &grace, finalizers
	return e
}

// node sets what is known of the Pod's node.
func (e *demoCase) node(ready corev1.ConditionStatus) *demoCase {
	e.Node = facts.Answer[*corev1.Node]{Status: facts.Found, Value: &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: e.pod().Spec.NodeName},
		Status:     corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: ready, LastTransitionTime: metav1.NewTime(e.at(10 * time.Minute))}}},
	}}
	return e
}

// failed makes the Pod end with this status.
func (e *demoCase) failed(reason, message string) *demoCase {
	e.pod().Status = corev1.PodStatus{Phase: corev1.PodFailed, Reason: reason, Message: message, StartTime: e.pod().Status.StartTime}
	return e
}

// never forgets everything that the controller has done.
func (e *demoCase) never() *demoCase {
	e.Workspace.Status = v1beta1.WorkspaceStatus{}
	e.StatefulSets.Value, e.Pods.Value = nil, nil
	e.ServiceAccounts = map[string]facts.Answer[*metav1.PartialObjectMetadata]{}
	return e
}

// account sets what is known of a ServiceAccount; owner is the Workspace that controls it.
func (e *demoCase) account(name, owner string) *demoCase {
	yes := true
	o := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.NewTime(e.at(time.Hour))}}
	if owner != "" {
		o.OwnerReferences = []metav1.OwnerReference{{Kind: "Workspace", Name: owner, Controller: &yes}}
	}
	e.ServiceAccounts[name] = facts.Answer[*metav1.PartialObjectMetadata]{Status: facts.Found, Value: o}
	return e
}

// top explains, and returns the primary cause; the zero value if there is none.
func (e *demoCase) top() (diagnose.Diagnosis, diagnose.Cause) {
	d := Diagnose(e.Facts)
	if len(d.Causes) == 0 {
		return d, diagnose.Cause{}
	}
	return d, d.Causes[0]
}

// blank is a Case for functions that need one, and hardly look at it.
func blank() *diagnose.Case {
	yes := true
	return diagnose.New(&facts.Facts{
		Workspace: &v1beta1.Workspace{ObjectMeta: metav1.ObjectMeta{Name: alice, Namespace: "team-a"}},
		StatefulSets: facts.Answer[[]appsv1.StatefulSet]{Status: facts.Found, Value: []appsv1.StatefulSet{{ObjectMeta: metav1.ObjectMeta{
			Name: "ws-alice-notebook-x7k2p", OwnerReferences: []metav1.OwnerReference{{Kind: "Workspace", Name: alice, Controller: &yes}}}}}},
	})
}

// outcome is what a test expects as the primary cause; an empty id for none.
type outcome struct {
	id, object string
	state      diagnose.State
	certain    bool
}

func (e *demoCase) check(want outcome, mentions ...string) {
	e.t.Helper()
	d, top := e.top()
	if got := (outcome{top.ID, top.Object, d.State, top.Confidence == diagnose.Certain}); got != want {
		e.t.Errorf("got %+v, want %+v\n%s", got, want, d.Summary)
	}
	for _, m := range mentions {
		if !mentioned(texts(d), m) {
			e.t.Errorf("%q is not mentioned in %q", m, d.Summary)
		}
	}
}

func mentioned(text, what string) bool { return strings.Contains(normal(text), normal(what)) }
