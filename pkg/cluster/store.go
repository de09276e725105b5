package cluster

import (
	"context"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Store is a Reader over objects in memory: the content of a snapshot, or what a
// few lists of a live cluster returned. The zero value is empty and claims nothing.
type Store struct {
	// Skipped says which files of a directory could not be used, and why.
	Skipped []error

	// now is what Now returns.
	now     time.Time
	objects map[schema.GroupKind]map[objectKey]*unstructured.Unstructured
	// events are the keys of the Events by what they are about, which each of many
	// Workspaces asks for several times.
	events map[eventsKey][]objectKey
	// complete are the kinds of which every object (in namespaces) is here.
	complete map[string]bool
	// namespaces bounds complete for namespaced kinds; empty means all.
	namespaces map[string]bool
	// lists are selections that the Store holds in full.
	lists map[ListClaim]bool
	// absent holds "Kind/namespace/name" or "Kind/name" of objects that a server
	// said do not exist.
	absent map[string]bool
	// unanswered holds, by "Kind", "Kind/name" or "Kind/namespace/name", why there
	// was no answer when the snapshot was taken.
	unanswered map[string]*recordedError
}

type objectKey struct{ namespace, name string }

type eventsKey struct {
	namespace string
	About
}

// recordedError replays a failed read of the time of capture.
type recordedError struct{ reason, detail string }

func (e *recordedError) Error() string { return e.detail }

// NewStore returns an empty Store whose clock stands at now.
func NewStore(now time.Time) *Store {
	return &Store{
		now:        now,
		objects:    map[schema.GroupKind]map[objectKey]*unstructured.Unstructured{},
		events:     map[eventsKey][]objectKey{},
		complete:   map[string]bool{},
		namespaces: map[string]bool{},
		lists:      map[ListClaim]bool{},
		absent:     map[string]bool{},
		unanswered: map[string]*recordedError{},
	}
}

// Add puts an object into the Store, replacing one of the same kind, namespace and
// name. The content of Secrets and ConfigMaps is dropped.
func (s *Store) Add(u *unstructured.Unstructured) {
	gk := u.GroupVersionKind().GroupKind()
	if gk == Secrets.GVK().GroupKind() || gk == ConfigMaps.GVK().GroupKind() {
		for _, field := range []string{"data", "stringData", "binaryData"} {
			delete(u.Object, field)
		}
	}
	if s.objects[gk] == nil {
		s.objects[gk] = map[objectKey]*unstructured.Unstructured{}
	}
	key := objectKey{u.GetNamespace(), u.GetName()}
	before := s.objects[gk][key]
	s.objects[gk][key] = u
	if gk != Events.GVK().GroupKind() {
		return
	}
	if before != nil {
		k := eventsKey{key.namespace, aboutOf(before)}
		s.events[k] = slices.DeleteFunc(s.events[k], func(other objectKey) bool { return other == key })
	}
	k := eventsKey{key.namespace, aboutOf(u)}
	s.events[k] = append(s.events[k], key)
}

// candidates are the objects among which a List has to choose.
func (s *Store) candidates(r Resource, opts ListOptions) iter.Seq2[objectKey, *unstructured.Unstructured] {
	objects := s.objects[r.GVK().GroupKind()]
	if opts.About == nil || opts.Namespace == "" {
		return maps.All(objects)
	}
	return func(yield func(objectKey, *unstructured.Unstructured) bool) {
		for _, key := range s.events[eventsKey{opts.Namespace, *opts.About}] {
			if !yield(key, objects[key]) {
				return
			}
		}
	}
}

// Now returns the time of capture.
func (s *Store) Now() time.Time { return s.now }

// Get implements Reader. An object that is not here is absent only if the Store
// claims to be complete for its kind or knows that a server said so.
func (s *Store) Get(_ context.Context, r Resource, namespace, name string) (*unstructured.Unstructured, error) {
	if !r.Namespaced {
		namespace = ""
	}
	if u, ok := s.objects[r.GVK().GroupKind()][objectKey{namespace, name}]; ok {
		return u.DeepCopy(), nil
	}
	short, long := r.Kind+"/"+name, objectName(r, namespace, name)
	for _, key := range []string{long, short, r.Kind} {
		if err, ok := s.unanswered[key]; ok {
			return nil, err
		}
	}
	if s.absent[long] || s.absent[short] || s.covers(r, namespace) {
		return nil, apierrors.NewNotFound(r.GroupResource(), name)
	}
	return nil, ErrNotInSnapshot
}

// objectName names an object in the absent and unchecked lists of a snapshot.
func objectName(r Resource, namespace, name string) string {
	if !r.Namespaced {
		return r.Kind + "/" + name
	}
	return r.Kind + "/" + namespace + "/" + name
}

// List implements Reader. An empty result is an error unless the Store claims to hold
// all of the selection: there is nothing then that an answer could consist of.
func (s *Store) List(_ context.Context, r Resource, opts ListOptions) ([]unstructured.Unstructured, error) {
	var items []unstructured.Unstructured
	for key, u := range s.candidates(r, opts) {
		if opts.Namespace != "" && key.namespace != opts.Namespace {
			continue
		}
		if opts.labelSelector().Matches(labels.Set(u.GetLabels())) && isAbout(u, opts.About) {
			items = append(items, *u.DeepCopy())
		}
	}
	slices.SortFunc(items, func(a, b unstructured.Unstructured) int {
		return strings.Compare(a.GetNamespace()+"/"+a.GetName(), b.GetNamespace()+"/"+b.GetName())
	})
	if len(items) > 0 || s.IsComplete(r, opts) {
		return items, nil
	}
	keys := []string{r.Kind}
	if opts.About != nil {
		keys = []string{r.Kind + "/" + opts.About.Kind + "/" + opts.About.Name, r.Kind}
	}
	for _, key := range keys {
		if err, ok := s.unanswered[key]; ok {
			return nil, err
		}
	}
	return nil, ErrNotInSnapshot
}

// IsComplete implements Reader. That some objects are here says nothing about others:
// people dump the objects that they think matter.
func (s *Store) IsComplete(r Resource, opts ListOptions) bool {
	return s.covers(r, opts.Namespace) || s.lists[claimOf(r, opts)]
}

// covers reports whether the Store claims to hold every object of the resource in
// a namespace (in all namespaces, if it is empty).
func (s *Store) covers(r Resource, namespace string) bool {
	if !s.complete[r.Kind] {
		return false
	}
	return !r.Namespaced || len(s.namespaces) == 0 || s.namespaces[namespace]
}

func isAbout(event *unstructured.Unstructured, about *About) bool {
	return about == nil || aboutOf(event) == *about
}

// aboutOf tells what an Event is about.
func aboutOf(event *unstructured.Unstructured) About {
	kind, _, _ := unstructured.NestedString(event.Object, "involvedObject", "kind")
	name, _, _ := unstructured.NestedString(event.Object, "involvedObject", "name")
	return About{kind, name}
}

// Query is one list of a bulk load.
type Query struct {
	Resource Resource
	Options  ListOptions
}

// Load fills a Store with the results of several lists, sent in parallel. It is how
// a command that shows many Workspaces keeps its number of requests independent of
// theirs. A list that fails is remembered as such: what depends on it is then
// reported as not checked. The error is only that of ctx.
func Load(ctx context.Context, from Reader, queries ...Query) (*Store, error) {
	s := NewStore(from.Now())
	lists := make([][]unstructured.Unstructured, len(queries))
	errs := make([]error, len(queries))
	Parallel(len(queries), func(i int) {
		lists[i], errs[i] = from.List(ctx, queries[i].Resource, queries[i].Options)
	})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for i, q := range queries {
		if errs[i] != nil {
			s.unanswered[q.Resource.Kind] = &recordedError{reason(errs[i]), detail(errs[i])}
			continue
		}
		s.complete[q.Resource.Kind] = from.IsComplete(q.Resource, q.Options)
		if ns := q.Options.Namespace; ns != "" && q.Resource.Namespaced {
			s.namespaces[ns] = true
		}
		for j := range lists[i] {
			s.Add(&lists[i][j])
		}
	}
	return s, nil
}

// DefaultNamespace is the namespace to look in when the user names none: that of
// the Workspaces, if they share one, else "default".
func (s *Store) DefaultNamespace() string {
	found := ""
	for key := range s.objects[Workspaces.GVK().GroupKind()] {
		if found != "" && found != key.namespace {
			return metav1.NamespaceDefault
		}
		found = key.namespace
	}
	if found == "" {
		return metav1.NamespaceDefault
	}
	return found
}
