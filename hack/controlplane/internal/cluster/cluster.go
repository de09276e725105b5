// Package cluster runs a control plane in a folder: etcd, kube-apiserver,
// kube-controller-manager, kube-scheduler and test nodes, all on loopback, all
// children of the calling process.
package cluster

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/kubectl-workspace/kubectl-workspace/hack/controlplane/internal/build"
	"github.com/kubectl-workspace/kubectl-workspace/hack/controlplane/internal/flock"
	"github.com/kubectl-workspace/kubectl-workspace/hack/controlplane/internal/process"
)

//go:embed manifests/audit-policy.yaml
var auditPolicy []byte

//go:embed manifests/personas.yaml
var personasManifest []byte

// Options says what to run.
type Options struct {
	Dir      string // an absolute path; everything is below it
	CRDs     string // folder of CRDs to apply, or ""
	Nodes    []string
	Programs build.Programs
	Log      func(format string, args ...any)
}

// Info is all that a user of a control plane must know. `run` prints it.
type Info struct {
	Dir         string            `json:"dir"`
	Server      string            `json:"server"`
	CA          []byte            `json:"ca"`          // PEM
	Kubeconfigs map[string]string `json:"kubeconfigs"` // file by persona
	Tokens      map[string]string `json:"tokens"`      // by persona
	Nodes       []string          `json:"nodes"`
	AuditLog    string            `json:"auditLog"` // one JSON object a line
	Rules       string            `json:"rules"`    // failures to inject, see kubernetes/node/rules.go
	BinDir      string            `json:"binDir"`   // holds kubectl
	Logs        string            `json:"logs"`     // folder of the components' logs
}

// ControlPlane is one that runs.
type ControlPlane struct {
	Info     Info
	options  Options
	lock     *flock.Lock
	tokens   map[string]string // by user, components included
	api      *api
	children []*process.Child // in the order of their start
	ended    chan *process.Child
	usable   bool
}

// Start brings a control plane up and returns when it can be used. If it
// cannot, only the folder is left behind, for its logs.
func Start(ctx context.Context, o Options) (*ControlPlane, error) {
	if err := checkLength(o.Dir, o.Nodes); err != nil {
		return nil, err
	}
	lock, err := claim(o.Dir)
	if err != nil {
		return nil, err
	}
	c := &ControlPlane{options: o, lock: lock, ended: make(chan *process.Child, 10+len(o.Nodes))}
	if err := c.start(ctx); err != nil {
		interrupted := ctx.Err() != nil
		if interrupted {
			err = errors.New("interrupted while starting")
		}
		return nil, errors.Join(err, c.Stop(!interrupted))
	}
	return c, nil
}

// checkLength refuses a folder whose Unix sockets could not be opened.
func checkLength(dir string, nodes []string) error {
	longest := ""
	for _, node := range nodes {
		if len(node) > len(longest) {
			longest = node
		}
	}
	const limit = 103 // of macOS; Linux has some more
	if over := len(filepath.Join(dir, longest, "pod-resources", "kubelet.sock")) - limit; over > 0 {
		return fmt.Errorf("the path %s is %d characters too long for the Unix sockets below it: choose a shorter --dir", dir, over)
	}
	return nil
}

func (c *ControlPlane) path(elem ...string) string {
	return filepath.Join(append([]string{c.options.Dir}, elem...)...)
}

func (c *ControlPlane) start(ctx context.Context) error {
	begin := time.Now()
	if err := c.writeState(); err != nil {
		return err
	}
	for _, dir := range []string{"logs", "tls", "kubeconfigs"} {
		if err := os.MkdirAll(c.path(dir), 0o700); err != nil {
			return err
		}
	}
	c.Info = Info{
		Dir: c.options.Dir, Nodes: c.options.Nodes, BinDir: c.options.Programs.Dir, Logs: c.path("logs"),
		AuditLog: c.path("audit.log"), Rules: c.path("rules.json"),
		Kubeconfigs: map[string]string{}, Tokens: map[string]string{},
	}
	if err := c.startEtcd(ctx); err != nil {
		return err
	}
	if err := c.startAPIServer(ctx); err != nil {
		return err
	}
	if err := c.startRest(); err != nil {
		return err
	}
	if err := kubectl(ctx, &c.Info, personasManifest, append(slices.Clone(apply), "-f", "-")...); err != nil {
		return fmt.Errorf("create the personas: %w", err)
	}
	if c.options.CRDs != "" {
		if err := ApplyCRDs(ctx, &c.Info, c.options.CRDs); err != nil {
			return err
		}
	}
	if err := c.waitUntilUsable(ctx); err != nil {
		return err
	}
	c.options.Log("control plane ready in %s", time.Since(begin).Round(100*time.Millisecond))
	return c.writeState()
}

// writeState records the processes, and the Info once all is ready.
func (c *ControlPlane) writeState() error {
	me, err := process.Identify(os.Getpid())
	if err != nil {
		return err
	}
	state := State{Launcher: me}
	for _, child := range c.children {
		state.Processes = append(state.Processes, child.ID)
	}
	if c.usable {
		state.Info = &c.Info
	}
	return state.write(c.options.Dir)
}

// spawn starts a component and records it before anything else can go wrong.
func (c *ControlPlane) spawn(name, program string, args ...string) (*process.Child, error) {
	child, err := process.Start(name, c.path("logs", name+".log"), c.options.Dir, program, args...)
	if err != nil {
		return nil, err
	}
	c.children = append(c.children, child)
	return child, c.writeState()
}

// wait polls until a component is ready or has ended.
func (c *ControlPlane) wait(ctx context.Context, child *process.Child, ready func(context.Context) error) error {
	return poll(ctx, child.Name+" is ready", time.Minute, func(ctx context.Context) error {
		select {
		case <-child.Done():
			return fatal{child.Err()}
		default:
			return ready(ctx)
		}
	})
}

// startEtcd starts etcd on a Unix socket: no port that another process could
// take, and none that lets others in. Its own URLs are never dialled.
func (c *ControlPlane) startEtcd(ctx context.Context) error {
	const nowhere = "http://127.0.0.1:1"
	child, err := c.spawn("etcd", c.options.Programs.Path("etcd"), "--name=etcd",
		"--data-dir="+c.path("etcd"), "--unsafe-no-fsync",
		"--listen-client-urls=unix://"+c.path("etcd.sock"), "--advertise-client-urls="+nowhere,
		"--listen-peer-urls=unix://"+c.path("etcd-peer.sock"),
		"--initial-advertise-peer-urls="+nowhere, "--initial-cluster=etcd="+nowhere)
	if err != nil {
		return err
	}
	client := &http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", c.path("etcd.sock"))
		},
	}}
	return c.wait(ctx, child, func(ctx context.Context) error {
		resp, err := client.Get("http://etcd/health")
		if err != nil {
			return err
		}
		resp.Body.Close()
		return nil
	})
}

// startAPIServer starts the API server on a free port. Between the choice of
// the port and its use another process may take it: then with another one.
func (c *ControlPlane) startAPIServer(ctx context.Context) error {
	users := personas(c.options.Nodes)
	csv, tokens := tokenFile(users)
	c.tokens = tokens
	key, err := writeSigningKey(c.path("tls"))
	if err != nil {
		return err
	}
	for name, data := range map[string][]byte{"tokens.csv": csv, "audit-policy.yaml": auditPolicy, "rules.json": []byte(`{"rules": []}`)} {
		if err := os.WriteFile(c.path(name), data, 0o600); err != nil {
			return err
		}
	}
	for attempt := 1; ; attempt++ {
		port, err := freePort()
		if err != nil {
			return err
		}
		child, err := c.spawn("kube-apiserver", c.options.Programs.Path("kube-apiserver"),
			"--etcd-servers=unix://"+c.path("etcd.sock"),
			"--bind-address=127.0.0.1", "--advertise-address=127.0.0.1", "--secure-port="+strconv.Itoa(port),
			"--cert-dir="+c.path("tls"), "--token-auth-file="+c.path("tokens.csv"), "--authorization-mode=Node,RBAC",
			"--service-account-issuer=https://kubernetes.default.svc",
			"--service-account-key-file="+key, "--service-account-signing-key-file="+key,
			"--service-cluster-ip-range=10.96.0.0/16", "--allow-privileged=true", "--endpoint-reconciler-type=none",
			"--audit-policy-file="+c.path("audit-policy.yaml"), "--audit-log-path="+c.Info.AuditLog, "--audit-log-mode=blocking",
			"--audit-log-maxsize=100000") // MB: never a new file, tests remember places in it
		if err != nil {
			return err
		}
		c.Info.Server = "https://127.0.0.1:" + strconv.Itoa(port)
		err = c.wait(ctx, child, func(ctx context.Context) error {
			// The server makes its certificate, which is also its own authority.
			if c.Info.CA, err = os.ReadFile(c.path("tls", "apiserver.crt")); err != nil {
				return err
			}
			c.api = newAPI(c.Info.Server, tokens["admin"], c.Info.CA)
			return c.api.get(ctx, "/readyz", nil)
		})
		if err == nil {
			break
		}
		if attempt == 5 || !child.Logged("address already in use") {
			return err
		}
		c.options.Log("port %d was taken by another process: trying another one", port)
		c.children = slices.DeleteFunc(c.children, func(other *process.Child) bool { return other == child })
	}

	for user, p := range users {
		data, err := kubeconfig(c.Info.Server, c.Info.CA, user, tokens[user], p.namespace)
		if err != nil {
			return err
		}
		if err := os.WriteFile(c.kubeconfig(user), data, 0o600); err != nil {
			return err
		}
	}
	for _, user := range people {
		c.Info.Tokens[user], c.Info.Kubeconfigs[user] = tokens[user], c.kubeconfig(user)
	}
	return nil
}

func (c *ControlPlane) kubeconfig(user string) string {
	return c.path("kubeconfigs", user+".kubeconfig")
}

// startRest starts what needs only the API server. None of it serves anything,
// so none needs a port.
//
// The limits of the controllers are those of a large cluster: many tests at once each wait
// for the StatefulSet controller, which with its defaults (20 requests a second) sends the
// Events that they wait for half a minute late.
func (c *ControlPlane) startRest() error {
	if _, err := c.spawn("kube-controller-manager", c.options.Programs.Path("kube-controller-manager"),
		"--kubeconfig="+c.kubeconfig("system:kube-controller-manager"), "--secure-port=0", "--leader-elect=false",
		"--controllers=*,-node-ipam-controller", "--use-service-account-credentials",
		"--kube-api-qps=500", "--kube-api-burst=1000", "--concurrent-statefulset-syncs=20",
		"--service-account-private-key-file="+c.path("tls", "service-account.key"),
		"--root-ca-file="+c.path("tls", "apiserver.crt")); err != nil {
		return err
	}
	if _, err := c.spawn("kube-scheduler", c.options.Programs.Path("kube-scheduler"),
		"--kubeconfig="+c.kubeconfig("system:kube-scheduler"), "--secure-port=0", "--leader-elect=false"); err != nil {
		return err
	}
	for _, node := range c.options.Nodes {
		if _, err := c.spawn(node, c.options.Programs.Node, "--name="+node, "--dir="+c.path(node),
			"--kubeconfig="+c.kubeconfig("system:node:"+node), "--rules="+c.Info.Rules); err != nil {
			return err
		}
	}
	return nil
}

// waitUntilUsable waits until a Pod can be created in any of the namespaces and
// can run.
func (c *ControlPlane) waitUntilUsable(ctx context.Context) error {
	err := poll(ctx, "the control plane is usable", time.Minute, func(ctx context.Context) error {
		for _, child := range c.children {
			select {
			case <-child.Done():
				return fatal{child.Err()}
			default:
			}
		}
		for _, node := range c.options.Nodes {
			if err := c.api.nodeReady(ctx, node); err != nil {
				return err
			}
		}
		for _, namespace := range []string{"default", "team-a", "team-b", "kubeflow-workspaces"} {
			if err := c.api.get(ctx, "/api/v1/namespaces/"+namespace+"/serviceaccounts/default", nil); err != nil {
				return err
			}
		}
		return nil
	})
	c.usable = err == nil
	return err
}

// Wait blocks until the context ends (nil), or a component has ended by itself.
func (c *ControlPlane) Wait(ctx context.Context) error {
	for _, child := range c.children {
		go func() {
			<-child.Done()
			c.ended <- child
		}()
	}
	select {
	case <-ctx.Done():
		return nil
	case child := <-c.ended:
		return child.Err()
	}
}

// Stop ends the components, the last started first, and removes the folder
// unless its logs are still of use; then the next start empties it.
func (c *ControlPlane) Stop(keepLogs bool) (err error) {
	for _, child := range slices.Backward(c.children) {
		child.Stop(grace)
	}
	if !keepLogs {
		err = os.RemoveAll(c.options.Dir) // before anybody else may have the folder
	}
	c.lock.Release()
	return err
}

// freePort returns a port of the loopback interface that is free right now.
func freePort() (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port, nil
}
