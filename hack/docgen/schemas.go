package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/invopop/jsonschema"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/cli"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/cluster"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/diagnose"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/facts"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/plan"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/secretmount"
)

const module = "github.com/kubectl-workspace/kubectl-workspace"

// documents are what the commands print, by kind. A Version has no kind.
var documents = map[string]any{
	"Diagnosis":       diagnose.Diagnosis{},
	"DiagnosisList":   diagnose.List{},
	"Plan":            plan.Plan{},
	"SecretMountList": secretmount.StatusList{},
	"Snapshot":        cluster.Snapshot{},
	"Version":         cli.Build{},
}

// schemaPages makes the JSON Schema of each document from its Go type. Descriptions are
// the comments in the source, and the values of a string type its constants.
func schemaPages() (pages, error) {
	s := schemas{enums: map[reflect.Type][]any{}}
	s.AllowAdditionalProperties = false
	s.ExpandedStruct = true
	s.Mapper = s.enum
	s.LookupComment = s.comment
	if err := s.AddGoComments(module, "pkg", jsonschema.WithFullComment()); err != nil {
		return pages{}, err
	}
	made := pages{extension: ".json", text: map[string][]byte{}}
	for _, kind := range slices.Sorted(maps.Keys(documents)) {
		name := strings.ToLower(kind) + ".json"
		schema := s.Reflect(documents[kind])
		schema.ID = jsonschema.ID("https://raw.githubusercontent.com/kubectl-workspace/kubectl-workspace/main/docs/schemas/" + name)
		schema.Title = kind
		schema.Description = named(kind, reflect.TypeOf(documents[kind]).Name(), schema.Description)
		head(schema, kind)
		for kind, definition := range schema.Definitions {
			head(definition, kind)
		}
		text, err := json.MarshalIndent(schema, "", "  ")
		if err != nil {
			return pages{}, err
		}
		made.text[name] = append(text, '\n')
	}
	return made, s.err
}

// head fixes apiVersion and kind, where it is a document with these.
func head(schema *jsonschema.Schema, kind string) {
	if version, ok := schema.Properties.Get("apiVersion"); ok {
		version.Const = facts.APIVersion
		schema.Properties.Value("kind").Const = kind
	}
}

// schemas reflects types, and knows what only their source says.
type schemas struct {
	jsonschema.Reflector
	enums map[reflect.Type][]any
	err   error
}

// enum is the schema of a string type with constants, nil for other types.
func (s *schemas) enum(t reflect.Type) *jsonschema.Schema {
	if t == reflect.TypeFor[diagnose.Rung]() {
		var names []any
		for r := diagnose.RungNone; r <= diagnose.RungReady; r++ {
			names = append(names, r.String())
		}
		return &jsonschema.Schema{Type: "string", Enum: names}
	}
	if t.Kind() != reflect.String || t.PkgPath() == "" {
		return nil
	}
	if s.enums[t] == nil {
		values, err := constants(strings.TrimPrefix(t.PkgPath(), module+"/"), t.Name())
		if err == nil && len(values) == 0 {
			err = fmt.Errorf("the type %s has no constants", t)
		}
		if err != nil {
			s.err = err
		}
		s.enums[t] = values
	}
	return &jsonschema.Schema{Type: "string", Enum: s.enums[t]}
}

// comment is that of a type, or that of a field or, if it has none, of its enum. Where it
// begins with the name in Go, it is given the one in JSON.
func (s *schemas) comment(t reflect.Type, field string) string {
	of := func(t reflect.Type) string { return s.CommentMap[t.PkgPath()+"."+t.Name()] }
	if field == "" {
		return oneLine(of(t))
	}
	f, ok := t.FieldByName(field)
	if !ok {
		return ""
	}
	goName, comment := field, s.CommentMap[t.PkgPath()+"."+t.Name()+"."+field]
	if comment == "" && s.enum(f.Type) != nil {
		goName, comment = f.Type.Name(), of(f.Type)
	}
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return oneLine(named(name, goName, comment))
}

// named lets a comment that is about goName be about name.
func named(name, goName, comment string) string {
	if rest, ok := strings.CutPrefix(comment, goName+" "); ok {
		return name + " " + rest
	}
	return comment
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// constants are the values of the constants of a string type, in the order of the source.
func constants(dir, typeName string) ([]any, error) {
	files, err := filepath.Glob(path.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	var values []any
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok {
				return true
			}
			if of, ok := spec.Type.(*ast.Ident); !ok || of.Name != typeName {
				return true
			}
			for _, value := range spec.Values {
				if literal, ok := value.(*ast.BasicLit); ok {
					if text, err := strconv.Unquote(literal.Value); err == nil {
						values = append(values, text)
					}
				}
			}
			return true
		})
	}
	return values, nil
}
