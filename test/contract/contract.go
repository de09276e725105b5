// Package contract checks what the commands print against the JSON Schemas in
// docs/schemas. These allow no property that they do not name, so that no field is added,
// renamed or left out unnoticed.
package contract

import (
	"bytes"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-workspace/kubectl-workspace/test/repo"
)

// Schemas validates documents by kind.
type Schemas struct{ byKind map[string]*jsonschema.Schema }

// Load reads docs/schemas of the repository that the test runs in.
func Load(t testing.TB) Schemas {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(repo.Path(t, "docs/schemas"), "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no schemas: %v", err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat() // a time is a time
	byKind := map[string]*jsonschema.Schema{}
	for _, file := range files {
		schema, err := compiler.Compile(file)
		if err != nil {
			t.Fatal(err)
		}
		byKind[schema.Title] = schema
	}
	return Schemas{byKind}
}

// Check tells what is wrong with a JSON or YAML document of a kind.
func (s Schemas) Check(kind, document string) error {
	schema := s.byKind[kind]
	if schema == nil {
		return fmt.Errorf("there is no schema for the kind %q", kind)
	}
	asJSON, err := yaml.YAMLToJSONStrict([]byte(document))
	if err != nil {
		return fmt.Errorf("a %s that cannot be read: %w", kind, err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(asJSON))
	if err != nil {
		return fmt.Errorf("a %s that cannot be read: %w", kind, err)
	}
	if err := schema.Validate(value); err != nil {
		return fmt.Errorf("not a valid %s: %w", kind, err)
	}
	return nil
}
