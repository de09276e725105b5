// Command crddiff compares CustomResourceDefinitions by what they mean to an API server and to kubectl:
// names, scope, subresources, printer columns, and the whole schema with its types, limits,
// defaults, list types and CEL rules. Descriptions, examples and metadata other than the name are
// not compared.
//
//	crddiff --ours pkg/api/crds --published DIR
//
// prints one line per difference, with the path at which it is, and exits with 1 if there is any and
// with 2 if the comparison could not be made.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"sigs.k8s.io/yaml"
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

func run(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("crddiff", flag.ContinueOnError)
	flags.SetOutput(stderr)
	ours := flags.String("ours", "", "directory with our definitions")
	published := flags.String("published", "", "directory with the definitions to compare with")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if *ours == "" || *published == "" || flags.NArg() > 0 {
		fmt.Fprintln(stderr, "usage: crddiff --ours DIR --published DIR")
		return 2
	}

	a, err := readDir(*ours)
	if err != nil {
		fmt.Fprintln(stderr, "crddiff:", err)
		return 2
	}
	b, err := readDir(*published)
	if err != nil {
		fmt.Fprintln(stderr, "crddiff:", err)
		return 2
	}

	c := compareAll(a, b)
	for _, d := range c.differences {
		fmt.Fprintln(stdout, d)
	}
	fmt.Fprintf(stdout, "%d differences in %d properties\n", len(c.differences), c.properties)
	if len(c.differences) > 0 {
		return 1
	}
	return 0
}

// readDir reads the *.yaml files of a directory, each one definition, by metadata.name.
func readDir(dir string) (map[string]any, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil {
		return nil, err
	}
	crds := map[string]any{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		var crd map[string]any
		if err := yaml.Unmarshal(data, &crd); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		meta, _ := crd["metadata"].(map[string]any)
		name, _ := meta["name"].(string)
		if crd["kind"] != "CustomResourceDefinition" || name == "" {
			return nil, fmt.Errorf("%s is not a CustomResourceDefinition with a name", file)
		}
		if _, dup := crds[name]; dup {
			return nil, fmt.Errorf("%s: a second definition of %s", file, name)
		}
		crds[name] = crd
	}
	// Two empty directories are equal, which is not what anybody wants to hear.
	if len(crds) == 0 {
		return nil, fmt.Errorf("no *.yaml in %s", dir)
	}
	return crds, nil
}
