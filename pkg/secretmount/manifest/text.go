package manifest

import (
	"bytes"
	"errors"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

var (
	errAlias  = errors.New("an alias is in the way")
	errLayout = errors.New("unusual layout")
)

// source is a document and how positions of the parser map to it.
type source struct {
	// text is the document with as many bytes, but only what the parser takes; original
	// is the document itself.
	text, original []byte
	// starts are the offsets of the lines; the last is that of the end.
	starts []int
	root   *yaml.Node
}

func parse(text []byte) (*source, error) {
	positions := forPositions(text)
	var document yaml.Node
	if err := yaml.Unmarshal(positions, &document); err != nil {
		return nil, err
	}
	if len(document.Content) != 1 {
		return nil, errLayout
	}
	return &source{text: positions, original: text, starts: lineStarts(positions), root: document.Content[0]}, nil
}

// lineStarts returns where each line begins, going by the breaks of YAML 1.1, which is
// what the parser counts. A text that ends with a break has an empty line there.
func lineStarts(text []byte) []int {
	starts := []int{0}
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		i += size
		switch r {
		case '\r':
			if i < len(text) && text[i] == '\n' {
				i++
			}
			starts = append(starts, i)
		case '\n', '\u0085', '\u2028', '\u2029':
			starts = append(starts, i)
		}
	}
	return starts
}

// offset is where a node begins. The parser counts characters, not bytes.
func (s *source) offset(n *yaml.Node) (int, error) {
	if n.Line < 1 || n.Line > len(s.starts) {
		return 0, errLayout
	}
	at := s.starts[n.Line-1]
	if n.Line == 1 && bytes.HasPrefix(s.text, []byte("\ufeff")) {
		at += len("\ufeff")
	}
	for range n.Column - 1 {
		_, size := utf8.DecodeRune(s.text[at:])
		if size == 0 {
			return 0, errLayout
		}
		at += size
	}
	return at, nil
}

func (s *source) line(i int) string {
	end := len(s.text)
	if i+1 < len(s.starts) {
		end = s.starts[i+1]
	}
	return string(s.text[s.starts[i]:end])
}

func (s *source) lineOf(offset int) int {
	i := 0
	for i+1 < len(s.starts) && s.starts[i+1] <= offset {
		i++
	}
	return i
}

func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

func isDash(line string) bool {
	rest, ok := strings.CutPrefix(strings.TrimLeft(line, " "), "-")
	return ok && (rest == "" || strings.ContainsRune(" \t\r\n", rune(rest[0])))
}

// blockEnd is the line after the last one of a block that begins on a line and lies
// deeper than indent. Comments and empty lines after it are not of it, unless it ends
// with a literal text, in which there are no comments. dashes tells that it is a list
// whose dashes are not deeper.
func (s *source) blockEnd(first, indent int, dashes, literal bool) int {
	end := first + 1
	for i := first + 1; i < len(s.starts); i++ {
		line := s.line(i)
		rest := strings.TrimSpace(line)
		deep := indentOf(line) > indent
		switch {
		case rest == "", rest[0] == '#' && (!literal || !deep):
			continue
		case deep, dashes && indentOf(line) == indent && isDash(line):
			end = i + 1
		default:
			return end
		}
	}
	return end
}

// isFlow tells [] and {} from lists and mappings by indentation.
func isFlow(n *yaml.Node) bool {
	return (n.Kind == yaml.MappingNode || n.Kind == yaml.SequenceNode) && (n.Style&yaml.FlowStyle != 0 || len(n.Content) == 0)
}

func isBlockList(n *yaml.Node) bool { return n.Kind == yaml.SequenceNode && !isFlow(n) }

// endsLiterally reports whether the last text of a node is one after | or >.
func endsLiterally(n *yaml.Node) bool {
	for len(n.Content) > 0 {
		n = n.Content[len(n.Content)-1]
	}
	return n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0
}

// end is where a node of one line, or one in brackets, ends.
func (s *source) end(n *yaml.Node) (int, error) {
	at, err := s.offset(n)
	if err != nil {
		return 0, err
	}
	if n.Anchor != "" || n.Style&yaml.TaggedStyle != 0 {
		return 0, errLayout
	}
	switch {
	case n.Kind == yaml.AliasNode:
		return at + 1 + len(n.Value), nil
	case n.Kind == yaml.ScalarNode:
		return s.endOfScalar(n, at)
	case isFlow(n):
		return s.endOfFlow(n, at)
	}
	return 0, errLayout
}

func (s *source) endOfScalar(n *yaml.Node, at int) (int, error) {
	switch {
	case n.Style&yaml.DoubleQuotedStyle != 0:
		for i := at + 1; i < len(s.text); i++ {
			switch s.text[i] {
			case '\\':
				i++
			case '"':
				return i + 1, nil
			}
		}
	case n.Style&yaml.SingleQuotedStyle != 0:
		for i := at + 1; i < len(s.text); i++ {
			if s.text[i] != '\'' {
				continue
			}
			if i+1 < len(s.text) && s.text[i+1] == '\'' {
				i++
				continue
			}
			return i + 1, nil
		}
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) == 0 && bytes.HasPrefix(s.text[at:], []byte(n.Value)):
		return at + len(n.Value), nil
	}
	return 0, errLayout
}

func (s *source) endOfFlow(n *yaml.Node, at int) (int, error) {
	last := at + 1
	for _, c := range n.Content {
		e, err := s.end(c)
		if err != nil {
			return 0, err
		}
		last = max(last, e)
	}
	closing := byte(']')
	if n.Kind == yaml.MappingNode {
		closing = '}'
	}
	for i := last; i < len(s.text); i++ {
		switch c := s.text[i]; c {
		case closing:
			return i + 1, nil
		case '#':
			for i+1 < len(s.text) && s.text[i+1] != '\n' && s.text[i+1] != '\r' {
				i++
			}
		case ' ', '\t', '\r', '\n', ',', ':':
		default:
			return 0, errLayout
		}
	}
	return 0, errLayout
}

// afterColon is the place right after the colon of a key.
func (s *source) afterColon(key *yaml.Node) (int, error) {
	at, err := s.end(key)
	if err != nil {
		return 0, err
	}
	for at < len(s.text) && s.text[at] == ' ' {
		at++
	}
	if at == len(s.text) || s.text[at] != ':' {
		return 0, errLayout
	}
	return at + 1, nil
}

// alone reports whether nothing but spaces is before a place in its line.
func (s *source) alone(at int) bool {
	start := s.starts[s.lineOf(at)]
	return strings.Trim(string(s.text[start:at]), " ") == ""
}
