package manifest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// style is how a document is written, for what is added to it.
type style struct {
	eol  string
	json bool
	// step is the indentation of one level, and dash that of a list below its key.
	step, dash int
}

func styleOf(s *source, text []byte) style {
	st := style{eol: "\n", json: json.Valid(text), step: 2}
	if i := bytes.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		st.eol = "\r\n"
	}
	stepKnown, dashKnown := false, false
	var look func(n *yaml.Node)
	look = func(n *yaml.Node) {
		if n.Kind == yaml.AliasNode || isFlow(n) {
			return
		}
		for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
			k, v := n.Content[i], n.Content[i+1]
			deeper := v.Column - k.Column
			switch {
			case v.Kind == yaml.MappingNode && !isFlow(v) && deeper > 0 && !stepKnown:
				st.step, stepKnown = deeper, true
			case isBlockList(v) && deeper >= 0 && v.Line > k.Line && !dashKnown:
				st.dash, dashKnown = deeper, true
			}
		}
		for _, c := range n.Content {
			look(c)
		}
	}
	look(s.root)
	return st
}

// order is that of the fields of a mount; others follow by name.
var order = []string{"secretName", "mountPath", "defaultMode"}

func keys(m map[string]any) []string {
	rank := func(k string) int {
		if i := slices.Index(order, k); i >= 0 {
			return i
		}
		return len(order)
	}
	sorted := slices.Sorted(maps.Keys(m))
	slices.SortStableFunc(sorted, func(a, b string) int { return rank(a) - rank(b) })
	return sorted
}

// below are the lines of a value under a key that is indented so far.
func (st style) below(value any, indent int) []string {
	if _, isList := value.([]any); isList {
		return st.block(value, indent+st.dash)
	}
	return st.block(value, indent+st.step)
}

// block writes a list or mapping as lines.
func (st style) block(value any, indent int) []string {
	var lines []string
	switch v := value.(type) {
	case []any:
		for _, item := range v {
			lines = append(lines, st.item(item, indent, 2)...)
		}
	case map[string]any:
		for _, k := range keys(v) {
			line := strings.Repeat(" ", indent) + st.key(k) + ":"
			if isCollection(v[k]) {
				lines = append(append(lines, line), st.below(v[k], indent)...)
			} else {
				lines = append(lines, line+" "+st.flow(v[k]))
			}
		}
	}
	return lines
}

// item writes an element of a list, gap columns from its dash.
func (st style) item(value any, indent, gap int) []string {
	dash := strings.Repeat(" ", indent) + "-" + strings.Repeat(" ", gap-1)
	if !isCollection(value) {
		return []string{dash + st.flow(value)}
	}
	lines := st.block(value, indent+gap)
	lines[0] = dash + lines[0][indent+gap:]
	return lines
}

// flow writes a value on one line.
func (st style) flow(value any) string {
	var parts []string
	switch v := value.(type) {
	case []any:
		for _, item := range v {
			parts = append(parts, st.flow(item))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case map[string]any:
		for _, k := range keys(v) {
			parts = append(parts, st.key(k)+": "+st.flow(v[k]))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case string:
		return st.scalar(v)
	}
	return fmt.Sprint(value)
}

// pretty writes a value over several lines, in brackets.
func (st style) pretty(value any, indent, step string) string {
	text, err := json.MarshalIndent(value, indent, step)
	if err != nil {
		return st.flow(value)
	}
	return strings.ReplaceAll(string(text), "\n", st.eol)
}

func (st style) key(k string) string {
	if st.json {
		return quote(k)
	}
	return k
}

// plain matches what needs no quotes wherever it stands, unless it reads as something
// other than a text.
var plain = regexp.MustCompile(`^[/A-Za-z][A-Za-z0-9_./-]*$`)

func (st style) scalar(s string) string {
	if !st.json && plain.MatchString(s) {
		if text, err := yaml.Marshal(s); err == nil && string(text) == s+"\n" {
			return s
		}
	}
	return quote(s)
}

// quote writes a text in the quotes of JSON, which YAML has as well.
func quote(s string) string {
	text, err := json.Marshal(s)
	if err != nil {
		return `""` // a string can always be encoded
	}
	return string(text)
}
