package test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/api/v1beta1"
	"github.com/kubectl-workspace/kubectl-workspace/test/env"
)

// keepControlling does what the Workspace controller does when the mounts of a
// Workspace change: it puts them into the template of the StatefulSet, until the test ends.
func keepControlling(t testing.TB, e *env.Env, namespace, name string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	t.Cleanup(func() { cancel(); <-done })
	workspaces := e.Dynamic(t, env.Admin).Resource(v1beta1.WorkspaceGVR).Namespace(namespace)
	sets := e.Client(t, env.Admin).AppsV1().StatefulSets(namespace)
	once := func() error {
		u, err := workspaces.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		var w v1beta1.Workspace
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &w); err != nil {
			return err
		}
		list, err := sets.List(ctx, metav1.ListOptions{LabelSelector: v1beta1.LabelWorkspaceName + "=" + name})
		if err != nil || len(list.Items) != 1 {
			return errors.Join(err, fmt.Errorf("%d StatefulSets", len(list.Items)))
		}
		set := list.Items[0].DeepCopy()
		pod := &set.Spec.Template.Spec
		pod.Volumes, pod.Containers[0].VolumeMounts = nil, nil
		for i, s := range w.Spec.PodTemplate.Volumes.Secrets {
			volume := fmt.Sprintf("secret-volume-%d", i)
			pod.Volumes = append(pod.Volumes, corev1.Volume{Name: volume, VolumeSource: corev1.VolumeSource{
				Secret: &corev1.SecretVolumeSource{SecretName: s.SecretName, DefaultMode: s.DefaultMode}}})
			pod.Containers[0].VolumeMounts = append(pod.Containers[0].VolumeMounts, corev1.VolumeMount{Name: volume, MountPath: s.MountPath})
		}
		if reflect.DeepEqual(list.Items[0].Spec, set.Spec) {
			return nil
		}
		_, err = sets.Update(ctx, set, metav1.UpdateOptions{})
		return err
	}
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			if err := once(); err != nil && ctx.Err() == nil {
				t.Logf("controller: %v", err)
			}
			select {
			case <-ctx.Done():
			case <-time.After(time.Second): // slower than the command, which must wait for it
			}
		}
	}()
}

// A typo in the Secret's name keeps the notebook from starting. Correcting it is not
// enough, as the StatefulSet does not replace a Pod that was never ready: --restart is.
func TestTypoCorrected(t *testing.T) {
	e := env.Get(t)
	applyKind(t, e)
	ns := e.Namespace(t)
	client := e.Client(t, env.Admin)
	if _, err := client.CoreV1().Secrets(ns).Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "minio-creds"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	createWorkspace(t, e, ns, "alice-notebook", map[string]any{"secretName": "mino-creds", "mountPath": "/creds"})
	playController(t, e, ns, "alice-notebook")
	keepControlling(t, e, ns, "alice-notebook")
	e.WaitForEvent(t, ns, "FailedMount", "mino-creds", time.Minute)

	run := func(args ...string) result {
		return kubectl(t, e, env.Admin, append([]string{"workspace", "secrets", "-n", ns}, args...)...)
	}
	r := run("add", "alice-notebook", "minio-creds=/creds", "--overwrite")
	if r.code != 0 || !strings.Contains(r.stderr, "a StatefulSet does not replace such a Pod") || !strings.Contains(r.stderr, "kubectl delete pod ws-alice-notebook-") {
		t.Fatalf("exit code %d, stderr %q: it does not say that the Pod hangs", r.code, r.stderr)
	}
	// Without --restart it does hang: what --wait says is the truth.
	r = run("add", "alice-notebook", "minio-creds=/creds", "--wait", "--timeout=40s")
	if r.code != 1 || !strings.Contains(r.stderr, "stopped waiting for workspace \"alice-notebook\"") || !strings.Contains(r.stderr, "mino-creds") {
		t.Fatalf("exit code %d, stdout %q, stderr %q: it does not wait in vain", r.code, r.stdout, r.stderr)
	}
	started := time.Now()
	r = run("add", "alice-notebook", "minio-creds=/creds", "--restart", "--wait", "--timeout=2m")
	if r.code != 0 || !strings.HasSuffix(r.stdout, "unchanged\nworkspace.kubeflow.org/alice-notebook running\n") || strings.Count(r.stderr, "deleted it") != 1 {
		t.Fatalf("exit code %d, stdout %q, stderr %q", r.code, r.stdout, r.stderr)
	}
	t.Logf("running %s after --restart", time.Since(started).Round(time.Millisecond))
}

// Removing the mount that keeps a notebook from starting, and --restart in the same
// breath: the Pod must not come back as it was.
func TestBlockingMountRemoved(t *testing.T) {
	e := env.Get(t)
	applyKind(t, e)
	ns := e.Namespace(t, env.NamespaceUser)
	createWorkspace(t, e, ns, "alice-notebook", map[string]any{"secretName": "nope", "mountPath": "/nope"})
	playController(t, e, ns, "alice-notebook")
	keepControlling(t, e, ns, "alice-notebook")
	e.WaitForEvent(t, ns, "FailedMount", "nope", time.Minute)
	r := kubectl(t, e, env.Admin, "workspace", "secrets", "remove", "alice-notebook", "nope", "-n", ns, "--restart", "--wait")
	if r.code != 0 || !strings.HasSuffix(r.stdout, "workspace.kubeflow.org/alice-notebook running\n") || strings.Count(r.stderr, "deleted it") != 1 {
		t.Fatalf("exit code %d, stdout %q, stderr %q", r.code, r.stdout, r.stderr)
	}
	// A ready Pod is its StatefulSet's to replace: --restart deletes nothing.
	r = kubectl(t, e, env.Admin, "workspace", "secrets", "remove", "alice-notebook", "nope", "-n", ns, "--ignore-not-found", "--restart")
	if r.code != 0 || strings.Contains(r.stderr, "deleted") {
		t.Fatalf("exit code %d, stderr %q", r.code, r.stderr)
	}
}
