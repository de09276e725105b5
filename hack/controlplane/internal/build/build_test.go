package build

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// source makes a source folder with the files that matter.
func source(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range map[string]string{
		"etcd/go.mod":             "module etcd",
		"etcd/main.go":            "package main",
		"kubernetes/go.mod":       "module k\nrequire k8s.io/kubernetes v1.37.2\n",
		"kubernetes/go.sum":       "sums",
		"kubernetes/node/main.go": "package main",
	} {
		write(t, filepath.Join(root, name), text)
	}
	return root
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestKey(t *testing.T) {
	cases := map[string]struct {
		change            string // file that changes
		wantAll, wantNode bool   // what must be built anew
	}{
		"nothing":            {},
		"etcd's source":      {change: "etcd/main.go", wantAll: true, wantNode: true},
		"a dependency":       {change: "kubernetes/go.sum", wantAll: true, wantNode: true},
		"the node's source":  {change: "kubernetes/node/main.go", wantNode: true},
		"a test of the node": {change: "kubernetes/node/main_test.go"},
		"documentation":      {change: "README.md"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			root := source(t)
			before, err := locate(root, "/cache", "v1.37.2")
			if err != nil {
				t.Fatal(err)
			}
			if tc.change != "" {
				write(t, filepath.Join(root, tc.change), "changed")
			}
			after, err := locate(root, "/cache", "v1.37.2")
			if err != nil {
				t.Fatal(err)
			}
			if got := before.Dir != after.Dir; got != tc.wantAll {
				t.Errorf("all built anew: got %v, want %v", got, tc.wantAll)
			}
			if got := before.Node != after.Node; got != tc.wantNode {
				t.Errorf("node built anew: got %v, want %v", got, tc.wantNode)
			}
		})
	}
	a, _ := locate(source(t), "/cache", "v1.37.2")
	b, _ := locate(source(t), "/cache", "v1.37.2")
	if a != b {
		t.Error("the key depends on where the repository lies")
	}
}

func TestKubernetesVersion(t *testing.T) {
	for text, want := range map[string]string{
		"require k8s.io/kubernetes v1.37.2\n":                                  "v1.37.2",
		"require (\n\tk8s.io/api v0.37.2\n\tk8s.io/kubernetes v1.38.0-rc.1\n)": "v1.38.0-rc.1",
		"tool k8s.io/kubernetes/cmd/kubectl\n":                                 "",
	} {
		path := filepath.Join(t.TempDir(), "go.mod")
		write(t, path, text)
		got, err := kubernetesVersion(path)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: got %q, %v; want %q", text, got, err, want)
		}
	}
	if got := ldflags("v1.37.2"); !strings.Contains(got, "gitMajor=1 ") || !strings.HasSuffix(got, "gitMinor=37") {
		t.Errorf("ldflags: %s", got)
	}
}

func TestFindSource(t *testing.T) {
	repo := t.TempDir()
	want := filepath.Join(repo, "hack", "controlplane")
	write(t, filepath.Join(want, "etcd/go.mod"), "")
	write(t, filepath.Join(want, "kubernetes/go.mod"), "")
	for _, from := range []string{repo, want, filepath.Join(repo, "test", "env"), filepath.Join(want, "kubernetes")} {
		if got, err := FindSource(from); err != nil || got != want {
			t.Errorf("from %s: got %s, %v", from, got, err)
		}
	}
	if _, err := FindSource(t.TempDir()); err == nil {
		t.Error("found outside of any repository")
	}
}
