package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// apiServer is as much of an API server as the secrets commands need: it serves
// objects by path, applies JSON Patches, and keeps mount paths unique.
type apiServer struct {
	*httptest.Server
	mu       sync.Mutex
	objects  map[string]map[string]any
	requests []string
	// fail may answer a request itself; n counts the requests of that method.
	fail   func(w http.ResponseWriter, r *http.Request, n int) bool
	counts map[string]int
}

const (
	workspacePath = "/apis/kubeflow.org/v1beta1/namespaces/team-a/workspaces/alice-notebook"
	kindPath      = "/apis/kubeflow.org/v1beta1/workspacekinds/jupyterlab"
	secretPath    = "/api/v1/namespaces/team-a/secrets/minio-creds"
	podPath       = "/api/v1/namespaces/team-a/pods/ws-alice-notebook-x7k2p-0"
)

// podObject is the Pod of alice-notebook, with the mounts from before any change.
func podObject(ready string) map[string]any {
	return map[string]any{
		"apiVersion": "v1", "kind": "Pod",
		"metadata": map[string]any{
			"name": "ws-alice-notebook-x7k2p-0", "namespace": "team-a", "uid": "p-1",
			"labels":          map[string]any{"notebooks.kubeflow.org/workspace-name": "alice-notebook"},
			"ownerReferences": []any{map[string]any{"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "ws-alice-notebook-x7k2p", "uid": "s-1", "controller": true}},
		},
		"spec": map[string]any{
			"volumes":    []any{map[string]any{"name": "secret-volume-0", "secret": map[string]any{"secretName": "git", "defaultMode": 0}}},
			"containers": []any{map[string]any{"name": "main", "volumeMounts": []any{map[string]any{"name": "secret-volume-0", "mountPath": "/git"}}}},
		},
		"status": map[string]any{"phase": "Pending", "conditions": []any{map[string]any{"type": "Ready", "status": ready}}},
	}
}

func newAPIServer(t *testing.T) *apiServer {
	s := &apiServer{counts: map[string]int{}, objects: map[string]map[string]any{
		workspacePath: {
			"apiVersion": "kubeflow.org/v1beta1", "kind": "Workspace",
			"metadata": map[string]any{"name": "alice-notebook", "namespace": "team-a", "uid": "u-1", "resourceVersion": "1"},
			"spec": map[string]any{"kind": "jupyterlab", "future": 1, "podTemplate": map[string]any{"volumes": map[string]any{
				"home": "alice-home", "secrets": []any{map[string]any{"secretName": "git", "mountPath": "/git", "defaultMode": 0, "future": 2}},
			}}},
		},
		"/api/v1/namespaces/team-a": {"apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata", "metadata": map[string]any{"name": "team-a"}},
		kindPath: {
			"apiVersion": "kubeflow.org/v1beta1", "kind": "WorkspaceKind", "metadata": map[string]any{"name": "jupyterlab"},
			"spec": map[string]any{"podTemplate": map[string]any{"volumeMounts": map[string]any{"home": "/home/jovyan"}}},
		},
		secretPath: {
			"apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata",
			"metadata": map[string]any{"name": "minio-creds", "namespace": "team-a", "labels": map[string]any{"notebooks.kubeflow.org/can-mount": "true"}},
		},
	}}
	s.objects[podPath] = podObject("True")
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *apiServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r.Method+" "+r.URL.RequestURI())
	s.counts[r.Method]++
	if s.fail != nil && s.fail(w, r, s.counts[r.Method]) {
		return
	}
	object, ok := s.objects[r.URL.Path]
	if collection := s.list(r); collection != nil {
		reply(w, http.StatusOK, collection)
		return
	}
	switch {
	case strings.Contains(r.URL.Path, "/secrets") && !strings.Contains(r.Header.Get("Accept"), "PartialObjectMetadata"):
		status(w, http.StatusTeapot, "Teapot", "a Secret was asked for with its data")
	case !ok:
		status(w, http.StatusNotFound, "NotFound", `"`+filepath.Base(r.URL.Path)+`" not found`)
	case r.Method == http.MethodPatch:
		s.patch(w, r)
	default:
		if r.Method == http.MethodDelete {
			delete(s.objects, r.URL.Path)
		}
		reply(w, http.StatusOK, object)
	}
}

// list answers for a collection with the objects below it that a selector chooses; nil
// for an object.
func (s *apiServer) list(r *http.Request) map[string]any {
	kind, ok := map[string]string{"workspaces": "Workspace", "pods": "Pod", "statefulsets": "StatefulSet"}[path.Base(r.URL.Path)]
	if !ok || r.Method != http.MethodGet {
		return nil
	}
	selector, err := labels.Parse(r.URL.Query().Get("labelSelector"))
	if err != nil {
		panic(err)
	}
	items := []any{}
	for _, p := range slices.Sorted(maps.Keys(s.objects)) {
		u := unstructured.Unstructured{Object: s.objects[p]}
		if path.Dir(p) == r.URL.Path && selector.Matches(labels.Set(u.GetLabels())) {
			items = append(items, u.Object)
		}
	}
	return map[string]any{"apiVersion": "v1", "kind": kind + "List", "metadata": map[string]any{}, "items": items}
}

// patch stores the patched object unless it is a dry run.
func (s *apiServer) patch(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	before, _ := json.Marshal(s.objects[r.URL.Path])
	patch, err := jsonpatch.DecodePatch(body)
	if err == nil {
		before, err = patch.Apply(before)
	}
	var after map[string]any
	if err == nil {
		err = json.Unmarshal(before, &after)
	}
	if err != nil {
		status(w, http.StatusUnprocessableEntity, "Invalid", "the server rejected our request due to an error in our request")
		return
	}
	seen := map[any]bool{}
	for _, e := range secretsOf(after) {
		p := e.(map[string]any)["mountPath"]
		if seen[p] {
			status(w, http.StatusUnprocessableEntity, "Invalid", "Duplicate value")
			return
		}
		seen[p] = true
	}
	if r.URL.Query().Get("dryRun") == "" {
		after["metadata"].(map[string]any)["resourceVersion"] = fmt.Sprint(len(s.requests) + 1)
		s.objects[r.URL.Path] = after
	}
	reply(w, http.StatusOK, after)
}

func secretsOf(workspace map[string]any) []any {
	volumes := workspace["spec"].(map[string]any)["podTemplate"].(map[string]any)["volumes"].(map[string]any)
	list, _ := volumes["secrets"].([]any)
	return list
}

func (s *apiServer) secrets() string {
	b, _ := json.Marshal(secretsOf(s.objects[workspacePath]))
	return string(b)
}

func reply(w http.ResponseWriter, code int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(v)
}

func status(w http.ResponseWriter, code int, reason, message string) {
	reply(w, code, map[string]any{"apiVersion": "v1", "kind": "Status", "status": "Failure", "code": code, "reason": reason, "message": message,
		"details": map[string]any{}})
}

// run executes a command line against the server, as a user whose kubeconfig names
// the namespace team-a.
func (s *apiServer) run(t *testing.T, args ...string) (code int, out, errOut string) {
	t.Helper()
	return runSecrets(t, append(args, "--kubeconfig", s.kubeconfig(t))...)
}

func (s *apiServer) kubeconfig(t *testing.T) string {
	t.Helper()
	config := filepath.Join(t.TempDir(), "config")
	content := fmt.Sprintf(`{apiVersion: v1, kind: Config, current-context: c, clusters: [{name: c, cluster: {server: %q}}],
		users: [{name: u, user: {}}], contexts: [{name: c, context: {cluster: c, user: u, namespace: team-a}}]}`, s.URL)
	if err := os.WriteFile(config, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return config
}

func runSecrets(t *testing.T, args ...string) (code int, out, errOut string) {
	t.Helper()
	return execute(t, append([]string{"secrets"}, args...)...)
}

// execute runs a command line without input.
func execute(t *testing.T, args ...string) (code int, out, errOut string) {
	t.Helper()
	var o, e bytes.Buffer
	code = Run(t.Context(), args, genericiooptions.IOStreams{In: strings.NewReader(""), Out: &o, ErrOut: &e}, Build{Version: "v0"})
	return code, o.String(), e.String()
}

const (
	gitEntry   = `{"defaultMode":0,"future":2,"mountPath":"/git","secretName":"git"}`
	minioEntry = `{"defaultMode":420,"mountPath":"/secrets/minio-creds","secretName":"minio-creds"}`
	mounted    = "workspace.kubeflow.org/alice-notebook secret \"minio-creds\" mounted at /secrets/minio-creds"
	restarts   = "Note: the Pod of workspace \"alice-notebook\" restarts: its kernels and what is not saved are lost\n"
)

func TestSecretsWrites(t *testing.T) {
	// failing answers the nth request of a method.
	failing := func(method string, nth int, answer func(http.ResponseWriter)) func(*apiServer) {
		return func(s *apiServer) {
			s.fail = func(w http.ResponseWriter, r *http.Request, n int) bool {
				if r.Method != method || n != nth {
					return false
				}
				answer(w)
				return true
			}
		}
	}
	conflict := func(w http.ResponseWriter) {
		status(w, http.StatusConflict, "Conflict", "the object has been modified")
	}
	forbid := func(part string) func(*apiServer) {
		return func(s *apiServer) {
			s.fail = func(w http.ResponseWriter, r *http.Request, _ int) bool {
				if strings.Contains(r.URL.Path, part) {
					status(w, http.StatusForbidden, "Forbidden", "not for you")
					return true
				}
				return false
			}
		}
	}
	tests := map[string]struct {
		args    string
		prepare func(*apiServer)
		code    int
		out     string
		err     string // part of stderr
		secrets string // afterwards; empty for no change
		patches int
	}{
		"add":           {args: "add alice-notebook minio-creds", out: mounted + "\n", err: restarts, secrets: gitEntry + "," + minioEntry, patches: 1},
		"add by ws/":    {args: "add ws/alice-notebook minio-creds -q", out: mounted + "\n", secrets: gitEntry + "," + minioEntry, patches: 1},
		"name":          {args: "add workspace.kubeflow.org/alice-notebook minio-creds -o name", out: "workspace.kubeflow.org/alice-notebook\n", secrets: gitEntry + "," + minioEntry, patches: 1},
		"jsonpath":      {args: "add alice-notebook minio-creds -o jsonpath={.spec.podTemplate.volumes.secrets[1].mountPath}", out: "/secrets/minio-creds", secrets: gitEntry + "," + minioEntry, patches: 1},
		"client":        {args: "add alice-notebook minio-creds --dry-run=client", out: mounted + " (dry run)\n", err: "would restart"},
		"server":        {args: "add alice-notebook minio-creds --dry-run=server", out: mounted + " (server dry run)\n", err: "would restart", patches: 1},
		"unchanged":     {args: "add alice-notebook git=/git:0 -q", out: "workspace.kubeflow.org/alice-notebook secret \"git\" mounted at /git unchanged\n"},
		"taken":         {args: "add alice-notebook minio-creds=/git", code: 1, err: `Secret "git" is mounted there; choose another path, or use --overwrite`},
		"home":          {args: "add alice-notebook minio-creds=/home/jovyan", code: 1, err: `the home volume "alice-home" is mounted there`},
		"absent Secret": {args: "add alice-notebook nope=/n --dry-run=client", out: "workspace.kubeflow.org/alice-notebook secret \"nope\" mounted at /n (dry run)\n", err: `Warning: Secret "nope" does not exist in namespace "team-a"`},
		"overwrite": {
			args: "add alice-notebook minio-creds --mount-path=/git --default-mode=0400 --overwrite -q", patches: 1,
			out:     "workspace.kubeflow.org/alice-notebook secret \"minio-creds\" mounted at /git with mode 0400 (was secret \"git\" with mode 0000)\n",
			secrets: `{"defaultMode":256,"future":2,"mountPath":"/git","secretName":"minio-creds"}`,
		},
		"Secret without the label": {
			args: "add alice-notebook minio-creds", prepare: func(s *apiServer) { delete(s.objects[secretPath]["metadata"].(map[string]any), "labels") },
			out: mounted + "\n", secrets: gitEntry + "," + minioEntry, patches: 1,
			err: "kubectl label secret minio-creds -n team-a notebooks.kubeflow.org/can-mount=true\n",
		},
		"paused": {
			args: "add alice-notebook minio-creds", prepare: func(s *apiServer) { s.objects[workspacePath]["spec"].(map[string]any)["paused"] = true },
			out: mounted + "\n", secrets: gitEntry + "," + minioEntry, patches: 1, err: "takes effect at its next start",
		},
		"Secret not readable": {
			args: "add alice-notebook minio-creds", prepare: forbid("/secrets/"), out: mounted + "\n", secrets: gitEntry + "," + minioEntry, patches: 1,
			err: `Note: could not check whether Secret "minio-creds" exists: not for you`,
		},
		"kind not readable": {
			args: "add alice-notebook minio-creds=/home/jovyan --dry-run=client", prepare: forbid("/workspacekinds/"),
			out: "workspace.kubeflow.org/alice-notebook secret \"minio-creds\" mounted at /home/jovyan (dry run)\n",
			err: `could not check whether WorkspaceKind "jupyterlab" mounts something at the same path: not for you`,
		},
		"Pod not readable": {
			args: "add alice-notebook minio-creds", prepare: forbid("/pods"), out: mounted + "\n", secrets: gitEntry + "," + minioEntry, patches: 1,
			err: `Note: if workspace "alice-notebook" is running, its Pod restarts with the change, and its kernels and what is not saved are lost; could not check: not for you` + "\n",
		},
		"Workspace not readable": {args: "add alice-notebook minio-creds", prepare: forbid("/workspaces/"), code: 1, err: `cannot read workspace "alice-notebook" in namespace "team-a": not for you`},
		"not allowed to change":  {args: "add alice-notebook minio-creds", prepare: failing("PATCH", 1, func(w http.ResponseWriter) { status(w, 403, "Forbidden", "not for you") }), code: 1, patches: 1, err: `cannot change workspace "alice-notebook" in namespace "team-a": not for you`},
		"conflict":               {args: "add alice-notebook minio-creds -q", prepare: failing("PATCH", 1, conflict), out: mounted + "\n", secrets: gitEntry + "," + minioEntry, patches: 2},
		"reply cut off": {
			args: "add alice-notebook minio-creds -q", out: mounted + "\n", secrets: gitEntry + "," + minioEntry, patches: 1,
			prepare: func(s *apiServer) {
				s.fail = func(_ http.ResponseWriter, r *http.Request, _ int) bool {
					if r.Method != http.MethodPatch {
						return false
					}
					s.patch(httptest.NewRecorder(), r)
					panic(http.ErrAbortHandler)
				}
			},
		},
		"remove":           {args: "remove alice-notebook git", out: "workspace.kubeflow.org/alice-notebook secret \"git\" unmounted from /git\n", err: restarts, secrets: "none", patches: 1},
		"remove by path":   {args: "remove alice-notebook --mount-path=/git/ -q", out: "workspace.kubeflow.org/alice-notebook secret \"git\" unmounted from /git\n", secrets: "none", patches: 1},
		"remove nothing":   {args: "remove alice-notebook nope --ignore-not-found", out: "workspace.kubeflow.org/alice-notebook unchanged\n"},
		"remove absent":    {args: "remove alice-notebook nope", code: 1, err: `Secret "nope" is not mounted; the Workspace mounts git at /git`},
		"remove all":       {args: "remove alice-notebook --all --yes -q", out: "workspace.kubeflow.org/alice-notebook secret \"git\" unmounted from /git\n", secrets: "none", patches: 1},
		"remove all, ask":  {args: "remove alice-notebook --all", code: 1, err: "add --yes to confirm"},
		"remove all, test": {args: "remove alice-notebook --all --dry-run=server -q", out: "workspace.kubeflow.org/alice-notebook secret \"git\" unmounted from /git (server dry run)\n", patches: 1},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newAPIServer(t)
			if tc.prepare != nil {
				tc.prepare(s)
			}
			code, out, errOut := s.run(t, strings.Fields(tc.args)...)
			if code != tc.code || out != tc.out || !strings.Contains(errOut, tc.err) {
				t.Errorf("exit code %d, stdout %q, stderr %q;\nwant %d, %q, %q", code, out, errOut, tc.code, tc.out, tc.err)
			}
			want := "[" + tc.secrets + "]"
			switch tc.secrets {
			case "":
				want = "[" + gitEntry + "]"
			case "none":
				want = "null"
			}
			if got := s.secrets(); got != want {
				t.Errorf("mounted: %s, want %s", got, want)
			}
			if s.counts[http.MethodPatch] != tc.patches {
				t.Errorf("%d patches, want %d", s.counts[http.MethodPatch], tc.patches)
			}
			if tc.patches <= 1 && len(s.requests) > 6 {
				t.Errorf("%d requests: %q", len(s.requests), s.requests)
			}
		})
	}
}

func TestSecretsAddTogether(t *testing.T) {
	s := newAPIServer(t)
	var wg sync.WaitGroup
	for i := range 10 {
		wg.Go(func() {
			if code, _, errOut := s.run(t, "add", "alice-notebook", fmt.Sprintf("s-%d", i), "-q"); code != 0 {
				t.Error(errOut)
			}
		})
	}
	wg.Wait()
	if n := len(secretsOf(s.objects[workspacePath])); n != 11 {
		t.Errorf("%d mounts, want 11: %s", n, s.secrets())
	}
}

func TestSecretsUsage(t *testing.T) {
	for args, want := range map[string]string{
		"add":                                             "the name of a Workspace is missing",
		"add alice-notebook":                              "the name of a Secret is missing",
		"add pod/alice s":                                 `"pod/alice" is not a Workspace; give its name, or workspace/NAME`,
		"add Alice s":                                     `"Alice" is not the name of a Workspace`,
		"add alice a b --mount-path=/x":                   "--mount-path goes with one SECRET; give several as SECRET=PATH",
		"add alice a=/y --mount-path=/x":                  `"a=/y" has a path; leave out --mount-path`,
		"add alice a --mount-path=x":                      `--mount-path: mount path "x" is not absolute; did you mean "/x"?`,
		"add alice a --default-mode=420":                  "--default-mode: mode 420 is the decimal form of 0644",
		"add alice a --dry-run=maybe":                     "must be none, client or server",
		"add alice a --dry-run=client -o wide":            "allowed formats are: ",
		"add alice a --snapshot=SNAPSHOT":                 "a snapshot cannot be changed: add --dry-run=client",
		"remove":                                          "the name of a Workspace is missing",
		"remove alice":                                    "say what to remove: SECRET, --mount-path=PATH or --all",
		"remove alice --all --mount-path=/x":              "--mount-path is one mount and --all is every one",
		"remove alice a=/x":                               `"a=/x": give the path of a mount with --mount-path, as in a --mount-path=/x`,
		"list alice -A":                                   `-A is about all Workspaces: leave out "alice"`,
		"list alice -l a=b":                               "give names or -l, not both",
		"list -l a==b==c":                                 `-l "a==b==c" is not a label selector: `,
		"list nope --snapshot=SNAPSHOT":                   `workspace "nope" not found in namespace "team-a"`,
		"add nope a --dry-run=client --snapshot=SNAPSHOT": `workspace "nope" not found in namespace "team-a"`,
		"ad alice a":                                      `unknown command "ad" for "kubectl workspace secrets"; did you mean "add"?`,
	} {
		t.Run(args, func(t *testing.T) {
			args := strings.Fields(strings.ReplaceAll(args, "SNAPSHOT", "testdata/secrets/snapshot.yaml"))
			code, out, errOut := runSecrets(t, args...)
			if code != 1 || out != "" || !strings.HasPrefix(errOut, "error: ") || !strings.Contains(errOut, want) {
				t.Errorf("exit code %d, stdout %q, stderr %q; want %q", code, out, errOut, want)
			}
		})
	}
}

func TestSecretsList(t *testing.T) {
	const header = "WORKSPACE        SECRET        MOUNT-PATH             MODE   SECRET-EXISTS   UI-MOUNTABLE   IN-POD\n"
	tests := map[string]struct{ args, out, err string }{
		"one": {
			args: "alice-notebook",
			out: header +
				"alice-notebook   minio-creds   /secrets/minio-creds   0644   yes             yes            yes\n" +
				"alice-notebook   git-token     /creds/git             0000   no              -              pending\n" +
				"alice-notebook   git-token     /data/sets             0400   no              -              dropped\n",
		},
		"all namespaces, wide, no headers": {
			args: "-A -o wide --no-headers",
			out: "team-a   alice-notebook   minio-creds   /secrets/minio-creds   0644   yes   yes   yes       ws-alice-notebook-x7k2p-0   -\n" +
				"team-a   alice-notebook   git-token     /creds/git             0000   no    -     pending   ws-alice-notebook-x7k2p-0   -\n" +
				"team-a   alice-notebook   git-token     /data/sets             0400   no    -     dropped   ws-alice-notebook-x7k2p-0   the data volume \"datasets\"\n" +
				"team-a   bob-notebook     minio-creds   /secrets/minio-creds   0644   yes   yes   -         -                           -\n",
		},
		"by label": {args: "-l team=b --no-headers", out: "bob-notebook   minio-creds   /secrets/minio-creds   0644   yes   yes   -\n"},
		"names":    {args: "-o name", out: "secret/minio-creds\nsecret/git-token\n"},
		"none":     {args: "-n team-b", err: "No mounted Secrets found in namespace team-b.\n"},
		"none, as JSON": {
			args: "-n team-b -o json",
			out:  "{\n  \"apiVersion\": \"kubectl-workspace/v1\",\n  \"kind\": \"SecretMountList\",\n  \"items\": [],\n  \"unchecked\": []\n}\n",
		},
		"could not check": {
			args: "bob-notebook -o yaml --snapshot testdata/secrets/only-workspaces.yaml",
			out: `apiVersion: kubectl-workspace/v1
items:
- defaultMode: 420
  inPod: unknown
  mountPath: /secrets/minio-creds
  namespace: team-a
  secretExists: null
  secretName: minio-creds
  uiMountable: null
  workspace: bob-notebook
kind: SecretMountList
unchecked:
- detail: the snapshot does not say
  object: Pod
  reason: not-in-snapshot
- detail: the snapshot does not say
  object: Secret/minio-creds
  reason: not-in-snapshot
`,
			err: "Warning: could not check Pod: the snapshot does not say\nWarning: could not check Secret/minio-creds: the snapshot does not say\n",
		},
		"a dump of one Secret says nothing about another": {
			args: "--no-headers --snapshot testdata/secrets/some-secrets.yaml",
			out: "bob-notebook   minio-creds   /secrets/minio-creds   0644   yes         no          <unknown>\n" +
				"bob-notebook   git-token     /secrets/git-token     0644   <unknown>   <unknown>   <unknown>\n",
			err: "Warning: could not check Secret/git-token: the snapshot does not say\nWarning: could not check Pod: the snapshot does not say\n",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			args := append([]string{"list"}, strings.Fields(tc.args)...)
			if !strings.Contains(tc.args, "--snapshot") {
				args = append(args, "--snapshot", "testdata/secrets/snapshot.yaml")
			}
			code, out, errOut := runSecrets(t, args...)
			if code != 0 || out != tc.out || errOut != tc.err {
				t.Errorf("exit code %d, stdout:\n%s\nstderr:\n%s\nwant:\n%s\n%s", code, out, errOut, tc.out, tc.err)
			}
		})
	}
}

// What the server warns of is told once, safely, and not with -q.
func TestServerWarnings(t *testing.T) {
	s := newAPIServer(t)
	s.fail = func(w http.ResponseWriter, _ *http.Request, _ int) bool {
		w.Header().Add("Warning", `299 - "this API goes away `+"\u202e"+`"`)
		w.Header().Add("Warning", `199 - "of a proxy"`)
		return false
	}
	const want = "Warning: this API goes away "
	_, _, errOut := s.run(t, "list", "alice-notebook")
	if strings.Count(errOut, want) != 1 || strings.Contains(errOut, "proxy") || strings.Contains(errOut, "\u202e") {
		t.Errorf("stderr %q, want %q once", errOut, want)
	}
	if _, _, errOut := s.run(t, "list", "alice-notebook", "-q"); errOut != "" {
		t.Errorf("with -q: stderr %q", errOut)
	}
}
