package test

import (
	"bytes"
	"encoding/base64"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-workspace/kubectl-workspace/test/env"
)

// --keys is the one command to which the server sends the content of Secrets: what it
// prints has the keys only, and without it no answer has any content.
func TestKeysAndNothingElse(t *testing.T) {
	e := env.Get(t)
	applyKind(t, e)
	ns := e.Namespace(t)
	const value = "a-value-that-only-keys-may-fetch"
	client := e.Client(t, env.Admin)
	for _, s := range []corev1.Secret{
		{ObjectMeta: metav1.ObjectMeta{Name: "minio-creds"}, StringData: map[string]string{"secretkey": value, "accesskey": value}},
		{ObjectMeta: metav1.ObjectMeta{Name: "release"}, Type: "helm.sh/release.v1", StringData: map[string]string{"release": value}},
	} {
		if _, err := client.CoreV1().Secrets(ns).Create(t.Context(), &s, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	createWorkspace(t, e, ns, "alice-notebook")
	run := func(args ...string) (result, bool, []env.AuditEvent) {
		mark := e.Mark(t)
		r := kubectl(t, e, env.Admin, append([]string{"workspace", "secrets", "-n", ns}, args...)...)
		requests := e.Requests(t, mark, env.RequestFilter{UserAgent: "kubectl-workspace/v0.0.0-test"})
		// Other tests may use the same server; the WorkspaceKind is in no namespace.
		requests = slices.DeleteFunc(requests, func(a env.AuditEvent) bool { return a.Object.Namespace != ns })
		carried := slices.ContainsFunc(requests, func(a env.AuditEvent) bool {
			return bytes.Contains(a.ResponseObject, []byte(base64.StdEncoding.EncodeToString([]byte(value))))
		})
		if strings.Contains(r.stdout+r.stderr, value) || strings.Contains(r.stdout+r.stderr, base64.StdEncoding.EncodeToString([]byte(value))) {
			t.Errorf("%q: the value was printed", args)
		}
		if r.code != 0 {
			t.Fatal(r.stderr)
		}
		return r, carried, requests
	}
	r, carried, requests := run("add", "alice-notebook", "minio-creds", "release")
	if carried || !strings.Contains(r.stderr, `Warning: Secret "release" is of type helm.sh/release.v1, in which Helm keeps a release`) {
		t.Errorf("content was sent: %v; stderr %q", carried, r.stderr)
	}
	if len(requests) > 5 { // and the WorkspaceKind
		t.Errorf("%d requests: %v", len(requests), requests)
	}
	if r, carried, _ := run("list", "alice-notebook"); carried || strings.Contains(r.stdout, "accesskey") {
		t.Errorf("content was sent: %v; stdout %q", carried, r.stdout)
	}
	r, carried, _ = run("list", "alice-notebook", "--keys", "--no-headers")
	if !strings.Contains(r.stdout, " accesskey,secretkey\n") || !strings.Contains(r.stderr, "Note: --keys reads 2 Secrets; the values are dropped on arrival\n") {
		t.Errorf("stdout %q, stderr %q", r.stdout, r.stderr)
	}
	if !carried {
		t.Error("the log does not show that content was sent: this test proves nothing")
	}
}

// TAB through kubectl: the executable is found, the names are offered, and it is as
// quick as kubectl's own.
func TestCompletionThroughKubectl(t *testing.T) {
	e := env.Get(t)
	applyKind(t, e)
	ns := e.Namespace(t)
	createWorkspace(t, e, ns, "alice-notebook", map[string]any{"secretName": "git", "mountPath": "/git"})
	dir := t.TempDir()
	if r := kubectl(t, e, env.Admin, "workspace", "completion", "install", "--dir", dir); r.code != 0 || !strings.HasSuffix(r.stdout, " written\n") {
		t.Fatal(r.stdout, r.stderr)
	}
	complete := func(words ...string) (string, time.Duration) {
		began := time.Now()
		r := start(t, append(os.Environ(), "PATH="+dir+string(os.PathListSeparator)+pathWith(t, e), "KUBECONFIG="+e.Kubeconfig(env.Admin), "HOME="+os.TempDir(), "KUBERC=off"),
			filepath.Join(e.BinDir, "kubectl"), append([]string{"__complete"}, words...)...)
		return r.stdout, time.Since(began)
	}
	for want, words := range map[string][]string{
		"alice-notebook\n": {"workspace", "describe", "-n", ns, ""},
		"/git\n":           {"workspace", "secrets", "remove", "alice-notebook", "-n", ns, "--mount-path", ""},
		"0400\t":           {"workspace", "secrets", "add", "alice-notebook", "git", "-n", ns, "--default-mode", "04"},
		"secrets\t":        {"workspace", "sec"},
	} {
		mark := e.Mark(t)
		if got, _ := complete(words...); !strings.HasPrefix(got, want) {
			t.Errorf("%q: offered %q, want %q", words, got, want)
		}
		requests := e.Requests(t, mark, env.RequestFilter{UserAgent: "kubectl-workspace/v0.0.0-test"})
		// Other tests may use the same server; discovery is in no namespace.
		requests = slices.DeleteFunc(requests, func(a env.AuditEvent) bool { return a.Object.Namespace != ns && a.Object.Resource != "" })
		most := 0
		if slices.Contains(words, ns) && !slices.Contains(words, "--default-mode") {
			most = 1
		}
		if len(requests) > most {
			t.Errorf("%q: %d requests, want %d: %v", words, len(requests), most, requests)
		}
	}
	// Measured in turn, so that whatever else the machine does hits both.
	var ours, theirs []time.Duration
	for range 9 {
		_, took := complete("workspace", "describe", "-n", ns, "")
		ours = append(ours, took)
		_, took = complete("get", "pods", "-n", ns, "")
		theirs = append(theirs, took)
	}
	slices.Sort(ours)
	slices.Sort(theirs)
	t.Logf("median of %d: kubectl workspace %s, kubectl get %s", len(ours), ours[4].Round(time.Millisecond), theirs[4].Round(time.Millisecond))
	// Two programs start instead of one. make completion measures it on a quiet machine.
	if ours[0] > 3*theirs[0] {
		t.Errorf("at best %s, and kubectl's own %s", ours[0], theirs[0])
	}
}
