package cluster

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"
)

// serve starts an API server of a few lines and returns a Live that talks to it.
func serve(t *testing.T, handler http.HandlerFunc) *Live {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return dial(t, &rest.Config{Host: server.URL})
}

func dial(t *testing.T, config *rest.Config) *Live {
	t.Helper()
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	l, err := newLive(config, client, "test-context")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func reply(w http.ResponseWriter, code int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	fmt.Fprint(w, body)
}

func TestSecretsAreAskedForAsMetadataOnly(t *testing.T) {
	var mu sync.Mutex
	var accepts []string
	l := serve(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		accepts = append(accepts, r.Header.Get("Accept"))
		mu.Unlock()
		kind := "PartialObjectMetadata"
		if !strings.HasSuffix(r.URL.Path, "/x") {
			kind += "List"
		}
		reply(w, 200, `{"apiVersion":"meta.k8s.io/v1","kind":"`+kind+`","metadata":{"name":"x"},"items":[{"metadata":{"name":"x"}}]}`)
	})
	for _, r := range []Resource{Secrets, ConfigMaps} {
		u, err := l.Get(t.Context(), r, "ns", "x")
		if err != nil || u.GetKind() != r.Kind {
			t.Errorf("Get = %v, %v", u, err)
		}
		items, err := l.List(t.Context(), r, ListOptions{Namespace: "ns"})
		if err != nil || len(items) != 1 || items[0].GetKind() != r.Kind {
			t.Errorf("List = %v, %v", items, err)
		}
	}
	for _, a := range accepts {
		if !strings.Contains(a, "as=PartialObjectMetadata") || strings.Contains(a, "application/json,") {
			t.Errorf("Accept = %q; a server that does not know PartialObjectMetadata would answer with the data", a)
		}
	}
}

func TestListFollowsPages(t *testing.T) {
	l := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("limit") == "" {
			t.Errorf("a list without a limit: %s", r.URL)
		}
		if r.URL.Query().Get("continue") == "" {
			reply(w, 200, `{"apiVersion":"v1","kind":"PodList","metadata":{"continue":"more"},"items":[{"metadata":{"name":"a"}}]}`)
			return
		}
		reply(w, 200, `{"apiVersion":"v1","kind":"PodList","metadata":{},"items":[{"metadata":{"name":"b"}}]}`)
	})
	items, err := l.List(t.Context(), Pods, ListOptions{})
	if err != nil || len(items) != 2 {
		t.Errorf("List = %v, %v; want both pages", items, err)
	}
}

const statusFormat = `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":%q,"message":%q,"code":%d%s}`

func statusBody(code int, reason, message, details string) string {
	return fmt.Sprintf(statusFormat, reason, message, code, details)
}

// What a person reads when the connection, the credentials or the CRD are wrong.
func TestExplain(t *testing.T) {
	answering := func(code int, contentType, body string) func(*testing.T) *Live {
		return func(t *testing.T) *Live {
			return serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", contentType)
				w.WriteHeader(code)
				fmt.Fprint(w, body)
			})
		}
	}
	for name, c := range map[string]struct {
		live func(*testing.T) *Live
		want string
	}{
		"CRD absent":   {answering(404, "text/plain", "404 page not found\n"), "has no Workspaces: the CRD workspaces.kubeflow.org is not installed"},
		"unauthorized": {answering(401, "application/json", statusBody(401, "Unauthorized", "Unauthorized", "")), "does not accept your credentials"},
		"forbidden":    {answering(403, "application/json", statusBody(403, "Forbidden", `workspaces.kubeflow.org "x" is forbidden: User "u" cannot get it`, "")), `workspaces.kubeflow.org "x" is forbidden: User "u" cannot get it`},
		"refused": {func(t *testing.T) *Live {
			server := httptest.NewServer(http.NotFoundHandler())
			server.Close()
			return dial(t, &rest.Config{Host: server.URL})
		}, "refused the connection"},
		"untrusted certificate": {func(t *testing.T) *Live {
			server := httptest.NewTLSServer(http.NotFoundHandler())
			t.Cleanup(server.Close)
			return dial(t, &rest.Config{Host: server.URL})
		}, "has a certificate that is not trusted"},
		"silent": {func(t *testing.T) *Live {
			release := make(chan struct{})
			server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
			t.Cleanup(func() { close(release); server.Close() })
			return dial(t, &rest.Config{Host: server.URL, Timeout: 50 * time.Millisecond})
		}, "did not answer in time"},
	} {
		t.Run(name, func(t *testing.T) {
			l := c.live(t)
			_, err := l.Get(t.Context(), Workspaces, "ns", "x")
			err = l.Explain(err)
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error = %v\nwant one line with %q", err, c.want)
			}
		})
	}
}

// A 404 is an answer about an object only if it names one: the router's 404 for an
// unknown resource must not read as "does not exist".
func TestAbsentNeedsTheServersWord(t *testing.T) {
	for name, c := range map[string]struct {
		code int
		mime string
		body string
		want string
	}{
		"absent":           {code: 404, mime: "application/json", body: statusBody(404, "NotFound", `secrets "x" not found`, `,"details":{"name":"x","kind":"secrets"}`), want: "absent"},
		"unknown resource": {code: 404, mime: "text/plain", body: "404 page not found\n", want: "unknown error"},
		"forbidden":        {code: 403, mime: "application/json", body: statusBody(403, "Forbidden", "no", ""), want: "unknown forbidden"},
		"timeout":          {code: 504, mime: "application/json", body: statusBody(504, "Timeout", "slow", ""), want: "unknown timeout"},
		"server error":     {code: 500, mime: "application/json", body: statusBody(500, "InternalError", "boom", ""), want: "unknown error"},
		"a proxy's page":   {code: 502, mime: "text/html", body: "<html>bad gateway</html>", want: "unknown error"},
	} {
		t.Run(name, func(t *testing.T) {
			l := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", c.mime)
				w.WriteHeader(c.code)
				fmt.Fprint(w, c.body)
			})
			_, err := l.Get(t.Context(), Secrets, "ns", "x")
			a := AnswerOf(0, err)
			if got := strings.TrimSpace(string(a.Status) + " " + a.Reason); got != c.want {
				t.Errorf("answer = %q (%s), want %q", got, a.Detail, c.want)
			}
		})
	}
}

// Gather must stay within what docs promise about the number of requests.
func TestGatherReadsInTwoWaves(t *testing.T) {
	var mu sync.Mutex
	var paths []string
	workspace := map[string]any{
		"apiVersion": "kubeflow.org/v1beta1", "kind": "Workspace",
		"metadata": map[string]any{"name": "alice", "namespace": "ns", "uid": "u"},
		"spec": map[string]any{"kind": "jupyterlab", "podTemplate": map[string]any{
			"options": map[string]any{"imageConfig": "i", "podConfig": "p"},
			"volumes": map[string]any{"secrets": []any{map[string]any{"secretName": "s", "mountPath": "/s"}}},
		}},
	}
	l := serve(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		paths = append(paths, r.URL.Path)
		mu.Unlock()
		switch {
		case strings.HasSuffix(r.URL.Path, "/workspaces/alice"):
			body, _ := json.Marshal(workspace)
			reply(w, 200, string(body))
		case strings.HasSuffix(r.URL.Path, "/pods"), strings.HasSuffix(r.URL.Path, "/statefulsets"), strings.HasSuffix(r.URL.Path, "/events"):
			reply(w, 200, `{"apiVersion":"v1","kind":"List","metadata":{},"items":[]}`)
		default:
			reply(w, 403, statusBody(403, "Forbidden", "no", ""))
		}
	})
	f, err := Gather(t.Context(), l, "ns", "alice")
	if err != nil {
		t.Fatal(err)
	}
	if len(paths) != 7 { // Workspace, StatefulSets, Pods; WorkspaceKind, Events, Secret, ServiceAccount
		t.Errorf("%d requests: %v", len(paths), paths)
	}
	unchecked := f.Unchecked()
	if len(unchecked) != 3 || unchecked[0].Object != "Secret/s" || unchecked[1].Object != "ServiceAccount/ws-alice" || unchecked[2].Object != "WorkspaceKind/jupyterlab" {
		t.Errorf("unchecked = %v", unchecked)
	}
}
