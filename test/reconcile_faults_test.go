package test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/utils/ptr"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/plan"
	"github.com/kubectl-workspace/kubectl-workspace/test/env"
)

// disturbance answers a request itself, or lets it through by returning false.
type disturbance func(w http.ResponseWriter, r *http.Request, next http.Handler) bool

// through returns a kubeconfig of a proxy before the API server that disturbs requests.
func through(t testing.TB, e *env.Env, disturb disturbance) string {
	t.Helper()
	config := e.RESTConfig(t, env.Admin)
	transport, err := rest.TransportFor(config)
	if err != nil {
		t.Fatal(err)
	}
	target, err := url.Parse(config.Host)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{
		Transport: transport,
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(target) },
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !disturb(w, r, proxy) {
			proxy.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(server.Close)
	kubeconfig := clientcmdapi.NewConfig()
	kubeconfig.Clusters["proxy"] = &clientcmdapi.Cluster{Server: server.URL}
	kubeconfig.Contexts["proxy"] = &clientcmdapi.Context{Cluster: "proxy"}
	kubeconfig.CurrentContext = "proxy"
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*kubeconfig, file); err != nil {
		t.Fatal(err)
	}
	return file
}

func isWrite(r *http.Request) bool {
	return r.Method != http.MethodGet && !strings.HasSuffix(r.URL.Path, "/selfsubjectaccessreviews") && !strings.HasSuffix(r.URL.Path, "/leases") &&
		!strings.Contains(r.URL.Path, "/leases/")
}

// answer refuses a request as an API server does.
func answer(w http.ResponseWriter, code int, reason metav1.StatusReason, message string) {
	if code == http.StatusTooManyRequests {
		w.Header().Set("Retry-After", "1")
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
		Status:   metav1.StatusFailure, Code: int32(code), Reason: reason, Message: message,
	})
}

// cut lets a request through and drops the connection in place of the answer.
func cut(r *http.Request, next http.Handler) {
	next.ServeHTTP(httptest.NewRecorder(), r)
	panic(http.ErrAbortHandler)
}

// Whatever goes wrong between the program and the API server: it says so in a line, nothing is
// made twice, the Lease is given back, and a rerun finishes the job.
func TestReconcileUnderFaults(t *testing.T) {
	always := func(code int, reason metav1.StatusReason, message string) disturbance {
		return func(w http.ResponseWriter, r *http.Request, _ http.Handler) bool {
			if !isWrite(r) {
				return false
			}
			answer(w, code, reason, message)
			return true
		}
	}
	first := func(n int32, d disturbance) disturbance {
		var count atomic.Int32
		return func(w http.ResponseWriter, r *http.Request, next http.Handler) bool {
			return isWrite(r) && count.Add(1) <= n && d(w, r, next)
		}
	}
	cutAt := func(suffix, method string) disturbance {
		var once atomic.Bool
		return func(_ http.ResponseWriter, r *http.Request, next http.Handler) bool {
			if r.Method == method && strings.HasSuffix(r.URL.Path, suffix) && once.CompareAndSwap(false, true) {
				cut(r, next)
			}
			return false
		}
	}
	for name, c := range map[string]struct {
		disturb disturbance
		code    int
		says    string
	}{
		"conflict on every write":   {always(409, metav1.StatusReasonConflict, "the object has been modified"), 1, "somebody else kept changing the same objects, gave up after 6 attempts; run it again"},
		"conflict on three writes":  {first(3, always(409, metav1.StatusReasonConflict, "the object has been modified")), 0, ""},
		"500 on every write":        {always(500, metav1.StatusReasonInternalError, "etcd is away"), 1, "etcd is away"},
		"500 on three writes":       {first(3, always(500, metav1.StatusReasonInternalError, "etcd is away")), 0, ""},
		"429 on two writes":         {first(2, always(429, metav1.StatusReasonTooManyRequests, "slow down")), 0, ""},
		"cut after the StatefulSet": {cutAt("/statefulsets", http.MethodPost), 1, "EOF"},
		"cut while listing":         {cutAt("/services", http.MethodGet), 0, ""}, // what only reads is asked again
		"refused by admission":      {always(403, metav1.StatusReasonForbidden, "admission webhook \"policy\" denied the request: not today"), 1, "not today"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := withWorkspaces(t, 2)
			_, r := b.reconcile(t, "--kubeconfig", through(t, b.Env, c.disturb))
			if r.code != c.code || !strings.Contains(r.stdout+r.stderr, c.says) {
				t.Errorf("exit %d: %s%s", r.code, r.stdout, r.stderr)
			}
			for _, raw := range []string{"goroutine", "panic", "&{", "0xc0", "map["} {
				if strings.Contains(r.stdout+r.stderr, raw) {
					t.Errorf("raw output: %s%s", r.stdout, r.stderr)
				}
			}
			if holder := b.leaseHolder(t); holder != "" {
				t.Errorf("the Lease is still held by %q", holder)
			}
			if p, r := b.reconcile(t); r.code != 0 {
				t.Errorf("the rerun: exit %d: %+v %s", r.code, p, r.stderr)
			}
			if sets := b.statefulSets(t); fmt.Sprint(sets) != "map[ws-00:1 ws-01:1]" {
				t.Errorf("StatefulSets: %v", sets)
			}
		})
	}
}

// leaseHolder returns who holds the Lease; empty if nobody does.
func (b *parityBench) leaseHolder(t testing.TB) string {
	t.Helper()
	leases, err := b.Client(t, env.Admin).CoordinationV1().Leases(b.ns).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range leases.Items {
		if l.Name == plan.DefaultLeaseName {
			return ptr.Deref(l.Spec.HolderIdentity, "")
		}
	}
	return ""
}
