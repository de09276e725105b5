package plan

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/api/v1beta1"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/cluster"
)

// pageSize is the number of objects asked for in one request, kubectl's own default.
const pageSize = 500

// Scope says what to load.
type Scope struct {
	// Namespaces whose Workspaces are reconciled. Several are loaded as all: a list over all
	// namespaces is cheaper than one for each.
	Namespaces []string
	// Istio is true where VirtualServices are made.
	Istio bool
}

func (s Scope) namespace() string {
	if len(s.Namespaces) == 1 {
		return s.Namespaces[0]
	}
	return ""
}

// LoadWorkspaces fills the Cluster with the Workspaces of a namespace, or of all if it is
// empty, and with the WorkspaceKinds.
func (c *Cluster) LoadWorkspaces(ctx context.Context, namespace string) error {
	return c.load(ctx, []query{{gvk: workspaceGVK, namespace: namespace}, {gvk: kindGVK}})
}

// LoadOwned fills the Cluster with what the reconciling of Workspaces rests on.
func (c *Cluster) LoadOwned(ctx context.Context, scope Scope) error {
	ns := scope.namespace()
	queries := []query{
		{gvk: serviceAccountGVK, namespace: ns},
		{gvk: statefulSetGVK, namespace: ns},
		{gvk: serviceGVK, namespace: ns},
		{gvk: roleBindingGVK, namespace: ns},
		{gvk: podGVK, namespace: ns, opts: client.HasLabels{v1beta1.LabelWorkspaceName}},
		// The state follows from Warnings alone.
		{gvk: eventGVK, namespace: ns, opts: client.MatchingFields{"type": corev1.EventTypeWarning}},
	}
	if scope.Istio {
		queries = append(queries, query{gvk: virtualServiceGVK, namespace: ns})
	}
	if c.anySecrets() {
		// Whether a Secret exists is a courtesy; without the right to see them it is not known.
		queries = append(queries, query{gvk: secretGVK, namespace: ns, optional: true})
	}
	if err := c.load(ctx, queries); err != nil {
		return err
	}
	return c.loadUnlabelledPods(ctx, ns)
}

// loadUnlabelledPods finds the Pods of StatefulSets that lost the label by which the others were
// found: the controller goes by the name alone. It asks only if there is a StatefulSet without
// its Pod, and then with one list, however many there are.
func (c *Cluster) loadUnlabelledPods(ctx context.Context, namespace string) error {
	if c.api == nil {
		return nil
	}
	lacking := map[client.ObjectKey]bool{}
	c.mu.RLock()
	for _, o := range c.objects.list(statefulSetGVK, namespace, nil) {
		key := client.ObjectKey{Namespace: o.GetNamespace(), Name: o.GetName() + "-0"}
		set, ok := o.(*appsv1.StatefulSet)
		owner := metav1.GetControllerOfNoCopy(o)
		if ok && owner != nil && isOwned(o, owner.Name) && replicas(set) > 0 && c.objects.get(identity{podGVK, key}) == nil {
			lacking[key] = true
		}
	}
	c.mu.RUnlock()
	if len(lacking) == 0 {
		return nil
	}
	without, err := labels.NewRequirement(v1beta1.LabelWorkspaceName, selection.DoesNotExist, nil)
	if err != nil {
		return err
	}
	opts := []client.ListOption{client.InNamespace(namespace), client.MatchingLabelsSelector{Selector: labels.NewSelector().Add(*without)}}
	names := func() client.ObjectList {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(podGVK.GroupVersion().WithKind("PodList"))
		return list
	}
	err = c.eachPage(ctx, names, opts, func(o client.Object) error {
		if !lacking[client.ObjectKeyFromObject(o)] {
			return nil
		}
		one := &corev1.PodList{} // listed, because who plans needs no right to get
		err := c.api.List(ctx, one, client.InNamespace(o.GetNamespace()), client.MatchingFields{"metadata.name": o.GetName()})
		if err != nil {
			return err
		}
		return eachObject(one, func(pod client.Object) error { return c.take(podGVK, pod) })
	})
	if err != nil {
		return fmt.Errorf("cannot list pods: %w", err)
	}
	return nil
}

// LoadAllWorkspaces makes sure that the Workspaces of all namespaces are there, which the
// counts of the WorkspaceKinds need. It reports whether they are.
func (c *Cluster) LoadAllWorkspaces(ctx context.Context) (bool, error) {
	err := c.load(ctx, []query{{gvk: workspaceGVK}})
	if apierrors.IsForbidden(err) || errors.Is(err, cluster.ErrNotInSnapshot) {
		return false, nil
	}
	return err == nil, err
}

func (c *Cluster) anySecrets() bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return len(c.objects.list(workspaceGVK, "", func(o client.Object) bool {
		w, ok := o.(*v1beta1.Workspace)
		return ok && len(w.Spec.PodTemplate.Volumes.Secrets) > 0
	})) > 0
}

// SecretsUnknown says why nothing is known about Secrets that Workspaces mount; nil if it is, or
// if they mount none.
func (c *Cluster) SecretsUnknown() error {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.unknown[secretGVK]
}

type query struct {
	gvk       schema.GroupVersionKind
	namespace string
	opts      client.ListOption
	optional  bool
}

func (c *Cluster) load(ctx context.Context, queries []query) error {
	if c.api == nil {
		return nil // a snapshot is complete from the start
	}
	queries = slices.DeleteFunc(queries, func(q query) bool {
		c.mu.RLock()
		defer c.mu.RUnlock()
		return c.covers(q.gvk, q.namespace)
	})
	errs := make([]error, len(queries))
	cluster.Parallel(len(queries), func(i int) { errs[i] = c.loadOne(ctx, queries[i]) })
	return errors.Join(errs...)
}

func (c *Cluster) loadOne(ctx context.Context, q query) error {
	opts := []client.ListOption{client.InNamespace(q.namespace)}
	if q.opts != nil {
		opts = append(opts, q.opts)
	}
	list := func() client.ObjectList { return newList(c.scheme, q.gvk) }
	err := c.eachPage(ctx, list, opts, func(o client.Object) error { return c.take(q.gvk, o) })
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case err == nil:
	case q.optional && ctx.Err() == nil:
		c.unknown[q.gvk] = err
		return nil
	default:
		return fmt.Errorf("cannot list %s: %w", resourceOf(q.gvk), err)
	}
	if c.loaded[q.gvk] == nil {
		c.loaded[q.gvk] = map[string]bool{}
	}
	c.loaded[q.gvk][q.namespace] = true
	return nil
}

// eachPage lists page by page, each into a new list, so that objects may be kept as they are.
func (c *Cluster) eachPage(ctx context.Context, newPage func() client.ObjectList, opts []client.ListOption, do func(client.Object) error) error {
	for next := ""; ; {
		page := newPage()
		if err := c.api.List(ctx, page, append(slices.Clone(opts), client.Limit(pageSize), client.Continue(next))...); err != nil {
			return err
		}
		if err := eachObject(page, do); err != nil {
			return err
		}
		if next = page.GetContinue(); next == "" {
			return nil
		}
	}
}

// take keeps an object that was read, unless a manifest or a write has taken its place.
func (c *Cluster) take(gvk schema.GroupVersionKind, o client.Object) error {
	id := identity{gvk, client.ObjectKeyFromObject(o)}
	c.mu.RLock()
	have := c.objects.get(id) != nil && gvk.Group == v1beta1.GroupName || c.deleted[id]
	c.mu.RUnlock()
	if have {
		return nil
	}
	if u, ok := o.(*unstructured.Unstructured); ok && gvk.Group == v1beta1.GroupName {
		c.noteUnknownFields(id, u)
	}
	if reflect.TypeOf(o) == reflect.TypeOf(newObject(c.scheme, gvk)) {
		c.keep(gvk, o)
		return nil
	}
	return c.put(gvk, o)
}

// Workspaces returns the Workspaces that are there and selected, in order.
func (c *Cluster) Workspaces(namespace string, selected func(*v1beta1.Workspace) bool) []types.NamespacedName {
	var list v1beta1.WorkspaceList
	if err := c.listMemory(workspaceGVK, &list, client.ListOptions{Namespace: namespace}); err != nil {
		return nil // only objects of the wrong type could be the reason
	}
	var out []types.NamespacedName
	for i := range list.Items {
		if selected == nil || selected(&list.Items[i]) {
			out = append(out, client.ObjectKeyFromObject(&list.Items[i]))
		}
	}
	return out
}

// KindNames returns the names of the WorkspaceKinds that are there.
func (c *Cluster) KindNames() []string {
	c.mu.RLock()
	defer c.mu.RUnlock()
	var out []string
	for _, o := range c.objects.list(kindGVK, "", nil) {
		out = append(out, o.GetName())
	}
	return out
}
