package doctest

import (
	"fmt"
	"regexp"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Command is one command in a page, its words without the shell's quotes.
type Command struct {
	Words []string
	// Named is true where the command stands in a sentence, perhaps without what it is
	// to work on.
	Named bool
	// Where is the file and line, for messages.
	Where string
}

// prompt is what stands before a command in a transcript.
const prompt = "$ "

// Commands returns the commands of a page that begin with the given words, wherever they
// stand in code.
func (p *Page) Commands(words ...string) ([]Command, error) {
	var all []Command
	for _, c := range p.Code() {
		transcript := strings.HasPrefix(c.Text, prompt) || strings.Contains(c.Text, "\n"+prompt)
		lines := strings.Split(c.Text, "\n")
		for i := 0; i < len(lines); i++ {
			line := strings.TrimSpace(lines[i])
			if transcript {
				var ok bool
				if line, ok = strings.CutPrefix(line, prompt); !ok {
					continue
				}
			}
			where := fmt.Sprintf("%s:%d", p.File, c.Line+i)
			for strings.HasSuffix(line, "\\") && i+1 < len(lines) {
				i++
				line = strings.TrimSuffix(line, "\\") + strings.TrimSpace(lines[i])
			}
			if !strings.Contains(line, strings.Join(words, " ")) {
				continue
			}
			found, err := CommandsIn(line, words...)
			if err != nil && !strings.HasPrefix(line, words[0]) {
				continue // it is no command, but says something about one
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %q: %w", where, line, err)
			}
			for _, words := range found {
				all = append(all, Command{words, c.Info == sentence, where})
			}
		}
	}
	return all, nil
}

// CommandsIn returns the commands of a shell script that begin with the given words. A
// word that the shell would have to expand comes as it stands.
func CommandsIn(script string, words ...string) ([][]string, error) {
	file, err := syntax.NewParser().Parse(strings.NewReader(hereDocument.ReplaceAllString(script, "")), "")
	if err != nil {
		return nil, err
	}
	var all [][]string
	syntax.Walk(file, func(node syntax.Node) bool {
		call, ok := node.(*syntax.CallExpr)
		if !ok || len(call.Args) < len(words) {
			return true
		}
		args := make([]string, len(call.Args))
		for i, arg := range call.Args {
			args[i] = literal(script, arg)
		}
		if strings.Join(args[:len(words)], " ") == strings.Join(words, " ") {
			all = append(all, args)
		}
		return true
	})
	return all, nil
}

// hereDocument is the beginning of one. Its text follows on lines of its own, which a
// single line of a script does not have.
var hereDocument = regexp.MustCompile(`<<-?\s*['"]?\w+['"]?`)

// literal is a word without its quotes.
func literal(script string, word *syntax.Word) string {
	var b strings.Builder
	var add func(parts []syntax.WordPart)
	add = func(parts []syntax.WordPart) {
		for _, part := range parts {
			switch part := part.(type) {
			case *syntax.Lit:
				b.WriteString(part.Value)
			case *syntax.SglQuoted:
				b.WriteString(part.Value)
			case *syntax.DblQuoted:
				add(part.Parts)
			default:
				b.WriteString(script[part.Pos().Offset():part.End().Offset()])
			}
		}
	}
	add(word.Parts)
	return b.String()
}
