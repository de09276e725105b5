package cluster

import (
	"context"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/api/v1beta1"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/facts"
)

// Gather reads what matters about one Workspace, in two waves of parallel reads:
// first the Workspace, its StatefulSets and its Pods, then what these name. What is
// behind the claims costs a third, where it can matter.
//
// The error is that of reading the Workspace itself (see WorkspaceError) or of ctx. Every other source that fails is recorded in
// the Facts and fails nothing.
func Gather(ctx context.Context, r Reader, namespace, name string) (*facts.Facts, error) {
	g := &gatherer{ctx: ctx, r: r, namespace: namespace}
	f := &facts.Facts{
		Now:             r.Now(),
		Events:          map[facts.Ref]facts.Answer[[]corev1.Event]{},
		Secrets:         map[string]facts.Answer[*metav1.PartialObjectMetadata]{},
		ConfigMaps:      map[string]facts.Answer[*metav1.PartialObjectMetadata]{},
		ServiceAccounts: map[string]facts.Answer[*metav1.PartialObjectMetadata]{},
		Claims:          map[string]facts.Answer[*corev1.PersistentVolumeClaim]{},
		Volumes:         map[string]facts.Answer[*corev1.PersistentVolume]{},
		Classes:         map[string]facts.Answer[*storagev1.StorageClass]{},
	}

	owned := labels.SelectorFromSet(labels.Set{v1beta1.LabelWorkspaceName: name})
	var workspaceErr error
	Parallel(3, func(i int) {
		switch i {
		case 0:
			f.Workspace, workspaceErr = get[v1beta1.Workspace](g, Workspaces, name)
		case 1:
			f.StatefulSets = list[appsv1.StatefulSet](g, StatefulSets, ListOptions{Namespace: namespace, Labels: owned})
		case 2:
			f.Pods = list[corev1.Pod](g, Pods, ListOptions{Namespace: namespace, Labels: owned})
		}
	})
	if workspaceErr != nil {
		return nil, WorkspaceError(ctx, r, namespace, name, workspaceErr)
	}

	g.want(func() func() {
		a := AnswerOf(get[v1beta1.WorkspaceKind](g, WorkspaceKinds, f.Workspace.Spec.Kind))
		return func() { f.Kind = a }
	})
	g.wantEvents(f, "Workspace", name)
	for _, s := range f.StatefulSets.Value {
		g.wantEvents(f, "StatefulSet", s.Name)
	}
	for _, p := range f.Pods.Value {
		g.wantEvents(f, "Pod", p.Name)
	}
	for ref := range referencesOf(f) {
		switch ref.Kind {
		case Secrets.Kind:
			wantNamed(g, f.Secrets, Secrets, ref.Name)
		case ConfigMaps.Kind:
			wantNamed(g, f.ConfigMaps, ConfigMaps, ref.Name)
		case ServiceAccounts.Kind:
			wantNamed(g, f.ServiceAccounts, ServiceAccounts, ref.Name)
		case Claims.Kind:
			wantNamed(g, f.Claims, Claims, ref.Name)
		}
	}
	g.wantNodes(f)
	g.wave()

	g.wantStorage(f)
	g.wave()
	return f, ctx.Err()
}

// wantNodes asks about nodes, as far as they can matter: about the Pod's own while it is
// not Ready, about all while it has none.
func (g *gatherer) wantNodes(f *facts.Facts) {
	pod := f.OwnPod()
	// A Pod that should be gone can still be called Ready: by a node that is lost.
	if pod == nil || isReady(pod) && pod.DeletionTimestamp == nil {
		return
	}
	g.want(func() func() {
		if name := f.NodeName(); name != "" {
			a := AnswerOf(get[corev1.Node](g, Nodes, name))
			return func() { f.Node = a }
		}
		a := list[corev1.Node](g, Nodes, ListOptions{})
		return func() { f.Nodes = a }
	})
}

// wantStorage asks about what is behind the claims: why one is not bound, and where the
// volume of a bound one lets the Pod run.
func (g *gatherer) wantStorage(f *facts.Facts) {
	classless, classes := false, map[string]bool{}
	for name, claim := range f.Claims {
		switch {
		case !claim.IsFound():
		case claim.Value.Status.Phase != corev1.ClaimBound:
			g.wantEvents(f, "PersistentVolumeClaim", name)
			class := claim.Value.Spec.StorageClassName
			switch {
			case class == nil:
				classless = true
			case *class != "":
				classes[*class] = true
			}
		case f.Nodes.Status != facts.NotAsked && claim.Value.Spec.VolumeName != "":
			wantNamed(g, f.Volumes, Volumes, claim.Value.Spec.VolumeName)
		}
	}
	for class := range classes {
		wantNamed(g, f.Classes, StorageClasses, class)
	}
	if classless {
		g.want(func() func() {
			a := list[storagev1.StorageClass](g, StorageClasses, ListOptions{})
			return func() { f.StorageClasses = a }
		})
	}
}

func isReady(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// gatherer collects the reads of one wave and then sends them together.
type gatherer struct {
	ctx       context.Context
	r         Reader
	namespace string
	reads     []func() func()
}

// want adds a read to the wave. read runs beside the others; the function that it
// returns stores the result and runs alone.
func (g *gatherer) want(read func() func()) { g.reads = append(g.reads, read) }

func (g *gatherer) wave() {
	store := make([]func(), len(g.reads))
	Parallel(len(g.reads), func(i int) { store[i] = g.reads[i]() })
	for _, s := range store {
		s()
	}
	g.reads = nil
}

func (g *gatherer) wantEvents(f *facts.Facts, kind, name string) {
	g.want(func() func() {
		a := list[corev1.Event](g, Events, ListOptions{Namespace: g.namespace, About: &About{kind, name}})
		return func() { f.Events[facts.Ref{Kind: kind, Name: name}] = a }
	})
}

func wantNamed[T any](g *gatherer, into map[string]facts.Answer[*T], r Resource, name string) {
	g.want(func() func() {
		a := AnswerOf(get[T](g, r, name))
		return func() { into[name] = a }
	})
}

func get[T any](g *gatherer, r Resource, name string) (*T, error) {
	u, err := g.r.Get(g.ctx, r, g.namespace, name)
	if err != nil {
		return nil, err
	}
	return convert[T](u)
}

func list[T any](g *gatherer, r Resource, opts ListOptions) facts.Answer[[]T] {
	return TypedListAnswer[T](g.ctx, g.r, r, opts)
}

// TypedListAnswer is ListAnswer with typed objects.
func TypedListAnswer[T any](ctx context.Context, from Reader, r Resource, opts ListOptions) facts.Answer[[]T] {
	return ConvertAnswer[T](ListAnswer(ctx, from, r, opts))
}

// ConvertAnswer converts the objects of an answer, which stays as partial as it is. A
// malformed one makes it unknown.
func ConvertAnswer[T any](listed facts.Answer[[]unstructured.Unstructured]) facts.Answer[[]T] {
	if !listed.IsFound() {
		return facts.Answer[[]T]{Status: listed.Status, Reason: listed.Reason, Detail: listed.Detail}
	}
	answer := AnswerOf(ConvertAll[T](listed.Value))
	answer.Partial = listed.Partial
	return answer
}

// ListAnswer lists, and says whether that is all there is.
func ListAnswer(ctx context.Context, from Reader, r Resource, opts ListOptions) facts.Answer[[]unstructured.Unstructured] {
	answer := AnswerOf(from.List(ctx, r, opts))
	answer.Partial = answer.IsFound() && !from.IsComplete(r, opts)
	return answer
}
