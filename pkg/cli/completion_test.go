package cli

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// complete asks as kubectl does, and returns the words that are offered.
func complete(t *testing.T, args ...string) string {
	t.Helper()
	var out, errOut bytes.Buffer
	code := Run(t.Context(), append([]string{"__complete"}, args...), genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &errOut}, Build{Version: "v0"})
	if code != 0 || strings.Contains(errOut.String(), "rror") {
		t.Errorf("exit code %d, stderr %q", code, errOut.String())
	}
	words, _, _ := strings.Cut(out.String(), ":")
	return strings.Join(strings.Fields(words), " ")
}

func TestCompletion(t *testing.T) {
	for args, want := range map[string]string{
		"describe ":                                         "alice-notebook bob-notebook",
		"describe bob-notebook ":                            "alice-notebook",
		"wait bob-notebook ":                                "",
		"secrets add a":                                     "alice-notebook",
		"secrets add bob-notebook ":                         "minio-creds",
		"secrets add bob-notebook minio-creds=":             "minio-creds=/secrets/minio-creds",
		"secrets add bob-notebook X=":                       "",
		"secrets add bob-notebook s --dry-run=c":            "client",
		"secrets remove alice-notebook ":                    "minio-creds git-token",
		"secrets remove alice-notebook --mount-path":        "--mount-path Take away what is mounted at this path; may be given several times.",
		"secrets remove alice-notebook --mount-path ":       "/secrets/minio-creds /creds/git /data/sets",
		"secrets remove alice-notebook --mount-path /creds": "/creds/git",
		"secrets remove nope ":                              "",
		"secrets add bob-notebook s --default-mode 040":     "0400 readable by the owner",
		"wait bob-notebook --for=p":                         "paused",
		"completion z":                                      "zsh",
	} {
		t.Run(args, func(t *testing.T) {
			got := complete(t, append([]string{"--snapshot", "testdata/secrets/snapshot.yaml"}, strings.Split(args, " ")...)...)
			if got != want {
				t.Errorf("offered %q, want %q", got, want)
			}
		})
	}
}

func TestCompletionAsksForMetadata(t *testing.T) {
	s := newAPIServer(t)
	s.fail = func(w http.ResponseWriter, r *http.Request, _ int) bool {
		if !strings.Contains(r.Header.Get("Accept"), "PartialObjectMetadataList") {
			t.Errorf("%s %s", r.URL.Path, r.Header.Get("Accept"))
		}
		reply(w, http.StatusOK, map[string]any{"apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadataList", "metadata": map[string]any{},
			"items": []any{map[string]any{"metadata": map[string]any{"name": "one"}}}})
		return true
	}
	config := s.kubeconfig(t)
	for _, args := range [][]string{{"describe", ""}, {"secrets", "add", "alice", ""}, {"list", "-n", ""}} {
		if got := complete(t, append([]string{"--kubeconfig", config}, args...)...); got != "one" {
			t.Errorf("%q: offered %q", args, got)
		}
	}
	if len(s.requests) != 3 {
		t.Errorf("requests: %q", s.requests)
	}
}

// Neither a server that hangs nor one that refuses is worth more than a second.
func TestCompletionIsSilentAndQuick(t *testing.T) {
	s := newAPIServer(t)
	release := make(chan struct{})
	t.Cleanup(func() { close(release) })
	s.fail = func(http.ResponseWriter, *http.Request, int) bool {
		<-release
		return true
	}
	started := time.Now()
	if got := complete(t, "--kubeconfig", s.kubeconfig(t), "describe", ""); got != "" {
		t.Errorf("offered %q", got)
	}
	if took := time.Since(started); took > completionTimeout+2*time.Second {
		t.Errorf("took %s", took)
	}
	for _, config := range []string{"nowhere", "testdata/secrets/snapshot.yaml"} {
		if got := complete(t, "--kubeconfig", config, "describe", ""); got != "" {
			t.Errorf("%s: offered %q", config, got)
		}
	}
}

func TestCompletionInstall(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes of files")
	}
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	file := filepath.Join(dir, "kubectl_complete-workspace")
	run := func(args ...string) (int, string, string) {
		var out, errOut bytes.Buffer
		code := Run(t.Context(), append([]string{"completion"}, args...), genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &errOut}, Build{})
		return code, out.String(), errOut.String()
	}
	if code, out, errOut := run("install", "--dir", dir); code != 0 || out != file+" written\n" || errOut != "" {
		t.Errorf("%d %q %q", code, out, errOut)
	}
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("%v %v", info, err)
	}
	if code, out, _ := run("install", "--dir", dir); code != 0 || out != file+" unchanged\n" {
		t.Errorf("%d %q", code, out)
	}
	t.Setenv("PATH", "/bin")
	if _, _, errOut := run("install", "--dir", dir); !strings.Contains(errOut, "is not on PATH") {
		t.Errorf("stderr %q", errOut)
	}
	if err := os.WriteFile(file, []byte("#!/bin/sh\n# mine\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if code, _, errOut := run("install", "--dir", dir); code != 1 || !strings.Contains(errOut, "is not of this program") {
		t.Errorf("%d %q", code, errOut)
	}
	if code, _, errOut := run("install", "--dir", filepath.Join(dir, "nope")); code != 1 || !strings.Contains(errOut, "choose a folder on PATH") {
		t.Errorf("%d %q", code, errOut)
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if code, out, errOut := run(shell); code != 0 || !strings.Contains(out, "__complete") || errOut != "" {
			t.Errorf("%s: %d %q", shell, code, errOut)
		}
	}
	if code, _, errOut := run("csh"); code != 1 || !strings.Contains(errOut, `"csh" is not a shell that is known here`) {
		t.Errorf("%d %q", code, errOut)
	}
}
