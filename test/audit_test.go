package test

import (
	"bytes"
	"encoding/base64"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-workspace/kubectl-workspace/test/env"
)

// The server's audit log is the witness for what the program promises about its
// requests: no Secret's data, no discovery, few of them.
func TestRequestsKeepThePromises(t *testing.T) {
	e := env.Get(t)
	applyKind(t, e)
	ns := e.Namespace(t)
	const value = "the-value-that-nobody-may-see"
	client := e.Client(t, env.Admin)
	if _, err := client.CoreV1().Secrets(ns).Create(t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "git-token"}, StringData: map[string]string{"token": value}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	createWorkspace(t, e, ns, "alice-notebook", map[string]any{"secretName": "git-token", "mountPath": "/secrets/git-token"})
	playController(t, e, ns, "alice-notebook")
	env.Eventually(t, patience, func() error {
		_, err := client.CoreV1().Pods(ns).List(t.Context(), metav1.ListOptions{})
		return err
	})

	for name, c := range map[string]struct {
		args []string
		most int
	}{
		"describe":       {[]string{"describe", "alice-notebook"}, 12},
		"list":           {[]string{"list"}, 12},
		"secrets list":   {[]string{"secrets", "list", "alice-notebook"}, 3},
		"secrets add":    {[]string{"secrets", "add", "alice-notebook", "git-token=/again"}, 6},
		"secrets remove": {[]string{"secrets", "remove", "alice-notebook", "--mount-path=/secrets/git-token"}, 6},
	} {
		t.Run(name, func(t *testing.T) {
			mark := e.Mark(t)
			r := kubectl(t, e, env.Admin, append([]string{"workspace", "-n", ns}, c.args...)...)
			if r.code != 0 {
				t.Fatal(r.stderr)
			}
			var requests []env.AuditEvent
			for _, a := range e.Requests(t, mark, env.RequestFilter{UserAgent: "kubectl-workspace/v0.0.0-test"}) {
				// A shared control plane may serve other tests at the same time.
				if a.Object.Namespace == ns || a.Object.Namespace == "" {
					requests = append(requests, a)
				}
			}
			if len(requests) == 0 || len(requests) > c.most {
				t.Errorf("%d requests, want 1 to %d", len(requests), c.most)
			}
			for _, a := range requests {
				// A request that is about no resource: /api, /apis, /apis/apps/v1, /openapi.
				if a.Object.Resource == "" {
					t.Errorf("discovery: %s", a)
				}
			}
			if t.Failed() {
				for _, a := range requests {
					t.Log(a)
				}
			}
			if strings.Contains(r.stdout+r.stderr, value) {
				t.Error("the Secret's value was printed")
			}
		})
	}

	t.Run("no response carried Secret data", func(t *testing.T) {
		carries := func(a env.AuditEvent) bool {
			encoded := base64.StdEncoding.EncodeToString([]byte(value))
			return bytes.Contains(a.ResponseObject, []byte(encoded))
		}
		// That the log would show it is part of the proof: kubectl get does receive it.
		mark := e.Mark(t)
		kubectl(t, e, env.Admin, "get", "secret", "git-token", "-n", ns, "-o", "yaml")
		shown := false
		for _, a := range e.Requests(t, mark, env.RequestFilter{Resource: "secrets"}) {
			shown = shown || carries(a)
		}
		if !shown {
			t.Fatal("the audit log does not record the data of Secrets: this test proves nothing")
		}
		reads := e.Requests(t, 0, env.RequestFilter{UserAgent: "kubectl-workspace/", Resource: "secrets"})
		if len(reads) == 0 {
			t.Fatal("no read of a Secret is in the log")
		}
		for _, a := range reads {
			if carries(a) {
				t.Errorf("the data of a Secret was sent: %s", a)
			}
		}
	})
}
