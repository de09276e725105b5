// Package build compiles the programs of the control plane into the user's
// cache folder: once per version, however many processes ask at the same time.
package build

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/kubectl-workspace/kubectl-workspace/hack/controlplane/internal/flock"
)

// Heartbeat is how often a long compilation says that it goes on.
const Heartbeat = 30 * time.Second

// Programs is where the programs are.
type Programs struct {
	Dir  string // etcd, kube-apiserver, kube-controller-manager, kube-scheduler, kubectl
	Node string // the test node; apart, so that a change to it rebuilds nothing else
}

// Path is the file of a program.
func (p Programs) Path(name string) string { return filepath.Join(p.Dir, name) }

// stage is one program to compile.
type stage struct {
	name, module, pkg, out string
	flags                  []string
}

// Ensure compiles what is missing below the cache folder, from the modules
// kubernetes/ and etcd/ of the source folder. minor is a version of Kubernetes
// such as 1.36, or empty for the one of kubernetes/go.mod. Progress goes to log.
func Ensure(ctx context.Context, source, cache, minor string, log func(format string, args ...any)) (Programs, error) {
	kubernetes, err := findRelease(source, minor)
	if err != nil {
		return Programs{}, err
	}
	version := kubernetes.version
	programs, err := locate(source, cache, kubernetes)
	if err != nil {
		return Programs{}, err
	}
	missing := func() (todo []stage) {
		for _, s := range stages(programs, kubernetes) {
			if _, err := os.Stat(s.out); err != nil {
				todo = append(todo, s)
			}
		}
		return todo
	}
	if len(missing()) == 0 {
		return programs, nil
	}

	if err := os.MkdirAll(programs.Dir, 0o755); err != nil {
		return Programs{}, fmt.Errorf("create the cache folder: %w", err)
	}
	lockPath := filepath.Join(programs.Dir, ".lock")
	lock, err := flock.Try(lockPath)
	if errors.Is(err, flock.ErrLocked) {
		log("waiting for another build of %s", programs.Dir)
		lock, err = flock.Wait(lockPath)
	}
	if err != nil {
		return Programs{}, err
	}
	defer lock.Release()

	todo := missing() // again: the other build may have made them
	if len(todo) > 2 {
		log("building Kubernetes %s once, into %s; this takes some minutes", version, programs.Dir)
	}
	for i, s := range todo {
		log("[%d/%d] %s", i+1, len(todo), s.name)
		start := time.Now()
		if err := compile(ctx, source, s, version, log); err != nil {
			return Programs{}, err
		}
		log("[%d/%d] %s: built in %s", i+1, len(todo), s.name, time.Since(start).Round(time.Second))
	}
	return programs, nil
}

func stages(p Programs, kubernetes release) []stage {
	s := []stage{{"etcd", "etcd", ".", p.Path("etcd"), nil}}
	for _, name := range []string{"kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl"} {
		s = append(s, stage{name, "kubernetes", "k8s.io/kubernetes/cmd/" + name, p.Path(name), kubernetes.flags})
	}
	return append(s, stage{"test node", "kubernetes", "./node", p.Node, kubernetes.flags})
}

// compile builds one program beside its place and then moves it there, so that
// a file with the right name is always a whole one.
func compile(ctx context.Context, source string, s stage, version string, log func(string, ...any)) error {
	temporary := s.out + ".tmp"
	args := append([]string{"build", "-trimpath", "-ldflags", ldflags(version), "-o", temporary}, s.flags...)
	cmd := exec.CommandContext(ctx, "go", append(args, s.pkg)...)
	cmd.Dir = filepath.Join(source, s.module)
	// Without cgo no C compiler is needed; a workspace would bring in other modules.
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	// go passes an interrupt on to the compilers; a kill would leave them behind.
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGINT) }
	cmd.WaitDelay = 10 * time.Second
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output

	start := time.Now()
	done := make(chan error, 1)
	go func() { done <- cmd.Run() }()
	beat := time.NewTicker(Heartbeat)
	defer beat.Stop()
	for {
		select {
		case <-beat.C:
			log("      %s: still compiling after %s", s.name, time.Since(start).Round(time.Second))
		case err := <-done:
			if ctx.Err() != nil {
				return fmt.Errorf("build of %s interrupted", s.name)
			}
			if err != nil {
				return fmt.Errorf("build %s: %w\n%s", s.name, err, bytes.TrimSpace(output.Bytes()))
			}
			return os.Rename(temporary, s.out)
		}
	}
}

// ldflags stamps the version: clients cannot make sense of a server without.
func ldflags(version string) string {
	parts := strings.SplitN(strings.TrimPrefix(version, "v"), ".", 3)
	const pkg = "k8s.io/component-base/version"
	return fmt.Sprintf("-s -w -X %[1]s.gitVersion=%[2]s -X %[1]s.gitMajor=%[3]s -X %[1]s.gitMinor=%[4]s", pkg, version, parts[0], parts[1])
}

// locate derives the cache folder from all that goes into the programs.
func locate(source, cache string, kubernetes release) (Programs, error) {
	inputs := []string{kubernetes.modfile, kubernetes.sumfile()}
	var nodeInputs []string
	for _, pattern := range []string{"etcd/go.*", "etcd/*.go"} {
		files, err := filepath.Glob(filepath.Join(source, pattern))
		if err != nil {
			return Programs{}, err
		}
		inputs = append(inputs, files...)
	}
	nodeInputs, err := filepath.Glob(filepath.Join(source, "kubernetes/node/*.go"))
	if err != nil {
		return Programs{}, err
	}
	nodeInputs = slices.DeleteFunc(nodeInputs, func(f string) bool { return strings.HasSuffix(f, "_test.go") })

	key, err := hash(source, inputs)
	if err != nil {
		return Programs{}, err
	}
	nodeKey, err := hash(source, nodeInputs)
	if err != nil {
		return Programs{}, err
	}
	dir := filepath.Join(cache, kubernetes.version+"-"+key)
	return Programs{Dir: dir, Node: filepath.Join(dir, "node-"+nodeKey)}, nil
}

// hash is a short digest of files (by names below root, and contents) and of
// the toolchain.
func hash(root string, files []string) (string, error) {
	h := sha256.New()
	fmt.Fprintln(h, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	slices.Sort(files)
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		name, err := filepath.Rel(root, file)
		if err != nil {
			return "", err
		}
		fmt.Fprintln(h, filepath.ToSlash(name), len(data))
		h.Write(data)
	}
	return fmt.Sprintf("%x", h.Sum(nil))[:12], nil
}

// FindSource finds the folder of this module at or above a folder, so that the
// launcher works from anywhere in the repository.
func FindSource(from string) (string, error) {
	for dir := from; ; dir = filepath.Dir(dir) {
		for _, candidate := range []string{dir, filepath.Join(dir, "hack", "controlplane")} {
			_, err1 := os.Stat(filepath.Join(candidate, "kubernetes", "go.mod"))
			_, err2 := os.Stat(filepath.Join(candidate, "etcd", "go.mod"))
			if err1 == nil && err2 == nil {
				return candidate, nil
			}
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("hack/controlplane is not at or above %s: run this inside the repository: %w", from, fs.ErrNotExist)
		}
	}
}
