package controller

import (
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/api/v1beta1"
)

// buildRoleBindings returns one RoleBinding for each ClusterRole that the WorkspaceKind grants
// to its Workspaces, within their namespace.
func buildRoleBindings(w *v1beta1.Workspace, kind *v1beta1.WorkspaceKind, serviceAccount string) []*rbacv1.RoleBinding {
	sa := kind.Spec.PodTemplate.ServiceAccount
	if sa == nil {
		return nil
	}
	var out []*rbacv1.RoleBinding
	for _, role := range sa.ClusterRoles {
		b := &rbacv1.RoleBinding{
			ObjectMeta: ownedMeta(w),
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: serviceAccount, Namespace: w.Namespace}},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		}
		b.Name = roleBindingName(w.Name, role.Name)
		out = append(out, b)
	}
	return out
}
