package test

import (
	"encoding/json"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/api/v1beta1"
	"github.com/kubectl-workspace/kubectl-workspace/test/env"
)

// applyKind makes sure that the WorkspaceKind of the scenarios exists.
func applyKind(t testing.TB, e *env.Env) {
	t.Helper()
	if r := kubectl(t, e, env.Admin, "apply", "-f", "testdata/workspacekind.yaml"); r.code != 0 {
		t.Fatal(r.stderr)
	}
}

// playController does what the Workspace controller would do for a new Workspace, as
// far as these scenarios need it: ServiceAccount, StatefulSet, and a first status.
//
// patches are strategic merge patches (JSON or YAML) of the Pod's spec: what another
// WorkspaceKind, or an injector, would have put there.
func playController(t testing.TB, e *env.Env, namespace, name string, patches ...string) {
	t.Helper()
	workspaces := e.Dynamic(t, env.Admin).Resource(v1beta1.WorkspaceGVR).Namespace(namespace)
	u, err := workspaces.Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var w v1beta1.Workspace
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &w); err != nil {
		t.Fatal(err)
	}
	meta := metav1.ObjectMeta{
		Name:      "ws-" + name,
		Namespace: namespace,
		Labels:    map[string]string{v1beta1.LabelWorkspaceName: name},
		OwnerReferences: []metav1.OwnerReference{{
			APIVersion: v1beta1.GroupVersion.String(), Kind: "Workspace", Name: name, UID: w.UID,
			Controller: ptr.To(true), BlockOwnerDeletion: ptr.To(true),
		}},
	}
	client := e.Client(t, env.Admin)
	if _, err := client.CoreV1().ServiceAccounts(namespace).Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: meta}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	labels := map[string]string{v1beta1.LabelWorkspaceName: name, v1beta1.LabelStatefulSet: name}
	pod := corev1.PodSpec{
		ServiceAccountName: meta.Name,
		Containers:         []corev1.Container{{Name: "main", Image: "registry.example.com/jupyter-scipy:2.0.0"}},
	}
	for i, s := range w.Spec.PodTemplate.Volumes.Secrets {
		volume := "secret-volume-" + string(rune('0'+i))
		pod.Volumes = append(pod.Volumes, corev1.Volume{Name: volume, VolumeSource: corev1.VolumeSource{
			Secret: &corev1.SecretVolumeSource{SecretName: s.SecretName, DefaultMode: s.DefaultMode}}})
		pod.Containers[0].VolumeMounts = append(pod.Containers[0].VolumeMounts, corev1.VolumeMount{Name: volume, MountPath: s.MountPath})
	}
	for _, p := range patches {
		patchPod(t, &pod, p)
	}
	meta.Name, meta.GenerateName = "", "ws-"+name+"-"
	_, err = client.AppsV1().StatefulSets(namespace).Create(t.Context(), &appsv1.StatefulSet{
		ObjectMeta: meta,
		Spec: appsv1.StatefulSetSpec{
			Replicas: ptr.To(int32(1)),
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: pod},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	patch := []byte(`{"status":{"activity":{"lastActivity":0,"lastUpdate":0},"podTemplateOptions":{"imageConfig":{},"podConfig":{}},` +
		`"podTemplatePod":{"name":"","nodeName":""},"pauseTime":0,"pendingRestart":false,"lastRunningTime":0,"state":"Pending","stateMessage":"Workspace is pending"}}`)
	if _, err := workspaces.Patch(t.Context(), name, "application/merge-patch+json", patch, metav1.PatchOptions{}, "status"); err != nil {
		t.Fatal(err)
	}
}

func patchPod(t testing.TB, pod *corev1.PodSpec, patch string) {
	t.Helper()
	asJSON, err := yaml.YAMLToJSON([]byte(patch))
	if err != nil {
		t.Fatal(err)
	}
	before, err := json.Marshal(pod)
	if err != nil {
		t.Fatal(err)
	}
	after, err := strategicpatch.StrategicMergePatch(before, asJSON, corev1.PodSpec{})
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(after, pod); err != nil {
		t.Fatal(err)
	}
}

// createWorkspace creates a Workspace with the given secret mounts and returns it.
func createWorkspace(t testing.TB, e *env.Env, namespace, name string, secrets ...map[string]any) *unstructured.Unstructured {
	t.Helper()
	list := []any{}
	for _, s := range secrets {
		list = append(list, s)
	}
	u, err := e.Dynamic(t, env.Admin).Resource(v1beta1.WorkspaceGVR).Namespace(namespace).Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": v1beta1.GroupVersion.String(), "kind": "Workspace",
		"metadata": map[string]any{"name": name},
		"spec": map[string]any{"kind": "jupyterlab", "podTemplate": map[string]any{
			"options": map[string]any{"imageConfig": "scipy", "podConfig": "tiny"},
			"volumes": map[string]any{"secrets": list},
		}},
	}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return u
}
