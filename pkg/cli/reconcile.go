package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/kubectl/pkg/util/templates"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/api/v1beta1"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/cluster"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/controller"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/plan"
)

type reconcileOptions struct {
	*factory
	workspaceSelection
	once         bool
	dryRun       choice
	files        []string
	output       choice
	exitCode     bool
	force        bool
	fieldManager string

	istio          bool
	istioGateway   string
	istioHosts     []string
	clusterDomain  string
	leaseName      string
	leaseNamespace string

	session *session
	// api is nil for a snapshot.
	api  client.Client
	mode plan.Mode
	now  func() time.Time
	// ran is the Cluster of the last run.
	ran *plan.Cluster
	// notes end up in the Plan. Those of the target belong to what was loaded last.
	notes, targetNotes []string
	// skipEvents and skipKinds leave out what this user lacks the rights for.
	skipEvents, skipKinds bool
}

func newReconcile(f *factory) *cobra.Command {
	o := &reconcileOptions{
		factory: f,
		dryRun:  newChoice("none", "client", "server"),
		output:  newChoice("", "json", "yaml", "objects"),
	}
	cmd := &cobra.Command{
		Use:                   "reconcile [WORKSPACE...] --once [-A] [-l SELECTOR] [--dry-run=none|client|server] [-f FILE]",
		DisableFlagsInUseLine: true,
		Short:                 "Do once what the Workspace controller would do, or show it",
		Long: templates.LongDesc(`
			Do once what the Workspace controller would do, or show it with --dry-run.

			Works on the named Workspaces, or on all of the namespace. A live run holds the
			controller's own Lease, and refuses while a controller is running: the two at once
			could break Workspaces for good.

			--dry-run=client needs nothing but the right to read. --dry-run=server also has the
			API server default, validate and admit every change without storing it. With -f, a
			dry run shows what would happen if the Workspaces and WorkspaceKinds of a file were
			applied, and how many Pods would restart.`),
		Example: templates.Examples(`
			# What would the controller do in this namespace?
			kubectl workspace reconcile --once --dry-run=client

			# Whose Pod restarts if I apply this WorkspaceKind?
			kubectl workspace reconcile --once --dry-run=client -A -f workspacekind.yaml

			# The controller is down: do its work for one Workspace
			kubectl workspace reconcile alice-notebook --once`),
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd, args) },
	}
	o.addFlags(cmd)
	flags := cmd.Flags()
	flags.BoolVar(&o.once, "once", false, "Reconcile once and end. Required: this is not a controller.")
	flags.Var(&o.dryRun, "dry-run", "Change nothing: "+o.dryRun.list()+".")
	flags.StringArrayVarP(&o.files, "filename", "f", nil,
		"Workspaces and WorkspaceKinds to lay over the cluster ('-' is stdin); needs a dry run. Without names, only Workspaces that it concerns are shown.")
	flags.VarP(&o.output, "output", "o", "Output format: "+o.output.list()+" ('objects' is the Workspaces and what they own, as they would be).")
	flags.BoolVar(&o.exitCode, "exit-code", false, "Exit with 1 if a dry run has changes, and with 2 on an error.")
	flags.BoolVar(&o.force, "force", false, "Go on although it cannot be seen whether a controller is running.")
	flags.StringVar(&o.fieldManager, "field-manager", plan.Component, "Name of the author of changes.")
	flags.BoolVar(&o.istio, "use-istio", false, "Make VirtualServices, as the controller does with the same flag.")
	flags.StringVar(&o.istioGateway, "istio-gateway", "kubeflow/kubeflow-gateway", "The Istio Gateway, NAMESPACE/NAME.")
	flags.StringArrayVar(&o.istioHosts, "istio-hosts", []string{"*"}, "A host of the VirtualServices; may be given several times.")
	flags.StringVar(&o.clusterDomain, "cluster-domain", controller.DefaultClusterDomain, "The DNS domain of the cluster's Services.")
	flags.StringVar(&o.leaseName, "lease-name", plan.DefaultLeaseName, "The controller's Lease.")
	flags.StringVar(&o.leaseNamespace, "lease-namespace", plan.DefaultLeaseNamespace, "The namespace of the controller's Lease.")
	return cmd
}

func (o *reconcileOptions) run(cmd *cobra.Command, args []string) error {
	p, err := o.plan(cmd, args)
	if err == nil {
		err = o.print(p)
	}
	switch {
	case err != nil:
		return err
	case p == nil:
		return nil
	case p.Summary.Failed > 0 && o.exitCode:
		return &exitError{code: exitUsage}
	case p.Summary.Failed > 0:
		return &exitError{code: exitFailed}
	case o.exitCode && o.mode != plan.Live && p.Changed():
		return &exitError{code: exitFailed}
	}
	return nil
}

func (o *reconcileOptions) plan(cmd *cobra.Command, args []string) (*plan.Plan, error) {
	if err := o.complete(cmd, args); err != nil {
		return nil, err
	}
	// Lists of a large cluster leave much garbage behind; collecting it early costs little here and
	// lowers the peak (go run ./hack/scale).
	debug.SetGCPercent(40)
	// Without this, controller-runtime complains after a while that nobody reads its log.
	ctrllog.SetLogger(logr.Discard())
	if err := o.connect(); err != nil {
		return nil, err
	}
	ctx := cmd.Context()
	switch o.mode {
	case plan.Live:
		return o.live(ctx)
	case plan.Server:
		return o.server(ctx)
	default:
		_, p, err := o.inMemory(ctx)
		return p, err
	}
}

func (o *reconcileOptions) complete(cmd *cobra.Command, args []string) error {
	if !o.once {
		return usageError(cmd, "give --once: this command reconciles once and ends; the controller in the cluster does it all the time")
	}
	switch {
	case len(o.snapshots) > 0:
		o.mode = plan.Snapshot
	case o.dryRun.value == "client":
		o.mode = plan.Client
	case o.dryRun.value == "server":
		o.mode = plan.Server
	default:
		o.mode = plan.Live
	}
	if o.mode == plan.Snapshot && o.dryRun.value == "server" {
		return usageError(cmd, "--dry-run=server asks an API server, and --snapshot has none")
	}
	if o.mode == plan.Live && len(o.files) > 0 {
		return usageError(cmd, "-f goes with a dry run; to apply the file, use kubectl apply -f")
	}
	return o.workspaceSelection.complete(cmd, args)
}

func (o *reconcileOptions) connect() error {
	session, err := o.open()
	if err != nil {
		return err
	}
	o.session, o.now = session, session.Now
	if o.mode == plan.Snapshot {
		return nil
	}
	config, err := o.config.ToRESTConfig()
	if err != nil {
		return fmt.Errorf("the kubeconfig cannot be used: %w", err)
	}
	config = rest.CopyConfig(config)
	config.UserAgent = o.build.userAgent()
	config.QPS = -1 // the server's own priority and fairness limits us
	if config.Timeout == 0 {
		config.Timeout = 30 * time.Second
	}
	config.Wrap(o.mode.Transport)
	httpClient, err := rest.HTTPClientFor(config)
	if err != nil {
		return fmt.Errorf("the kubeconfig cannot be used: %w", err)
	}
	o.api, err = plan.NewAPI(config, httpClient, o.fieldManager)
	return err
}

func (o *reconcileOptions) controllerConfig() controller.Config {
	if !o.istio {
		return controller.Config{}
	}
	return controller.Config{Istio: &controller.Istio{Gateway: o.istioGateway, Hosts: o.istioHosts, ClusterDomain: o.clusterDomain}}
}

// target is a loaded Cluster and what is to be reconciled in it.
type target struct {
	cluster    *plan.Cluster
	workspaces []types.NamespacedName
	kinds      []string
}

// load reads everything that a run rests on.
func (o *reconcileOptions) load(ctx context.Context, mode plan.Mode) (*target, error) {
	c, err := plan.NewCluster(mode, o.api, o.now)
	if err != nil {
		return nil, err
	}
	o.targetNotes = nil
	if mode == plan.Snapshot {
		if o.targetNotes, err = c.LoadSnapshot(ctx, o.session.Reader); err != nil {
			return nil, err
		}
	}
	if err := c.LoadWorkspaces(ctx, o.namespace(o.session)); err != nil {
		return nil, o.readError(ctx, err)
	}
	concerned, err := o.overlay(ctx, c)
	if err != nil {
		return nil, err
	}
	o.ran = c
	t := &target{cluster: c}
	if t.workspaces, err = o.selected(ctx, c, concerned); err != nil {
		return nil, err
	}
	if err := c.LoadOwned(ctx, o.scope(t.workspaces)); err != nil {
		return nil, o.readError(ctx, err)
	}
	if err := c.SecretsUnknown(); err != nil {
		o.targetNotes = append(o.targetNotes, fmt.Sprintf("whether the mounted Secrets exist was not looked at: %v", err))
	}
	t.kinds, err = o.kinds(ctx, c, t.workspaces)
	return t, err
}

// scope is where to look for the objects of Workspaces.
func (o *reconcileOptions) scope(workspaces []types.NamespacedName) plan.Scope {
	s := plan.Scope{Istio: o.istio}
	seen := map[string]bool{}
	for _, w := range workspaces {
		if !seen[w.Namespace] {
			seen[w.Namespace] = true
			s.Namespaces = append(s.Namespaces, w.Namespace)
		}
	}
	if len(s.Namespaces) == 0 && !o.allNamespaces {
		s.Namespaces = []string{o.session.namespace}
	}
	return s
}

// readError turns a missing right into a table of all that are missing.
func (o *reconcileOptions) readError(ctx context.Context, err error) error {
	if !apierrors.IsForbidden(err) || o.api == nil {
		return o.session.explain(err)
	}
	missing, reviewErr := plan.Missing(ctx, o.api, plan.ReadRights(o.scope(nil)))
	if reviewErr != nil || len(missing) == 0 {
		return o.session.explain(err)
	}
	return rightsError("read what the controller looks at", missing)
}

// overlay lays the files over the cluster and returns which Workspaces that concerns; nil is
// all.
func (o *reconcileOptions) overlay(ctx context.Context, c *plan.Cluster) (func(*v1beta1.Workspace) bool, error) {
	if len(o.files) == 0 {
		return nil, nil
	}
	workspaces, kinds := map[string]bool{}, map[string]bool{}
	for _, file := range o.files {
		in := o.In
		if file != "-" {
			f, err := os.Open(file)
			if err != nil {
				return nil, fmt.Errorf("cannot read the manifest: %w", err)
			}
			defer f.Close()
			in = f
		}
		objects, err := plan.ParseManifest(file, in, o.session.namespace)
		if err != nil {
			return nil, err
		}
		for _, u := range objects {
			if err := c.Overlay(ctx, u); err != nil {
				return nil, o.session.explain(err)
			}
			if u.GetKind() == v1beta1.WorkspaceGVK.Kind {
				workspaces[u.GetNamespace()+"/"+u.GetName()] = true
			} else {
				kinds[u.GetName()] = true
			}
		}
	}
	return func(w *v1beta1.Workspace) bool {
		return kinds[w.Spec.Kind] || workspaces[w.Namespace+"/"+w.Name]
	}, nil
}

func (o *reconcileOptions) selected(ctx context.Context, c *plan.Cluster, concerned func(*v1beta1.Workspace) bool) ([]types.NamespacedName, error) {
	namespace := o.namespace(o.session)
	if len(o.names) == 0 {
		return c.Workspaces(namespace, func(w *v1beta1.Workspace) bool {
			return (concerned == nil || concerned(w)) && (o.labels == nil || o.labels.Matches(labels.Set(w.Labels)))
		}), nil
	}
	var out []types.NamespacedName
	for _, name := range o.names {
		key := types.NamespacedName{Namespace: namespace, Name: name}
		if err := c.Get(ctx, key, &v1beta1.Workspace{}); err != nil {
			return nil, o.session.explain(cluster.WorkspaceError(ctx, o.session, namespace, name, err))
		}
		out = append(out, key)
	}
	return out, nil
}

// kinds returns the WorkspaceKinds to reconcile along: those of the Workspaces, and all with -A.
// Their counts need the Workspaces of all namespaces.
func (o *reconcileOptions) kinds(ctx context.Context, c *plan.Cluster, workspaces []types.NamespacedName) ([]string, error) {
	used := map[string]bool{}
	for _, key := range workspaces {
		var w v1beta1.Workspace
		if err := c.Get(ctx, key, &w); err == nil {
			used[w.Spec.Kind] = true
		}
	}
	var out []string
	for _, name := range c.KindNames() {
		if used[name] || o.allNamespaces && len(o.files) == 0 && o.selector == "" {
			out = append(out, name)
		}
	}
	if len(out) == 0 || o.skipKinds {
		return nil, nil
	}
	all, err := c.LoadAllWorkspaces(ctx)
	if err != nil {
		return nil, o.session.explain(err)
	}
	if !all {
		o.targetNotes = append(o.targetNotes, "the usage counts of WorkspaceKinds are left alone: you may not list the Workspaces of all namespaces")
		return nil, nil
	}
	return out, nil
}

// runner reconciles against a target.
func (o *reconcileOptions) runner(t *target, progress func(plan.Outcome)) *plan.Runner {
	return &plan.Runner{
		Cluster: t.cluster, Config: o.controllerConfig(), Now: o.now, Workers: 8, Progress: progress, SkipEvents: o.skipEvents,
	}
}

// inMemory plans without writing anything.
func (o *reconcileOptions) inMemory(ctx context.Context) (*target, *plan.Plan, error) {
	mode := o.mode
	if mode != plan.Snapshot {
		mode = plan.Client
	}
	t, err := o.load(ctx, mode)
	if err != nil {
		return nil, nil, err
	}
	p := o.runner(t, nil).Run(ctx, t.workspaces, t.kinds)
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	p.Mode = o.mode
	o.notes = o.foreign(t)
	o.annotate(p)
	return t, p, nil
}

func (o *reconcileOptions) annotate(p *plan.Plan) { p.Notes = slices.Concat(o.notes, o.targetNotes) }

// foreign says which objects another release of Kubeflow Notebooks would build from
// differently.
func (o *reconcileOptions) foreign(t *target) []string {
	used := map[string]bool{}
	for _, key := range t.workspaces {
		used["Workspace/"+key.String()] = true
		var w v1beta1.Workspace
		if err := t.cluster.Get(context.Background(), key, &w); err == nil {
			used["WorkspaceKind//"+w.Spec.Kind] = true
		}
	}
	var out []string
	for _, f := range t.cluster.Foreign(func(kind, namespace, name string) bool { return used[kind+"/"+namespace+"/"+name] }) {
		out = append(out, fmt.Sprintf("%s sets fields of another release of Kubeflow Notebooks, whose controller builds other objects from them: %s",
			f.Object, strings.Join(f.Fields, ", ")))
	}
	return out
}

// server plans in memory to see which rights it takes, and then asks the API server.
func (o *reconcileOptions) server(ctx context.Context) (*plan.Plan, error) {
	t, p, err := o.inMemory(ctx)
	if err != nil || !p.Changed() {
		return p, err
	}
	if err := o.checkRights(ctx, t, p, nil); err != nil || !p.Changed() {
		return p, err
	}
	return o.write(ctx, plan.Server)
}

// live looks first whether there is anything to do, so that a run with nothing to do writes
// nothing, not even the Lease.
func (o *reconcileOptions) live(ctx context.Context) (*plan.Plan, error) {
	lease := o.lease()
	withLease, err := o.checkLease(ctx, lease)
	if err != nil {
		return nil, err
	}
	t, p, err := o.inMemory(ctx)
	if err != nil {
		return nil, err
	}
	if len(o.notes) > 0 { // see foreign
		return nil, fmt.Errorf("%s\nNothing was changed; --dry-run=client shows what this program would do", strings.Join(o.notes, "\n"))
	}
	if !p.Changed() {
		return p, nil
	}
	var rights []plan.Right
	if withLease {
		rights = lease.Rights()
	}
	if err := o.checkRights(ctx, t, p, rights); err != nil || !p.Changed() {
		return p, err
	}
	if !withLease {
		return o.write(ctx, plan.Live)
	}
	var done *plan.Plan
	var writeErr error
	err = lease.Hold(ctx, func(ctx context.Context) { done, writeErr = o.write(ctx, plan.Live) })
	var none *plan.NoLeaseError
	if errors.As(err, &none) && none.NamespaceMissing {
		o.note("Note: %v, so no Workspace controller can be running there.", none)
		return o.write(ctx, plan.Live)
	}
	if err := o.leaseError(err); err != nil {
		if done != nil {
			_ = o.print(done)
		}
		return nil, errors.Join(err, writeErr)
	}
	return done, writeErr
}

// write loads everything anew and reconciles. What is done is returned even if ctx ends.
func (o *reconcileOptions) write(ctx context.Context, mode plan.Mode) (*plan.Plan, error) {
	t, err := o.load(ctx, mode)
	if err != nil {
		return nil, err
	}
	progress, end := o.progress(len(t.workspaces))
	p := o.runner(t, progress).Run(ctx, t.workspaces, t.kinds)
	end()
	o.annotate(p)
	if ctx.Err() != nil {
		_ = o.print(p)
		return nil, context.Cause(ctx)
	}
	return p, nil
}
