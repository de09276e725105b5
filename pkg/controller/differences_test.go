package controller_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/api/v1beta1"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/controller"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func labKind(env ...corev1.EnvVar) *v1beta1.WorkspaceKind {
	return &v1beta1.WorkspaceKind{
		ObjectMeta: metav1.ObjectMeta{Name: "lab"},
		Spec: v1beta1.WorkspaceKindSpec{PodTemplate: v1beta1.WorkspaceKindPodTemplate{
			VolumeMounts: v1beta1.WorkspaceKindVolumeMounts{Home: "/home/alice"},
			ExtraEnv:     env,
			Options: v1beta1.WorkspaceKindOptions{
				ImageConfig: v1beta1.ImageConfig{Values: []v1beta1.ImageConfigValue{{ID: "i", Spec: v1beta1.ImageConfigSpec{
					Image: "registry.example.com/lab:1", Ports: []v1beta1.ImagePort{{ID: "lab", Port: 8888}},
				}}}},
				PodConfig: v1beta1.PodConfig{Values: []v1beta1.PodConfigValue{{ID: "p"}}},
			},
		}},
	}
}

func labWorkspace(secrets ...string) *v1beta1.Workspace {
	w := &v1beta1.Workspace{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "alice", UID: "alice-uid"}}
	w.Spec.Kind = "lab"
	w.Spec.PodTemplate.Options = v1beta1.WorkspaceOptions{ImageConfig: "i", PodConfig: "p"}
	for _, s := range secrets {
		w.Spec.PodTemplate.Volumes.Secrets = append(w.Spec.PodTemplate.Volumes.Secrets, v1beta1.SecretMount{SecretName: s, MountPath: "/s/" + s})
	}
	return w
}

func (b *bench) run(t *testing.T) *v1beta1.Workspace {
	t.Helper()
	key := client.ObjectKey{Namespace: "team-a", Name: "alice"}
	if _, err := b.workspaces.Reconcile(t.Context(), reconcile.Request{NamespacedName: key}); err != nil {
		t.Fatal(err)
	}
	w := &v1beta1.Workspace{}
	if err := b.client.Get(t.Context(), key, w); err != nil {
		t.Fatal(err)
	}
	return w
}

func TestLatestWarning(t *testing.T) {
	at := func(minute int) metav1.Time { return metav1.NewTime(noon.Add(time.Duration(minute) * time.Minute)) }
	warning := func(name string, edit func(*corev1.Event)) corev1.Event {
		e := corev1.Event{ObjectMeta: metav1.ObjectMeta{Name: name}, Type: corev1.EventTypeWarning}
		e.InvolvedObject.UID = "pod"
		edit(&e)
		return e
	}
	old := warning("old", func(e *corev1.Event) { e.LastTimestamp = at(5) })
	for name, event := range map[string]corev1.Event{
		"lastTimestamp":  warning("new", func(e *corev1.Event) { e.LastTimestamp = at(6) }),
		"eventTime":      warning("new", func(e *corev1.Event) { e.EventTime = metav1.NewMicroTime(at(6).Time) }),
		"firstTimestamp": warning("new", func(e *corev1.Event) { e.FirstTimestamp = at(6) }),
		"series": warning("new", func(e *corev1.Event) {
			e.Series = &corev1.EventSeries{LastObservedTime: metav1.NewMicroTime(at(6).Time)}
		}),
		"creationTimestamp": warning("new", func(e *corev1.Event) { e.CreationTimestamp = at(6) }),
	} {
		if got := controller.LatestWarning([]corev1.Event{old, event}, "pod"); got == nil || got.Name != "new" {
			t.Errorf("%s: %v", name, got)
		}
	}
	other := warning("other", func(e *corev1.Event) { e.LastTimestamp, e.InvolvedObject.UID = at(9), "another" })
	normal := warning("normal", func(e *corev1.Event) { e.LastTimestamp, e.Type = at(9), corev1.EventTypeNormal })
	if got := controller.LatestWarning([]corev1.Event{other, normal, old}, "pod"); got == nil || got.Name != "old" {
		t.Errorf("near misses: %v", got)
	}
}

func TestPendingInterval(t *testing.T) {
	for age, want := range map[time.Duration]time.Duration{
		0: 15 * time.Second, 59 * time.Second: 15 * time.Second, 2 * time.Minute: 30 * time.Second,
		10 * time.Minute: 150 * time.Second, 20 * time.Minute: 5 * time.Minute, 24 * time.Hour: 5 * time.Minute,
	} {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(noon.Add(-age))}}
		pod.Status.Phase = corev1.PodPending
		if got := controller.DeriveState(controller.Situation{Pod: pod, Now: noon}).LookAgain; got != want {
			t.Errorf("after %s: %s, want %s", age, got, want)
		}
	}
}

func TestSecretNotFound(t *testing.T) {
	there := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "there"}}
	b := newBench(t, controller.Config{}, nil, labKind(), labWorkspace("there", "gone"), there)
	b.run(t)
	b.run(t)
	var events corev1.EventList
	if err := b.client.List(t.Context(), &events); err != nil {
		t.Fatal(err)
	}
	if len(events.Items) != 1 || events.Items[0].Reason != "SecretNotFound" || !strings.Contains(events.Items[0].Message, `"gone"`) {
		t.Errorf("%+v", events.Items)
	}
	var pods corev1.ServiceList
	if err := b.client.List(t.Context(), &pods); err != nil || len(pods.Items) != 1 {
		t.Errorf("the Service was not made: %v", err)
	}
}

func TestTemplateLimits(t *testing.T) {
	for name, template := range map[string]string{
		"loop":           `{{ range 1000000000 }}{{ end }}`,
		"nested loops":   `{{ range 100000 }}{{ range 100000 }}{{ end }}{{ end }}`,
		"long output":    `{{ range 900000 }}0123456789{{ end }}`,
		"long variable":  `{{ $x := "x" }}{{ range 100 }}{{ $x = printf "%s%s" $x $x }}{{ end }}`,
		"branching":      `{{ define "a" }}{{ template "b" }}{{ template "b" }}{{ end }}{{ define "b" }}{{ range 2000 }}{{ range 2000 }}{{ end }}{{ end }}{{ end }}{{ template "a" }}`,
		"loop in branch": `{{ if true }}{{ with 1 }}{{ range 1000000000 }}{{ end }}{{ end }}{{ end }}`,
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, controller.Config{}, nil, labKind(corev1.EnvVar{Name: "BAD", Value: template}), labWorkspace())
			start := time.Now()
			w := b.run(t)
			if w.Status.State != v1beta1.WorkspaceStateError || !strings.Contains(w.Status.StateMessage, "the template does too much") {
				t.Errorf("%s %s", w.Status.State, w.Status.StateMessage)
			}
			if d := time.Since(start); d > 20*time.Second {
				t.Errorf("took %s", d)
			}
		})
	}
}

// The patch of the finalizer has nothing else in it, and no write is a whole object.
func TestFinalizerPatch(t *testing.T) {
	b := newBench(t, controller.Config{}, nil, labKind(), labWorkspace())
	var patches []map[string]any
	watching := interceptor.NewClient(b.client.(client.WithWatch), interceptor.Funcs{
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
			data, err := p.Data(o)
			if err != nil {
				return err
			}
			var patch map[string]any
			if err := json.Unmarshal(data, &patch); err != nil {
				return err
			}
			patches = append(patches, patch)
			return c.Patch(ctx, o, p, opts...)
		},
		Update: func(context.Context, client.WithWatch, client.Object, ...client.UpdateOption) error {
			t.Error("a whole object was written")
			return nil
		},
	})
	b.workspaces.Client = watching
	b.run(t)
	want := []map[string]any{{"metadata": map[string]any{
		"finalizers": []any{v1beta1.FinalizerWorkspaceKind}, "resourceVersion": "999",
	}}}
	if diff := cmp.Diff(want, patches); diff != "" {
		t.Error(diff)
	}
}
