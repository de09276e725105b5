package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/printers"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/cluster"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/render"
)

// Values of --dry-run.
const (
	dryRunNone   = "none"
	dryRunClient = "client"
	dryRunServer = "server"
)

// writeOptions are what the commands that change the mounts of Workspaces share.
type writeOptions struct {
	*factory
	printFlags   *genericclioptions.PrintFlags
	dryRun       choice
	diff         bool
	fieldManager string

	// Which Workspaces: one by name, those that a selector chooses, all, or those of
	// manifests.
	selector  string
	all       bool
	filenames []string
	local     bool

	restart bool
	waitFor choice
	timeout time.Duration
	// patience is how long --restart waits for the controller.
	patience time.Duration

	session *session
	// printer is nil where the result is told in words.
	printer printers.ResourcePrinter
	// names are the Workspaces that are named.
	names  []string
	labels labels.Selector
	// notes keeps apart what changes that are made at the same time say.
	notes *sync.Mutex
}

func newWriteOptions(f *factory) writeOptions {
	return writeOptions{
		factory:      f,
		printFlags:   genericclioptions.NewPrintFlags(""),
		dryRun:       newChoice(dryRunNone, dryRunClient, dryRunServer),
		fieldManager: "kubectl-workspace",
		waitFor:      choice{"", []string{"running"}},
		timeout:      5 * time.Minute,
		notes:        &sync.Mutex{},
	}
}

func (o *writeOptions) addFlags(cmd *cobra.Command) {
	o.printFlags.AddFlags(cmd)
	flags := cmd.Flags()
	flags.Var(&o.dryRun, "dry-run", "Must be "+o.dryRun.list()+". With client, show the result and send no write. With server, have the server check it without storing it.")
	flags.BoolVar(&o.diff, "diff", false, "Print the change of the Workspace as a unified diff.")
	flags.StringVar(&o.fieldManager, "field-manager", o.fieldManager, "Name under which the server records who changed a field.")
	flags.StringVarP(&o.selector, "selector", "l", "", "Change the Workspaces of the namespace with these labels, such as team=research, instead of WORKSPACE.")
	flags.StringArrayVarP(&o.filenames, "filename", "f", nil, "With --local: change the Workspaces in this file or directory ('-' is stdin), instead of WORKSPACE; may be given several times.")
	flags.BoolVar(&o.local, "local", false, "Contact no server: change the manifests given with -f and print them, comments and formatting as they were.")
	flags.BoolVar(&o.restart, "restart", false, "Delete the Pod if it is not ready and its StatefulSet therefore would not replace it.")
	flags.Var(&o.waitFor, "wait", "Wait until the Workspace runs with the change. Ends early, with an explanation, if something keeps it from that.")
	flags.Lookup("wait").NoOptDefVal = "running"
	flags.DurationVar(&o.timeout, "timeout", o.timeout, "How long --wait waits at most, and --restart for the controller (30s if this is not given).")
}

// complete checks the flags, takes what names Workspaces from the arguments, and
// returns the rest of them.
func (o *writeOptions) complete(cmd *cobra.Command, args []string) (rest []string, err error) {
	if err := o.checkFlags(cmd); err != nil {
		return nil, usageError(cmd, "%w", err)
	}
	if rest, err = o.takeWorkspaces(args); err != nil {
		return nil, usageError(cmd, "%w", err)
	}
	if *o.printFlags.OutputFormat != "" || *o.printFlags.TemplatePrinterFlags.TemplateArgument != "" {
		if o.printer, err = o.printFlags.ToPrinter(); err != nil {
			return nil, usageError(cmd, "%w", err)
		}
	}
	return rest, nil
}

func (o *writeOptions) checkFlags(cmd *cobra.Command) error {
	given := cmd.Flags().Changed
	dry := o.dryRun.value != dryRunNone
	follows := o.restart || o.waitFor.value != ""
	switch {
	case o.local && len(o.filenames) == 0:
		return errors.New("--local changes manifests: say which with -f FILE")
	case len(o.filenames) > 0 && !o.local:
		return errors.New("-f goes with --local, which prints the changed manifests; pipe them into 'kubectl apply -f -'")
	case o.local && len(o.snapshots) > 0:
		return errors.New("--local and --snapshot exclude each other: a manifest is changed and printed, a snapshot is only read")
	case o.local && o.dryRun.value == dryRunServer:
		return errors.New("--local contacts no server, so there is no --dry-run=server; did you mean --dry-run=client?")
	case o.local && follows:
		return errors.New("--local contacts no server: leave out --wait and --restart")
	case dry && follows:
		return errors.New("a dry run changes nothing that could be followed: leave out --wait and --restart")
	case given("timeout") && !follows:
		return errors.New("--timeout goes with --wait or --restart")
	case o.timeout <= 0:
		return fmt.Errorf("--timeout %s is not a time to wait; give a duration such as 5m", o.timeout)
	case o.diff && *o.printFlags.OutputFormat != "":
		return errors.New("--diff and -o both say what to print: give one of them")
	case given("selector") && o.selector == "":
		return errors.New("-l is empty: give labels such as team=research")
	case given("selector") && o.all:
		return errors.New("-l and --all exclude each other: --all is every Workspace of the namespace")
	case o.local && o.all:
		return errors.New("-f names every Workspace of its manifests: leave out --all")
	}
	o.patience = restartPatience
	if given("timeout") {
		o.patience = o.timeout
	}
	var err error
	if o.labels, err = labels.Parse(o.selector); err != nil {
		return fmt.Errorf("-l %q is not a label selector: %w", o.selector, err)
	}
	return nil
}

// takeWorkspaces takes the WORKSPACE from the arguments. With -l, --all or -f there is
// none; with -f, workspace/NAME picks one of the manifests.
func (o *writeOptions) takeWorkspaces(args []string) (rest []string, err error) {
	if !o.several() {
		if len(args) == 0 {
			return nil, errors.New("the name of a Workspace is missing; 'kubectl workspace list' shows what there is")
		}
		name, err := workspaceArg(args[0])
		o.names = []string{name}
		return args[1:], err
	}
	for _, arg := range args {
		name, isWorkspace := workspaceReference(arg)
		switch {
		case !isWorkspace:
			rest = append(rest, arg)
		case !o.local:
			return nil, fmt.Errorf("%q: name a Workspace, or choose several with %s, not both", arg, o.how())
		default:
			o.names = append(o.names, name)
		}
	}
	return rest, nil
}

// workspaceReference recognises a Workspace where a Secret could be meant as well.
func workspaceReference(arg string) (name string, ok bool) {
	name, err := workspaceArg(arg)
	return name, err == nil && name != arg
}

// several reports whether the Workspaces are chosen by something else than one name.
func (o *writeOptions) several() bool { return o.selector != "" || o.all || o.local }

// how names the flag by which several Workspaces are chosen.
func (o *writeOptions) how() string {
	switch {
	case o.all:
		return "--all"
	case o.selector != "":
		return "-l"
	}
	return "-f"
}

// connect prepares the way to the cluster.
func (o *writeOptions) connect() error {
	var err error
	if o.session, err = o.open(); err != nil {
		return err
	}
	if o.session.live == nil && o.dryRun.value != dryRunClient {
		return errors.New("a snapshot cannot be changed: add --dry-run=client")
	}
	return nil
}

// change is what is done to one Workspace.
type change struct {
	*writeOptions
	name string
	// first is the Workspace as it was read before anything was planned.
	first *unstructured.Unstructured
	// plan is filled in by the command.
	plan commitPlan

	outcomeOf
}

// readWorkspaces reads the Workspaces that are to be changed.
func (o *writeOptions) readWorkspaces(ctx context.Context) ([]*change, error) {
	namespace := o.session.namespace
	if !o.several() {
		u, err := o.session.Get(ctx, cluster.Workspaces, namespace, o.names[0])
		if err != nil {
			return nil, o.session.explain(cluster.WorkspaceError(ctx, o.session, namespace, o.names[0], err))
		}
		return []*change{{writeOptions: o, name: o.names[0], first: u}}, nil
	}
	items, err := o.session.List(ctx, cluster.Workspaces, cluster.ListOptions{Namespace: namespace, Labels: o.labels})
	switch {
	case err != nil:
		return nil, o.session.listError(namespace, err)
	case len(items) == 0 && o.selector != "":
		return nil, fmt.Errorf("no Workspace in namespace %q has the labels %s", namespace, o.selector)
	case len(items) == 0:
		return nil, fmt.Errorf("there are no Workspaces in namespace %q", namespace)
	}
	changes := make([]*change, len(items))
	for i := range items {
		changes[i] = &change{writeOptions: o, name: items[i].GetName(), first: &items[i]}
	}
	return changes, nil
}

// readPods reads the Pods of the Workspaces that are to be changed.
func (o *writeOptions) readPods(ctx context.Context) podsOf {
	if o.several() {
		return o.session.pods(ctx, o.session.namespace, hasWorkspace())
	}
	return o.session.pods(ctx, o.session.namespace, ofWorkspace(o.names[0]))
}

// carryOut plans and makes all changes. What fails is in the err of each.
func (o *writeOptions) carryOut(ctx context.Context, changes []*change) {
	for _, c := range changes {
		if c.err == nil {
			_, c.err = c.plan(c.first.Object, false)
		}
	}
	cluster.Parallel(len(changes), func(i int) {
		if c := changes[i]; c.err == nil {
			c.write(ctx)
		}
	})
}

// finish tells what has become of each change, and sees it through as far as the flags
// ask for it. pods are those of before.
func (o *writeOptions) finish(ctx context.Context, changes []*change, pods podsOf) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !o.several() {
		c := changes[0]
		if c.err != nil {
			return c.err
		}
		if err := c.tell(pods(c.session.namespace, c.name)); err != nil {
			return err
		}
		return c.follow(ctx)
	}

	changed := 0
	for _, c := range changes {
		if c.err == nil {
			if c.edit.Changed() {
				changed++
			}
			if err := c.tell(pods(c.session.namespace, c.name)); err != nil {
				return err
			}
		} else {
			o.tellError(c)
		}
	}
	for _, c := range changes {
		if c.err == nil {
			if c.err = c.follow(ctx); c.err != nil {
				o.tellError(c)
			}
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	failed := len(changes) - len(slices.DeleteFunc(slices.Clone(changes), func(c *change) bool { return c.err != nil }))
	verb := "changed"
	if o.dryRun.value != dryRunNone {
		verb = "to change"
	}
	summary := fmt.Sprintf("%s: %d %s, %d failed", count(len(changes), "Workspace"), changed, verb, failed)
	if failed > 0 {
		return errors.New(summary)
	}
	o.note("%s", summary)
	return nil
}

// tellError prints the error of one change among several, where the others go on.
func (o *writeOptions) tellError(c *change) {
	fmt.Fprintln(o.ErrOut, render.Safe(fmt.Sprintf("error: %s: %v", c.object(), c.err)))
}

func count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}
