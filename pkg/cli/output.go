package cli

import (
	"encoding/json"
	"fmt"
	"io"

	"sigs.k8s.io/yaml"
)

// printJSON writes v as indented JSON. Quoting keeps control characters of the
// cluster's texts from the terminal while the values stay exact.
func printJSON(out io.Writer, v any) error {
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

func printYAML(out io.Writer, v any) error {
	b, err := yaml.Marshal(v)
	if err != nil {
		return fmt.Errorf("cannot write YAML: %w", err)
	}
	_, err = out.Write(b)
	return err
}
