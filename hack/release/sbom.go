package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"

	spdxjson "github.com/spdx/tools-golang/json"
	"github.com/spdx/tools-golang/spdx/v2/common"
	"github.com/spdx/tools-golang/spdx/v2/v2_3"
	"github.com/spdx/tools-golang/spdxlib"
)

func writeSBOM(args []string) error {
	flags := flag.NewFlagSet("sbom", flag.ContinueOnError)
	licensesFile := flags.String("licenses", "", "what release licenses has written as licenses.json")
	version := flags.String("version", "", "version of the program")
	created := flags.String("created", "", "time of the commit (RFC 3339), so that the same source gives the same document")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() != 2 {
		return fmt.Errorf("%s", usage)
	}
	binary, document := flags.Arg(0), flags.Arg(1)

	list, err := os.ReadFile(*licensesFile)
	if err != nil {
		return err
	}
	var libraries []library
	if err := json.Unmarshal(list, &libraries); err != nil {
		return fmt.Errorf("%s: %w", *licensesFile, err)
	}
	content, err := os.ReadFile(binary)
	if err != nil {
		return err
	}
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return fmt.Errorf("%s: %w", binary, err)
	}
	sum := sha256.Sum256(content)
	doc, err := describe(info, libraries, filepath.Base(binary), hex.EncodeToString(sum[:]), *version, *created)
	if err != nil {
		return err
	}
	out, err := os.Create(document)
	if err != nil {
		return err
	}
	if err := spdxjson.Write(doc, out, spdxjson.Indent("  ")); err != nil {
		return fmt.Errorf("write %s: %w", document, err)
	}
	return out.Close()
}

// describe returns the document of a binary: the program, the modules that were linked
// into it, and the standard library of Go.
func describe(info *debug.BuildInfo, libraries []library, file, sum, version, created string) (*v2_3.Document, error) {
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	doc := &v2_3.Document{
		SPDXVersion:       v2_3.Version,
		DataLicense:       v2_3.DataLicense,
		SPDXIdentifier:    "DOCUMENT",
		DocumentName:      fmt.Sprintf("kubectl-workspace %s for %s/%s", version, settings["GOOS"], settings["GOARCH"]),
		DocumentNamespace: "https://" + module + "/spdx/" + sum,
		CreationInfo: &v2_3.CreationInfo{
			Created:  created,
			Creators: []common.Creator{{CreatorType: "Tool", Creator: "kubectl-workspace/hack/release"}},
		},
	}
	root := &v2_3.Package{
		PackageName:             info.Main.Path,
		PackageSPDXIdentifier:   "Package-kubectl-workspace",
		PackageVersion:          version,
		PackageFileName:         file,
		PackageDownloadLocation: "https://" + module + "/releases",
		PackageChecksums:        []common.Checksum{{Algorithm: common.SHA256, Value: sum}},
		PrimaryPackagePurpose:   "APPLICATION",
	}
	complete(root, "Apache-2.0", purl(info.Main.Path, version))
	doc.Packages = append(doc.Packages, root)
	doc.Relationships = append(doc.Relationships, relate("DOCUMENT", common.TypeRelationshipDescribe, root.PackageSPDXIdentifier))

	licensesOf, err := byModule(info.Deps, libraries)
	if err != nil {
		return nil, err
	}
	add := func(name, version, license, purl string) {
		p := &v2_3.Package{
			PackageName:             name,
			PackageSPDXIdentifier:   identifier(name),
			PackageVersion:          version,
			PackageDownloadLocation: "NOASSERTION",
			PrimaryPackagePurpose:   "LIBRARY",
		}
		complete(p, license, purl)
		doc.Packages = append(doc.Packages, p)
		doc.Relationships = append(doc.Relationships, relate(root.PackageSPDXIdentifier, common.TypeRelationshipContains, p.PackageSPDXIdentifier))
	}
	for _, dep := range info.Deps {
		if dep.Replace != nil {
			dep = dep.Replace
		}
		add(dep.Path, dep.Version, licensesOf[dep.Path], purl(dep.Path, dep.Version))
	}
	goVersion := strings.TrimPrefix(info.GoVersion, "go")
	add("stdlib", goVersion, "BSD-3-Clause", purl("stdlib", goVersion))
	return doc, spdxlib.ValidateDocument(doc)
}

// byModule returns the licence expression of every module of a binary. It fails if the
// list of licences is of another build than the binary.
func byModule(deps []*debug.Module, libraries []library) (map[string]string, error) {
	found := map[string][]string{}
	for _, l := range libraries {
		for _, pkg := range l.Packages {
			if m := moduleOf(pkg, deps); m != "" {
				found[m] = append(found[m], l.Licenses...)
			}
		}
	}
	expressions := map[string]string{}
	for _, dep := range deps {
		ids := found[dep.Path]
		if len(ids) == 0 {
			return nil, fmt.Errorf("%s is in the binary, but its licence is not in the list: run release licenses again", dep.Path)
		}
		slices.Sort(ids)
		expressions[dep.Path] = expression(slices.Compact(ids))
	}
	return expressions, nil
}

// moduleOf is the module that a package belongs to: the longest path that contains it.
func moduleOf(pkg string, deps []*debug.Module) string {
	best := ""
	for _, dep := range deps {
		if (pkg == dep.Path || strings.HasPrefix(pkg, dep.Path+"/")) && len(dep.Path) > len(best) {
			best = dep.Path
		}
	}
	return best
}

func complete(p *v2_3.Package, license, purl string) {
	p.PackageLicenseDeclared, p.PackageLicenseConcluded, p.PackageCopyrightText = license, license, "NOASSERTION"
	p.PackageExternalReferences = []*v2_3.PackageExternalReference{{
		Category: common.CategoryPackageManager, RefType: common.TypePackageManagerPURL, Locator: purl,
	}}
}

// purl is the package URL that scanners know a Go module by.
func purl(path, version string) string { return "pkg:golang/" + path + "@" + version }

var notInIdentifier = regexp.MustCompile(`[^A-Za-z0-9.-]+`)

func identifier(name string) common.ElementID {
	return common.ElementID("Package-go-" + notInIdentifier.ReplaceAllString(name, "-"))
}

func relate(a common.ElementID, kind string, b common.ElementID) *v2_3.Relationship {
	return &v2_3.Relationship{RefA: common.MakeDocElementID("", string(a)), Relationship: kind, RefB: common.MakeDocElementID("", string(b))}
}
