package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/printers"
	"k8s.io/client-go/util/jsonpath"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/render"
)

// outputFormat is the value of -o where a list of our own is printed: one of some
// words, or a template as kubectl takes it.
type outputFormat struct {
	value   string
	formats []string
}

// templated are the formats that go with an argument, as in jsonpath={.items}.
var templated = []string{"custom-columns", "jsonpath", "jsonpath-as-json", "go-template"}

// String implements pflag.Value.
func (f *outputFormat) String() string { return f.value }

// Type implements pflag.Value.
func (f *outputFormat) Type() string { return "string" }

// Set implements pflag.Value.
func (f *outputFormat) Set(s string) error {
	format, _, _ := strings.Cut(s, "=")
	switch {
	case slices.Contains(f.formats, s):
	case slices.Contains(templated, format):
	default:
		return fmt.Errorf("must be %s", f.list())
	}
	f.value = s
	return nil
}

func (f *outputFormat) list() string {
	words := slices.Clone(f.formats)
	for _, t := range templated {
		words = append(words, t+"=...")
	}
	return orList(words)
}

func (f *outputFormat) split() (format, argument string) {
	format, argument, _ = strings.Cut(f.value, "=")
	return format, argument
}

// check finds faults of a template before anything is asked.
func (f *outputFormat) check() error {
	format, argument := f.split()
	switch {
	case !slices.Contains(templated, format):
		return nil
	case argument == "" && format == "custom-columns":
		return errors.New("-o custom-columns: say which columns, as in custom-columns=SECRET:.secretName,PATH:.mountPath")
	case argument == "":
		return fmt.Errorf("-o %s: the template is missing, as in %s", format, map[string]string{
			"jsonpath": "jsonpath='{.items[*].secretName}'", "jsonpath-as-json": "jsonpath-as-json='{.items}'",
			"go-template": "go-template='{{range .items}}{{.secretName}}{{end}}'"}[format])
	case format == "custom-columns":
		_, err := columnsOf(argument)
		return err
	}
	_, err := templatePrinter(f.value)
	return err
}

func templatePrinter(output string) (printers.ResourcePrinter, error) {
	flags := genericclioptions.NewPrintFlags("")
	flags.OutputFormat = &output
	p, err := flags.ToPrinter()
	if err != nil {
		return nil, fmt.Errorf("-o %s: %w", output, err)
	}
	return p, nil
}

// printTemplate prints v with a template of kubectl's.
func printTemplate(out io.Writer, output string, v any) error {
	p, err := templatePrinter(output)
	if err != nil {
		return err
	}
	object, err := generic(v)
	if err != nil {
		return err
	}
	return p.PrintObj(&unstructured.Unstructured{Object: object}, out)
}

func generic(v any) (map[string]any, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("cannot write JSON: %w", err)
	}
	var object map[string]any
	if err := json.Unmarshal(text, &object); err != nil {
		return nil, fmt.Errorf("cannot read JSON back: %w", err)
	}
	return object, nil
}

// column is one of custom-columns.
type column struct {
	header string
	path   *jsonpath.JSONPath
}

// columnsOf reads HEADER:PATH,… as kubectl does. kubectl's own implementation comes
// with the whole of kubectl get.
func columnsOf(spec string) ([]column, error) {
	var columns []column
	for _, part := range strings.Split(spec, ",") {
		header, path, ok := strings.Cut(part, ":")
		if !ok || header == "" || path == "" {
			return nil, fmt.Errorf("-o custom-columns: %q is not HEADER:PATH, such as SECRET:.secretName", part)
		}
		if !strings.HasPrefix(path, "{") {
			path = "{." + strings.TrimPrefix(path, ".") + "}"
		}
		p := jsonpath.New(header).AllowMissingKeys(true)
		if err := p.Parse(path); err != nil {
			return nil, fmt.Errorf("-o custom-columns: the path of column %s: %w", header, err)
		}
		columns = append(columns, column{header, p})
	}
	return columns, nil
}

// printColumns prints a row for each item of a list.
func printColumns(out io.Writer, spec string, list any, noHeaders bool) error {
	columns, err := columnsOf(spec)
	if err != nil {
		return err
	}
	object, err := generic(list)
	if err != nil {
		return err
	}
	var headers []string
	for _, c := range columns {
		if !noHeaders {
			headers = append(headers, c.header)
		}
	}
	var rows [][]string
	items, _ := object["items"].([]any)
	for _, item := range items {
		var row []string
		for _, c := range columns {
			var cell bytes.Buffer
			if err := c.path.Execute(&cell, item); err != nil {
				return fmt.Errorf("-o custom-columns: column %s: %w", c.header, err)
			}
			text := cell.String()
			if text == "" || text == "<nil>" {
				text = "<none>"
			}
			row = append(row, text)
		}
		rows = append(rows, row)
	}
	return render.Table(out, headers, rows)
}
