package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/google/go-licenses/v2/licenses"
	"k8s.io/klog/v2"
)

const (
	program = "./cmd/kubectl-workspace"
	module  = "github.com/kubectl-workspace/kubectl-workspace"
	stdlib  = "Go standard library"
)

// platforms are those of .goreleaser.yaml. Each may bring packages of its own.
var platforms = [][2]string{
	{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"}, {"windows", "arm64"},
}

// allowed are the kinds of licence that ask for no more than a notice. Anything else
// needs a decision by people, so the check fails on it.
var allowed = []licenses.Type{licenses.Notice, licenses.Permissive, licenses.Unencumbered}

// noticeFile matches the files that some licences want to be passed on.
var noticeFile = regexp.MustCompile(`^(?i)(NOTICE|COPYRIGHT|PATENTS)(\.(txt|md))?$`)

// library is a part of a module, often all of it, that one licence file covers.
type library struct {
	Name     string   `json:"name"`
	Version  string   `json:"version"`
	Licenses []string `json:"licenses"` // SPDX ids
	Packages []string `json:"packages"`

	file string
}

func writeLicenses(ctx context.Context, dir string) error {
	libraries, err := librariesOfAll(ctx)
	if err != nil {
		return err
	}
	goLibrary, err := standardLibrary(ctx)
	if err != nil {
		return err
	}
	libraries = append(libraries, goLibrary)

	text, err := licenseText(libraries)
	if err != nil {
		return err
	}
	list, err := json.MarshalIndent(libraries, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "THIRD-PARTY-LICENSES"), text, 0o644); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "licenses.json"), append(list, '\n'), 0o644); err != nil {
		return err
	}
	count := map[string]int{}
	for _, l := range libraries {
		count[expression(l.Licenses)]++
	}
	for _, name := range slices.Sorted(maps.Keys(count)) {
		fmt.Printf("%4d  %s\n", count[name], name)
	}
	return nil
}

// librariesOfAll returns what the binaries of all platforms contain of others. It fails
// if a licence is not among the allowed ones or not known.
func librariesOfAll(ctx context.Context) ([]library, error) {
	// It warns of assembly in packages; what it cannot read has no licence and fails below.
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	classifier, err := licenses.NewClassifier()
	if err != nil {
		return nil, fmt.Errorf("load the texts of licences: %w", err)
	}
	byFile := map[string]*library{}
	var failed []error
	for _, p := range platforms {
		// The library runs the go command, which reads these.
		for name, value := range map[string]string{"GOOS": p[0], "GOARCH": p[1], "CGO_ENABLED": "0"} {
			if err := os.Setenv(name, value); err != nil {
				return nil, err
			}
		}
		found, err := licenses.Libraries(ctx, classifier, false, []string{module}, program)
		if err != nil {
			return nil, fmt.Errorf("list the packages for %s/%s: %w", p[0], p[1], err)
		}
		for _, lib := range found {
			if err := check(lib); err != nil {
				failed = append(failed, err)
				continue
			}
			known := byFile[lib.LicenseFile]
			if known == nil {
				known = &library{Version: lib.Version(), file: lib.LicenseFile}
				for _, l := range lib.Licenses {
					known.Licenses = append(known.Licenses, l.Name)
				}
				slices.Sort(known.Licenses)
				byFile[lib.LicenseFile] = known
			}
			known.Packages = append(known.Packages, lib.Packages...)
		}
	}
	if len(failed) > 0 {
		return nil, errors.Join(failed...)
	}
	var all []library
	for _, l := range byFile {
		slices.Sort(l.Packages)
		l.Packages = slices.Compact(l.Packages)
		l.Name = commonPath(l.Packages)
		all = append(all, *l)
	}
	slices.SortFunc(all, func(a, b library) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.file, b.file))
	})
	return all, nil
}

func check(lib *licenses.Library) error {
	if len(lib.Licenses) == 0 {
		return fmt.Errorf("%s %s: no licence that is known was found; look at it before it is released", lib.Name(), lib.Version())
	}
	for _, l := range lib.Licenses {
		if !slices.Contains(allowed, l.Type) {
			return fmt.Errorf("%s %s: licence %s (%s) is not allowed here: replace the dependency", lib.Name(), lib.Version(), l.Name, l.Type)
		}
	}
	return nil
}

// standardLibrary is what every Go program contains of Go itself.
func standardLibrary(ctx context.Context) (library, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "GOROOT", "GOVERSION").Output()
	if err != nil {
		return library{}, fmt.Errorf("go env: %w", err)
	}
	lines := strings.Fields(string(out))
	return library{Name: stdlib, Version: lines[1], Licenses: []string{"BSD-3-Clause"}, Packages: []string{"std"}, file: filepath.Join(lines[0], "LICENSE")}, nil
}

// licenseText is the licences and notices of the libraries, each text once.
func licenseText(libraries []library) ([]byte, error) {
	var order []string
	users := map[string][]string{}
	for _, l := range libraries {
		text, err := os.ReadFile(l.file)
		if err != nil {
			return nil, fmt.Errorf("the licence of %s: %w", l.Name, err)
		}
		whole := strings.TrimSpace(string(text))
		entries, err := os.ReadDir(filepath.Dir(l.file))
		if err != nil {
			return nil, fmt.Errorf("the notices of %s: %w", l.Name, err)
		}
		for _, e := range entries {
			if e.IsDir() || !noticeFile.MatchString(e.Name()) {
				continue
			}
			notice, err := os.ReadFile(filepath.Join(filepath.Dir(l.file), e.Name()))
			if err != nil {
				return nil, fmt.Errorf("the notices of %s: %w", l.Name, err)
			}
			whole += "\n\n--- " + e.Name() + "\n\n" + strings.TrimSpace(string(notice))
		}
		if users[whole] == nil {
			order = append(order, whole)
		}
		users[whole] = append(users[whole], fmt.Sprintf("%s %s (%s)", l.Name, l.Version, expression(l.Licenses)))
	}
	var b bytes.Buffer
	b.WriteString("kubectl-workspace contains the software of others named below, under these licences.\n")
	for _, text := range order {
		fmt.Fprintf(&b, "\n%s\n%s\n\n%s\n", strings.Repeat("=", 80), strings.Join(users[text], "\n"), text)
	}
	return b.Bytes(), nil
}

// expression is the SPDX licence expression for a text that holds all these licences.
func expression(ids []string) string { return strings.Join(ids, " AND ") }

// commonPath is the longest import path that is a parent of all, or one of them.
func commonPath(paths []string) string {
	common := strings.Split(paths[0], "/")
	for _, p := range paths[1:] {
		parts := strings.Split(p, "/")
		n := 0
		for n < len(common) && n < len(parts) && common[n] == parts[n] {
			n++
		}
		common = common[:n]
	}
	return strings.Join(common, "/")
}
