package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/api/v1beta1"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/diagnose"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/render"
)

type listOptions struct {
	*factory
	workspaceSelection
	output    choice
	noHeaders bool
	watching  bool

	session *session
}

func newList(f *factory) *cobra.Command {
	o := &listOptions{factory: f, output: newChoice("", "wide", "json", "yaml", "name")}
	cmd := &cobra.Command{
		Use:                   "list [-A] [-l SELECTOR] [-w] [-o wide|json|yaml|name]",
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

			# Those of all namespaces, with every reason in full
			kubectl workspace list -A -o wide`),
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd, args) },
	}
	o.addFlags(cmd)
	cmd.Flags().VarP(&o.output, "output", "o", "Output format: "+o.output.list()+".")
	cmd.Flags().BoolVar(&o.noHeaders, "no-headers", false, "Print no column headers.")
	cmd.Flags().BoolVarP(&o.watching, "watch", "w", false, "Look again every two seconds: redraw on a terminal, else print a line for each change.")
	return cmd
}

func (o *listOptions) run(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usageError(cmd, "list takes no names; 'kubectl workspace describe %s' explains one Workspace", args[0])
	}
	if err := o.complete(cmd, args); err != nil {
		return err
	}
	if o.watching && o.output.value != "" && o.output.value != "wide" {
		return usageError(cmd, "--watch shows a table: leave out -o %s", o.output.value)
	}
	var err error
	if o.session, err = o.open(); err != nil {
		return err
	}
	if o.watching {
		return o.watch(cmd.Context(), o.session, o.look, o.table)
	}
	found, err := o.look(cmd.Context())
	if err != nil && len(found) == 0 {
		return err
	}
	return errors.Join(o.print(found), err)
}

func (o *listOptions) look(ctx context.Context) ([]diagnose.Diagnosis, error) {
	return o.session.diagnoseAll(ctx, o.workspaceSelection)
}

func (o *listOptions) print(found []diagnose.Diagnosis) error {
	switch o.output.value {
	case "json":
		return printJSON(o.Out, diagnose.NewList(found))
	case "yaml":
		return printYAML(o.Out, diagnose.NewList(found))
	case "name":
		for _, d := range found {
			fmt.Fprintln(o.Out, "workspace."+v1beta1.GroupName+"/"+render.SafeLine(d.Workspace.Name))
		}
		return nil
	}
	if len(found) == 0 {
		o.note("No Workspaces found in %s.", o.where(o.session))
		return nil
	}
	return o.table(o.Out, found)
}

func (o *listOptions) table(out io.Writer, found []diagnose.Diagnosis) error {
	headers := []string{"NAME", "KIND", "STATE", "REASON", "IMAGE", "POD-CONFIG", "AGE"}
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
	return render.Table(out, headers, rows)
}

func (o *listOptions) row(d diagnose.Diagnosis) []string {
	age := "<unknown>"
	if created := d.Workspace.Created; created != nil {
		age = duration.HumanDuration(d.CheckedAt.Sub(*created))
	}
	w := d.Workspace
	row := []string{w.Name, w.Kind, string(d.State), o.reason(d), w.ImageConfig, w.PodConfig, age}
	if o.allNamespaces {
		row = append([]string{w.Namespace}, row...)
	}
	return row
}

// reasonWidth bounds the words of a reason in the narrow table.
const reasonWidth = 48

// reason is the id of what is wrong with a Workspace and the words for it.
func (o *listOptions) reason(d diagnose.Diagnosis) string {
	id := d.Reason()
	words := d.Summary
	if len(d.Causes) == 0 {
		words = ""
		for _, w := range d.Warnings {
			if w.ID == id {
				words = w.Summary
				break
			}
		}
	}
	if runes := []rune(words); o.output.value != "wide" && len(runes) > reasonWidth {
		words = string(runes[:reasonWidth-1]) + "…"
	}
	if words == "" {
		return id
	}
	return id + ": " + words
}
