package controller

import (
	"bytes"
	"errors"
	"fmt"
	"text/template"
	"text/template/parse"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/api/v1beta1"
)

// Limits of one template. The in-cluster controller has none, so that a WorkspaceKind can make
// it loop for hours or use up all memory. What stays below them renders the same.
const (
	// maxTemplateSteps bounds how often the bodies of ranges and templates are entered.
	maxTemplateSteps = 1_000_000
	// maxTemplateBytes bounds the text that is made on the way, in variables too. No object
	// of the size of the result could be stored.
	maxTemplateBytes = 4 << 20
)

var errTemplateLimit = errors.New("the template does too much")

// templates renders the values of a WorkspaceKind that are Go templates.
type templates struct {
	// prefixes are the connect paths by id of the port, of the ports that the image has.
	prefixes map[v1beta1.PortId]string
}

func newTemplates(w *v1beta1.Workspace, ports []v1beta1.ImagePort) templates {
	t := templates{prefixes: map[v1beta1.PortId]string{}}
	for _, p := range ports {
		t.prefixes[p.ID] = connectPath(w, p.ID)
	}
	return t
}

// connectPath is the path under which a port of a Workspace is served to browsers.
func connectPath(w *v1beta1.Workspace, port v1beta1.PortId) string {
	return "/workspace/connect/" + w.Namespace + "/" + w.Name + "/" + string(port) + "/"
}

// httpPathPrefix is the one function that templates have beside Go's own: the connect path of
// a port, and nothing for a port that the image does not have. Because its parameter is not a
// plain string, a template can call it with a literal alone: on a variable or on the result of
// another function it fails, as it does in the in-cluster controller.
func (t templates) httpPathPrefix(port v1beta1.PortId) string { return t.prefixes[port] }

// render executes one template. There is no data: fields of it render as "<no value>".
func (t templates) render(text string) (string, error) {
	plain, err := template.New("value").Funcs(template.FuncMap{"httpPathPrefix": t.httpPathPrefix}).Parse(text)
	if err != nil {
		return "", fmt.Errorf("failed to parse template %q: %w", text, err)
	}
	budget := &templateBudget{steps: maxTemplateSteps, bytes: maxTemplateBytes}
	limited, err := budget.limit(t, text)
	if err != nil {
		return "", fmt.Errorf("failed to parse template %q: %w", text, err)
	}
	err = limited.Execute(budget, nil)
	if err != nil && !errors.Is(err, errTemplateLimit) {
		// The counting shows in the words of some errors. The template itself fails at the
		// same point, and its words are those that the in-cluster controller uses.
		if again := plain.Execute(&bytes.Buffer{}, nil); again != nil {
			err = again
		}
	}
	if err != nil {
		return "", fmt.Errorf("failed to execute template %q: %w", text, err)
	}
	return budget.out.String(), nil
}

// templateBudget counts what one execution does. It is the writer of its output.
type templateBudget struct {
	steps, bytes int
	out          bytes.Buffer
}

// stepFunction is not a name that a template could use by accident.
const stepFunction = "countOneStepOfTheTemplate"

func (b *templateBudget) step() (string, error) {
	if b.steps--; b.steps < 0 {
		return "", fmt.Errorf("%w: more than %d steps", errTemplateLimit, maxTemplateSteps)
	}
	return "", nil
}

func (b *templateBudget) text(s string) (string, error) {
	if b.bytes -= len(s); b.bytes < 0 {
		return "", fmt.Errorf("%w: more than %d bytes of text", errTemplateLimit, maxTemplateBytes)
	}
	return s, nil
}

// Write implements io.Writer.
func (b *templateBudget) Write(p []byte) (int, error) {
	if _, err := b.text(string(p)); err != nil {
		return 0, err
	}
	return b.out.Write(p)
}

// limit parses a template anew and puts a call that counts into everything that can be entered
// more than once.
func (b *templateBudget) limit(t templates, text string) (*template.Template, error) {
	tmpl, err := template.New("value").Funcs(template.FuncMap{
		"httpPathPrefix": t.httpPathPrefix,
		stepFunction:     b.step,
		// Go's own functions that make text, with the text counted.
		"printf":   func(format string, args ...any) (string, error) { return b.text(fmt.Sprintf(format, args...)) },
		"print":    func(args ...any) (string, error) { return b.text(fmt.Sprint(args...)) },
		"println":  func(args ...any) (string, error) { return b.text(fmt.Sprintln(args...)) },
		"html":     func(args ...any) (string, error) { return b.text(template.HTMLEscaper(args...)) },
		"js":       func(args ...any) (string, error) { return b.text(template.JSEscaper(args...)) },
		"urlquery": func(args ...any) (string, error) { return b.text(template.URLQueryEscaper(args...)) },
	}).Parse(text)
	if err != nil {
		return nil, err
	}
	for _, each := range tmpl.Templates() {
		if each.Tree == nil || each.Root == nil {
			continue
		}
		if err := addSteps(each.Root); err != nil {
			return nil, err
		}
		if err := addStep(each.Root); err != nil {
			return nil, err
		}
	}
	return tmpl, nil
}

// addSteps adds a step to the bodies of the ranges in a list.
func addSteps(list *parse.ListNode) error {
	if list == nil {
		return nil
	}
	for _, node := range list.Nodes {
		var branch *parse.BranchNode
		switch n := node.(type) {
		case *parse.IfNode:
			branch = &n.BranchNode
		case *parse.WithNode:
			branch = &n.BranchNode
		case *parse.RangeNode:
			branch = &n.BranchNode
		default:
			continue
		}
		if err := errors.Join(addSteps(branch.List), addSteps(branch.ElseList)); err != nil {
			return err
		}
		if node.Type() == parse.NodeRange {
			if err := addStep(branch.List); err != nil {
				return err
			}
		}
	}
	return nil
}

func addStep(list *parse.ListNode) error {
	counter, err := parse.Parse("step", "{{"+stepFunction+"}}", "", "", map[string]any{stepFunction: (*templateBudget).step})
	if err != nil {
		return err
	}
	list.Nodes = append(counter["step"].Root.Nodes, list.Nodes...)
	return nil
}
