package plan

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/cluster"
)

// Cluster is what the controller sees: the objects that were loaded, with everything on top
// that was written since. It may be used by several goroutines.
type Cluster struct {
	mode Mode
	api  client.Client // nil in Snapshot mode
	// snapshot answers what is not in memory in Snapshot mode.
	snapshot cluster.Reader
	scheme   *runtime.Scheme
	mapper   meta.RESTMapper
	now      func() time.Time

	mu      sync.RWMutex
	objects store
	// deleted are objects that are gone, whatever the API server still says.
	deleted map[identity]bool
	// virtual are objects that the API server does not have: made by a dry run, or read from
	// a manifest. What is written to them stays in memory.
	virtual map[identity]bool
	// loaded are the kinds of which every object of the namespaces is here; "" is all.
	loaded map[schema.GroupVersionKind]map[string]bool
	// unknown says of which kinds nothing can be said, and why.
	unknown map[schema.GroupVersionKind]error
	serial  int
	// foreign are the fields that this program does not know, by object.
	foreign map[identity][]string
}

type identity struct {
	gvk schema.GroupVersionKind
	key client.ObjectKey
}

func (i identity) String() string {
	if i.key.Namespace == "" {
		return i.gvk.Kind + " " + i.key.Name
	}
	return fmt.Sprintf("%s %s/%s", i.gvk.Kind, i.key.Namespace, i.key.Name)
}

// NewCluster returns a Cluster over an API server; api is nil in Snapshot mode.
func NewCluster(mode Mode, api client.Client, now func() time.Time) (*Cluster, error) {
	s, err := NewScheme()
	if err != nil {
		return nil, err
	}
	return &Cluster{
		mode: mode, api: api, scheme: s, mapper: newMapper(), now: now,
		objects: store{},
		deleted: map[identity]bool{},
		virtual: map[identity]bool{},
		loaded:  map[schema.GroupVersionKind]map[string]bool{},
		unknown: map[schema.GroupVersionKind]error{},
	}, nil
}

// Mode says where writes go.
func (c *Cluster) Mode() Mode { return c.mode }

// put keeps a copy of an object, in the form in which its kind is kept.
func (c *Cluster) put(gvk schema.GroupVersionKind, o client.Object) error {
	kept := newObject(c.scheme, gvk)
	if err := copyInto(o, kept); err != nil {
		return fmt.Errorf("%s %s/%s: %w", gvk.Kind, o.GetNamespace(), o.GetName(), err)
	}
	c.keep(gvk, kept)
	return nil
}

// keep keeps an object that is in the form in which its kind is kept, and that nobody else
// holds.
func (c *Cluster) keep(gvk schema.GroupVersionKind, o client.Object) {
	slim(o)
	id := identity{gvk, client.ObjectKeyFromObject(o)}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.objects.put(id, o)
	delete(c.deleted, id)
}

// slim drops what the controller does not look at, which is most of what an API server sends.
func slim(o client.Object) {
	o.SetManagedFields(nil)
	switch o := o.(type) {
	case *corev1.Pod:
		names := func(in []corev1.Container) (out []corev1.Container) {
			for i := range in {
				out = append(out, corev1.Container{Name: in[i].Name})
			}
			return out
		}
		o.Spec = corev1.PodSpec{
			NodeName: o.Spec.NodeName, Containers: names(o.Spec.Containers), InitContainers: names(o.Spec.InitContainers),
		}
		o.Status = corev1.PodStatus{
			Phase: o.Status.Phase, Conditions: o.Status.Conditions, ContainerStatuses: o.Status.ContainerStatuses,
		}
		o.Annotations = nil
	case *metav1.PartialObjectMetadata: // a Secret: it exists
		o.Labels, o.Annotations, o.OwnerReferences = nil, nil, nil
	}
}

// copyInto copies an object into one that may be of another Go type.
func copyInto(from, to client.Object) error {
	if reflect.TypeOf(from) == reflect.TypeOf(to) {
		reflect.ValueOf(to).Elem().Set(reflect.ValueOf(from.DeepCopyObject()).Elem())
		return nil
	}
	gvk := to.GetObjectKind().GroupVersionKind()
	var content map[string]any
	if u, ok := from.(*unstructured.Unstructured); ok {
		content = u.Object
	} else {
		var err error
		if content, err = runtime.DefaultUnstructuredConverter.ToUnstructured(from); err != nil {
			return err
		}
	}
	if u, ok := to.(*unstructured.Unstructured); ok {
		u.Object = content
	} else if err := runtime.DefaultUnstructuredConverter.FromUnstructured(content, to); err != nil {
		return err
	}
	if !gvk.Empty() {
		to.GetObjectKind().SetGroupVersionKind(gvk)
	}
	return nil
}

func (c *Cluster) remember(id identity, virtual bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if virtual {
		c.virtual[id] = true
	}
}

func (c *Cluster) isVirtual(id identity) bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.virtual[id]
}

func (c *Cluster) isDeleted(id identity) bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.deleted[id]
}

func (c *Cluster) remove(id identity) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.objects.remove(id)
	c.deleted[id] = true
}

// find looks into memory. known is false if only the API server can tell.
func (c *Cluster) find(id identity) (o client.Object, known bool, err error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if o := c.objects.get(id); o != nil {
		return o, true, nil
	}
	if c.deleted[id] || c.covers(id.gvk, id.key.Namespace) {
		return nil, true, nil
	}
	return nil, false, c.unknown[id.gvk]
}

func (c *Cluster) covers(gvk schema.GroupVersionKind, namespace string) bool {
	return c.loaded[gvk][""] || c.loaded[gvk][namespace] && namespace != ""
}

func (c *Cluster) identify(o client.Object) (identity, error) {
	gvk, err := apiutil.GVKForObject(o, c.scheme)
	return identity{gvk, client.ObjectKeyFromObject(o)}, err
}

func notFound(id identity) error {
	return apierrors.NewNotFound(schema.GroupResource{Group: id.gvk.Group, Resource: resourceOf(id.gvk)}, id.key.Name)
}

// Get implements client.Reader.
func (c *Cluster) Get(ctx context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	gvk, err := apiutil.GVKForObject(into, c.scheme)
	if err != nil {
		return err
	}
	id := identity{gvk, key}
	o, known, err := c.find(id)
	switch {
	case err != nil:
		return err
	case o != nil:
		return copyInto(o, into)
	case known:
		return notFound(id)
	case c.api == nil:
		return c.askSnapshot(ctx, id)
	}
	if err := c.api.Get(ctx, key, into); err != nil {
		return err
	}
	return c.put(gvk, into)
}

// askSnapshot says that an object does not exist only where the snapshot does, if its absence
// would be an answer. What the controller makes itself is taken to be absent.
func (c *Cluster) askSnapshot(ctx context.Context, id identity) error {
	if c.snapshot == nil || id.gvk == podGVK || slices.Contains(ownedGVKs, id.gvk) {
		return notFound(id)
	}
	if _, err := c.snapshot.Get(ctx, resource(id.gvk), id.key.Namespace, id.key.Name); err != nil {
		if errors.Is(err, cluster.ErrNotInSnapshot) {
			return fmt.Errorf("%s: %w", id, err)
		}
		return err
	}
	return notFound(id)
}

// refresh reads an object anew after a conflict.
func (c *Cluster) refresh(ctx context.Context, id identity) error {
	if c.api == nil || c.isVirtual(id) {
		return nil
	}
	o := newObject(c.scheme, id.gvk)
	switch err := c.api.Get(ctx, id.key, o); {
	case apierrors.IsNotFound(err):
		c.remove(id)
		return nil
	case err != nil:
		return err
	}
	return c.put(id.gvk, o)
}

// List implements client.Reader. Kinds that were not loaded are read from the API server.
func (c *Cluster) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	gvk, err := apiutil.GVKForObject(list, c.scheme)
	if err != nil {
		return err
	}
	gvk.Kind = strings.TrimSuffix(gvk.Kind, "List")
	var o client.ListOptions
	o.ApplyOptions(opts)
	c.mu.RLock()
	covered, unknown := c.covers(gvk, o.Namespace), c.unknown[gvk]
	c.mu.RUnlock()
	if !covered {
		if unknown != nil {
			return unknown
		}
		if c.api != nil {
			return c.api.List(ctx, list, opts...)
		}
	}
	return c.listMemory(gvk, list, o)
}

func (c *Cluster) listMemory(gvk schema.GroupVersionKind, list client.ObjectList, o client.ListOptions) error {
	var wanted func(client.Object) bool
	if o.FieldSelector != nil {
		if uid, ok := o.FieldSelector.RequiresExactMatch("involvedObject.uid"); ok {
			wanted = func(object client.Object) bool {
				event, ok := object.(*corev1.Event)
				return !ok || string(event.InvolvedObject.UID) == uid
			}
		}
	}
	c.mu.RLock()
	found := c.objects.list(gvk, o.Namespace, wanted)
	c.mu.RUnlock()
	shared := ptr.Deref(o.UnsafeDisableDeepCopy, false)
	items := make([]runtime.Object, 0, len(found))
	for _, object := range found {
		if shared {
			items = append(items, object)
		} else {
			items = append(items, object.DeepCopyObject())
		}
	}
	return meta.SetList(list, items)
}

// Scheme implements client.Client.
func (c *Cluster) Scheme() *runtime.Scheme { return c.scheme }

// RESTMapper implements client.Client.
func (c *Cluster) RESTMapper() meta.RESTMapper { return c.mapper }

// GroupVersionKindFor implements client.Client.
func (c *Cluster) GroupVersionKindFor(o runtime.Object) (schema.GroupVersionKind, error) {
	return apiutil.GVKForObject(o, c.scheme)
}

// IsObjectNamespaced implements client.Client.
func (c *Cluster) IsObjectNamespaced(o runtime.Object) (bool, error) {
	gvk, err := apiutil.GVKForObject(o, c.scheme)
	return !clusterScopedKinds[gvk], err
}

// owned returns what a Workspace owns, in the order of ownedGVKs and by name.
func (c *Cluster) owned(namespace, workspace string) []ownedObject {
	c.mu.RLock()
	defer c.mu.RUnlock()
	var out []ownedObject
	for _, gvk := range ownedGVKs {
		for _, o := range c.objects.list(gvk, namespace, func(o client.Object) bool { return isOwned(o, workspace) }) {
			out = append(out, ownedObject{identity{gvk, client.ObjectKeyFromObject(o)}, o})
		}
	}
	return out
}

type ownedObject struct {
	id     identity
	object client.Object
}

func (c *Cluster) nextSerial() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.serial++
	return c.serial
}
