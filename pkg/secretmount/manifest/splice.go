package manifest

import (
	"bytes"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// editor makes one step of a JSON Patch in a text.
type editor struct {
	*source
	style style
	cuts  []cut
}

// cut replaces text[from:to].
type cut struct {
	from, to int
	with     string
}

// splice makes a step at a place, which is a JSON Pointer into the document.
func splice(text []byte, pointer string, s step) ([]byte, error) {
	src, err := parse(text)
	if err != nil {
		return nil, err
	}
	e := &editor{source: src, style: styleOf(src, text)}
	var value any
	if s.Value != nil {
		if err := utiljson.Unmarshal(s.Value, &value); err != nil {
			return nil, err
		}
	}
	if err := e.make(s.Op, strings.Split(pointer, "/")[1:], value); err != nil {
		return nil, err
	}
	out := bytes.Clone(text)
	// Each step makes its cuts from the end to the beginning.
	for _, c := range e.cuts {
		if c.from > c.to || c.to > len(out) {
			return nil, errLayout
		}
		out = append(append(bytes.Clone(out[:c.from]), c.with...), out[c.to:]...)
	}
	return out, nil
}

func (e *editor) make(op string, path []string, value any) error {
	var above *pair // the key that holds container
	container := e.root
	for _, token := range path[:len(path)-1] {
		p, err := child(container, token)
		if err != nil {
			return err
		}
		if p == nil {
			return errLayout
		}
		p.in = container
		above, container = p, p.value
	}
	last := path[len(path)-1]
	p, err := child(container, last)
	if err != nil {
		return err
	}
	if p != nil {
		p.in = container
	}
	switch {
	case op == "add" && last == "-":
		return e.appendItem(above, value)
	case op == "add" && p != nil:
		return e.setValue(p, value)
	case op == "add" && isNothing(container) && above != nil:
		return e.setValue(above, map[string]any{last: value})
	case op == "add":
		return e.insertKey(container, last, value)
	case op == "remove" && p != nil && container.Kind == yaml.SequenceNode:
		return e.removeItem(container, p.index)
	case op == "remove" && p != nil:
		return e.removeKey(above, p)
	}
	return errLayout
}

// pair is a value, with its key in a mapping or its index in a list.
type pair struct {
	in         *yaml.Node
	key, value *yaml.Node
	index      int
}

// child finds a member of a node; nil if there is none.
func child(n *yaml.Node, token string) (*pair, error) {
	switch n.Kind {
	case yaml.AliasNode:
		return nil, errAlias
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == token {
				return &pair{key: n.Content[i], value: n.Content[i+1], index: i / 2}, nil
			}
		}
	case yaml.SequenceNode:
		if i, err := strconv.Atoi(token); err == nil && i >= 0 && i < len(n.Content) {
			return &pair{value: n.Content[i], index: i}, nil
		}
	}
	return nil, nil
}

// isNothing recognises null, [] and {}, in whose place a block can be put.
func isNothing(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.Tag == "!!null" || (n.Kind == yaml.MappingNode || n.Kind == yaml.SequenceNode) && len(n.Content) == 0
}

func (e *editor) cut(from, to int, with string) { e.cuts = append(e.cuts, cut{from, to, with}) }

// insertLines puts whole lines before a line.
func (e *editor) insertLines(before int, lines []string) {
	at := len(e.text)
	if before < len(e.starts) {
		at = e.starts[before]
	}
	block := strings.Join(lines, e.style.eol)
	if at > 0 && e.text[at-1] != '\n' && e.text[at-1] != '\r' {
		block = e.style.eol + block // after a last line that has no end
	} else {
		block += e.style.eol
	}
	e.cut(at, at, block)
}

// removeLines takes away whole lines.
func (e *editor) removeLines(first, end int) {
	to := len(e.text)
	if end < len(e.starts) {
		to = e.starts[end]
	}
	e.cut(e.starts[first], to, "")
}

// setValue gives a key another value.
func (e *editor) setValue(p *pair, value any) error {
	if p.key == nil {
		return errLayout
	}
	from, err := e.afterColon(p.key)
	if err != nil {
		return err
	}
	to := from
	implicit := p.value.Kind == yaml.ScalarNode && p.value.Value == "" && p.value.Style == 0
	if !implicit {
		if p.value.Kind == yaml.AliasNode {
			return errAlias
		}
		if to, err = e.end(p.value); err != nil {
			return err
		}
	}
	nested := isCollection(value)
	if nested && !isFlow(p.in) {
		if !isNothing(p.value) {
			return errLayout
		}
		indent := p.key.Column - 1
		e.insertLines(e.lineOf(to)+1, e.style.below(value, indent))
		if e.lineOf(to) == len(e.starts)-1 { // both at the end of the text: one cut
			e.cuts = nil
			e.cut(from, len(e.text), strings.TrimRight(string(e.text[to:]), " ")+e.style.eol+strings.Join(e.style.below(value, indent), e.style.eol))
			return nil
		}
		e.cut(from, to, "")
		return nil
	}
	text := e.style.flow(value)
	if implicit {
		e.cut(from, to, " "+text)
		return nil
	}
	start, err := e.offset(p.value)
	if err != nil {
		return err
	}
	e.cut(start, to, text)
	return nil
}

// insertKey adds a key at the end of a mapping.
func (e *editor) insertKey(m *yaml.Node, key string, value any) error {
	if m.Kind != yaml.MappingNode {
		return errLayout
	}
	if isFlow(m) {
		return e.insertFlow(m, e.style.key(key)+": ", value)
	}
	k, v := m.Content[len(m.Content)-2], m.Content[len(m.Content)-1]
	first := m.Content[0]
	indent := first.Column - 1
	lines := e.style.block(map[string]any{key: value}, indent)
	e.insertLines(e.blockEnd(k.Line-1, indent, isBlockList(v), endsLiterally(v)), lines)
	return nil
}

// appendItem adds an element at the end of the list of a key.
func (e *editor) appendItem(p *pair, value any) error {
	if p == nil || p.value.Kind == yaml.AliasNode {
		return errAlias
	}
	list := p.value
	switch {
	case list.Kind != yaml.SequenceNode:
		return errLayout
	case isNothing(list) && !isFlow(p.in):
		return e.setValue(p, []any{value})
	case isFlow(list):
		return e.insertFlow(list, "", value)
	}
	at, err := e.offset(list)
	if err != nil {
		return err
	}
	if !e.alone(at) || !isDash(string(e.text[at:])) {
		return errLayout
	}
	indent := list.Column - 1
	last := list.Content[len(list.Content)-1]
	gap := 2
	if first := list.Content[0]; first.Line == list.Line && first.Column > list.Column+1 {
		gap = first.Column - list.Column
	}
	var lines []string
	if isFlow(last) {
		lines = []string{strings.Repeat(" ", indent) + "-" + strings.Repeat(" ", gap-1) + e.style.flow(value)}
	} else {
		lines = e.style.item(value, indent, gap)
	}
	e.insertLines(e.blockEnd(list.Line-1, indent, true, endsLiterally(last)), lines)
	return nil
}

// insertFlow adds to what is in brackets.
func (e *editor) insertFlow(n *yaml.Node, prefix string, value any) error {
	start, err := e.offset(n)
	if err != nil {
		return err
	}
	if _, err := e.end(n); err != nil {
		return err
	}
	if len(n.Content) == 0 {
		e.cut(start+1, start+1, prefix+e.style.flow(value))
		return nil
	}
	last, err := e.lastEnd(n)
	if err != nil {
		return err
	}
	size := 1
	if n.Kind == yaml.MappingNode {
		size = 2
	}
	member, err := e.offset(n.Content[len(n.Content)-size])
	if err != nil {
		return err
	}
	if !e.alone(member) || e.lineOf(member) == e.lineOf(start) {
		e.cut(last, last, ", "+prefix+e.style.flow(value))
		return nil
	}
	// Each member has lines of its own.
	line := e.starts[e.lineOf(member)]
	indent := string(e.original[line:member])
	step := max(1, member-line-indentOf(e.line(e.lineOf(start))))
	text := e.style.flow(value)
	if e.lineOf(last) > e.lineOf(member) || isCollection(value) && n.Kind == yaml.MappingNode {
		unit := " "
		if strings.HasPrefix(indent, "\t") {
			unit = "\t"
		}
		text = e.style.pretty(value, indent, strings.Repeat(unit, step))
	}
	e.cut(last, last, ","+e.style.eol+indent+prefix+text)
	return nil
}

func (e *editor) lastEnd(n *yaml.Node) (int, error) {
	last := 0
	for _, c := range n.Content {
		end, err := e.end(c)
		if err != nil {
			return 0, err
		}
		last = max(last, end)
	}
	return last, nil
}

// removeItem takes an element out of a list.
func (e *editor) removeItem(list *yaml.Node, index int) error {
	if isFlow(list) {
		return e.removeFlow(list, index, 1)
	}
	indent := list.Column - 1
	end := e.blockEnd(list.Line-1, indent, true, endsLiterally(list))
	var dashes []int
	for i := list.Line - 1; i < end; i++ {
		if line := e.line(i); indentOf(line) == indent && isDash(line) {
			dashes = append(dashes, i)
		}
	}
	if len(dashes) != len(list.Content) {
		return errLayout
	}
	first := dashes[index]
	e.removeLines(first, e.blockEnd(first, indent, false, endsLiterally(list.Content[index])))
	return nil
}

// removeKey takes a key out of a mapping; of the last one, {} remains.
func (e *editor) removeKey(above, p *pair) error {
	if isFlow(p.in) {
		return e.removeFlow(p.in, p.index, 2)
	}
	at, err := e.offset(p.key)
	if err != nil {
		return err
	}
	if !e.alone(at) {
		return errLayout
	}
	first := p.key.Line - 1
	end := e.blockEnd(first, p.key.Column-1, isBlockList(p.value), endsLiterally(p.value))
	e.removeLines(first, end)
	if len(p.in.Content) > 2 {
		return nil
	}
	if above == nil || above.key == nil {
		return errLayout
	}
	colon, err := e.afterColon(above.key)
	if err != nil {
		return err
	}
	e.cut(colon, colon, " {}")
	return nil
}

// removeFlow takes a member of size nodes out of what is in brackets.
func (e *editor) removeFlow(n *yaml.Node, index, size int) error {
	bounds := func(i int) (from, to int, err error) {
		if from, err = e.offset(n.Content[i*size]); err == nil {
			for _, c := range n.Content[i*size : (i+1)*size] {
				var end int
				if end, err = e.end(c); err != nil {
					break
				}
				to = max(to, end)
			}
		}
		return from, to, err
	}
	from, to, err := bounds(index)
	if err != nil {
		return err
	}
	members := len(n.Content) / size
	switch {
	case index > 0:
		_, before, err := bounds(index - 1)
		if err != nil {
			return err
		}
		if gap := e.text[before:from]; bytes.ContainsRune(gap, '#') {
			// A comment of the member before stays where it is.
			comma := bytes.IndexByte(gap, ',')
			if hash := bytes.IndexByte(gap, '#'); comma < 0 || hash < comma {
				return errLayout
			}
			e.cut(from, to, "")
			e.cut(before+comma, before+comma+1, "")
			return nil
		}
		e.cut(before, to, "")
	case members > 1:
		next, _, err := bounds(1)
		if err != nil {
			return err
		}
		if gap := e.text[to:next]; bytes.ContainsRune(gap, '#') {
			comma := bytes.IndexByte(gap, ',')
			if hash := bytes.IndexByte(gap, '#'); comma < 0 || hash < comma {
				return errLayout
			}
			e.cut(from, to+comma+1, "")
			return nil
		}
		e.cut(from, next, "")
	default:
		e.cut(from, to, "")
	}
	return nil
}

func isCollection(value any) bool {
	switch value.(type) {
	case map[string]any, []any:
		return true
	}
	return false
}
