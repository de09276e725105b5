package main

import (
	"bufio"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-workspace/kubectl-workspace/hack/controlplane/internal/cluster"
	"github.com/kubectl-workspace/kubectl-workspace/hack/controlplane/internal/process"
)

// launcher makes the test binary behave as the launcher.
const launcher = "CONTROLPLANE_TEST_LAUNCHER"

func TestMain(m *testing.M) {
	if os.Getenv(launcher) != "" {
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func launch(args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), launcher+"=1")
	return cmd
}

const waitingPod = `
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: notebook, namespace: team-a}
spec:
  serviceName: notebook
  selector: {matchLabels: {app: notebook}}
  template:
    metadata: {labels: {app: notebook}}
    spec:
      containers: [{name: main, image: "example/notebook:v1", volumeMounts: [{name: creds, mountPath: /secrets/creds}]}]
      volumes: [{name: creds, secret: {secretName: missing}}]
`

// The whole story on a real control plane: it starts, a Pod fails to mount a
// Secret in the kubelet's own words, and nothing is left afterwards.
func TestRun(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a control plane")
	}
	cmd := launch("run")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	line, err := bufio.NewReader(stdout).ReadBytes('\n')
	if err != nil {
		t.Fatalf("no answer from the launcher: %v", err)
	}
	var info cluster.Info
	if err := json.Unmarshal(line, &info); err != nil {
		t.Fatal(err)
	}
	state, err := cluster.Read(info.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(state.Processes) != 5 {
		t.Errorf("got %d processes, want etcd, three of Kubernetes and a node", len(state.Processes))
	}

	kubectl := func(stdin string, args ...string) string {
		t.Helper()
		cmd := exec.Command(filepath.Join(info.BinDir, "kubectl"), args...)
		cmd.Env = append(os.Environ(), "KUBECONFIG="+info.Kubeconfigs["admin"], "KUBERC=off", "HOME="+info.Dir)
		cmd.Stdin = strings.NewReader(stdin)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("kubectl %s: %v: %s", strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	kubectl(waitingPod, "apply", "-f", "-")
	const want = `MountVolume.SetUp failed for volume "creds" : secret "missing" not found`
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(200 * time.Millisecond) {
		events := kubectl("", "-n", "team-a", "get", "events", "-o", "jsonpath={range .items[*]}{.reason} {.message}{\"\\n\"}{end}")
		if strings.Contains(events, "FailedMount "+want) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("no FailedMount Event; there are:\n%s", events)
		}
	}

	stdin.Close() // as when the one who started it dies
	if err := cmd.Wait(); err != nil {
		t.Errorf("the launcher failed: %v", err)
	}
	for _, id := range append(state.Processes, state.Launcher) {
		if id.Alive() {
			t.Errorf("process %d is left", id.PID)
		}
	}
	if _, err := os.Stat(info.Dir); err == nil {
		t.Errorf("%s is left", info.Dir)
	}
}

// A launcher that was killed leaves a folder, and on some systems processes:
// down ends them, but never a process that only has the number of one.
func TestDownAfterACrash(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cluster")
	left, err := process.Start("left", filepath.Join(t.TempDir(), "log"), "", "/bin/sleep", "60")
	if err != nil {
		t.Fatal(err)
	}
	bystander, err := process.Start("bystander", filepath.Join(t.TempDir(), "log"), "", "/bin/sleep", "60")
	if err != nil {
		t.Fatal(err)
	}
	defer bystander.Stop(time.Second)
	data, err := json.Marshal(cluster.State{
		Launcher:  process.ID{PID: bystander.PID, Start: "an earlier time"},
		Processes: []process.ID{left.ID, {PID: bystander.PID, Start: "an earlier time"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "controlplane.json"), data, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := launch("down", "--dir", dir).CombinedOutput(); err != nil {
		t.Fatalf("down: %v: %s", err, out)
	}
	if left.Alive() {
		t.Error("a process of the control plane is left")
	}
	if !bystander.Alive() {
		t.Error("down has ended somebody else's process")
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("the folder is left")
	}
}

func TestDownSparesForeignFolders(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "thesis.tex")
	if err := os.WriteFile(file, nil, fs.ModePerm); err != nil {
		t.Fatal(err)
	}
	out, err := launch("down", "--dir", dir).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "not a control plane's folder") {
		t.Errorf("got %v, %s; want a refusal", err, out)
	}
	if _, err := os.Stat(file); err != nil {
		t.Error("the file is gone")
	}
}

func TestUsageErrors(t *testing.T) {
	for args, want := range map[string]string{
		"frobnicate":    "unknown command",
		"up --nodes x":  "not defined: -nodes",
		"down now":      "unexpected argument",
		"up --node a/b": "not a node name",
	} {
		out, err := launch(strings.Fields(args)...).CombinedOutput()
		if err == nil || !strings.Contains(string(out), want) || strings.Count(string(out), "\n") != 1 {
			t.Errorf("%s: got %v, %q; want one line with %q", args, err, out, want)
		}
	}
	if out, err := launch("up", "--help").Output(); err != nil || !strings.HasPrefix(string(out), "A real Kubernetes") {
		t.Errorf("--help: got %v, %s", err, out)
	}
}
