package plan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/cluster"
)

// Right is one thing that a run needs to be allowed.
type Right struct {
	Verb string
	// Group is empty for the core group.
	Group, Resource string
	// Namespace is empty for cluster-scoped resources, and for all namespaces.
	Namespace string
}

// ReadRights are what it takes to plan.
func ReadRights(scope Scope) []Right {
	ns := scope.namespace()
	kinds := []schema.GroupVersionKind{
		workspaceGVK, serviceAccountGVK, statefulSetGVK, serviceGVK, roleBindingGVK, podGVK, eventGVK,
	}
	if scope.Istio {
		kinds = append(kinds, virtualServiceGVK)
	}
	rights := []Right{{"list", kindGVK.Group, resourceOf(kindGVK), ""}}
	for _, gvk := range kinds {
		rights = append(rights, Right{"list", gvk.Group, resourceOf(gvk), ns})
	}
	return rights
}

// WriteRights are what it takes to do what a Plan says. Those for the status of WorkspaceKinds
// and for Events are left out: a run does without.
func (p *Plan) WriteRights() []Right {
	found := map[Right]bool{}
	add := func(verb string, gvk schema.GroupVersionKind, sub, namespace string) {
		found[Right{verb, gvk.Group, resourceOf(gvk) + sub, namespace}] = true
	}
	byKind := map[string]schema.GroupVersionKind{kindGVK.Kind: kindGVK}
	for _, gvk := range ownedGVKs {
		byKind[gvk.Kind] = gvk
	}
	verbs := map[Verb]string{VerbCreate: "create", VerbUpdate: "patch", VerbDelete: "delete"}
	for _, o := range p.Workspaces {
		for _, c := range o.Changes {
			if c.Verb == VerbNone {
				continue
			}
			add(verbs[c.Verb], byKind[c.Kind], "", c.Namespace)
		}
		if o.Status != nil && len(o.Status.Fields) > 0 {
			add("patch", workspaceGVK, "/status", o.Namespace)
		}
	}
	rights := make([]Right, 0, len(found))
	for r := range found {
		rights = append(rights, r)
	}
	slices.SortFunc(rights, compareRights)
	return rights
}

// KindRights are what it takes to write the usage of WorkspaceKinds.
func KindRights() []Right {
	return []Right{
		{"patch", kindGVK.Group, resourceOf(kindGVK), ""},
		{"patch", kindGVK.Group, resourceOf(kindGVK) + "/status", ""},
	}
}

func compareRights(a, b Right) int {
	return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Group, b.Group),
		strings.Compare(a.Resource, b.Resource), strings.Compare(a.Verb, b.Verb))
}

// Missing asks the API server which of the rights this user lacks.
func Missing(ctx context.Context, api client.Client, rights []Right) ([]Right, error) {
	lacks := make([]bool, len(rights))
	errs := make([]error, len(rights))
	cluster.Parallel(len(rights), func(i int) {
		r := rights[i]
		resource, sub, _ := strings.Cut(r.Resource, "/")
		review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
			ResourceAttributes: &authorizationv1.ResourceAttributes{
				Namespace: r.Namespace, Verb: r.Verb, Group: r.Group, Resource: resource, Subresource: sub,
			},
		}}
		errs[i] = api.Create(ctx, review)
		lacks[i] = errs[i] == nil && !review.Status.Allowed
	})
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("cannot ask the API server for your rights: %w", err)
	}
	var missing []Right
	for i, r := range rights {
		if lacks[i] {
			missing = append(missing, r)
		}
	}
	return missing, nil
}
