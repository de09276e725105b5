package main

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/google/go-licenses/v2/licenses"
	spdxjson "github.com/spdx/tools-golang/json"
)

func TestCheck(t *testing.T) {
	for name, c := range map[string]struct {
		licenses []licenses.License
		want     string
	}{
		"notice":        {[]licenses.License{{Name: "Apache-2.0", Type: licenses.Notice}}, ""},
		"none known":    {nil, "no licence that is known"},
		"share alike":   {[]licenses.License{{Name: "GPL-3.0", Type: licenses.Restricted}}, "GPL-3.0 (restricted) is not allowed"},
		"one of two":    {[]licenses.License{{Name: "MIT", Type: licenses.Notice}, {Name: "MPL-2.0", Type: licenses.Reciprocal}}, "MPL-2.0"},
		"public domain": {[]licenses.License{{Name: "Unlicense", Type: licenses.Unencumbered}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			err := check(&licenses.Library{Packages: []string{"example.com/x"}, Licenses: c.licenses})
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

func TestLicenseText(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return file
	}
	write("c/NOTICE.txt", "Made by C\n")
	text, err := licenseText([]library{
		{Name: "example.com/a", Version: "v1", Licenses: []string{"MIT"}, file: write("a/LICENSE", "Be nice.\n")},
		{Name: "example.com/b", Version: "v2", Licenses: []string{"MIT"}, file: write("b/LICENSE", "Be nice.\n\n")},
		{Name: "example.com/c", Version: "v3", Licenses: []string{"Apache-2.0"}, file: write("c/LICENSE", "Be nice.\n")},
	})
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), "Be nice."); n != 2 {
		t.Errorf("the text of two libraries is there %d times, and that with a notice apart: want 2 in all\n%s", n, text)
	}
	for _, want := range []string{"example.com/a v1 (MIT)\nexample.com/b v2 (MIT)\n\nBe nice.", "--- NOTICE.txt\n\nMade by C"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

func TestDescribe(t *testing.T) {
	info := &debug.BuildInfo{
		GoVersion: "go1.26.0",
		Main:      debug.Module{Path: module},
		Deps:      []*debug.Module{{Path: "example.com/a", Version: "v1.0.0"}, {Path: "example.com/a/b", Version: "v2.0.0"}},
		Settings:  []debug.BuildSetting{{Key: "GOOS", Value: "plan9"}, {Key: "GOARCH", Value: "arm"}},
	}
	libraries := []library{
		{Licenses: []string{"MIT"}, Packages: []string{"example.com/a/x"}},
		{Licenses: []string{"BSD-3-Clause"}, Packages: []string{"example.com/a/third_party/y"}},
		{Licenses: []string{"Apache-2.0"}, Packages: []string{"example.com/a/b/z"}},
	}
	doc, err := describe(info, libraries, "kubectl-workspace", strings.Repeat("0", 64), "v1.2.3", "2026-01-15T12:00:00Z")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := spdxjson.Write(doc, &b); err != nil {
		t.Fatal(err)
	}
	back, err := spdxjson.Read(&b)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, p := range back.Packages {
		got[p.PackageName+" "+p.PackageVersion] = p.PackageLicenseConcluded
	}
	for name, want := range map[string]string{
		module + " v1.2.3":       "Apache-2.0",
		"example.com/a v1.0.0":   "BSD-3-Clause AND MIT",
		"example.com/a/b v2.0.0": "Apache-2.0",
		"stdlib 1.26.0":          "BSD-3-Clause",
	} {
		if got[name] != want {
			t.Errorf("%s: licence %q, want %q", name, got[name], want)
		}
	}

	if _, err := describe(info, libraries[:2], "kubectl-workspace", strings.Repeat("0", 64), "v1.2.3", ""); err == nil || !strings.Contains(err.Error(), "example.com/a/b is in the binary") {
		t.Errorf("a licence is missing: %v", err)
	}
}
