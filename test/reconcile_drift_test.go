package test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/api/v1beta1"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/controller"
	"github.com/kubectl-workspace/kubectl-workspace/test/env"
)

// The fields of a Service that the controller corrects, and those that it tolerates. (Those of
// other objects are in the recorded sequences.)
func TestReconcileServiceDrift(t *testing.T) {
	b := newParityBench(t, controller.Config{})
	kind := b.grantingKind(t)
	b.needEverything(t, kind)
	if _, r := b.reconcile(t); r.code != 0 {
		t.Fatal(r.stderr)
	}
	services := b.Client(t, env.Admin).CoreV1().Services(b.ns)
	list, err := services.List(t.Context(), metav1.ListOptions{LabelSelector: v1beta1.LabelWorkspaceName + "=new"})
	if err != nil || len(list.Items) != 1 {
		t.Fatalf("%d Services: %v", len(list.Items), err)
	}
	original := list.Items[0]
	const label = v1beta1.LabelWorkspaceName
	for _, c := range []struct {
		name, patch string
		corrected   bool
	}{
		{"label added", `{"metadata":{"labels":{"mine":"yes"}}}`, true},
		{"own label changed", `{"metadata":{"labels":{"` + label + `":"bob"}}}`, true},
		{"own label removed, another added", `{"metadata":{"labels":{"` + label + `":null,"mine":"yes"}}}`, true},
		{"annotation", `{"metadata":{"annotations":{"mine":"yes"}}}`, true},
		{"port", `{"spec":{"ports":[{"name":"http-8888","port":9999,"targetPort":8888,"protocol":"TCP"}]}}`, true},
		{"name of the port", `{"spec":{"ports":[{"name":"web","port":8888,"targetPort":8888,"protocol":"TCP"}]}}`, true},
		{"second port", `{"spec":{"ports":[{"name":"http-8888","port":8888,"targetPort":8888,"protocol":"TCP"},{"name":"b","port":1}]}}`, true},
		{"targetPort by name", `{"spec":{"ports":[{"name":"http-8888","port":8888,"targetPort":"http-8888","protocol":"TCP"}]}}`, true},
		{"appProtocol", `{"spec":{"ports":[{"name":"http-8888","port":8888,"targetPort":8888,"protocol":"TCP","appProtocol":"http"}]}}`, true},
		{"selector changed", `{"spec":{"selector":{"statefulset":"bob"}}}`, true},
		{"selector added", `{"spec":{"selector":{"mine":"yes"}}}`, true},
		{"NodePort", `{"spec":{"type":"NodePort"}}`, true},
		{"LoadBalancer", `{"spec":{"type":"LoadBalancer"}}`, true},
		{"own label removed", `{"metadata":{"labels":{"` + label + `":null}}}`, false},
		{"sessionAffinity", `{"spec":{"sessionAffinity":"ClientIP"}}`, false},
		{"publishNotReadyAddresses", `{"spec":{"publishNotReadyAddresses":true}}`, false},
		{"externalIPs", `{"spec":{"externalIPs":["10.9.8.7"]}}`, false},
		{"internalTrafficPolicy", `{"spec":{"internalTrafficPolicy":"Local"}}`, false},
		{"empty foreign label", `{"metadata":{"labels":{"mine":""}}}`, false},
	} {
		edited, err := services.Patch(t.Context(), original.Name, types.MergePatchType, []byte(c.patch), metav1.PatchOptions{})
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		for _, mode := range []string{"--dry-run=client", "--dry-run=server"} {
			p, _ := b.reconcile(t, "new", mode)
			if p.Summary.Updated != 1 == c.corrected {
				t.Errorf("%s, %s: %+v", c.name, mode, p.Summary)
			}
		}
		if _, r := b.reconcile(t, "new"); r.code != 0 {
			t.Errorf("%s: exit %d: %s", c.name, r.code, r.stderr)
		}
		after, err := services.Get(t.Context(), original.Name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		want := edited
		if c.corrected {
			want = &original
		} else if after.ResourceVersion != edited.ResourceVersion {
			t.Errorf("%s: it was written", c.name)
		}
		if !equality.Semantic.DeepEqual(want.Spec, after.Spec) || !equality.Semantic.DeepEqual(want.Labels, after.Labels) || len(after.Annotations) != 0 {
			t.Errorf("%s (-want +got):\n%s", c.name, cmp.Diff(want, after))
		}
		restore(t, b, &original)
	}
}

// restore makes a Service what it was.
func restore(t testing.TB, b *parityBench, original *corev1.Service) {
	t.Helper()
	again := original.DeepCopy()
	again.ResourceVersion = ""
	services := b.Client(t, env.Admin).CoreV1().Services(b.ns)
	if _, err := services.Update(t.Context(), again, metav1.UpdateOptions{}); err != nil {
		data, _ := json.Marshal(again.Spec)
		t.Fatalf("%v: %s", err, data)
	}
}
