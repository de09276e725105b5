package env_test

import (
	"bytes"
	"os"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata"

	"github.com/kubectl-workspace/kubectl-workspace/test/env"
)

func TestMain(m *testing.M) { os.Exit(env.Main(m)) }

func TestPersonas(t *testing.T) {
	e := env.Get(t)
	ns := e.Namespace(t, env.NamespaceUser)
	pods := func(persona string) error {
		_, err := e.Client(t, persona).CoreV1().Pods(ns).List(t.Context(), metav1.ListOptions{})
		return err
	}
	if err := pods(env.NamespaceUser); err != nil {
		t.Errorf("namespace-user may not read Pods: %v", err)
	}
	if err := pods(env.WorkspacesOnly); !apierrors.IsForbidden(err) {
		t.Errorf("workspaces-only reads Pods: got %v, want forbidden", err)
	}
	e.Grant(t, ns, env.WorkspacesOnly, rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"list"}})
	env.Eventually(t, 10*time.Second, func() error { return pods(env.WorkspacesOnly) })
}

// The audit log tells whether the value of a Secret was sent.
func TestAuditLogShowsSecretValues(t *testing.T) {
	e := env.Get(t)
	ns := e.Namespace(t)
	const value = "c2VudGluZWw=" // what the API sends for "sentinel"
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "creds"}, StringData: map[string]string{"key": "sentinel"}}
	if _, err := e.Client(t, env.Admin).CoreV1().Secrets(ns).Create(t.Context(), secret, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	sent := func(userAgent string, since env.Mark) (requests int, value_ bool) {
		for _, request := range e.Requests(t, since, env.RequestFilter{Persona: env.Admin, UserAgent: userAgent, Resource: "secrets"}) {
			requests++
			value_ = value_ || bytes.Contains(request.ResponseObject, []byte(value))
		}
		return requests, value_
	}

	config := e.RESTConfig(t, env.Admin)
	config.UserAgent = "metadata-reader"
	client, err := metadata.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	mark := e.Mark(t)
	secrets := schema.GroupVersionResource{Version: "v1", Resource: "secrets"}
	if _, err := client.Resource(secrets).Namespace(ns).Get(t.Context(), "creds", metav1.GetOptions{}); err != nil {
		t.Fatal(err)
	}
	if n, value := sent("metadata-reader", mark); n != 1 || value {
		t.Errorf("metadata only: got %d requests, value sent: %v; want 1 and false", n, value)
	}
	mark = e.Mark(t)
	if _, err := e.Client(t, env.Admin).CoreV1().Secrets(ns).Get(t.Context(), "creds", metav1.GetOptions{}); err != nil {
		t.Fatal(err)
	}
	if n, value := sent("test-env", mark); n != 1 || !value {
		t.Errorf("whole Secret: got %d requests, value sent: %v; want 1 and true", n, value)
	}
}

// A rule makes a Pod fail; taken out, the Pod recovers.
func TestRules(t *testing.T) {
	e := env.Get(t)
	ns := e.Namespace(t)
	remove := e.AddRules(t, env.Rule{Namespace: ns, CreateError: "no space left on device"})
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "pod"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "example/notebook:v1"}}},
	}
	pods := e.Client(t, env.Admin).CoreV1().Pods(ns)
	if _, err := pods.Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	event := e.WaitForEvent(t, ns, "Failed", "no space left on device", 30*time.Second)
	if event.InvolvedObject.Name != "pod" {
		t.Errorf("the Event is about %s", event.InvolvedObject.Name)
	}
	remove()
	out, err := e.Kubectl(t, env.Admin, "", "wait", "-n", ns, "--for=condition=Ready", "pod/pod", "--timeout=60s")
	if err != nil {
		t.Errorf("the Pod does not recover: %v: %s", err, out)
	}
}
