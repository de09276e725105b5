package doctest

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"

	"github.com/kubectl-workspace/kubectl-workspace/test/repo"
)

// Page is a file of Markdown.
type Page struct {
	File   string
	source []byte
	root   ast.Node
}

// Root is the root of the repository that the test runs in.
func Root(t testing.TB) string {
	t.Helper()
	return filepath.Dir(repo.Path(t, "CONTRIBUTING.md"))
}

// Pages reads all the Markdown of the repository.
func Pages(t testing.TB) []*Page {
	t.Helper()
	var pages []*Page
	err := filepath.WalkDir(Root(t), func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && slices.Contains([]string{".git", "bin", "dist"}, entry.Name()):
			return filepath.SkipDir
		case filepath.Ext(path) == ".md":
			pages = append(pages, Open(t, path))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return pages
}

// Open reads one page.
func Open(t testing.TB, file string) *Page {
	t.Helper()
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return parse(file, source)
}

func parse(file string, source []byte) *Page {
	markdown := goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithParserOptions(parser.WithAutoHeadingID()))
	return &Page{file, source, markdown.Parser().Parse(text.NewReader(source))}
}

// walk calls f for every node of a type.
func walk[N ast.Node](p *Page, f func(N)) {
	_ = ast.Walk(p.root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if n, ok := n.(N); ok && entering {
			f(n)
		}
		return ast.WalkContinue, nil
	})
}

// sentence is the Info of code in a sentence.
const sentence = "sentence"

// Code is a piece of code in a page.
type Code struct {
	// Info is what stands behind the fence, such as "console".
	Info string
	Text string
	Line int

	start, end int // of Text in the source, for a block
}

// Code returns the fenced and indented blocks and the code in sentences.
func (p *Page) Code() []Code {
	var all []Code
	walk(p, func(n *ast.FencedCodeBlock) {
		c := Code{Text: string(n.Lines().Value(p.source))}
		if n.Info != nil {
			c.Info = string(n.Info.Segment.Value(p.source))
		}
		if lines := n.Lines(); lines.Len() > 0 {
			c.start, c.end = lines.At(0).Start, lines.At(lines.Len()-1).Stop
			c.Line = p.line(c.start)
		}
		all = append(all, c)
	})
	walk(p, func(n *ast.CodeBlock) {
		if n.Lines().Len() > 0 {
			all = append(all, Code{Info: "indented", Text: string(n.Lines().Value(p.source)), Line: p.line(n.Lines().At(0).Start)})
		}
	})
	walk(p, func(n *ast.CodeSpan) {
		var b bytes.Buffer
		line := 0
		for child := n.FirstChild(); child != nil; child = child.NextSibling() {
			if t, ok := child.(*ast.Text); ok {
				b.Write(t.Segment.Value(p.source))
				if t.SoftLineBreak() {
					b.WriteByte(' ')
				}
				if line == 0 {
					line = p.line(t.Segment.Start)
				}
			}
		}
		all = append(all, Code{Info: sentence, Text: strings.ReplaceAll(b.String(), "\n", " "), Line: line})
	})
	return all
}

func (p *Page) line(offset int) int { return 1 + bytes.Count(p.source[:offset], []byte("\n")) }

// Links returns where the page links to, pictures included, as it is written.
func (p *Page) Links() []string {
	var all []string
	walk(p, func(n *ast.Link) { all = append(all, string(n.Destination)) })
	walk(p, func(n *ast.Image) { all = append(all, string(n.Destination)) })
	walk(p, func(n *ast.HTMLBlock) {
		for _, m := range htmlLink.FindAllSubmatch(n.Lines().Value(p.source), -1) {
			all = append(all, string(m[1]))
		}
	})
	return all
}

var htmlLink = regexp.MustCompile(`(?:href|src|srcset)="([^"]+)"`)

// DeadLinks tells which links lead nowhere: to a file or heading that does not exist.
// Links out of the repository are not followed.
func (p *Page) DeadLinks() []error {
	var dead []error
	for _, link := range p.Links() {
		if strings.Contains(link, "://") || strings.HasPrefix(link, "mailto:") {
			continue
		}
		path, anchor, _ := strings.Cut(link, "#")
		to, source := p.File, p.source
		if path != "" {
			to = filepath.Join(filepath.Dir(p.File), path)
			info, err := os.Stat(to)
			if err == nil && !info.IsDir() {
				source, err = os.ReadFile(to)
			}
			if err != nil {
				dead = append(dead, fmt.Errorf("%s links to %s: %w", p.File, link, err))
				continue
			}
		}
		if anchor != "" && filepath.Ext(to) == ".md" && !parse(to, source).anchors()[anchor] {
			dead = append(dead, fmt.Errorf("%s links to %s: no heading makes #%s", p.File, link, anchor))
		}
	}
	return dead
}

func (p *Page) anchors() map[string]bool {
	all := map[string]bool{}
	walk(p, func(n *ast.Heading) {
		if id, ok := n.AttributeString("id"); ok {
			all[string(id.([]byte))] = true
		}
	})
	return all
}
