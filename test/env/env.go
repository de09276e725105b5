// Package env gives tests a real Kubernetes control plane: API server,
// controllers, scheduler and a real kubelet, from hack/controlplane.
//
// A test asks for it with Get. The first one in a test binary starts it (some
// seconds; minutes if the programs must be compiled first, so `make test` does
// that before); all others share it, each in a namespace of its own:
//
//	func TestMain(m *testing.M) { os.Exit(env.Main(m)) }
//
//	func TestSomething(t *testing.T) {
//		e := env.Get(t)
//		ns := e.Namespace(t, env.NamespaceUser)
//		…
//	}
//
// With KUBECTL_WORKSPACE_TEST_CLUSTER set to the folder of a control plane that
// `controlplane up --dir` has started, that one is used, and stays: tests then
// start at once. Tests are skipped with -short.
package env

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubectl-workspace/kubectl-workspace/test/repo"
)

// ClusterVariable names the environment variable with the folder of a control
// plane that runs already.
const ClusterVariable = "KUBECTL_WORKSPACE_TEST_CLUSTER"

// The personas: users with a kubeconfig file. A ClusterRole of the same name
// holds what the last two may do, in team-a and where Namespace binds it.
const (
	Admin          = "admin"           // may do everything
	NamespaceUser  = "namespace-user"  // Workspaces; reads Pods and Events
	WorkspacesOnly = "workspaces-only" // Workspaces and nothing else
)

// Env is a control plane that runs. Its fields are what the launcher tells.
type Env struct {
	Server      string            `json:"server"`
	Kubeconfigs map[string]string `json:"kubeconfigs"` // file by persona
	Tokens      map[string]string `json:"tokens"`      // bearer token by persona
	Nodes       []string          `json:"nodes"`
	AuditLog    string            `json:"auditLog"`
	RulesFile   string            `json:"rules"`
	BinDir      string            `json:"binDir"` // holds kubectl
	Logs        string            `json:"logs"`   // folder of the components' logs

	rulesLock sync.Mutex
	stop      func()
}

// shared is the control plane of this test binary. Starting one per test would
// cost seconds each; so this is the one piece of package state.
var shared struct {
	sync.Mutex
	env *Env
	err error
}

// Main runs the tests of a package and then stops the control plane, if any
// test has started it. Without it the control plane stops too, but only after
// the test binary has ended.
func Main(m *testing.M) int {
	code := m.Run()
	shared.Lock()
	defer shared.Unlock()
	if shared.env != nil && shared.env.stop != nil {
		shared.env.stop()
	}
	return code
}

// Get returns the control plane of this test binary, started if need be.
func Get(t testing.TB) *Env {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a control plane: not with -short")
	}
	shared.Lock()
	defer shared.Unlock()
	if shared.env == nil && shared.err == nil {
		if dir := os.Getenv(ClusterVariable); dir != "" {
			shared.env, shared.err = attach(dir)
		} else {
			shared.env, shared.err = start(filepath.Join("pkg", "api", "crds"))
		}
	}
	if shared.err != nil {
		t.Fatalf("no control plane: %v", shared.err)
	}
	return shared.env
}

// Private starts a control plane for one test that does to it what others could not bear,
// such as changing the CRDs. crds is the folder of those that it starts with.
func Private(t testing.TB, crds string) *Env {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a control plane: not with -short")
	}
	e, err := start(crds)
	if err != nil {
		t.Fatalf("no control plane: %v", err)
	}
	t.Cleanup(e.stop)
	return e
}

// attach uses a control plane that `controlplane up` has started.
func attach(dir string) (*Env, error) {
	data, err := os.ReadFile(filepath.Join(dir, "controlplane.json"))
	if err != nil {
		return nil, fmt.Errorf("%s: start one there with `controlplane up --dir`: %w", ClusterVariable, err)
	}
	var state struct {
		Info *Env `json:"info"`
	}
	if err := json.Unmarshal(data, &state); err != nil {
		return nil, fmt.Errorf("%s: %w", ClusterVariable, err)
	}
	if state.Info == nil {
		return nil, fmt.Errorf("%s: the control plane in %s is not ready", ClusterVariable, dir)
	}
	return state.Info, nil
}

// start runs the launcher as a child that ends when we close its stdin, which
// happens even if we are killed. crds is a folder, relative to the repository.
func start(crds string) (*Env, error) {
	launcher, err := repo.Find("hack/controlplane")
	if err != nil {
		return nil, err
	}
	if !filepath.IsAbs(crds) {
		crds = filepath.Join(launcher, "..", "..", crds)
	}
	cmd := exec.Command("go", "-C", launcher, "run", ".", "run", "--crds", crds)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	// Not our own stderr itself: `go test` waits for all who hold it.
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the launcher: %w", err)
	}
	var last string
	relayed := make(chan struct{})
	go func() {
		defer close(relayed)
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			last = lines.Text()
			fmt.Fprintln(os.Stderr, last)
		}
	}()
	e := &Env{}
	if err := json.NewDecoder(stdout).Decode(e); err != nil {
		stdin.Close()
		<-relayed
		_ = cmd.Wait()
		if errors.Is(err, io.EOF) {
			return nil, errors.New(last)
		}
		return nil, fmt.Errorf("what the launcher says: %w", err)
	}
	e.stop = func() {
		stdin.Close()
		<-relayed
		_ = cmd.Wait()
	}
	return e, nil
}

// Kubeconfig returns the kubeconfig file of a persona.
func (e *Env) Kubeconfig(persona string) string { return e.Kubeconfigs[persona] }

// RESTConfig returns how a persona reaches the API server, without the client's
// own rate limit.
func (e *Env) RESTConfig(t testing.TB, persona string) *rest.Config {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", e.Kubeconfig(persona))
	if err != nil {
		t.Fatalf("kubeconfig of %q: %v", persona, err)
	}
	config.QPS = -1
	config.UserAgent = "test-env"
	return config
}

// Client returns typed access as a persona.
func (e *Env) Client(t testing.TB, persona string) kubernetes.Interface {
	t.Helper()
	client, err := kubernetes.NewForConfig(e.RESTConfig(t, persona))
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// Minor returns the Y of the Kubernetes version 1.Y of the API server.
func (e *Env) Minor(t testing.TB) int {
	t.Helper()
	version, err := e.Client(t, Admin).Discovery().ServerVersion()
	if err != nil {
		t.Fatal(err)
	}
	minor, err := strconv.Atoi(version.Minor)
	if err != nil {
		t.Fatal(err)
	}
	return minor
}

// Dynamic returns untyped access as a persona.
func (e *Env) Dynamic(t testing.TB, persona string) dynamic.Interface {
	t.Helper()
	client, err := dynamic.NewForConfig(e.RESTConfig(t, persona))
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// Kubectl runs the kubectl that belongs to the control plane and returns what
// it prints on both streams. Put BinDir on PATH to run it as kubectl does.
func (e *Env) Kubectl(t testing.TB, persona, stdin string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), filepath.Join(e.BinDir, "kubectl"), args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+e.Kubeconfig(persona), "KUBERC=off", "HOME="+t.TempDir())
	if stdin != "" {
		pipe, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			defer pipe.Close()
			_, _ = io.WriteString(pipe, stdin)
		}()
	}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// Eventually repeats a check until it returns nil, and fails the test with its
// last error when the time is up.
func Eventually(t testing.TB, timeout time.Duration, check func() error) {
	t.Helper()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(timeout)
	for {
		err := check()
		if err == nil {
			return
		}
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("not after %s: %v", timeout, err)
		case <-t.Context().Done():
			t.Fatalf("the test ended first: %v", err)
		}
	}
}
