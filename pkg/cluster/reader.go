package cluster

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
)

// Reader reads objects from a cluster or from what stands in for one.
//
// Errors are those of k8s.io/apimachinery/pkg/api/errors, so that a caller tells
// "not found" from "forbidden" the same way for every implementation, or
// ErrNotInSnapshot.
type Reader interface {
	// Get returns one object. namespace is ignored for cluster-scoped resources.
	Get(ctx context.Context, r Resource, namespace, name string) (*unstructured.Unstructured, error)
	// List returns every object that the options select, over all pages. Of a snapshot it
	// may be less than there are; see IsComplete.
	List(ctx context.Context, r Resource, opts ListOptions) ([]unstructured.Unstructured, error)
	// IsComplete reports whether what List returns for the same selection is all there is.
	// Only then is something that is not in the list known not to exist.
	IsComplete(r Resource, opts ListOptions) bool
	// Now is the moment that ages are relative to.
	Now() time.Time
}

// ListOptions select objects of one resource.
type ListOptions struct {
	// Namespace is empty for all namespaces.
	Namespace string
	// Labels selects by label; nil selects everything.
	Labels labels.Selector
	// About restricts a list of Events to those about one object. It goes by kind
	// and name, not by uid, because some controllers record Events without a uid.
	About *About
}

// About names the object that Events are about.
type About struct{ Kind, Name string }

func (o ListOptions) labelSelector() labels.Selector {
	if o.Labels == nil {
		return labels.Everything()
	}
	return o.Labels
}
