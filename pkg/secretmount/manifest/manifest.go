package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/api/v1beta1"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/secretmount"
)

// Plan returns the edit of one Workspace; nil leaves it as it is.
type Plan func(workspace map[string]any) (*secretmount.Edit, error)

// Change is what was done to one Workspace of a file.
type Change struct {
	Namespace, Name string
	Edit            secretmount.Edit
	// After is the Workspace with the edit made.
	After map[string]any
	// Err says why it was left as it was.
	Err error
}

// Edit returns text with every Workspace in it edited, also those in lists. A
// Workspace that cannot be edited stays as it is; its Change has the reason. The error
// is that of a text that is not YAML.
func Edit(text []byte, plan Plan) ([]byte, []Change, error) {
	var out bytes.Buffer
	var changes []Change
	line := 1
	for i, d := range split(text) {
		edited, cs, err := editDocument(d, plan)
		if err != nil {
			return nil, nil, locate(err, i+1, line)
		}
		out.Write(edited)
		changes = append(changes, cs...)
		line += len(lineStarts(d)) - 1
	}
	return out.Bytes(), changes, nil
}

var yamlLine = regexp.MustCompile(`(?s)^(?:error converting YAML to JSON: )?yaml: line (\d+): (.*)`)

// locate names the line of the file that an error is about. The parser counts from
// where the document begins.
func locate(err error, document, line int) error {
	if m := yamlLine.FindStringSubmatch(err.Error()); m != nil {
		if n, atoi := strconv.Atoi(m[1]); atoi == nil {
			return fmt.Errorf("line %d: %s", line+n-1, m[2])
		}
	}
	return fmt.Errorf("document %d, from line %d: %w", document, line, err)
}

// split cuts a stream into its documents. "---" and "..." at the beginning of a line end
// a document whatever is before them (YAML 1.2, 9.1.2); "---" goes with what follows.
func split(text []byte) [][]byte {
	var documents [][]byte
	begin := 0
	ended := false
	for _, start := range lineStarts(text) {
		if start > begin && (ended || isMarker(text[start:], "---")) {
			documents = append(documents, text[begin:start])
			begin = start
		}
		ended = isMarker(text[start:], "...")
	}
	return append(documents, text[begin:])
}

func isMarker(line []byte, marker string) bool {
	rest, ok := bytes.CutPrefix(line, []byte(marker))
	return ok && (len(rest) == 0 || strings.ContainsRune(" \t\r\n", rune(rest[0])))
}

func editDocument(text []byte, plan Plan) ([]byte, []Change, error) {
	if isBlank(text) {
		return text, nil, nil
	}
	object, err := decode(text)
	if err != nil {
		return nil, nil, err
	}
	var changes []Change
	for _, at := range workspacesIn(object) {
		workspace := at.object
		c := Change{Name: str(workspace, "metadata", "name"), Namespace: str(workspace, "metadata", "namespace"), After: workspace}
		edit, err := plan(workspace)
		switch {
		case err != nil:
			c.Err = err
		case edit == nil:
			continue
		default:
			c.Edit = *edit
			edited, after, err := apply(text, object, at, *edit)
			if err != nil {
				c.Err = fmt.Errorf("the file is written in a way that this program does not edit (%w); edit it by hand", err)
				break
			}
			text, c.After = edited, after
			if object, err = decode(text); err != nil {
				return nil, nil, err
			}
		}
		changes = append(changes, c)
	}
	return text, changes, nil
}

// isBlank reports whether a document is nothing but comments, markers and directives.
func isBlank(text []byte) bool {
	for _, line := range bytes.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }) {
		s := strings.TrimSpace(strings.TrimPrefix(strings.TrimPrefix(string(line), "\ufeff"), "---"))
		if s != "" && s[0] != '#' && s != "..." && line[0] != '%' {
			return false
		}
	}
	return true
}

// decode reads a document as kubectl does.
func decode(text []byte) (any, error) {
	raw := text
	if !json.Valid(text) {
		var err error
		if raw, err = yaml.YAMLToJSON(text); err != nil {
			return nil, err
		}
	}
	var object any
	if err := utiljson.Unmarshal(raw, &object); err != nil {
		return nil, err
	}
	return object, nil
}

// located is a Workspace and where in its document it is.
type located struct {
	object map[string]any
	// item is its index in a list; -1 if it is the document.
	item int
}

func (l located) pointer() string {
	if l.item < 0 {
		return ""
	}
	return fmt.Sprintf("/items/%d", l.item)
}

// place returns the document with another Workspace in its place.
func (l located) place(document any, workspace map[string]any) any {
	if l.item < 0 {
		return workspace
	}
	list := map[string]any{}
	for k, v := range document.(map[string]any) {
		list[k] = v
	}
	items := append([]any{}, list["items"].([]any)...)
	items[l.item] = workspace
	list["items"] = items
	return list
}

func workspacesIn(document any) []located {
	object, ok := document.(map[string]any)
	if !ok {
		return nil
	}
	if isWorkspace(object) {
		return []located{{object, -1}}
	}
	var found []located
	if items, ok := object["items"].([]any); ok && strings.HasSuffix(str(object, "kind"), "List") {
		for i, item := range items {
			if w, ok := item.(map[string]any); ok && isWorkspace(w) {
				found = append(found, located{w, i})
			}
		}
	}
	return found
}

func isWorkspace(object map[string]any) bool {
	group, _, _ := strings.Cut(str(object, "apiVersion"), "/")
	return str(object, "kind") == "Workspace" && group == v1beta1.GroupVersion.Group
}

func str(object map[string]any, field ...string) string {
	var value any = object
	for _, f := range field {
		m, _ := value.(map[string]any)
		value = m[f]
	}
	s, _ := value.(string)
	return s
}

// step is one operation of a JSON Patch.
type step struct {
	Op    string          `json:"op"`
	Path  string          `json:"path"`
	Value json.RawMessage `json:"value"`
}

// apply makes an edit in the text and proves that nothing else has changed.
func apply(text []byte, object any, at located, edit secretmount.Edit) ([]byte, map[string]any, error) {
	patch, err := edit.Patch()
	if err != nil || patch == nil {
		return text, at.object, err
	}
	var steps []step
	if err := json.Unmarshal(patch, &steps); err != nil {
		return nil, nil, err
	}
	after, err := edit.Apply(at.object)
	if err != nil {
		return nil, nil, err
	}
	edited := text
	for _, s := range steps {
		if s.Op == "test" {
			continue
		}
		if edited, err = splice(edited, at.pointer()+s.Path, s); err != nil {
			return nil, nil, err
		}
	}
	got, err := decode(edited)
	if err != nil {
		return nil, nil, errors.New("it would not be valid afterwards")
	}
	if !reflect.DeepEqual(got, at.place(object, after)) {
		return nil, nil, errors.New("something else would change")
	}
	return edited, after, nil
}

// onlyJSON are the escapes of JSON that the YAML parser does not take: characters beyond
// 16 bits, and the slash.
var onlyJSON = regexp.MustCompile(`\\u[dD][89a-fA-F][0-9a-fA-F]{2}|\\.`)

// forPositions makes of JSON what a YAML parser takes, with everything where it was.
func forPositions(text []byte) []byte {
	if !json.Valid(text) {
		return text
	}
	// In JSON a tab is white space; in a string it is written \t.
	text = bytes.ReplaceAll(text, []byte("\t"), []byte(" "))
	return onlyJSON.ReplaceAllFunc(text, func(escape []byte) []byte {
		if len(escape) > 2 || escape[1] == '/' {
			return bytes.Repeat([]byte("?"), len(escape))
		}
		return escape // also \\, of which the second is none
	})
}
