package test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/api/v1beta1"
	"github.com/kubectl-workspace/kubectl-workspace/test/env"
)

// writers is how many processes change one Workspace at the same moment.
const writers = 100

// Half of a hundred people add a mount to one Workspace, the other half remove one, each
// in a process of their own, while somebody else keeps writing its labels: afterwards
// exactly the expected mounts are there, and everybody has succeeded.
func TestHundredWriters(t *testing.T) {
	e := env.Get(t)
	applyKind(t, e)
	hundredWriters(t, e, e.Kubeconfig(env.Admin))
}

// The same through a proxy that answers with 409, 429 and 500 instead of asking, or
// asks and then answers 500 or cuts the connection in the middle of the reply.
func TestHundredWritersOnABadLine(t *testing.T) {
	e := env.Get(t)
	applyKind(t, e)
	p := newBadLine(t, e)
	hundredWriters(t, e, p.kubeconfig(t))
	t.Logf("requests by what became of them: %v", p.counts())
}

func hundredWriters(t *testing.T, e *env.Env, kubeconfig string) {
	ns := e.Namespace(t)
	var before []map[string]any
	want := map[string]string{}
	for i := range writers {
		if i%2 == 0 {
			before = append(before, map[string]any{"secretName": fmt.Sprintf("secret-%d", i), "mountPath": fmt.Sprintf("/mnt/%d", i)})
		} else {
			want[fmt.Sprintf("/mnt/%d", i)] = fmt.Sprintf("secret-%d", i)
		}
	}
	before = append(before, map[string]any{"secretName": "stays", "mountPath": "/stays", "defaultMode": int64(0)})
	want["/stays"] = "stays"
	first := createWorkspace(t, e, ns, "alice-notebook", before...)

	workspaces := e.Dynamic(t, env.Admin).Resource(v1beta1.WorkspaceGVR).Namespace(ns)
	stop, stopped := make(chan struct{}), make(chan struct{})
	touched := 0
	go func() {
		defer close(stopped)
		for ; ; touched++ {
			select {
			case <-stop:
				return
			case <-time.After(10 * time.Millisecond):
			}
			patch := fmt.Sprintf(`{"metadata":{"labels":{"touched":"%d"}}}`, touched)
			// In such a crowd the server itself may give up on a write now and then.
			if _, err := workspaces.Patch(t.Context(), "alice-notebook", types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
				t.Logf("touch: %v", err)
			}
		}
	}()

	dir, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	started := time.Now()
	var slowest atomic.Int64
	var wg sync.WaitGroup
	for i := range writers {
		wg.Go(func() {
			args := []string{"secrets", "add", "alice-notebook", fmt.Sprintf("secret-%d=/mnt/%d", i, i)}
			result := fmt.Sprintf("workspace.kubeflow.org/alice-notebook secret \"secret-%d\" mounted at /mnt/%d\n", i, i)
			if i%2 == 0 {
				args = []string{"secrets", "remove", "alice-notebook", fmt.Sprintf("secret-%d", i)}
				result = fmt.Sprintf("workspace.kubeflow.org/alice-notebook secret \"secret-%d\" unmounted from /mnt/%d\n", i, i)
			}
			began := time.Now()
			r := start(t, append(os.Environ(), "KUBECONFIG="+kubeconfig), filepath.Join(dir, "kubectl-workspace"), append(args, "-n", ns)...)
			if took := int64(time.Since(began)); took > slowest.Load() {
				slowest.Store(took)
			}
			if r.code != 0 || r.stdout != result {
				t.Errorf("writer %d: exit code %d, %q, %q", i, r.code, r.stdout, r.stderr)
			}
		})
	}
	wg.Wait()
	t.Logf("%d writers: %s, the slowest %s, labels written %d times", writers, time.Since(started).Round(time.Millisecond), time.Duration(slowest.Load()).Round(time.Millisecond), touched)
	close(stop)
	<-stopped

	got := map[string]string{}
	for _, entry := range secretsOf(t, e, ns, "alice-notebook") {
		m := entry.(map[string]any)
		if _, twice := got[m["mountPath"].(string)]; twice {
			t.Errorf("%s is mounted twice", m["mountPath"])
		}
		got[m["mountPath"].(string)] = m["secretName"].(string)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("mounts (-want +got):\n%s", diff)
	}
	after, err := workspaces.Get(t.Context(), "alice-notebook", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	rest := func(object map[string]any) string {
		spec := object["spec"].(map[string]any)
		delete(spec["podTemplate"].(map[string]any)["volumes"].(map[string]any), "secrets")
		return asJSON(t, spec)
	}
	if diff := cmp.Diff(rest(first.Object), rest(after.Object)); diff != "" {
		t.Errorf("the rest of the spec (-before +after):\n%s", diff)
	}
}

// badLine is a proxy before the API server that spoils every third request about Workspaces.
type badLine struct {
	*httptest.Server
	transport http.RoundTripper
	server    string

	mu     sync.Mutex
	number int
	fates  map[string]int
}

func newBadLine(t testing.TB, e *env.Env) *badLine {
	t.Helper()
	config := e.RESTConfig(t, env.Admin)
	transport, err := rest.TransportFor(config)
	if err != nil {
		t.Fatal(err)
	}
	p := &badLine{transport: transport, server: config.Host, fates: map[string]int{}}
	p.Server = httptest.NewServer(p)
	t.Cleanup(p.Close)
	return p
}

// kubeconfig leads to the proxy, which adds the credentials.
func (p *badLine) kubeconfig(t testing.TB) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "config")
	content := fmt.Sprintf(`{apiVersion: v1, kind: Config, current-context: c, clusters: [{name: c, cluster: {server: %q}}],
		users: [{name: u, user: {}}], contexts: [{name: c, context: {cluster: c, user: u}}]}`, p.URL)
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func (p *badLine) counts() map[string]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.fates
}

// fate chooses what becomes of the next write.
func (p *badLine) fate(r *http.Request) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	fate := "well"
	if r.Method == http.MethodPatch {
		p.number++
		if p.number%3 == 0 {
			bad := []string{"409", "429", "500 before", "500 after", "cut"}
			fate = bad[p.number/3%len(bad)]
		}
	}
	p.fates[fate]++
	return fate
}

func (p *badLine) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	fate := p.fate(r)
	switch fate {
	case "409":
		refuse(w, http.StatusConflict, metav1.StatusReasonConflict, 0)
		return
	case "429":
		refuse(w, http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests, 1)
		return
	case "500 before":
		refuse(w, http.StatusInternalServerError, metav1.StatusReasonInternalError, 0)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	out, err := http.NewRequestWithContext(r.Context(), r.Method, p.server+r.URL.RequestURI(), bytes.NewReader(body))
	if err != nil {
		panic(err)
	}
	out.Header = r.Header.Clone()
	answer, err := p.transport.RoundTrip(out)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if fate == "500 after" {
		refuse(w, http.StatusInternalServerError, metav1.StatusReasonInternalError, 0)
		return
	}
	for k, v := range answer.Header {
		w.Header()[k] = v
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(answer.StatusCode)
	if fate == "cut" {
		_, _ = w.Write(text[:len(text)/2])
		if f, ok := w.(http.Flusher); ok {
			f.Flush()
		}
		panic(http.ErrAbortHandler)
	}
	_, _ = w.Write(text)
}

func refuse(w http.ResponseWriter, code int, reason metav1.StatusReason, after int) {
	if after > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(after))
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure, Code: int32(code), Reason: reason,
		Message: "the line is bad", Details: &metav1.StatusDetails{RetryAfterSeconds: int32(after)},
	})
}

func asJSON(t testing.TB, v any) string {
	t.Helper()
	b, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
