package controller_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/api/v1beta1"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/controller"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/controller/paritytest"
)

func scheme(t testing.TB) *runtime.Scheme {
	t.Helper()
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1beta1.AddToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

var ownedKinds = []schema.GroupVersionKind{
	{Version: "v1", Kind: "ServiceAccount"},
	{Group: "apps", Version: "v1", Kind: "StatefulSet"},
	{Version: "v1", Kind: "Service"},
	{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "RoleBinding"},
	controller.VirtualServiceGVK,
}

// bench is a cluster in memory with reconcilers on it.
type bench struct {
	client     client.Client
	workspaces *controller.WorkspaceReconciler
	kinds      *controller.WorkspaceKindReconciler
	writes     int
}

func newBench(t testing.TB, config controller.Config, refused []string, objects ...client.Object) *bench {
	t.Helper()
	b := &bench{}
	now := func() time.Time { return time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC) }
	s := scheme(t)
	s.AddKnownTypeWithName(controller.VirtualServiceGVK, &unstructured.Unstructured{})
	list := controller.VirtualServiceGVK
	list.Kind += "List"
	s.AddKnownTypeWithName(list, &unstructured.UnstructuredList{})
	uids := 0
	b.client = fake.NewClientBuilder().WithScheme(s).WithObjects(objects...).
		WithStatusSubresource(&v1beta1.Workspace{}, &v1beta1.WorkspaceKind{}).
		WithIndex(&corev1.Event{}, "involvedObject.uid", func(o client.Object) []string {
			return []string{string(o.(*corev1.Event).InvolvedObject.UID)}
		}).
		WithInterceptorFuncs(interceptor.Funcs{
			Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
				gvk, err := c.GroupVersionKindFor(o)
				if err != nil {
					return err
				}
				if resource := strings.ToLower(gvk.Kind) + "s"; slices.Contains(refused, resource) {
					return apierrors.NewInvalid(gvk.GroupKind(), o.GetName(), nil)
				}
				b.writes++
				uids++
				o.SetUID(types.UID(fmt.Sprintf("uid-%d", uids)))
				return c.Create(ctx, o, opts...)
			},
			Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
				b.writes++
				return c.Patch(ctx, o, p, opts...)
			},
			Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
				b.writes++
				return c.Delete(ctx, o, opts...)
			},
			SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
				b.writes++
				return c.SubResource(sub).Patch(ctx, o, p, opts...)
			},
		}).Build()
	b.workspaces = &controller.WorkspaceReconciler{
		Client: b.client, Config: config, Now: now,
		Recorder: &controller.EventRecorder{Client: b.client, Now: now, Component: "test"},
	}
	b.kinds = &controller.WorkspaceKindReconciler{Client: b.client}
	return b
}

func (b *bench) reconcile(t testing.TB, w *unstructured.Unstructured) (reconcile.Result, error) {
	t.Helper()
	return b.workspaces.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(w)})
}

// owned returns what a Workspace owns, with the defaults of the API server left out.
func (b *bench) owned(t testing.TB, w *unstructured.Unstructured) []*unstructured.Unstructured {
	t.Helper()
	var out []*unstructured.Unstructured
	for _, gvk := range ownedKinds {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
		if err := b.client.List(t.Context(), list, client.InNamespace(w.GetNamespace())); err != nil {
			t.Fatal(err)
		}
		for i := range list.Items {
			if controller.IsOwned(&list.Items[i], w.GetName()) {
				list.Items[i].SetGroupVersionKind(gvk)
				out = append(out, &list.Items[i])
			}
		}
	}
	return out
}

// addFacts puts the recorded Pods and Events of a Workspace into the cluster.
func (b *bench) addFacts(t testing.TB, facts map[string]any, w *unstructured.Unstructured) {
	t.Helper()
	var set *unstructured.Unstructured
	for _, o := range b.owned(t, w) {
		if o.GetKind() == "StatefulSet" {
			set = o
		}
	}
	data, err := yaml.Marshal(facts)
	if err != nil {
		t.Fatal(err)
	}
	if set != nil {
		data = []byte(strings.ReplaceAll(string(data), set.GetGenerateName()+"XXXXX", set.GetName()))
	}
	var f struct {
		Pods              []corev1.Pod   `json:"pods"`
		PodEvents         []corev1.Event `json:"podEvents"`
		StatefulSetEvents []corev1.Event `json:"statefulSetEvents"`
	}
	if err := yaml.Unmarshal(data, &f); err != nil {
		t.Fatal(err)
	}
	for i := range f.Pods {
		p := &f.Pods[i]
		p.Namespace = w.GetNamespace()
		if err := b.client.Create(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		for j := range f.PodEvents {
			if f.PodEvents[j].InvolvedObject.Name == p.Name {
				f.PodEvents[j].InvolvedObject.UID = p.UID
			}
		}
	}
	for i, e := range append(f.PodEvents, f.StatefulSetEvents...) {
		e.Name, e.Namespace = fmt.Sprintf("%s-event-%03d", w.GetName(), i), w.GetNamespace()
		if e.InvolvedObject.Kind == "StatefulSet" && set != nil {
			e.InvolvedObject.UID = set.GetUID()
		}
		if err := b.client.Create(t.Context(), &e); err != nil {
			t.Fatal(err)
		}
	}
}

func (b *bench) get(t testing.TB, w *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(w.GroupVersionKind())
	if err := b.client.Get(t.Context(), client.ObjectKeyFromObject(w), u); err != nil {
		t.Fatal(err)
	}
	return u
}

func objectsOf(list []*unstructured.Unstructured) []client.Object {
	var out []client.Object
	for _, o := range list {
		o = o.DeepCopy()
		o.SetDeletionTimestamp(nil)
		o.SetDeletionGracePeriodSeconds(nil)
		out = append(out, o)
	}
	return out
}

// Every recorded case: the same objects and the same status, field by field.
func TestCases(t *testing.T) {
	fixtures := paritytest.Objects(paritytest.Documents(t, filepath.Join(paritytest.Root(t), "fixtures.yaml")))
	for _, c := range paritytest.Cases(t) {
		if c.Rejected {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			workspaces, kinds := []*unstructured.Unstructured{}, []*unstructured.Unstructured{}
			objects := objectsOf(fixtures)
			if len(c.Read(t, "stored.yaml")) > 0 {
				workspaces = c.Objects(t, "stored.yaml")
			}
			if c.Has("stored-workspacekind.yaml") {
				kinds = append(kinds, c.Objects(t, "stored-workspacekind.yaml")...)
			}
			for _, o := range c.Objects(t, "input.yaml") {
				if o.GetKind() == "ConfigMap" {
					objects = append(objects, o)
				}
			}
			for _, w := range workspaces {
				w.SetUID(types.UID(w.GetNamespace() + "/" + w.GetName()))
			}
			objects = append(objects, objectsOf(workspaces)...)
			for _, k := range objectsOf(kinds) {
				k.SetFinalizers(nil) // ours to add
				objects = append(objects, k)
			}
			b := newBench(t, c.Config, c.Refused, objects...)
			for _, w := range workspaces {
				_, err := b.reconcile(t, w)
				if (err != nil) != (len(c.Refused) > 0) {
					t.Fatal(err)
				}
			}
			var got []*unstructured.Unstructured
			facts := c.Read(t, "facts.yaml")
			for i, w := range workspaces {
				if len(c.Refused) == 0 {
					b.addFacts(t, facts[i], w)
					if _, err := b.reconcile(t, w); err != nil {
						t.Fatal(err)
					}
				}
				owned := b.owned(t, w)
				got = append(got, owned...)
				n := paritytest.NewNormaliser(owned)
				status, _, _ := unstructured.NestedMap(b.get(t, w).Object, "status")
				if diff := cmp.Diff(c.Status(t, i), n.Status(status), cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("status of %s (-recorded +got):\n%s", w.GetName(), diff)
				}
			}
			compareObjects(t, c.Objects(t, "expected.yaml"), got)
			compareKinds(t, b, c)

			writes := b.writes
			for _, w := range workspaces {
				_, _ = b.reconcile(t, w)
			}
			if b.writes != writes && len(c.Refused) == 0 {
				t.Errorf("reconciling again wrote %d times", b.writes-writes)
			}
		})
	}
}

func compareObjects(t *testing.T, want, got []*unstructured.Unstructured) {
	t.Helper()
	if diff := paritytest.Diff(want, got); diff != "" {
		t.Errorf("objects (-recorded +got):\n%s", diff)
	}
}

func compareKinds(t *testing.T, b *bench, c paritytest.Case) {
	t.Helper()
	if !c.Has("workspacekind-status.yaml") {
		return
	}
	for _, want := range c.Read(t, "workspacekind-status.yaml") {
		name := want["name"].(string)
		key := client.ObjectKey{Name: name}
		if want["deleting"] == true {
			kind := &v1beta1.WorkspaceKind{ObjectMeta: metav1.ObjectMeta{Name: name}}
			if err := b.client.Delete(t.Context(), kind); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := b.kinds.Reconcile(t.Context(), reconcile.Request{NamespacedName: key}); err != nil {
			t.Fatal(err)
		}
		var kind v1beta1.WorkspaceKind
		if err := b.client.Get(t.Context(), key, &kind); err != nil {
			t.Fatal(err)
		}
		got, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&kind.Status)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want["status"], any(got), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("status of WorkspaceKind %s (-recorded +got):\n%s", name, diff)
		}
		if got, want := fmt.Sprint(kind.Finalizers), fmt.Sprint(want["finalizers"]); got != want {
			t.Errorf("finalizers of WorkspaceKind %s: %s, recorded %s", name, got, want)
		}
	}
}

// stateDifferences are the recorded states where ours differs on purpose: the Event that is the
// newest by all its times, not by lastTimestamp alone. docs/parity.md lists them.
var stateDifferences = map[string]string{
	"23-warnings-event-time-newer-than-last-timestamp": "Workspace Pod has warning event: second thing went wrong",
	"25-warning-series": "Workspace Pod has warning event: second thing went wrong",
}

func TestStates(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(paritytest.Root(t), "states", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatal("no states", err)
	}
	compared := 0
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		if strings.Contains(name, "-activity-") || strings.HasSuffix(name, "-natural") {
			continue
		}
		compared++
		t.Run(name, func(t *testing.T) {
			var s struct {
				Workspace   struct{ Paused bool }
				StatefulSet struct {
					Name string
					UID  types.UID `json:"uid"`
				} `json:"statefulSet"`
				Pod    *corev1.Pod
				Events []corev1.Event
				Result struct {
					State, StateMessage string
					RequeueAfter        *string `json:"requeueAfter"`
				}
				ResultVaries []paritytest.StateRecord `json:"resultVaries"`
			}
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if err := yaml.Unmarshal(data, &s); err != nil {
				t.Fatal(err)
			}
			situation := controller.Situation{
				Paused: s.Workspace.Paused, Pod: s.Pod, Events: s.Events, Now: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC),
				StatefulSet: controller.StatefulSetForTest(s.StatefulSet.UID),
			}
			got := controller.DeriveState(situation)
			slices.Reverse(situation.Events)
			if again := controller.DeriveState(situation); again != got {
				t.Errorf("the order of Events changes the answer: %v, %v", got, again)
			}
			allowed := append(s.ResultVaries, paritytest.StateRecord{State: s.Result.State, StateMessage: s.Result.StateMessage})
			if want, ok := stateDifferences[name]; ok {
				if got.Message != want {
					t.Errorf("%q, want %q", got.Message, want)
				}
			} else if !slices.Contains(allowed, paritytest.StateRecord{State: string(got.State), StateMessage: got.Message}) {
				t.Errorf("%s %q, recorded: %v", got.State, got.Message, allowed)
			}
			again := "null"
			if got.LookAgain > 0 {
				again = got.LookAgain.String()
			}
			want := "null"
			if s.Result.RequeueAfter != nil {
				want = *s.Result.RequeueAfter
			}
			if again != want {
				t.Errorf("looks again after %s, recorded %s", again, want)
			}
		})
	}
	t.Logf("%d states", compared)
}
