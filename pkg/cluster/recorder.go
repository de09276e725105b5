package cluster

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/facts"
)

// Recorder is a Reader that remembers every question and its answer, failures
// included. What it remembers makes a Snapshot from which the same questions get the
// same answers. It may be used by several goroutines.
type Recorder struct {
	from Reader
	now  time.Time

	mu        sync.Mutex
	objects   map[string]*unstructured.Unstructured
	lists     map[ListClaim]bool
	masks     masks
	absent    map[string]bool
	unchecked map[string]facts.Unchecked
}

// NewRecorder records what is read through it. Its clock stands still, so that all of
// the record is about one moment.
func NewRecorder(from Reader) *Recorder {
	return &Recorder{
		from:      from,
		now:       from.Now(),
		objects:   map[string]*unstructured.Unstructured{},
		masks:     newMasks(),
		lists:     map[ListClaim]bool{},
		absent:    map[string]bool{},
		unchecked: map[string]facts.Unchecked{},
	}
}

// Now implements Reader.
func (r *Recorder) Now() time.Time { return r.now }

// Get implements Reader.
func (r *Recorder) Get(ctx context.Context, resource Resource, namespace, name string) (*unstructured.Unstructured, error) {
	u, err := r.from.Get(ctx, resource, namespace, name)
	key := objectName(resource, namespace, name)
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case err == nil:
		r.keep(u)
	case apierrors.IsNotFound(err) && !IsResourceMissing(err):
		r.absent[key] = true
	default:
		r.unchecked[key] = facts.Unchecked{Object: key, Reason: reason(err), Detail: detail(err)}
	}
	return u, err
}

// List implements Reader.
func (r *Recorder) List(ctx context.Context, resource Resource, opts ListOptions) ([]unstructured.Unstructured, error) {
	items, err := r.from.List(ctx, resource, opts)
	claim := claimOf(resource, opts)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		key := resource.Kind
		if opts.About != nil {
			key += "/" + opts.About.Kind + "/" + opts.About.Name
		}
		r.unchecked[key] = facts.Unchecked{Object: key, Reason: reason(err), Detail: detail(err)}
		return nil, err
	}
	if r.from.IsComplete(resource, opts) {
		r.lists[claim] = true
	}
	for i := range items {
		r.keep(&items[i])
	}
	return items, nil
}

// IsComplete implements Reader.
func (r *Recorder) IsComplete(resource Resource, opts ListOptions) bool {
	return r.from.IsComplete(resource, opts)
}

// keep stores a copy; what the reader got stays as it is.
func (r *Recorder) keep(u *unstructured.Unstructured) {
	c := u.DeepCopy()
	dropBookkeeping(c)
	r.masks.learn(c)
	r.objects[c.GetAPIVersion()+"/"+c.GetKind()+"/"+c.GetNamespace()+"/"+c.GetName()] = c
}

// Snapshot returns the record, redacted: the content of Secrets and ConfigMaps has never
// been read, and the literal values of environment variables are masked.
func (r *Recorder) Snapshot() Snapshot {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := Snapshot{APIVersion: facts.APIVersion, Kind: SnapshotKind, CapturedAt: r.now.UTC(), Items: []map[string]any{}}
	for _, key := range sortedKeys(r.objects) {
		item := r.objects[key].DeepCopy()
		r.masks.apply(item)
		s.Items = append(s.Items, item.Object)
	}
	s.Absent = sortedKeys(r.absent)
	for _, key := range sortedKeys(r.unchecked) {
		s.Unchecked = append(s.Unchecked, r.unchecked[key])
	}
	for claim := range r.lists {
		s.Lists = append(s.Lists, claim)
	}
	slices.SortFunc(s.Lists, func(a, b ListClaim) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Labels, b.Labels), cmp.Compare(a.About, b.About))
	})
	return s
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
