package test

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-workspace/kubectl-workspace/test/env"
)

// What describe says of a cluster and of a snapshot taken a moment before differs in
// nothing but the time of looking.
func TestSnapshotTellsTheSameAsTheCluster(t *testing.T) {
	e := env.Get(t)
	applyKind(t, e)
	ns := e.Namespace(t, env.NamespaceUser)
	createWorkspace(t, e, ns, "alice-notebook")
	playController(t, e, ns, "alice-notebook")
	if r := kubectl(t, e, env.Admin, "workspace", "wait", "alice-notebook", "-n", ns); r.code != 0 {
		t.Fatal(r.stdout, r.stderr)
	}
	moment := regexp.MustCompile(`"checkedAt": "[^"]*"`)
	for _, persona := range []string{env.Admin, env.NamespaceUser} {
		report := kubectl(t, e, persona, "workspace", "snapshot", "-n", ns)
		live := kubectl(t, e, persona, "workspace", "describe", "alice-notebook", "-n", ns, "-o", "json")
		file := filepath.Join(t.TempDir(), "report.yaml")
		if err := os.WriteFile(file, []byte(report.stdout), 0o600); err != nil {
			t.Fatal(err)
		}
		read := kubectl(t, e, persona, "workspace", "describe", "alice-notebook", "-n", ns, "-o", "json", "--snapshot", file)
		if diff := cmp.Diff(moment.ReplaceAllString(live.stdout, ""), moment.ReplaceAllString(read.stdout, "")); diff != "" || live.code != 0 {
			t.Errorf("as %s (-cluster +snapshot): %s%s\n%s", persona, live.stderr, read.stderr, diff)
		}
	}
}

// -w prints a line when something changes, and Ctrl-C ends it without a complaint, with the
// exit code that a shell gives to kubectl get -w.
func TestWatchTellsChanges(t *testing.T) {
	e := env.Get(t)
	applyKind(t, e)
	ns := e.Namespace(t)
	createWorkspace(t, e, ns, "alice-notebook", map[string]any{"secretName": "minio-creds", "mountPath": "/secrets/minio-creds"})
	playController(t, e, ns, "alice-notebook")

	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	watch := follow(ctx, t, e, "workspace", "describe", "alice-notebook", "-w", "-n", ns)
	watch.until(t, "Error  secret-not-found  Secret")
	if r := kubectl(t, e, env.Admin, "create", "secret", "generic", "minio-creds", "-n", ns); r.code != 0 {
		t.Fatal(r.stderr)
	}
	watch.until(t, "Running  -  Workspace alice-notebook is running")
	if err := watch.process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if code := watch.wait(t); code != 130 || watch.errors.Len() > 0 {
		t.Errorf("after Ctrl-C: exit code %d, %q", code, watch.errors.String())
	}
}
