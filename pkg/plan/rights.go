package plan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/cluster"
)

// Right is one thing that a run needs to be allowed.
type Right struct {
	Verb string
	// Group is empty for the core group. Resource may have a subresource: "pods/status".
	Group, Resource string
	// Name is empty for all objects.
	Name string
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
	rights := []Right{rightTo("list", kindGVK, "", "")}
	for _, gvk := range kinds {
		rights = append(rights, rightTo("list", gvk, "", ns))
	}
	return rights
}

func rightTo(verb string, gvk schema.GroupVersionKind, sub, namespace string) Right {
	return Right{Verb: verb, Group: gvk.Group, Resource: resourceOf(gvk) + sub, Namespace: namespace}
}

// WriteRights are what it takes to do what a Plan says to Workspaces: to write, and to read again
// what somebody else has changed meanwhile. A run does without [EventRights] and [KindRights].
func (p *Plan) WriteRights() []Right {
	found := map[Right]bool{}
	byKind := map[string]schema.GroupVersionKind{kindGVK.Kind: kindGVK}
	for _, gvk := range ownedGVKs {
		byKind[gvk.Kind] = gvk
	}
	verbs := map[Verb]string{VerbCreate: "create", VerbUpdate: "patch", VerbDelete: "delete"}
	for _, o := range p.Workspaces {
		for _, c := range o.Changes {
			if c.Verb != VerbNone {
				found[rightTo(verbs[c.Verb], byKind[c.Kind], "", c.Namespace)] = true
				found[rightTo("get", byKind[c.Kind], "", c.Namespace)] = true
			}
		}
		if o.Status != nil && len(o.Status.Fields) > 0 {
			found[rightTo("patch", workspaceGVK, "/status", o.Namespace)] = true
			found[rightTo("get", workspaceGVK, "", o.Namespace)] = true
		}
	}
	return slices.SortedFunc(maps.Keys(found), compareRights)
}

// EventRights are what it takes to record the Events of a Plan.
func (p *Plan) EventRights() []Right {
	found := map[Right]bool{}
	for _, o := range p.Workspaces {
		if len(o.Events) > 0 {
			found[rightTo("create", eventGVK, "", o.Namespace)] = true
		}
	}
	return slices.SortedFunc(maps.Keys(found), compareRights)
}

// KindRights are what it takes to write what a Plan says about the usage of WorkspaceKinds.
func (p *Plan) KindRights() []Right {
	for _, o := range p.WorkspaceKinds {
		if o.writes() {
			return []Right{
				rightTo("get", kindGVK, "", ""), rightTo("patch", kindGVK, "", ""), rightTo("patch", kindGVK, "/status", ""),
			}
		}
	}
	return nil
}

func compareRights(a, b Right) int {
	return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Group, b.Group),
		strings.Compare(a.Resource, b.Resource), strings.Compare(a.Name, b.Name), strings.Compare(a.Verb, b.Verb))
}

// Missing asks the API server which of the rights this user lacks. What is needed in several
// namespaces is asked for all of them first, so that whoever has it everywhere is asked once.
func Missing(ctx context.Context, api client.Client, rights []Right) ([]Right, error) {
	everywhere := func(r Right) Right { r.Namespace = ""; return r }
	namespaces := map[Right]int{}
	for _, r := range rights {
		namespaces[everywhere(r)]++
	}
	var wide []Right
	for r, n := range namespaces {
		if n > 1 {
			wide = append(wide, r)
		}
	}
	lacksWide, err := lacking(ctx, api, wide)
	if err != nil {
		return nil, err
	}
	narrow := slices.DeleteFunc(slices.Clone(rights), func(r Right) bool {
		return slices.Contains(wide, everywhere(r)) && !slices.Contains(lacksWide, everywhere(r))
	})
	return lacking(ctx, api, narrow)
}

// lacking asks for each right on its own and returns those that this user lacks.
func lacking(ctx context.Context, api client.Client, rights []Right) ([]Right, error) {
	lacks := make([]bool, len(rights))
	errs := make([]error, len(rights))
	cluster.Parallel(len(rights), func(i int) {
		r := rights[i]
		resource, sub, _ := strings.Cut(r.Resource, "/")
		review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
			ResourceAttributes: &authorizationv1.ResourceAttributes{
				Namespace: r.Namespace, Verb: r.Verb, Group: r.Group, Resource: resource, Subresource: sub, Name: r.Name,
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

// MissingBinds returns the ClusterRoles that a Plan grants and this user must not grant. Who
// lacks the right to bind a role may still grant what he may do himself; only the API server can
// tell, so it is asked for a dry run of each such RoleBinding.
func (c *Cluster) MissingBinds(ctx context.Context, api client.Client, p *Plan) ([]Right, error) {
	found := map[Right]*rbacv1.RoleBinding{}
	for _, o := range p.Workspaces {
		for _, change := range o.Changes {
			if change.Kind != roleBindingGVK.Kind || change.Verb != VerbCreate && change.Verb != VerbUpdate {
				continue
			}
			id := identity{roleBindingGVK, client.ObjectKey{Namespace: change.Namespace, Name: change.Name}}
			if existing, _, _ := c.find(id); existing != nil {
				binding := existing.(*rbacv1.RoleBinding)
				found[Right{Verb: "bind", Group: rbacv1.GroupName, Resource: "clusterroles", Name: binding.RoleRef.Name, Namespace: change.Namespace}] = binding
			}
		}
	}
	missing, err := Missing(ctx, api, slices.SortedFunc(maps.Keys(found), compareRights))
	if err != nil {
		return nil, err
	}
	refused := make([]bool, len(missing))
	cluster.Parallel(len(missing), func(i int) {
		binding := found[missing[i]]
		attempt := &rbacv1.RoleBinding{Subjects: binding.Subjects, RoleRef: binding.RoleRef}
		attempt.Namespace, attempt.GenerateName = binding.Namespace, Component+"-"
		// Other refusals (a quota, say) are not about this right, and the run meets them itself.
		err := api.Create(ctx, attempt, client.DryRunAll)
		refused[i] = apierrors.IsForbidden(err) && strings.Contains(err.Error(), "attempting to grant RBAC permissions")
	})
	var out []Right
	for i, r := range missing {
		if refused[i] {
			out = append(out, r)
		}
	}
	return out, nil
}
