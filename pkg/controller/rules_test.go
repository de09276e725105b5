package controller_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/api/v1beta1"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/controller"
)

// The tests of this file are rules of the in-cluster controller that no recording in
// testdata/parity shows, or not on their own.

var istio = controller.Config{Istio: &controller.Istio{Gateway: "istio/gateway", Hosts: []string{"*"}, ClusterDomain: "cluster.local"}}

// edit changes an object of the cluster.
func edit[T client.Object](t testing.TB, b *bench, o T, change func(T)) {
	t.Helper()
	if err := b.client.Get(t.Context(), client.ObjectKeyFromObject(o), o); err != nil {
		t.Fatal(err)
	}
	change(o)
	if err := b.client.Update(t.Context(), o); err != nil {
		t.Fatal(err)
	}
}

func (b *bench) editWorkspace(t testing.TB, change func(*v1beta1.Workspace)) {
	t.Helper()
	edit(t, b, labWorkspace(), change)
}

// setStatus writes the status of the Workspace as an earlier reconcile would have.
func (b *bench) setStatus(t testing.TB, change func(*v1beta1.WorkspaceStatus)) {
	t.Helper()
	w := labWorkspace()
	if err := b.client.Get(t.Context(), client.ObjectKeyFromObject(w), w); err != nil {
		t.Fatal(err)
	}
	change(&w.Status)
	if err := b.client.Status().Update(t.Context(), w); err != nil {
		t.Fatal(err)
	}
}

// set returns the StatefulSet of the Workspace.
func (b *bench) set(t testing.TB) *appsv1.StatefulSet {
	t.Helper()
	var list appsv1.StatefulSetList
	if err := b.client.List(t.Context(), &list); err != nil {
		t.Fatal(err)
	}
	if len(list.Items) != 1 {
		t.Fatalf("%d StatefulSets", len(list.Items))
	}
	return &list.Items[0]
}

// startPod makes the Pod of the StatefulSet, ready.
func (b *bench) startPod(t testing.TB, edit func(*corev1.Pod)) {
	t.Helper()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: b.set(t).Name + "-0", UID: "pod-uid"}}
	pod.Spec.NodeName = "node-a"
	pod.Spec.Containers = []corev1.Container{{Name: "main"}, {Name: "proxy"}}
	pod.Status.Phase = corev1.PodRunning
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	if edit != nil {
		edit(pod)
	}
	if err := b.client.Create(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
}

// withOptions gives a WorkspaceKind options; "a>b" is one that is redirected.
func withOptions(kind *v1beta1.WorkspaceKind, images, pods string) *v1beta1.WorkspaceKind {
	options := &kind.Spec.PodTemplate.Options
	image := options.ImageConfig.Values[0]
	options.ImageConfig.Values, options.PodConfig.Values = nil, nil
	redirect := func(text string) (string, *v1beta1.OptionRedirect) {
		id, to, redirected := strings.Cut(text, ">")
		if !redirected {
			return id, nil
		}
		return id, &v1beta1.OptionRedirect{To: to}
	}
	for _, text := range strings.Fields(images) {
		value := *image.DeepCopy()
		value.ID, value.Redirect = redirect(text)
		options.ImageConfig.Values = append(options.ImageConfig.Values, value)
	}
	for _, text := range strings.Fields(pods) {
		var value v1beta1.PodConfigValue
		value.ID, value.Redirect = redirect(text)
		options.PodConfig.Values = append(options.PodConfig.Values, value)
	}
	return kind
}

func TestRedirects(t *testing.T) {
	chain := func(ids ...string) (out []v1beta1.RedirectStep) {
		for i := 1; i < len(ids); i++ {
			out = append(out, v1beta1.RedirectStep{Source: ids[i-1], Target: ids[i]})
		}
		return out
	}
	for name, c := range map[string]struct {
		images, pods string
		want         v1beta1.OptionsStatus
		pending      bool
		message      string // of the error; empty if there is none
	}{
		"none": {"i", "p", v1beta1.OptionsStatus{
			ImageConfig: v1beta1.OptionStatus{Desired: "i"}, PodConfig: v1beta1.OptionStatus{Desired: "p"}}, false, ""},
		"long chains": {"i>j j>k k>l l", "p>q q>r r", v1beta1.OptionsStatus{
			ImageConfig: v1beta1.OptionStatus{Desired: "l", RedirectChain: chain("i", "j", "k", "l")},
			PodConfig:   v1beta1.OptionStatus{Desired: "r", RedirectChain: chain("p", "q", "r")}}, true, ""},
		"pod alone": {"i", "p>q q", v1beta1.OptionsStatus{
			ImageConfig: v1beta1.OptionStatus{Desired: "i"},
			PodConfig:   v1beta1.OptionStatus{Desired: "q", RedirectChain: chain("p", "q")}}, true, ""},
		"image not found": {"j", "p", v1beta1.OptionsStatus{}, false, `Workspace has invalid imageConfig: imageConfig with id "i" not found`},
		"image target not found": {"i>j j>gone", "p", v1beta1.OptionsStatus{}, false,
			`Workspace has invalid imageConfig: imageConfig with id "gone" not found, was redirected from "j"`},
		"image loop": {"i>j j>k k>j", "p", v1beta1.OptionsStatus{}, false,
			`Workspace has invalid imageConfig: imageConfig with id "k" has a circular redirect`},
		"pod to itself": {"i>j j", "p>p", v1beta1.OptionsStatus{
			ImageConfig: v1beta1.OptionStatus{Desired: "j", RedirectChain: chain("i", "j")}}, true,
			`Workspace has invalid podConfig: podConfig with id "p" has a circular redirect`},
		"pod target not found": {"i", "p>gone", v1beta1.OptionsStatus{ImageConfig: v1beta1.OptionStatus{Desired: "i"}}, false,
			`Workspace has invalid podConfig: podConfig with id "gone" not found, was redirected from "p"`},
		"broken elsewhere": {"i j>j k>gone", "p q>q", v1beta1.OptionsStatus{
			ImageConfig: v1beta1.OptionStatus{Desired: "i"}, PodConfig: v1beta1.OptionStatus{Desired: "p"}}, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, controller.Config{}, nil, withOptions(labKind(), c.images, c.pods), labWorkspace())
			w := b.run(t)
			if diff := cmp.Diff(c.want, w.Status.PodTemplateOptions, cmpopts.EquateEmpty()); diff != "" || w.Status.PendingRestart != c.pending {
				t.Errorf("pendingRestart %t (-want +got):\n%s", w.Status.PendingRestart, diff)
			}
			if failed := w.Status.State == v1beta1.WorkspaceStateError; failed != (c.message != "") || failed && w.Status.StateMessage != c.message {
				t.Errorf("%s %q", w.Status.State, w.Status.StateMessage)
			}
		})
	}
}

// The rest of the status is written along with a new error, but not for its own sake.
func TestErrorThatStaysTheSame(t *testing.T) {
	b := newBench(t, controller.Config{}, nil, withOptions(labKind(), "i j>k k", "p"), labWorkspace())
	b.editWorkspace(t, func(w *v1beta1.Workspace) { w.Spec.PodTemplate.Options.PodConfig = "typo" })
	before := b.run(t)
	b.editWorkspace(t, func(w *v1beta1.Workspace) { w.Spec.PodTemplate.Options.ImageConfig = "j" })
	after := b.run(t)
	if diff := cmp.Diff(before.Status, after.Status); diff != "" {
		t.Errorf("the status changed:\n%s", diff)
	}
	b.editWorkspace(t, func(w *v1beta1.Workspace) { w.Spec.PodTemplate.Options.PodConfig = "another-typo" })
	if after = b.run(t); after.Status.PodTemplateOptions.ImageConfig.Desired != "k" || !after.Status.PendingRestart {
		t.Errorf("along with another message: %+v", after.Status)
	}
}

func TestStatusOverTime(t *testing.T) {
	now := noon.UnixMilli()
	b := newBench(t, controller.Config{}, nil, labKind(), labWorkspace())
	b.run(t)
	b.startPod(t, func(p *corev1.Pod) { p.Spec.InitContainers = []corev1.Container{{Name: "setup"}} })
	activity := v1beta1.WorkspaceActivity{LastActivity: 5, LastUpdate: 6}

	b.setStatus(t, func(s *v1beta1.WorkspaceStatus) { s.Activity = activity })
	w := b.run(t)
	if w.Status.LastRunningTime != now || w.Status.Activity != (v1beta1.WorkspaceActivity{}) {
		t.Errorf("on entering Running: %+v", w.Status)
	}
	if diff := cmp.Diff(v1beta1.PodStatus{
		Name: b.set(t).Name + "-0", NodeName: "node-a", ServiceAccountName: "ws-alice",
		Containers:     []v1beta1.ContainerStatus{{Name: "main"}, {Name: "proxy"}},
		InitContainers: []v1beta1.ContainerStatus{{Name: "setup"}},
	}, w.Status.PodTemplatePod); diff != "" {
		t.Error(diff)
	}

	b.setStatus(t, func(s *v1beta1.WorkspaceStatus) { s.Activity, s.LastRunningTime = activity, 1 })
	if w = b.run(t); w.Status.LastRunningTime != 1 || w.Status.Activity != activity {
		t.Errorf("while Running: %+v", w.Status)
	}
	b.setStatus(t, func(s *v1beta1.WorkspaceStatus) { s.LastRunningTime = 0 })
	if w = b.run(t); w.Status.LastRunningTime != now || w.Status.Activity != (v1beta1.WorkspaceActivity{}) {
		t.Errorf("Running since before there was a time: %+v", w.Status)
	}

	b.editWorkspace(t, func(w *v1beta1.Workspace) { w.Spec.Paused = true })
	b.setStatus(t, func(s *v1beta1.WorkspaceStatus) { s.Activity = activity })
	if w = b.run(t); w.Status.PauseTime != now || w.Status.State != v1beta1.WorkspaceStateRunning || w.Status.Activity != activity {
		t.Errorf("paused, with the Pod still there: %+v", w.Status)
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: w.Status.PodTemplatePod.Name}}
	if err := b.client.Delete(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	b.setStatus(t, func(s *v1beta1.WorkspaceStatus) { s.PauseTime = 7 })
	w = b.run(t)
	if w.Status.PauseTime != 7 || w.Status.State != v1beta1.WorkspaceStatePaused || w.Status.LastRunningTime != now {
		t.Errorf("paused: %+v", w.Status)
	}
	if diff := cmp.Diff(v1beta1.PodStatus{ServiceAccountName: "ws-alice"}, w.Status.PodTemplatePod); diff != "" {
		t.Errorf("without a Pod: %s", diff)
	}
	b.editWorkspace(t, func(w *v1beta1.Workspace) { w.Spec.Paused = false })
	if w = b.run(t); w.Status.PauseTime != 0 {
		t.Errorf("pauseTime %d", w.Status.PauseTime)
	}
}

// The Pod is found by its name; labels and owners do not matter.
func TestPodWithoutLabels(t *testing.T) {
	b := newBench(t, controller.Config{}, nil, labKind(), labWorkspace())
	b.run(t)
	b.startPod(t, nil)
	if w := b.run(t); w.Status.State != v1beta1.WorkspaceStateRunning {
		t.Errorf("%s %s", w.Status.State, w.Status.StateMessage)
	}
}

func TestTemplateFunction(t *testing.T) {
	const path = "/workspace/connect/team-a/alice/lab/"
	for template, want := range map[string]string{
		`{{ httpPathPrefix "lab" }}x`:                                      path + "x",
		"{{ httpPathPrefix `lab` }}":                                       path,
		`{{ httpPathPrefix "other" }}`:                                     "",
		`{{ httpPathPrefix "lab" | printf "%q" }}`:                         `"` + path + `"`,
		`{{ range 2 }}{{ httpPathPrefix "lab" }}{{ end }}`:                 path + path,
		`{{ if eq (httpPathPrefix "lab") "" }}none{{ else }}some{{ end }}`: "some",
	} {
		b := newBench(t, controller.Config{}, nil, labKind(corev1.EnvVar{Name: "X", Value: template}), labWorkspace())
		b.run(t)
		if got := b.set(t).Spec.Template.Spec.Containers[0].Env[0].Value; got != want {
			t.Errorf("%s: %q, want %q", template, got, want)
		}
	}
	// The argument must be a literal.
	for template, want := range map[string]string{
		`{{ "lab" | httpPathPrefix }}`:             `<httpPathPrefix>: wrong type for value; expected v1beta1.PortId; got string`,
		`{{ httpPathPrefix (printf "lab") }}`:      `<"lab">: wrong type for value; expected v1beta1.PortId; got string`,
		`{{ $p := "lab" }}{{ httpPathPrefix $p }}`: `<$p>: wrong type for value; expected v1beta1.PortId; got string`,
		`{{ httpPathPrefix . }}`:                   `<.>: invalid value; expected v1beta1.PortId`,
		`{{ httpPathPrefix 1 }}`:                   `<1>: expected string; found 1`,
		`{{ httpPathPrefix "lab" "lab" }}`:         `<httpPathPrefix>: wrong number of args for httpPathPrefix: want 1 got 2`,
	} {
		b := newBench(t, controller.Config{}, nil, labKind(corev1.EnvVar{Name: "X", Value: template}), labWorkspace())
		w := b.run(t)
		if w.Status.State != v1beta1.WorkspaceStateError || !strings.HasSuffix(w.Status.StateMessage, `executing "value" at `+want) ||
			!strings.HasPrefix(w.Status.StateMessage, `Workspace failed to generate StatefulSet with error: failed to render extraEnv "X": failed to execute template `) {
			t.Errorf("%s: %q", template, w.Status.StateMessage)
		}
	}
}

// Only values are templates: what comes from elsewhere is passed on.
func TestEnvFromElsewhere(t *testing.T) {
	from := &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}}
	b := newBench(t, controller.Config{}, nil, labKind(corev1.EnvVar{Name: "{{x", ValueFrom: from}, corev1.EnvVar{Name: "EMPTY"}), labWorkspace())
	b.run(t)
	want := []corev1.EnvVar{{Name: "{{x", ValueFrom: &corev1.EnvVarSource{
		FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name", APIVersion: "v1"}}}, {Name: "EMPTY"}}
	if diff := cmp.Diff(want, b.set(t).Spec.Template.Spec.Containers[0].Env); diff != "" {
		t.Error(diff)
	}
}

func TestWorkspaceKindStatus(t *testing.T) {
	source := func(labels map[string]string) *corev1.ConfigMap {
		return &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: "kubeflow", Name: "icons", Labels: labels},
			Data:       map[string]string{"text": "<svg/>"}, BinaryData: map[string][]byte{"bytes": {0x89, 'P', 'N', 'G'}},
		}
	}
	labelled := map[string]string{controller.LabelImageSource: "true"}
	ref := func(key string) v1beta1.Asset {
		return v1beta1.Asset{ConfigMap: &v1beta1.AssetConfigMap{Namespace: "kubeflow", Name: "icons", Key: key}}
	}
	notFound := `ConfigMap "icons" not found in namespace "kubeflow" (if it exists, ensure it has the "notebooks.kubeflow.org/image-source" label)`
	for name, c := range map[string]struct {
		asset  v1beta1.Asset
		source *corev1.ConfigMap
		sha256 string
		kind   v1beta1.AssetErrorType
		text   string
	}{
		"a URL":         {v1beta1.Asset{URL: ptr.To("https://static.example.com/icon.svg")}, nil, "", "", ""},
		"text":          {ref("text"), source(labelled), "d4dc56669143034f31aa309635d4113d9ad76a02b1739da22c965ed2049be9e6", "", ""},
		"bytes":         {ref("bytes"), source(labelled), "0f4636c78f65d3639ece5a064b5ae753e3408614a14fb18ab4d7540d2c248543", "", ""},
		"no such key":   {ref("none"), source(labelled), "", v1beta1.AssetErrorKeyNotFound, `key "none" not found in ConfigMap "icons" in namespace "kubeflow"`},
		"no ConfigMap":  {ref("text"), nil, "", v1beta1.AssetErrorNotFound, notFound},
		"without label": {ref("text"), source(nil), "", v1beta1.AssetErrorNotFound, notFound},
		"another value": {ref("text"), source(map[string]string{controller.LabelImageSource: "yes"}), "", v1beta1.AssetErrorNotFound, notFound},
	} {
		t.Run(name, func(t *testing.T) {
			kind := labKind()
			kind.Spec.Spawner.Icon = c.asset
			objects := []client.Object{kind}
			if c.source != nil {
				objects = append(objects, c.source)
			}
			b := newBench(t, controller.Config{}, nil, objects...)
			got := b.runKind(t).Status.SpawnerIcon
			if c.kind == "" && (got.ConfigMap != nil || got.SHA256 != c.sha256) {
				t.Errorf("%+v", got)
			}
			if c.kind != "" && (got.ConfigMap == nil || got.SHA256 != "" || got.ConfigMap.ErrorType != c.kind || got.ConfigMap.ErrorMessage != c.text) {
				t.Errorf("%+v", got)
			}
		})
	}
}

func (b *bench) runKind(t testing.TB) *v1beta1.WorkspaceKind {
	t.Helper()
	key := client.ObjectKey{Name: "lab"}
	if _, err := b.kinds.Reconcile(t.Context(), reconcile.Request{NamespacedName: key}); err != nil {
		t.Fatal(err)
	}
	kind := &v1beta1.WorkspaceKind{}
	if err := b.client.Get(t.Context(), key, kind); err != nil {
		t.Fatal(err)
	}
	return kind
}

// Nothing at all is done for a Workspace that is being deleted, except that it counts.
func TestWorkspaceBeingDeleted(t *testing.T) {
	w := labWorkspace()
	w.Finalizers, w.DeletionTimestamp = []string{"example.com/hold"}, ptr.To(metav1.NewTime(noon))
	b := newBench(t, controller.Config{}, nil, labKind(), w)
	w = b.run(t)
	if b.writes != 0 || w.Status.State != "" {
		t.Errorf("%d writes, %+v", b.writes, w.Status)
	}
	if kind := b.runKind(t); len(kind.Finalizers) != 0 || kind.Status.Workspaces != 1 {
		t.Errorf("%v %+v", kind.Finalizers, kind.Status)
	}
}

func TestKindBeingDeleted(t *testing.T) {
	kind := labKind()
	kind.Finalizers, kind.DeletionTimestamp = []string{v1beta1.FinalizerWorkspaceKind, "example.com/hold"}, ptr.To(metav1.NewTime(noon))
	b := newBench(t, controller.Config{}, nil, kind, labWorkspace())
	b.run(t)
	b.set(t)
	if err := b.client.Delete(t.Context(), labWorkspace()); err != nil {
		t.Fatal(err)
	}
	if kind := b.runKind(t); !slices.Equal(kind.Finalizers, []string{"example.com/hold"}) {
		t.Errorf("%v", kind.Finalizers)
	}
}

// Ownership goes by the name of the Workspace and its kind, not by its uid.
func TestOwnership(t *testing.T) {
	owner := func(change func(*metav1.OwnerReference)) *corev1.ServiceAccount {
		ref := metav1.OwnerReference{APIVersion: "kubeflow.org/v1beta1", Kind: "Workspace", Name: "alice", UID: "of-yesterday", Controller: ptr.To(true)}
		change(&ref)
		return &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{
			Namespace: "team-a", Name: "older", OwnerReferences: []metav1.OwnerReference{ref}}}
	}
	for name, c := range map[string]struct {
		change func(*metav1.OwnerReference)
		owned  bool
	}{
		"another uid":     {func(*metav1.OwnerReference) {}, true},
		"another name":    {func(r *metav1.OwnerReference) { r.Name = "bob" }, false},
		"another kind":    {func(r *metav1.OwnerReference) { r.Kind = "Notebook" }, false},
		"another version": {func(r *metav1.OwnerReference) { r.APIVersion = "kubeflow.org/v1" }, false},
		"no controller":   {func(r *metav1.OwnerReference) { r.Controller = nil }, false},
	} {
		b := newBench(t, controller.Config{}, nil, labKind(), labWorkspace(), owner(c.change))
		want := "ws-alice"
		if c.owned {
			want = "older"
		}
		if w := b.run(t); w.Status.PodTemplatePod.ServiceAccountName != want || b.set(t).Spec.Template.Spec.ServiceAccountName != want {
			t.Errorf("%s: %s", name, w.Status.PodTemplatePod.ServiceAccountName)
		}
	}
}

// Several owned objects are an error that names them, always in the same order, and the work
// stops there.
func TestSeveralOwned(t *testing.T) {
	older := metav1.NewTime(noon.Add(-time.Hour))
	meta := func(name string, created metav1.Time) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: "team-a", Name: name, CreationTimestamp: created, OwnerReferences: []metav1.OwnerReference{{
			APIVersion: "kubeflow.org/v1beta1", Kind: "Workspace", Name: "alice", UID: "alice-uid", Controller: ptr.To(true)}}}
	}
	route := &unstructured.Unstructured{}
	route.SetGroupVersionKind(controller.VirtualServiceGVK)
	for what, make := range map[string]func(metav1.ObjectMeta) client.Object{
		"ServiceAccounts": func(m metav1.ObjectMeta) client.Object { return &corev1.ServiceAccount{ObjectMeta: m} },
		"StatefulSets":    func(m metav1.ObjectMeta) client.Object { return &appsv1.StatefulSet{ObjectMeta: m} },
		"Services":        func(m metav1.ObjectMeta) client.Object { return &corev1.Service{ObjectMeta: m} },
		"VirtualServices": func(m metav1.ObjectMeta) client.Object {
			u := route.DeepCopy()
			u.SetNamespace(m.Namespace)
			u.SetName(m.Name)
			u.SetCreationTimestamp(m.CreationTimestamp)
			u.SetOwnerReferences(m.OwnerReferences)
			return u
		},
	} {
		b := newBench(t, istio, nil, labKind(), labWorkspace(),
			make(meta("by-hand", older)), make(meta("ws-alice-b", metav1.NewTime(noon))), make(meta("ws-alice-z", older)), make(meta("ws-alice-a", metav1.NewTime(noon))))
		w := b.run(t)
		if want := "Workspace owns multiple " + what + ": ws-alice-z, ws-alice-a, ws-alice-b, by-hand"; w.Status.StateMessage != want {
			t.Errorf("%s: %q", what, w.Status.StateMessage)
		}
		if w.Status.PodTemplatePod.ServiceAccountName != "" {
			t.Errorf("%s: the rest of the status was derived", what)
		}
	}
}

// Errors of the API leave the status as it was, and a conflict can be told from others.
func TestErrorsOfTheAPI(t *testing.T) {
	taken := &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "ws-alice-946255c3"}}
	kind := labKind()
	kind.Spec.PodTemplate.ServiceAccount = &v1beta1.WorkspaceKindServiceAccount{ClusterRoles: []v1beta1.ClusterRoleName{{Name: "view"}}}
	b := newBench(t, controller.Config{}, nil, kind, labWorkspace(), taken)
	_, err := b.reconcile(t, &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"namespace": "team-a", "name": "alice"}}})
	if !apierrors.IsAlreadyExists(errors.Unwrap(err)) {
		t.Errorf("%v", err)
	}
	w := labWorkspace()
	if err := b.client.Get(t.Context(), client.ObjectKeyFromObject(w), w); err != nil || w.Status.State != "" {
		t.Errorf("%v %+v", err, w.Status)
	}
}

// What is tolerated and what is corrected in a VirtualService is decided by comparing protobuf
// messages, in which a field without a value does not exist.
func TestVirtualServiceDrift(t *testing.T) {
	kind := labKind()
	kind.Spec.PodTemplate.Ports = []v1beta1.WorkspaceKindPort{{ID: "lab", Protocol: "HTTP", HTTPProxy: &v1beta1.HTTPProxy{
		RequestHeaders: &v1beta1.RequestHeaders{Set: map[string]string{"X-A": "{{ httpPathPrefix \"lab\" }}"}}}}}
	route := func(spec map[string]any) map[string]any { return spec["http"].([]any)[0].(map[string]any) }
	headers := func(spec map[string]any) map[string]any {
		return route(spec)["headers"].(map[string]any)["request"].(map[string]any)
	}
	for name, c := range map[string]struct {
		change    func(spec map[string]any)
		corrected bool
	}{
		"empty list":     {func(s map[string]any) { s["exportTo"] = []any{} }, false},
		"empty text":     {func(s map[string]any) { route(s)["name"] = "" }, false},
		"zero":           {func(s map[string]any) { route(s)["weight"] = int64(0) }, false},
		"false":          {func(s map[string]any) { route(s)["ignoreUriCase"] = false }, false},
		"empty headers":  {func(s map[string]any) { headers(s)["add"] = map[string]any{} }, false},
		"list":           {func(s map[string]any) { s["exportTo"] = []any{"."} }, true},
		"text":           {func(s map[string]any) { route(s)["name"] = "mine" }, true},
		"empty message":  {func(s map[string]any) { route(s)["rewrite"] = map[string]any{} }, true},
		"header without": {func(s map[string]any) { headers(s)["set"].(map[string]any)["X-B"] = "" }, true},
		"header changed": {func(s map[string]any) { headers(s)["set"].(map[string]any)["X-A"] = "x" }, true},
		"no routes":      {func(s map[string]any) { delete(s, "http") }, true},
		"host removed":   {func(s map[string]any) { s["hosts"] = []any{} }, true},
		"two gateways":   {func(s map[string]any) { s["gateways"] = []any{"istio/gateway", "mesh"} }, true},
		"port of the route": {func(s map[string]any) {
			route(s)["route"].([]any)[0].(map[string]any)["destination"].(map[string]any)["port"] = map[string]any{"number": int64(1)}
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, istio, nil, kind.DeepCopy(), labWorkspace())
			b.run(t)
			list := &unstructured.UnstructuredList{}
			list.SetGroupVersionKind(controller.VirtualServiceGVK)
			if err := b.client.List(t.Context(), list); err != nil || len(list.Items) != 1 {
				t.Fatalf("%v %d", err, len(list.Items))
			}
			route := &list.Items[0]
			edit(t, b, route, func(o *unstructured.Unstructured) { c.change(o.Object["spec"].(map[string]any)) })
			before := b.writes
			b.run(t)
			if corrected := b.writes > before; corrected != c.corrected {
				t.Errorf("corrected: %t", corrected)
			}
		})
	}
}

// Routes are made for the ports that both sides define, in the order of the image.
func TestRoutes(t *testing.T) {
	kind := labKind()
	kind.Spec.PodTemplate.Ports = []v1beta1.WorkspaceKindPort{{ID: "a", Protocol: "HTTP"}, {ID: "b", Protocol: "SSH"}, {ID: "c", Protocol: "HTTP"}}
	kind.Spec.PodTemplate.Options.ImageConfig.Values[0].Spec.Ports = []v1beta1.ImagePort{
		{ID: "c", Port: 3}, {ID: "x", Port: 4}, {ID: "b", Port: 2}, {ID: "a", Port: 1}}
	b := newBench(t, istio, nil, kind, labWorkspace())
	b.run(t)
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(controller.VirtualServiceGVK)
	if err := b.client.List(t.Context(), list); err != nil {
		t.Fatal(err)
	}
	routes, _, _ := unstructured.NestedSlice(list.Items[0].Object, "spec", "http")
	var got []string
	for _, r := range routes {
		match := r.(map[string]any)["match"].([]any)[0].(map[string]any)["uri"].(map[string]any)["prefix"].(string)
		got = append(got, match)
	}
	if want := []string{"/workspace/connect/team-a/alice/c/", "/workspace/connect/team-a/alice/a/"}; !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
}

// A foreign label or annotation with an empty value goes unnoticed, except on a StatefulSet.
func TestEmptyForeignMetadata(t *testing.T) {
	b := newBench(t, controller.Config{}, nil, labKind(), labWorkspace())
	b.run(t)
	var services corev1.ServiceList
	if err := b.client.List(t.Context(), &services); err != nil || len(services.Items) != 1 {
		t.Fatal(err)
	}
	service := &services.Items[0]
	edit(t, b, service, func(s *corev1.Service) { s.Labels["mine"] = "" })
	before := b.writes
	b.run(t)
	if b.writes != before {
		t.Errorf("the Service was written")
	}
	edit(t, b, service, func(s *corev1.Service) { s.Annotations = map[string]string{"mine": "x"} })
	b.run(t)
	if err := b.client.Get(t.Context(), client.ObjectKeyFromObject(service), service); err != nil {
		t.Fatal(err)
	}
	if len(service.Annotations) != 0 || !maps.Equal(service.Labels, map[string]string{v1beta1.LabelWorkspaceName: "alice"}) {
		t.Errorf("%v %v", service.Annotations, service.Labels)
	}
	set := b.set(t)
	edit(t, b, set, func(s *appsv1.StatefulSet) { s.Labels["mine"] = "" })
	b.run(t)
	if got := b.set(t).Labels; len(got) != 1 {
		t.Errorf("the StatefulSet: %v", got)
	}
}
