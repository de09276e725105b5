package build

import (
	"os"
	"path/filepath"
	"slices"
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

		"kubernetes/versions/1.35.mod": "module k\nrequire k8s.io/kubernetes v1.35.4\n",
		"kubernetes/versions/1.35.sum": "sums",
		"kubernetes/versions/1.36.mod": "module k\nrequire k8s.io/kubernetes v1.36.3\n",
		"kubernetes/versions/1.36.sum": "sums",
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

func located(t *testing.T, root, minor string) Programs {
	t.Helper()
	kubernetes, err := findRelease(root, minor)
	if err != nil {
		t.Fatal(err)
	}
	programs, err := locate(root, "/cache", kubernetes)
	if err != nil {
		t.Fatal(err)
	}
	return programs
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
			before := located(t, root, "")
			if tc.change != "" {
				write(t, filepath.Join(root, tc.change), "changed")
			}
			after := located(t, root, "")
			if got := before.Dir != after.Dir; got != tc.wantAll {
				t.Errorf("all built anew: got %v, want %v", got, tc.wantAll)
			}
			if got := before.Node != after.Node; got != tc.wantNode {
				t.Errorf("node built anew: got %v, want %v", got, tc.wantNode)
			}
		})
	}
	if located(t, source(t), "") != located(t, source(t), "") {
		t.Error("the key depends on where the repository lies")
	}
	if located(t, source(t), "1.35") == located(t, source(t), "") {
		t.Error("two versions share a folder")
	}
}

func TestReadRelease(t *testing.T) {
	for text, want := range map[string]string{
		"require k8s.io/kubernetes v1.37.2\n":                                  "v1.37.2",
		"require (\n\tk8s.io/api v0.37.2\n\tk8s.io/kubernetes v1.38.0-rc.1\n)": "v1.38.0-rc.1",
		"tool k8s.io/kubernetes/cmd/kubectl\n":                                 "",
	} {
		path := filepath.Join(t.TempDir(), "go.mod")
		write(t, path, text)
		got, _, err := readRelease(path)
		if got.version != want || (err == nil) != (want != "") {
			t.Errorf("%q: got %q, %v; want %q", text, got.version, err, want)
		}
	}
	if got := ldflags("v1.37.2"); !strings.Contains(got, "gitMajor=1 ") || !strings.HasSuffix(got, "gitMinor=37") {
		t.Errorf("ldflags: %s", got)
	}
}

func TestFindRelease(t *testing.T) {
	root := source(t)
	older := filepath.Join(root, "kubernetes/versions/1.35.mod")
	old := filepath.Join(root, "kubernetes/versions/1.36.mod")
	for minor, want := range map[string]struct {
		version string
		flags   []string
	}{
		"":     {"v1.37.2", nil},
		"1.37": {"v1.37.2", nil},
		"1.36": {"v1.36.3", []string{"-tags=before_1_37", "-modfile=" + old}},
		"1.35": {"v1.35.4", []string{"-tags=before_1_36,before_1_37", "-modfile=" + older}},
	} {
		got, err := findRelease(root, minor)
		if err != nil || got.version != want.version || !slices.Equal(got.flags, want.flags) {
			t.Errorf("%q: got %s %q, %v; want %s %q", minor, got.version, got.flags, err, want.version, want.flags)
		}
	}
	for minor, want := range map[string]string{
		"1.34":    `no Kubernetes "1.34" is pinned here, only 1.35, 1.36, 1.37; hack/controlplane/kubernetes/versions/pin.sh adds another`,
		"v1.36.3": `no Kubernetes "v1.36.3" is pinned here, only 1.35, 1.36, 1.37`,
	} {
		if _, err := findRelease(root, minor); err == nil || err.Error() != want {
			t.Errorf("%q: got %v; want %s", minor, err, want)
		}
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
