package cli

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/plan"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/render"
)

func (o *reconcileOptions) print(p *plan.Plan) error {
	if p == nil {
		return nil
	}
	switch o.output.value {
	case "json":
		return printJSON(o.Out, p)
	case "yaml":
		return printYAML(o.Out, p)
	case "objects":
		return o.printObjects(p)
	}
	for _, n := range p.Notes {
		o.note("Note: %s.", n)
	}
	if len(p.Workspaces) == 0 {
		o.note("No Workspaces found in %s.", o.where(o.session))
		if !p.Changed() {
			return nil
		}
	}
	return render.Plan(o.Out, p, o.painter(o.Out))
}

// printObjects prints the Workspaces and what they own as they are after the run.
func (o *reconcileOptions) printObjects(p *plan.Plan) error {
	list := &unstructured.UnstructuredList{Object: map[string]any{"apiVersion": "v1", "kind": "List"}}
	for _, w := range p.Workspaces {
		objects, err := o.ran.Objects(w.Namespace, w.Name)
		if err != nil {
			return err
		}
		for _, u := range objects {
			list.Items = append(list.Items, *u)
		}
	}
	for _, w := range p.Workspaces {
		if w.Error != "" {
			o.note("Warning: %s failed: %s", w, w.Error)
		}
	}
	return printYAML(o.Out, list.UnstructuredContent())
}

// progressFrom is the number of Workspaces from which on progress is shown.
const progressFrom = 6

// progress tells how far a run is, on stderr. end must be called when it is over.
func (o *reconcileOptions) progress(total int) (done func(plan.Outcome), end func()) {
	if total < progressFrom || o.quiet {
		return nil, func() {}
	}
	if o.painter(o.ErrOut).Width == 0 {
		return func(w plan.Outcome) {
			if w.Result != plan.Unchanged {
				fmt.Fprintf(o.ErrOut, "%s: %s\n", render.SafeLine(w.String()), w.Result)
			}
		}, func() {}
	}
	return o.progressBar(total)
}
