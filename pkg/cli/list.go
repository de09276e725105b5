package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/api/v1beta1"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/cluster"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/diagnose"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/diagnose/causes"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/render"
)

type listOptions struct {
	*factory
	allNamespaces bool
	selector      string
	output        choice
	noHeaders     bool
}

func newList(f *factory) *cobra.Command {
	o := &listOptions{factory: f, output: newChoice("", "wide", "json", "yaml", "name")}
	cmd := &cobra.Command{
		Use:                   "list [-A] [-l SELECTOR] [-o wide|json|yaml|name]",
		DisableFlagsInUseLine: true,
		Aliases:               []string{"ls"},
		Short:                 "List Workspaces with their state and what is wrong with them",
		Long: templates.LongDesc(`
			List Workspaces with their state and what is wrong with them.

			STATE is what this program concludes from the Workspace, its Pod and their
			Events; the state that the controller wrote may be older. Whatever the number
			of Workspaces, a handful of lists is read.`),
		Example: templates.Examples(`
			# The Workspaces of the current namespace
			kubectl workspace list

			# Those of all namespaces, with the reason in words
			kubectl workspace list -A -o wide`),
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
	cmd.Flags().BoolVarP(&o.allNamespaces, "all-namespaces", "A", false, "List the Workspaces of all namespaces.")
	cmd.Flags().StringVarP(&o.selector, "selector", "l", "", "Label selector of Workspaces, such as team=research.")
	cmd.Flags().VarP(&o.output, "output", "o", "Output format: "+o.output.list()+".")
	cmd.Flags().BoolVar(&o.noHeaders, "no-headers", false, "Print no column headers.")
	return cmd
}

func (o *listOptions) run(ctx context.Context) error {
	selector, err := labels.Parse(o.selector)
	if err != nil {
		return fmt.Errorf("--selector %q is not a label selector: %w", o.selector, err)
	}
	s, err := o.open()
	if err != nil {
		return err
	}
	if o.allNamespaces {
		s.namespace = ""
	}
	found, err := s.diagnoseAll(ctx, selector)
	if err != nil {
		return err
	}
	if len(found) == 0 && (o.output.value == "" || o.output.value == "wide") {
		where := "namespace " + s.namespace
		if o.allNamespaces {
			where = "any namespace"
		}
		o.note("No Workspaces found in %s.", where)
		return nil
	}
	return o.print(found)
}

// diagnoseAll explains every Workspace of the session's namespace (of all, if that is
// empty) from one list per kind.
func (s *session) diagnoseAll(ctx context.Context, selector labels.Selector) ([]diagnosed, error) {
	workspaces, err := s.List(ctx, cluster.Workspaces, cluster.ListOptions{Namespace: s.namespace, Labels: selector})
	if err != nil {
		return nil, s.explain(fmt.Errorf("cannot list Workspaces: %w", err))
	}
	if len(workspaces) == 0 {
		return nil, nil
	}
	ofWorkspaces := cluster.ListOptions{Namespace: s.namespace, Labels: hasWorkspace()}
	all := cluster.ListOptions{Namespace: s.namespace}
	store, err := cluster.Load(ctx, s,
		cluster.Query{Resource: cluster.StatefulSets, Options: ofWorkspaces},
		cluster.Query{Resource: cluster.Pods, Options: ofWorkspaces},
		cluster.Query{Resource: cluster.Events, Options: all},
		cluster.Query{Resource: cluster.Claims, Options: all},
		cluster.Query{Resource: cluster.Secrets, Options: all},
		cluster.Query{Resource: cluster.ConfigMaps, Options: all},
		cluster.Query{Resource: cluster.ServiceAccounts, Options: all},
		cluster.Query{Resource: cluster.WorkspaceKinds},
	)
	if err != nil {
		return nil, err
	}
	found := make([]diagnosed, 0, len(workspaces))
	for i := range workspaces {
		w := &workspaces[i]
		store.Add(w)
		f, err := cluster.Gather(ctx, store, w.GetNamespace(), w.GetName())
		if err != nil {
			return nil, err
		}
		found = append(found, diagnosed{f.Workspace, causes.Diagnose(f)})
	}
	return found, nil
}

// diagnosed is a Workspace with its explanation.
type diagnosed struct {
	workspace *v1beta1.Workspace
	diagnosis diagnose.Diagnosis
}

func (o *listOptions) print(found []diagnosed) error {
	switch o.output.value {
	case "json", "yaml":
		items := make([]diagnose.Diagnosis, 0, len(found))
		for _, d := range found {
			items = append(items, d.diagnosis)
		}
		if o.output.value == "json" {
			return printJSON(o.Out, diagnose.NewList(items))
		}
		return printYAML(o.Out, diagnose.NewList(items))
	case "name":
		for _, d := range found {
			fmt.Fprintln(o.Out, "workspace."+v1beta1.GroupVersion.Group+"/"+render.SafeLine(d.workspace.Name))
		}
		return nil
	}
	headers := []string{"NAME", "KIND", "STATE", "REASON", "IMAGE", "POD-CONFIG", "AGE"}
	if o.output.value == "wide" {
		headers = append(headers, "SUMMARY")
	}
	if o.allNamespaces {
		headers = append([]string{"NAMESPACE"}, headers...)
	}
	rows := make([][]string, 0, len(found))
	for _, d := range found {
		rows = append(rows, o.row(d))
	}
	if o.noHeaders {
		headers = nil
	}
	return render.Table(o.Out, headers, rows)
}

func (o *listOptions) row(d diagnosed) []string {
	x := d.diagnosis
	reason := "-"
	switch {
	case len(x.Causes) > 0:
		reason = x.Causes[0].ID
	case len(x.Warnings) > 0:
		reason = x.Warnings[0].ID
	}
	age := "<unknown>"
	if created := d.workspace.CreationTimestamp; !created.IsZero() {
		age = duration.HumanDuration(x.CheckedAt.Sub(created.Time))
	}
	row := []string{x.Workspace.Name, x.Workspace.Kind, string(x.State), reason, x.Workspace.ImageConfig, x.Workspace.PodConfig, age}
	if o.output.value == "wide" {
		row = append(row, x.Summary)
	}
	if o.allNamespaces {
		row = append([]string{x.Workspace.Namespace}, row...)
	}
	return row
}
