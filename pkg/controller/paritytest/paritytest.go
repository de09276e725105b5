// Package paritytest reads the recordings of the in-cluster controller in testdata/parity and
// brings objects into the form they are recorded in, so that tests can compare the two. See
// testdata/parity/README.md for what is recorded and how it is normalised.
package paritytest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/controller"
	"github.com/kubectl-workspace/kubectl-workspace/test/repo"
)

// Root is the folder of the recordings.
func Root(t testing.TB) string {
	t.Helper()
	return filepath.Dir(repo.Path(t, "testdata/parity/README.md"))
}

// Case is one folder of testdata/parity/cases.
type Case struct {
	Name string
	Dir  string
	// Flags are the controller's.
	Config controller.Config
	// Refused are the resources of which the API server refused to create an object.
	Refused []string
	// Rejected is true where the API server refused the input itself.
	Rejected bool
	// States are those that were served over time, by Workspace.
	States map[string][]StateRecord
}

// StateRecord is a state as it is recorded.
type StateRecord struct {
	State        string `json:"state"`
	StateMessage string `json:"stateMessage"`
}

// Cases reads all cases.
func Cases(t testing.TB) []Case {
	t.Helper()
	dirs, err := filepath.Glob(filepath.Join(Root(t), "cases", "*"))
	if err != nil || len(dirs) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	var cases []Case
	for _, dir := range dirs {
		c := Case{Name: filepath.Base(dir), Dir: dir}
		c.Rejected = c.Has("rejected.yaml")
		var record struct {
			Manager    []string       `json:"manager"`
			Writes     map[string]int `json:"writesSeenByApiServer"`
			Workspaces []struct {
				Namespace, Name string
				States          []StateRecord
			} `json:"workspaces"`
		}
		if docs := Documents(t, filepath.Join(dir, "case.yaml")); len(docs) > 0 {
			Convert(t, docs[0], &record)
		}
		c.Config = ConfigOf(record.Manager)
		for w := range record.Writes {
			if f := strings.Fields(w); len(f) == 3 && f[0] == "POST" && f[2] == "422" {
				c.Refused = append(c.Refused, f[1])
			}
		}
		c.States = map[string][]StateRecord{}
		for _, w := range record.Workspaces {
			c.States[w.Namespace+"/"+w.Name] = w.States
		}
		cases = append(cases, c)
	}
	return cases
}

// ConfigOf reads the flags of a recorded controller.
func ConfigOf(flags []string) controller.Config {
	var c controller.Config
	if !slices.Contains(flags, "--use-istio=true") {
		return c
	}
	c.Istio = &controller.Istio{ClusterDomain: controller.DefaultClusterDomain}
	for _, f := range flags {
		name, value, _ := strings.Cut(f, "=")
		switch name {
		case "--istio-gateway":
			c.Istio.Gateway = value
		case "--istio-hosts":
			c.Istio.Hosts = []string{value}
		case "--cluster-domain":
			c.Istio.ClusterDomain = value
		}
	}
	return c
}

// Has tells whether the case has a file of that name.
func (c Case) Has(file string) bool {
	_, err := os.Stat(filepath.Join(c.Dir, file))
	return err == nil
}

// Read reads the documents of one file of the case.
func (c Case) Read(t testing.TB, file string) []map[string]any {
	t.Helper()
	return Documents(t, filepath.Join(c.Dir, file))
}

// Objects reads the documents of one file of the case as objects.
func (c Case) Objects(t testing.TB, file string) []*unstructured.Unstructured {
	t.Helper()
	return Objects(c.Read(t, file))
}

// Objects makes objects of documents.
func Objects(docs []map[string]any) []*unstructured.Unstructured {
	var out []*unstructured.Unstructured
	for _, d := range docs {
		out = append(out, &unstructured.Unstructured{Object: d})
	}
	return out
}

// Documents reads a YAML file. A document that is an empty list, or null, is left out.
func Documents(t testing.TB, path string) []map[string]any {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var docs []map[string]any
	for reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(data))); ; {
		doc, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return docs
		}
		var content any
		if err == nil {
			err = yaml.Unmarshal(doc, &content)
		}
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if m, ok := content.(map[string]any); ok && len(m) > 0 {
			docs = append(docs, numbers(m).(map[string]any))
		}
	}
}

// numbers turns the whole numbers of a YAML document into those of unstructured objects.
func numbers(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			v[k] = numbers(v[k])
		}
	case []any:
		for i := range v {
			v[i] = numbers(v[i])
		}
	case float64:
		if v == float64(int64(v)) {
			return int64(v)
		}
	}
	return v
}

// Convert fills a struct from a document.
func Convert(t testing.TB, from, to any) {
	t.Helper()
	data, err := yaml.Marshal(from)
	if err == nil {
		err = yaml.Unmarshal(data, to)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Status reads a recorded status; nil where none was written.
func (c Case) Status(t testing.TB, i int) map[string]any {
	t.Helper()
	file := "status.yaml"
	if i > 0 {
		file = fmt.Sprintf("status-%d.yaml", i+1)
	}
	if docs := c.Read(t, file); len(docs) > 0 {
		return docs[0]
	}
	return nil
}
