package plan

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/api/v1beta1"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/controller"
)

// Component is the source of the Events that this program records.
const Component = "kubectl-workspace"

// Runner reconciles against a Cluster.
type Runner struct {
	Cluster *Cluster
	Config  controller.Config
	Now     func() time.Time
	// Workers is how many Workspaces are reconciled at the same time; 1 if it is 0.
	Workers int
	// SkipEvents leaves Events out, for a user who cannot record them.
	SkipEvents bool
	// Progress, if set, is told about every Workspace that is done. Calls do not overlap.
	Progress func(Outcome)
}

// attempts is how often a reconcile is tried that meets a conflict or a server in trouble.
const attempts = 6

// Run reconciles Workspaces, then WorkspaceKinds. A failure of one does not stop the others;
// the end of ctx does, and what was not begun then fails with it.
func (r *Runner) Run(ctx context.Context, workspaces []types.NamespacedName, kinds []string) *Plan {
	p := &Plan{APIVersion: APIVersion, Kind: Kind, Mode: r.Cluster.mode, Workspaces: make([]Outcome, len(workspaces))}
	var progress sync.Mutex
	next := make(chan int)
	var workers sync.WaitGroup
	for range min(max(r.Workers, 1), max(len(workspaces), 1)) {
		workers.Add(1)
		go func() {
			defer workers.Done()
			for i := range next {
				p.Workspaces[i] = r.workspace(ctx, workspaces[i])
				if r.Progress != nil {
					progress.Lock()
					r.Progress(p.Workspaces[i])
					progress.Unlock()
				}
			}
		}()
	}
	for i := range workspaces {
		next <- i
	}
	close(next)
	workers.Wait()
	for _, k := range kinds {
		p.WorkspaceKinds = append(p.WorkspaceKinds, r.kind(ctx, k))
	}
	p.summarise()
	return p
}

func (r *Runner) workspace(ctx context.Context, key types.NamespacedName) Outcome {
	before := &v1beta1.Workspace{}
	err := r.Cluster.Get(ctx, key, before)
	o := Outcome{Namespace: key.Namespace, Name: key.Name, WorkspaceKind: before.Spec.Kind}
	if err != nil {
		return failed(o, fmt.Errorf("cannot read it: %w", err))
	}
	had := len(r.sets(key)) > 0
	c := &recording{Cluster: r.Cluster}
	reconciler := &controller.WorkspaceReconciler{Client: c, Config: r.Config, Now: r.Now}
	if !r.SkipEvents {
		reconciler.Recorder = &controller.EventRecorder{Client: c, Now: r.Now, Component: Component}
	}
	result, err := r.try(ctx, c, reconciler, reconcile.Request{NamespacedName: key})
	o.LookAgainSeconds = int(result.RequeueAfter.Round(time.Second) / time.Second)
	after := &v1beta1.Workspace{}
	if getErr := r.Cluster.Get(ctx, key, after); getErr != nil {
		after = before
	}
	if describeErr := r.describe(&o, c, before, after); err == nil {
		err = describeErr
	}
	o.ActivityRules = r.activityRules(before.Spec.Kind)
	if err != nil {
		return failed(o, err)
	}
	switch {
	case !had && slices.ContainsFunc(o.Changes, func(c Change) bool { return c.Verb == VerbCreate && c.Kind == statefulSetGVK.Kind }):
		o.Result = Created
	case o.writes():
		o.Result = Updated
	default:
		o.Result = Unchanged
	}
	return o
}

func (r *Runner) kind(ctx context.Context, name string) Outcome {
	o := Outcome{Name: name, Changes: []Change{}}
	c := &recording{Cluster: r.Cluster}
	_, err := r.try(ctx, c, &controller.WorkspaceKindReconciler{Client: c}, reconcile.Request{NamespacedName: types.NamespacedName{Name: name}})
	if describeErr := r.writes(&o, c); err == nil {
		err = describeErr
	}
	if err != nil {
		return failed(o, err)
	}
	o.Result = Unchanged
	if o.writes() {
		o.Result = Updated
	}
	return o
}

func failed(o Outcome, err error) Outcome {
	o.Result, o.Error = Failed, err.Error()
	if o.Changes == nil {
		o.Changes = []Change{}
	}
	return o
}

// try reconciles until that works, somebody else stops being faster, and the API server answers.
func (r *Runner) try(ctx context.Context, c *recording, reconciler reconcile.Reconciler, request reconcile.Request) (reconcile.Result, error) {
	delay := 20 * time.Millisecond
	for n := 1; ; n++ {
		if err := context.Cause(ctx); err != nil {
			return reconcile.Result{}, err
		}
		result, err := reconciler.Reconcile(ctx, request)
		// What is gone when it is changed was deleted meanwhile; without it all looks different.
		gone := c.failed != nil && c.failed.verb != VerbCreate && apierrors.IsNotFound(err)
		if err == nil || n == attempts || !passes(err) && !gone || ctx.Err() != nil {
			if err != nil && ctx.Err() != nil {
				err = context.Cause(ctx)
			}
			if apierrors.IsConflict(err) {
				err = fmt.Errorf("somebody else kept changing the same objects, gave up after %d attempts; run it again: %w", n, err)
			}
			return result, err
		}
		select {
		case <-ctx.Done():
		case <-time.After(delay + rand.N(delay)):
		}
		delay *= 2
		if err := r.refresh(ctx, c, request); err != nil && !passes(err) {
			return reconcile.Result{}, err
		}
	}
}

// passes tells whether a failure may go away by itself.
func passes(err error) bool {
	return apierrors.IsConflict(err) || apierrors.IsTooManyRequests(err) || apierrors.IsServerTimeout(err) ||
		apierrors.IsInternalError(err) || apierrors.IsServiceUnavailable(err) || apierrors.IsTimeout(err)
}

// refresh reads anew what a reconcile has failed over.
func (r *Runner) refresh(ctx context.Context, c *recording, request reconcile.Request) error {
	ids := []identity{}
	if request.Namespace != "" {
		ids = append(ids, identity{workspaceGVK, request.NamespacedName})
	} else {
		ids = append(ids, identity{kindGVK, request.NamespacedName})
	}
	if c.failed != nil && c.failed.id.key.Name != "" && !slices.Contains(ids, c.failed.id) {
		ids = append(ids, c.failed.id)
	}
	c.failed = nil
	for _, id := range ids {
		if err := r.Cluster.refresh(ctx, id); err != nil {
			return fmt.Errorf("cannot read %s again: %w", id, err)
		}
	}
	return nil
}

func (r *Runner) sets(key types.NamespacedName) []*appsv1.StatefulSet {
	var out []*appsv1.StatefulSet
	for _, o := range r.Cluster.owned(key.Namespace, key.Name) {
		if set, ok := o.object.(*appsv1.StatefulSet); ok {
			out = append(out, set)
		}
	}
	return out
}

func (r *Runner) activityRules(kind string) string {
	o, _, _ := r.Cluster.find(identity{kindGVK, client.ObjectKey{Name: kind}})
	if k, ok := o.(*v1beta1.WorkspaceKind); ok && (k.Spec.PodTemplate.ActivityProbe != nil || len(k.Spec.ActivityRules) > 0) {
		return "not evaluated"
	}
	return ""
}

// describe turns what was recorded into the changes of an outcome.
func (r *Runner) describe(o *Outcome, c *recording, before, after *v1beta1.Workspace) error {
	if err := r.writes(o, c); err != nil {
		return err
	}
	written := map[string]bool{}
	for _, change := range o.Changes {
		written[change.Kind+"/"+change.Name] = true
	}
	for _, owned := range r.Cluster.owned(o.Namespace, o.Name) {
		if !written[owned.id.gvk.Kind+"/"+owned.id.key.Name] {
			o.Changes = append(o.Changes, Change{Verb: VerbNone, Kind: owned.id.gvk.Kind, Namespace: o.Namespace, Name: owned.id.key.Name})
		}
	}
	slices.SortStableFunc(o.Changes, func(a, b Change) int {
		if d := kindOrder(a.Kind) - kindOrder(b.Kind); d != 0 {
			return d
		}
		return strings.Compare(a.Name, b.Name)
	})
	fields, err := diff(before, after, true)
	o.Status = &StatusChange{
		Before: State{string(before.Status.State), before.Status.StateMessage},
		After:  State{string(after.Status.State), after.Status.StateMessage},
		Fields: fields,
	}
	return err
}

func kindOrder(kind string) int {
	for i, gvk := range ownedGVKs {
		if gvk.Kind == kind {
			return i
		}
	}
	return len(ownedGVKs)
}

// writes lists the writes of a recording. Several to one object are one change; one that
// changed nothing is none.
func (r *Runner) writes(o *Outcome, c *recording) error {
	o.Changes = []Change{}
	type span struct {
		verb          Verb
		before, after client.Object
	}
	spans := map[identity]*span{}
	var order []identity
	for _, w := range c.writes {
		if event, ok := w.after.(*corev1.Event); ok {
			o.Events = append(o.Events, Event{event.Type, event.Reason, event.Message})
			continue
		}
		if w.status && w.id.gvk == workspaceGVK {
			continue // told as the change of the status
		}
		s := spans[w.id]
		if s == nil {
			s = &span{verb: w.verb, before: w.before}
			spans[w.id] = s
			order = append(order, w.id)
		} else if s.verb != VerbCreate {
			s.verb = w.verb
		}
		s.after = w.after
	}
	for _, id := range order {
		s := spans[id]
		change := Change{Verb: s.verb, Kind: id.gvk.Kind, Namespace: id.key.Namespace, Name: id.key.Name}
		if s.verb == VerbUpdate {
			fields, err := diff(s.before, s.after, false)
			if err != nil {
				return err
			}
			if id.gvk == kindGVK {
				status, err := diff(s.before, s.after, true)
				if err != nil {
					return err
				}
				fields = append(fields, status...)
			}
			if change.Fields = fields; len(fields) == 0 {
				change.Verb = VerbNone // the server made nothing of it
			}
			change.Pod = r.podEffect(s.before, s.after)
			o.PodRestarts = o.PodRestarts || change.Pod == podRestarts
		}
		o.Changes = append(o.Changes, change)
	}
	return nil
}

const podRestarts = "restarts"

// podEffect says what the change of a StatefulSet does to its Pod.
func (r *Runner) podEffect(before, after client.Object) string {
	b, ok := before.(*appsv1.StatefulSet)
	if !ok {
		return ""
	}
	a, ok := after.(*appsv1.StatefulSet)
	if !ok {
		return ""
	}
	from, to := replicas(b), replicas(a)
	pod, _, _ := r.Cluster.find(identity{podGVK, client.ObjectKey{Namespace: a.Namespace, Name: a.Name + "-0"}})
	switch {
	case from == 0 && to > 0:
		return "starts"
	case from > 0 && to == 0:
		return "stops"
	case pod == nil || a.Spec.UpdateStrategy.Type == appsv1.OnDeleteStatefulSetStrategyType:
		return ""
	case !equality.Semantic.DeepEqual(b.Spec.Template, a.Spec.Template):
		return podRestarts
	}
	return ""
}

func replicas(s *appsv1.StatefulSet) int32 {
	if s.Spec.Replicas == nil {
		return 1
	}
	return *s.Spec.Replicas
}
