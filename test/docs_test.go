package test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubectl-workspace/kubectl-workspace/test/doctest"
	"github.com/kubectl-workspace/kubectl-workspace/test/env"
)

// TestPages plays the pages of the documentation: their commands print what they show.
// With -update they are made to.
func TestPages(t *testing.T) {
	e := env.Get(t)
	for _, page := range doctest.Pages(t) {
		if !page.IsPlayed() {
			continue
		}
		name, err := filepath.Rel(doctest.Root(t), page.File)
		if err != nil {
			t.Fatal(err)
		}
		// Not in parallel: a live reconcile takes the one Lease of the controller.
		t.Run(name, func(t *testing.T) { page.Play(t, newStage(t, e)) })
	}
}

// stage plays a page as a person who has the namespace of the page, team-a, to herself.
// In truth it is one made for the test.
type stage struct {
	*env.Env
	namespace  string
	dir        string
	kubeconfig string
	path       string
}

func newStage(t testing.TB, e *env.Env) *stage {
	t.Helper()
	s := &stage{Env: e, namespace: e.Namespace(t, env.NamespaceUser, env.WorkspacesOnly), dir: t.TempDir(), path: pathWith(t, e)}
	s.As(t, env.Admin)
	t.Cleanup(func() { s.clear(t) })
	return s
}

// clear removes the WorkspaceKinds of a page, which no namespace takes with it, and before
// that their Workspaces, so that the next page may count its own.
func (s *stage) clear(t testing.TB) {
	t.Helper()
	script := "kubectl delete workspaces --all\n"
	for _, kind := range []string{"lab", "tutorial"} {
		script += "kubectl delete workspacekind --ignore-not-found --wait=false " + kind + "\n" +
			// Its finalizer waits for a controller.
			"kubectl patch workspacekind " + kind + ` --type=merge -p '{"metadata":{"finalizers":null}}' || true` + "\n"
	}
	if output, err := s.sh(context.Background(), script); err != nil {
		t.Errorf("%s%v", output, err)
	}
}

// As implements doctest.Stage.
func (s *stage) As(t testing.TB, persona string) {
	t.Helper()
	config, err := clientcmd.LoadFromFile(s.Kubeconfig(persona))
	if err != nil {
		t.Fatal(err)
	}
	config.Contexts[config.CurrentContext].Namespace = s.namespace
	s.kubeconfig = filepath.Join(s.dir, "."+persona+".kubeconfig")
	if err := clientcmd.WriteToFile(*config, s.kubeconfig); err != nil {
		t.Fatal(err)
	}
}

// Notebook implements doctest.Stage.
func (s *stage) Notebook(t testing.TB, mounts []string) {
	t.Helper()
	kind, err := os.ReadFile("testdata/workspacekind.yaml")
	if err != nil {
		t.Fatal(err)
	}
	entries := make([]string, len(mounts))
	for i, m := range mounts {
		secret, path, _ := strings.Cut(m, "=")
		entries[i] = "{secretName: " + secret + ", mountPath: " + path + "}"
	}
	manifests := strings.Replace(string(kind), "name: jupyterlab", "name: lab", 1) + `---
apiVersion: kubeflow.org/v1beta1
kind: Workspace
metadata: {name: alice-notebook, labels: {team: research}}
spec:
  kind: lab
  podTemplate:
    options: {imageConfig: scipy, podConfig: tiny}
    volumes: {secrets: [` + strings.Join(entries, ", ") + "]}\n"
	s.Save(t, ".notebook.yaml", manifests)
	s.Setup(t, "kubectl apply -f .notebook.yaml")
}

// Save implements doctest.Stage.
func (s *stage) Save(t testing.TB, name, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, name), []byte(s.here(content)), 0o600); err != nil {
		t.Fatal(err)
	}
}

// here moves what a page says to the namespace of the test.
func (s *stage) here(text string) string { return strings.ReplaceAll(text, "team-a", s.namespace) }

// Run implements doctest.Stage. A command that fails must say so.
func (s *stage) Run(t testing.TB, command string) string {
	t.Helper()
	output, err := s.sh(t.Context(), command)
	if err != nil && !strings.Contains(output, "rror") {
		t.Errorf("$ %s\n%s%v", command, output, err)
	}
	return output
}

// Setup implements doctest.Stage.
func (s *stage) Setup(t testing.TB, script string) {
	t.Helper()
	if output, err := s.sh(t.Context(), "set -e\n"+script); err != nil {
		t.Fatalf("%s\n%s%v", script, output, err)
	}
}

func (s *stage) sh(ctx context.Context, command string) (string, error) {
	cmd := exec.CommandContext(ctx, "sh", "-c", s.here(command))
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), "PATH="+s.path, "KUBECONFIG="+s.kubeconfig, "KUBERC=off", "HOME="+s.dir, "NO_COLOR=1")
	// One buffer for both: in the order in which a terminal shows them.
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	err := cmd.Run()
	return output.String(), err
}

// Until implements doctest.Stage.
func (s *stage) Until(t testing.TB, command, text string) string {
	t.Helper()
	var output string
	env.Eventually(t, patience, func() error {
		if output, _ = s.sh(t.Context(), command); !doctest.Holds(output, text) {
			return &notYet{text, output}
		}
		return nil
	})
	return output
}

// StartController implements doctest.Stage: it reconciles as the controller in the cluster
// does, until the test ends.
func (s *stage) StartController(t testing.TB) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() {
		for ctx.Err() == nil {
			// A Lease of its own: the page may say something about the real one.
			_, _ = s.sh(ctx, "kubectl workspace reconcile --once --lease-namespace team-a")
		}
	})
	t.Cleanup(func() { stop(); running.Wait() })
}

// generatedName is the end of a name that the API server has made up.
var generatedName = regexp.MustCompile(`\b(ws-[a-z0-9-]+?)-[bcdfghjklmnpqrstvwxz2456789]{5}\b`)

// Stable implements doctest.Stage.
func (s *stage) Stable(output string) string {
	return generatedName.ReplaceAllString(strings.ReplaceAll(output, s.namespace, "team-a"), "$1-x7k2p")
}
