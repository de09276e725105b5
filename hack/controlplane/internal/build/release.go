package build

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// release is a version of Kubernetes that is pinned here.
type release struct {
	version string   // of k8s.io/kubernetes: v1.36.3
	modfile string   // the go.mod that pins it
	flags   []string // of go build, to use that file and what the node needs with it
}

// sumfile is where go keeps the checksums that go with a -modfile.
func (r release) sumfile() string { return strings.TrimSuffix(r.modfile, ".mod") + ".sum" }

// The Go interfaces of the kubelet change with these minor versions. Files of
// the node for older ones have a build tag: before_1_37, say.
var changes = []int{36, 37}

var (
	versionLine = regexp.MustCompile(`(?m)^\s*(?:require\s+)?k8s\.io/kubernetes (v1\.(\d+)\.\S+)`)
	minorFormat = regexp.MustCompile(`^1\.\d+$`)
)

// findRelease finds what pins a minor version: kubernetes/go.mod, which also
// serves if none is asked for, or a file in kubernetes/versions.
func findRelease(source, minor string) (release, error) {
	standard, standardMinor, err := readRelease(filepath.Join(source, "kubernetes", "go.mod"))
	if err != nil || minor == "" || minor == standardMinor {
		return standard, err
	}
	others, err := filepath.Glob(filepath.Join(source, "kubernetes", "versions", "*.mod"))
	if err != nil {
		return release{}, err
	}
	pinned := []string{standardMinor}
	for _, modfile := range others {
		other, otherMinor, err := readRelease(modfile)
		if err != nil {
			return release{}, err
		}
		if otherMinor == minor {
			other.flags = append(other.flags, "-modfile="+modfile)
			return other, nil
		}
		pinned = append(pinned, otherMinor)
	}
	slices.Sort(pinned)
	hint := ""
	if minorFormat.MatchString(minor) {
		hint = "; hack/controlplane/kubernetes/versions/pin.sh adds another"
	}
	return release{}, fmt.Errorf("no Kubernetes %q is pinned here, only %s%s", minor, strings.Join(pinned, ", "), hint)
}

// readRelease reads a version from the go.mod that pins it, its only source.
func readRelease(modfile string) (r release, minor string, err error) {
	data, err := os.ReadFile(modfile)
	if err != nil {
		return release{}, "", fmt.Errorf("read the module of the control plane: %w", err)
	}
	match := versionLine.FindSubmatch(data)
	if match == nil {
		return release{}, "", fmt.Errorf("%s requires no k8s.io/kubernetes", modfile)
	}
	number, err := strconv.Atoi(string(match[2]))
	if err != nil {
		return release{}, "", fmt.Errorf("%s: %w", modfile, err)
	}
	r = release{version: string(match[1]), modfile: modfile}
	var tags []string
	for _, change := range changes {
		if number < change {
			tags = append(tags, fmt.Sprintf("before_1_%d", change))
		}
	}
	if len(tags) > 0 {
		r.flags = []string{"-tags=" + strings.Join(tags, ",")}
	}
	return r, fmt.Sprintf("1.%d", number), nil
}
