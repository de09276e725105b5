package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestUpToDate keeps what is checked in what the source makes of it. "make generate"
// rewrites it.
func TestUpToDate(t *testing.T) {
	t.Chdir("../..")
	for format, dir := range map[string]string{"markdown": "docs/reference", "schemas": "docs/schemas"} {
		if err := run(format, dir, true); err != nil {
			t.Error(err)
		}
	}
}

// TestCheck finds every way in which a folder can be out of date.
func TestCheck(t *testing.T) {
	for name, spoil := range map[string]func(file string) error{
		"changed":         func(file string) error { return os.WriteFile(file, []byte("by hand"), 0o644) },
		"missing":         os.Remove,
		"of no command":   func(file string) error { return os.WriteFile(file+"_gone.md", nil, 0o644) },
		"not a page (ok)": func(file string) error { return os.WriteFile(filepath.Dir(file)+"/README.md", nil, 0o644) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := run("markdown", dir, false); err != nil {
				t.Fatal(err)
			}
			if err := spoil(filepath.Join(dir, "kubectl_workspace_list.md")); err != nil {
				t.Fatal(err)
			}
			if err := run("markdown", dir, true); (err == nil) != strings.HasSuffix(name, "(ok)") {
				t.Errorf("check says: %v", err)
			}
			if err := run("markdown", dir, false); err != nil {
				t.Fatal(err)
			}
			if err := run("markdown", dir, true); err != nil {
				t.Errorf("written anew, and check says: %v", err)
			}
		})
	}
}

// TestMan makes the pages twice, in different months and homes: the bytes are the same.
func TestMan(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "1000000000")
	t.Setenv("HOME", "/home/alice")
	first, err := commandPages(".1", addMan)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("SOURCE_DATE_EPOCH", "1700000000")
	t.Setenv("HOME", "/home/bob")
	t.Setenv("KUBECACHEDIR", "/var/cache")
	second, err := commandPages(".1", addMan)
	if err != nil {
		t.Fatal(err)
	}
	if len(first.text) != len(second.text) {
		t.Errorf("%d pages, then %d", len(first.text), len(second.text))
	}
	for name, page := range first.text {
		if !bytes.Equal(page, second.text[name]) {
			t.Errorf("%s changes", name)
		}
	}
	page := string(first.text["kubectl-workspace-secrets-add.1"])
	for _, want := range []string{
		`.TH "KUBECTL-WORKSPACE-SECRETS-ADD" "1" "" "kubectl-workspace"`,
		"kubectl workspace secrets add alice-notebook minio-creds\n",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in:\n%.1000s", want, page)
		}
	}
}
