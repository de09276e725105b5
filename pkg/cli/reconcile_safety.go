package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"k8s.io/apimachinery/pkg/util/uuid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/plan"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/render"
)

func (o *reconcileOptions) lease() *plan.Lease {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown-host"
	}
	return &plan.Lease{
		API: o.api, Now: o.now, Identity: fmt.Sprintf("%s_kubectl-workspace_%s", host, uuid.NewUUID()),
		Key: client.ObjectKey{Namespace: o.leaseNamespace, Name: o.leaseName},
	}
}

// checkLease refuses while a controller is running. It reports whether there is a Lease to take.
func (o *reconcileOptions) checkLease(ctx context.Context, lease *plan.Lease) (bool, error) {
	err := lease.Check(ctx)
	var none *plan.NoLeaseError
	if errors.As(err, &none) && o.force {
		o.note("Warning: %v. Going on because of --force.", none)
		return false, nil
	}
	return err == nil, o.leaseError(err)
}

// leaseError says what to do about a Lease that one does not get.
func (o *reconcileOptions) leaseError(err error) error {
	var held *plan.HeldError
	var none *plan.NoLeaseError
	switch {
	case errors.As(err, &held):
		return fmt.Errorf("%w\nNothing was changed. --dry-run=client or --dry-run=server shows what it would do; "+
			"if the holder is a controller of something else, name the right Lease with --lease-name and --lease-namespace", err)
	case errors.As(err, &none) && !none.NamespaceMissing:
		return fmt.Errorf("%w\nNothing was changed. Two controllers at once can break Workspaces for good: make sure that "+
			"none is running and add --force, or use --dry-run=client", err)
	}
	return o.session.explain(err)
}

// checkRights refuses before the first write where a later one would be refused. What a run does
// without, it takes out of the plan, and says so.
func (o *reconcileOptions) checkRights(ctx context.Context, t *target, p *plan.Plan, more []plan.Right) error {
	rights := slices.Concat(more, p.WriteRights())
	missing, err := plan.Missing(ctx, o.api, slices.Concat(rights, p.EventRights(), p.KindRights()))
	if err != nil {
		return o.session.explain(err)
	}
	lacks := func(of []plan.Right) bool {
		return slices.ContainsFunc(of, func(r plan.Right) bool { return slices.Contains(missing, r) })
	}
	if lacks(p.EventRights()) {
		o.skipEvents = true
		o.notes = append(o.notes, "Events are not recorded: you may not create them")
		p.DropEvents()
	}
	if lacks(p.KindRights()) {
		o.skipKinds = true
		o.notes = append(o.notes, "the usage counts of WorkspaceKinds are left alone: you may not write their status")
		p.DropKinds()
	}
	o.annotate(p)
	missing = slices.DeleteFunc(missing, func(r plan.Right) bool { return !slices.Contains(rights, r) })
	binds, err := t.cluster.MissingBinds(ctx, o.api, p)
	if err != nil {
		return o.session.explain(err)
	}
	if missing = append(missing, binds...); len(missing) > 0 {
		return rightsError("do what the controller would do", missing)
	}
	return nil
}

func rightsError(what string, missing []plan.Right) error {
	var table bytes.Buffer
	rows := make([][]string, 0, len(missing))
	for _, r := range missing {
		namespace := r.Namespace
		if namespace == "" {
			namespace = "(all)"
		}
		resource := r.Resource
		if r.Name != "" {
			resource += "/" + r.Name
		}
		if r.Group != "" {
			resource += " (" + r.Group + ")"
		}
		rows = append(rows, []string{r.Verb, resource, namespace})
	}
	if err := render.Table(&table, []string{"VERB", "RESOURCE", "NAMESPACE"}, rows); err != nil {
		return err
	}
	return fmt.Errorf("you lack rights to %s; nothing was changed:\n%sdocs/rbac.yaml has the roles that it takes", what, table.String())
}
