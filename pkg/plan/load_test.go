package plan

import (
	"context"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/api/v1beta1"
)

// The Pod is found by its name, and only where it has lost its label does that cost more lists.
func TestPodThatLostItsLabel(t *testing.T) {
	api := apiWith(t, func(string, client.Object, bool) error { return nil })
	runLive(t, t.Context(), api)
	var sets appsv1.StatefulSetList
	if err := api.List(t.Context(), &sets); err != nil || len(sets.Items) != 1 {
		t.Fatal(err)
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "team-a", Name: sets.Items[0].Name + "-0", Labels: map[string]string{v1beta1.LabelWorkspaceName: "alice"}}}
	pod.Status.Phase = corev1.PodRunning
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	stranger := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "stranger"}}
	for _, o := range []client.Object{pod, stranger} {
		if err := api.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	podLists := 0
	watched := interceptor.NewClient(api.(client.WithWatch), interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			if gvk, err := c.GroupVersionKindFor(list); err == nil && gvk.Kind == "PodList" {
				podLists++
			}
			return c.List(ctx, list, opts...)
		},
	})
	for _, c := range []struct {
		labels map[string]string
		lists  int
	}{{pod.Labels, 1}, {nil, 3}} { // by label; then the names of those without, and it
		pod.Labels = c.labels
		if err := api.Update(t.Context(), pod); err != nil {
			t.Fatal(err)
		}
		podLists = 0
		p := runLive(t, t.Context(), watched)
		if got := p.Workspaces[0].Status.After.State; got != string(v1beta1.WorkspaceStateRunning) || podLists != c.lists {
			t.Errorf("with labels %v: %s, %d lists of Pods", c.labels, got, podLists)
		}
	}
}
