// Command controlplane builds and runs a real Kubernetes control plane on this
// machine, without containers: etcd, kube-apiserver, kube-controller-manager,
// kube-scheduler, and nodes with a real kubelet over a fake container runtime.
// The tests and the demo use it.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/kubectl-workspace/kubectl-workspace/hack/controlplane/internal/build"
	"github.com/kubectl-workspace/kubectl-workspace/hack/controlplane/internal/cluster"
)

// kubernetesVariable names a minor version of Kubernetes, such as 1.36. It is no
// flag, so that it reaches every launcher that a test or a script starts.
const kubernetesVariable = "CONTROLPLANE_KUBERNETES"

const usage = `A real Kubernetes control plane on this machine, without containers.

Usage:
  controlplane build                     compile what is missing in the user's cache folder
  controlplane bin                       the same, and print the folder that holds kubectl
  controlplane up   [flags]              start in the background; or check the one that runs
  controlplane down [--dir DIR]          stop it and remove its state
  controlplane run  [flags]              stay in the foreground, for tests: print one line of
                                         JSON when ready; stop when stdin is closed or on a signal

Flags of up and run:
  --dir DIR     folder for all state (up, down: a folder in the user's cache; run: a temporary one)
  --crds DIR    apply the CRDs in this folder
  --node NAME   a node to run; may be repeated (node-a)

The environment variable ` + kubernetesVariable + ` chooses another minor version of Kubernetes than that
of kubernetes/go.mod: one of those in kubernetes/versions.
The last line that up prints sets KUBECONFIG:  eval "$(controlplane up)"
Kubeconfig files of other personas (namespace-user, workspaces-only) lie beside that one.
Failures can be injected through rules.json in DIR; kubernetes/node/rules.go describes them.
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if err := command(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "controlplane:", err)
		os.Exit(1)
	}
}

// options are the flags of all commands.
type options struct {
	dir, crds string
	nodes     []string
	detached  bool // run: started by up
}

func command(ctx context.Context, args []string) error {
	if len(args) == 0 || args[0] == "help" || args[0] == "-h" || args[0] == "--help" {
		fmt.Print(usage)
		return nil
	}
	var o options
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	flags.SetOutput(io.Discard) // one line is enough; the error goes out once, in main
	flags.StringVar(&o.dir, "dir", "", "")
	flags.StringVar(&o.crds, "crds", "", "")
	flags.BoolVar(&o.detached, "detached", false, "")
	flags.Func("node", "", func(name string) error {
		if name == "" || strings.ContainsAny(name, `/\`) {
			return errors.New("not a node name")
		}
		o.nodes = append(o.nodes, name)
		return nil
	})
	if err := flags.Parse(args[1:]); errors.Is(err, flag.ErrHelp) {
		fmt.Print(usage)
		return nil
	} else if err != nil {
		return fmt.Errorf("%w (see controlplane --help)", err)
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q (see controlplane --help)", flags.Arg(0))
	}
	if len(o.nodes) == 0 {
		o.nodes = []string{"node-a"}
	}
	for _, path := range []*string{&o.dir, &o.crds} {
		if *path == "" {
			continue
		}
		var err error
		if *path, err = filepath.Abs(*path); err != nil {
			return err
		}
	}
	switch args[0] {
	case "build":
		_, err := programs(ctx)
		return err
	case "bin":
		p, err := programs(ctx)
		if err == nil {
			fmt.Println(p.Dir)
		}
		return err
	case "up":
		return up(ctx, o)
	case "down":
		return down(o)
	case "run":
		return run(ctx, o)
	}
	return fmt.Errorf("unknown command %q (see controlplane --help)", args[0])
}

// progress reports on stderr; stdout carries the answer.
func progress(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }

// cacheDir is our folder in the user's cache.
func cacheDir(name string) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find the user's cache folder: %w", err)
	}
	return filepath.Join(cache, "kubectl-workspace", name), nil
}

// programs returns the compiled programs, which it compiles if need be.
func programs(ctx context.Context) (build.Programs, error) {
	here, err := os.Getwd()
	if err != nil {
		return build.Programs{}, err
	}
	source, err := build.FindSource(here)
	if err != nil {
		return build.Programs{}, err
	}
	cache, err := cacheDir("controlplane")
	if err != nil {
		return build.Programs{}, err
	}
	return build.Ensure(ctx, source, cache, os.Getenv(kubernetesVariable), progress)
}

// run runs a control plane as long as somebody wants it.
func run(ctx context.Context, o options) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if !o.detached {
		// Whoever started us holds the other end of stdin. When it dies, however
		// suddenly, the end closes. Nobody may read our messages any more then:
		// to write them must not kill us before the rest is stopped.
		signal.Ignore(syscall.SIGPIPE)
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin)
			cancel()
		}()
	}
	programs, err := programs(ctx)
	if err != nil {
		return err
	}
	if o.dir == "" {
		if o.dir, err = os.MkdirTemp("", "kws-"); err != nil {
			return err
		}
	}
	plane, err := cluster.Start(ctx, cluster.Options{Dir: o.dir, CRDs: o.crds, Nodes: o.nodes, Programs: programs, Log: progress})
	if err != nil {
		return err
	}
	if err := json.NewEncoder(os.Stdout).Encode(plane.Info); err != nil {
		cancel() // nobody listens
	}
	err = plane.Wait(ctx)
	return errors.Join(err, plane.Stop(err != nil))
}

// up makes sure that a control plane runs in the background.
func up(ctx context.Context, o options) error {
	if err := defaultDir(&o); err != nil {
		return err
	}
	if cluster.Running(o.dir) {
		if info, err := ready(ctx, o.dir, nil); err == nil && cluster.Healthy(ctx, info) == nil {
			progress("a control plane runs in %s already", o.dir)
			if o.crds != "" {
				if err := cluster.ApplyCRDs(ctx, info, o.crds); err != nil {
					return err
				}
			}
			return announce(info)
		}
		progress("the control plane in %s is not healthy: starting anew", o.dir)
		if _, err := cluster.Down(o.dir); err != nil {
			return err
		}
	}
	if _, err := programs(ctx); err != nil { // here, where its progress is seen
		return err
	}
	progress("starting a control plane in %s", o.dir)
	ended, err := detach(o)
	if err != nil {
		return err
	}
	info, err := ready(ctx, o.dir, ended)
	if err != nil {
		return err
	}
	return announce(info)
}

func announce(info *cluster.Info) error {
	for persona, path := range info.Kubeconfigs {
		progress("  %-16s %s", persona, path)
	}
	_, err := fmt.Printf("export KUBECONFIG=%s\n", quote(info.Kubeconfigs["admin"]))
	return err
}

// quote quotes a path for a shell if it has to be.
func quote(path string) string {
	if strings.ContainsAny(path, " \t\n'\"\\$`!*?[](){}<>|&;#~") {
		return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
	}
	return path
}

// detach starts `run` as a process that outlives this one, and returns a
// channel that tells how it ended, if it does.
func detach(o options) (<-chan error, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	if err := cluster.Prepare(o.dir); err != nil {
		return nil, err
	}
	logPath := filepath.Join(o.dir, cluster.LogFile)
	// Appended, because another `up` may be starting one here at this moment.
	log, err := os.OpenFile(logPath, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	args := []string{"run", "--detached", "--dir", o.dir}
	if o.crds != "" {
		args = append(args, "--crds", o.crds)
	}
	for _, node := range o.nodes {
		args = append(args, "--node", node)
	}
	cmd := exec.Command(self, args...)
	cmd.Stderr = log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	ended := make(chan error, 1)
	go func() {
		err := cmd.Wait()
		data, _ := os.ReadFile(logPath)
		lines := strings.Split(strings.TrimSpace(string(data)), "\n")
		last := strings.TrimPrefix(lines[len(lines)-1], "controlplane: ")
		ended <- fmt.Errorf("the control plane did not start (%v): %s", err, last)
	}()
	return ended, nil
}

// ready waits until the control plane in a folder is ready. A nil channel means
// that another process has started it.
func ready(ctx context.Context, dir string, ended <-chan error) (*cluster.Info, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	for {
		state, err := cluster.Read(dir)
		if err != nil {
			return nil, err
		}
		if state.Info != nil && state.Launcher.Alive() {
			return state.Info, nil
		}
		if ended == nil && !cluster.Running(dir) {
			return nil, fmt.Errorf("the control plane in %s has stopped", dir)
		}
		select {
		case err := <-ended:
			if cluster.Running(dir) { // another `up` was faster
				ended = nil
				continue
			}
			return nil, err
		case <-ctx.Done():
			return nil, fmt.Errorf("the control plane in %s is not ready: %w", dir, context.Cause(ctx))
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func down(o options) error {
	if err := defaultDir(&o); err != nil {
		return err
	}
	stopped, err := cluster.Down(o.dir)
	if err != nil {
		return err
	}
	if stopped {
		progress("stopped the control plane in %s", o.dir)
	} else {
		progress("no control plane runs in %s", o.dir)
	}
	return nil
}

// defaultDir is where up and down work without --dir.
func defaultDir(o *options) (err error) {
	if o.dir == "" {
		o.dir, err = cacheDir("cluster")
	}
	return err
}
