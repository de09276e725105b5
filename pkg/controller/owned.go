package controller

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/api/v1beta1"
)

// ownedBy lists the objects of one kind that belong to a Workspace: those named by the controller
// first, then the older ones. They are found by their owner, not by name or label: names are random and labels can be edited. They may
// be shared with a cache: copy them before a change.
func ownedBy[T client.Object](ctx context.Context, c client.Reader, w *v1beta1.Workspace, list client.ObjectList) ([]T, error) {
	if err := c.List(ctx, list, client.InNamespace(w.Namespace), client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("unable to list the objects of Workspace %s/%s: %w", w.Namespace, w.Name, err)
	}
	var owned []T
	err := meta.EachListItem(list, func(item runtime.Object) error {
		if object, ok := item.(T); ok && IsOwned(object, w.Name) {
			owned = append(owned, object)
		}
		return nil
	})
	byHand := func(o T) int {
		if strings.HasPrefix(o.GetName(), namePrefix) {
			return 0
		}
		return 1
	}
	slices.SortFunc(owned, func(a, b T) int {
		return cmp.Or(byHand(a)-byHand(b),
			a.GetCreationTimestamp().Compare(b.GetCreationTimestamp().Time),
			strings.Compare(a.GetName(), b.GetName()))
	})
	return owned, err
}

func names[T client.Object](objects []T) string {
	out := make([]string, 0, len(objects))
	for _, o := range objects {
		out = append(out, o.GetName())
	}
	return strings.Join(out, ", ")
}
