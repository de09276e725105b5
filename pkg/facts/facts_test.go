package facts

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/api/v1beta1"
)

func ownedBy(kind, name, self string) metav1.ObjectMeta {
	yes := true
	return metav1.ObjectMeta{Name: self, OwnerReferences: []metav1.OwnerReference{{Kind: kind, Name: name, Controller: &yes}}}
}

// The node that is asked about must be that of the Workspace's own Pod, and not of
// whichever Pod with its label comes first.
func TestOwnPodAmongOthers(t *testing.T) {
	leftover := corev1.Pod{ObjectMeta: ownedBy("StatefulSet", "ws-old", "ws-old-0"), Spec: corev1.PodSpec{NodeName: "dead"}}
	own := corev1.Pod{ObjectMeta: ownedBy("StatefulSet", "ws-new", "ws-new-0"), Spec: corev1.PodSpec{NodeName: "alive"}}
	byHand := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "debug"}, Spec: corev1.PodSpec{NodeName: "dead"}}
	set := appsv1.StatefulSet{ObjectMeta: ownedBy("Workspace", "alice", "ws-new")}
	foreign := appsv1.StatefulSet{ObjectMeta: ownedBy("Workspace", "bob", "ws-old")}
	sets := func(s ...appsv1.StatefulSet) Answer[[]appsv1.StatefulSet] {
		return Answer[[]appsv1.StatefulSet]{Status: Found, Value: s}
	}
	for name, c := range map[string]struct {
		sets Answer[[]appsv1.StatefulSet]
		pods []corev1.Pod
		want string
	}{
		"its StatefulSet's":         {sets(foreign, set), []corev1.Pod{byHand, leftover, own}, "alive"},
		"not there":                 {sets(set), []corev1.Pod{byHand, leftover}, ""},
		"no StatefulSet":            {sets(), []corev1.Pod{byHand, leftover}, ""},
		"only some StatefulSets":    {Answer[[]appsv1.StatefulSet]{Status: Found, Value: []appsv1.StatefulSet{foreign}, Partial: true}, []corev1.Pod{byHand, own}, "alive"},
		"StatefulSets unreadable":   {Answer[[]appsv1.StatefulSet]{Status: Unknown}, []corev1.Pod{byHand, own}, "alive"},
		"a foreign StatefulSet's":   {sets(foreign), []corev1.Pod{leftover}, ""},
		"neither one nor the other": {Answer[[]appsv1.StatefulSet]{Status: Unknown}, []corev1.Pod{byHand}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := &Facts{Workspace: &v1beta1.Workspace{ObjectMeta: metav1.ObjectMeta{Name: "alice"}},
				StatefulSets: c.sets, Pods: Answer[[]corev1.Pod]{Status: Found, Value: c.pods}}
			if got := f.NodeName(); got != c.want {
				t.Errorf("NodeName = %q, want %q", got, c.want)
			}
		})
	}
}
