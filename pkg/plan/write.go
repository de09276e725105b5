package plan

import (
	"context"
	"crypto/sha256"
	"errors"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/api/v1beta1"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/controller"
)

func isOwned(o client.Object, workspace string) bool { return controller.IsOwned(o, workspace) }

// create makes an object where the mode says, and keeps it.
func (c *Cluster) create(ctx context.Context, o client.Object) (identity, error) {
	id, err := c.identify(o)
	if err != nil {
		return id, err
	}
	if c.mode == Live || c.mode == Server {
		if err := c.createRemote(ctx, id, o); err != nil {
			return id, err
		}
	} else if err := c.createInMemory(ctx, id, o); err != nil {
		return id, err
	}
	id.key = client.ObjectKeyFromObject(o)
	c.remember(id, c.mode != Live)
	return id, c.put(id.gvk, o)
}

func (c *Cluster) createRemote(ctx context.Context, id identity, o client.Object) error {
	if o.GetGenerateName() != "" && c.mode == Live {
		// Two of the same kind are a permanent error, and nothing about a generated name
		// would make the API server refuse the second.
		if err := c.findSibling(ctx, id, o); err != nil {
			return err
		}
	}
	opts := []client.CreateOption{}
	if c.mode == Server {
		opts = append(opts, client.DryRunAll)
		if name := o.GetName(); name != "" && c.isDeleted(id) {
			// The dry run of a deletion has left it there; the answer is the same for another name.
			o.SetName("")
			o.SetGenerateName(name + "-")
			defer func() { o.SetName(name); o.SetGenerateName("") }()
		}
	}
	err := c.api.Create(ctx, o, opts...)
	if !apierrors.IsAlreadyExists(err) || id.key.Name == "" {
		return err
	}
	existing := newObject(c.scheme, id.gvk)
	if getErr := c.api.Get(ctx, id.key, existing); getErr != nil {
		return err
	}
	if owner := metav1.GetControllerOfNoCopy(o); owner != nil && isOwned(existing, owner.Name) {
		if putErr := c.put(id.gvk, existing); putErr != nil {
			return putErr
		}
		return madeMeanwhile(id)
	}
	return err
}

// findSibling looks whether the object was made since the lists were read, by another run or
// by a request of ours whose answer was lost.
func (c *Cluster) findSibling(ctx context.Context, id identity, o client.Object) error {
	owner := metav1.GetControllerOfNoCopy(o)
	if owner == nil {
		return nil
	}
	list := newList(c.scheme, id.gvk)
	err := c.api.List(ctx, list, client.InNamespace(id.key.Namespace), client.MatchingLabels{v1beta1.LabelWorkspaceName: owner.Name})
	if err != nil {
		return err
	}
	found := false
	err = eachObject(list, func(existing client.Object) error {
		key := client.ObjectKeyFromObject(existing)
		if !isOwned(existing, owner.Name) || existing.GetDeletionTimestamp() != nil {
			return nil
		}
		if known, _, _ := c.find(identity{id.gvk, key}); known == nil {
			found = true
			return c.put(id.gvk, existing)
		}
		return nil
	})
	if err == nil && found {
		return madeMeanwhile(id)
	}
	return err
}

func madeMeanwhile(id identity) error {
	return apierrors.NewConflict(groupResource(id.gvk), id.key.Name, errors.New("it was created meanwhile"))
}

func groupResource(gvk schema.GroupVersionKind) schema.GroupResource {
	return schema.GroupResource{Group: gvk.Group, Resource: resourceOf(gvk)}
}

// createInMemory does what the API server does to a new object, as far as the controller can
// tell the difference. Names and uids follow from the object, so that the same input gives the
// same plan.
func (c *Cluster) createInMemory(ctx context.Context, id identity, o client.Object) error {
	if o.GetName() == "" {
		seed := id.gvk.Kind + "/" + o.GetNamespace() + "/" + o.GetGenerateName()
		for n := 0; ; n++ {
			o.SetName(o.GetGenerateName() + suffix(seed+strconv.Itoa(n)))
			if existing, _, _ := c.find(identity{id.gvk, client.ObjectKeyFromObject(o)}); existing == nil {
				break
			}
		}
	} else {
		existing := newObject(c.scheme, id.gvk)
		err := c.Get(ctx, id.key, existing)
		if err == nil {
			return apierrors.NewAlreadyExists(groupResource(id.gvk), id.key.Name)
		}
		if !apierrors.IsNotFound(err) {
			return err
		}
	}
	o.SetUID(inventedUID(id.gvk, o))
	o.SetCreationTimestamp(metav1.NewTime(c.now()))
	o.SetResourceVersion(c.version())
	return nil
}

// suffix makes five characters as the API server's generated names end in, from a text.
func suffix(seed string) string {
	const letters = "bcdfghjklmnpqrstvwxz2456789"
	sum := sha256.Sum256([]byte(seed))
	out := make([]byte, 5)
	for i := range out {
		out[i] = letters[int(sum[i])%len(letters)]
	}
	return string(out)
}

// version is a resourceVersion that no API server has given out.
func (c *Cluster) version() string { return plannedVersion + strconv.Itoa(c.nextSerial()) }

const plannedVersion = "planned-"

// patch changes an object where the mode says, and keeps the result. status patches the
// subresource of that name.
func (c *Cluster) patch(ctx context.Context, o client.Object, p client.Patch, status bool) (id identity, before client.Object, err error) {
	if id, err = c.identify(o); err != nil {
		return id, nil, err
	}
	before, _, _ = c.find(id)
	remote := (c.mode == Live || c.mode == Server) && !c.isVirtual(id)
	switch {
	case remote && status:
		opts := []client.SubResourcePatchOption{}
		if c.mode == Server {
			opts = append(opts, client.DryRunAll)
		}
		err = c.api.Status().Patch(ctx, o, p, opts...)
	case remote:
		opts := []client.PatchOption{}
		if c.mode == Server {
			opts = append(opts, client.DryRunAll)
		}
		err = c.api.Patch(ctx, o, p, opts...)
	case before == nil:
		err = notFound(id)
	case before.GetResourceVersion() != o.GetResourceVersion():
		err = apierrors.NewConflict(groupResource(id.gvk), id.key.Name, errors.New("the object has been modified"))
	default:
		if c.isVirtual(id) || c.mode != Server {
			o.SetResourceVersion(c.version())
		}
	}
	if err != nil {
		return id, before, err
	}
	if remote && c.mode == Server && before != nil {
		restore(o, before, status)
	}
	if c.mode != Live && o.GetDeletionTimestamp() != nil && len(o.GetFinalizers()) == 0 {
		c.remove(id) // that was what it waited for
		return id, before, nil
	}
	kept := o
	if before != nil && (c.mode == Server || c.mode == Client) && !c.isVirtual(id) {
		// The API server still has the old version; a later patch must name that one.
		kept = o.DeepCopyObject().(client.Object)
		kept.SetResourceVersion(before.GetResourceVersion())
		o.SetResourceVersion(before.GetResourceVersion())
	}
	return id, before, c.put(id.gvk, kept)
}

// restore puts back into the answer to a dry run what earlier ones have changed of the same object,
// which the API server has not stored: a patch of the status leaves all else as it was before, and
// the other way round.
func restore(answer, before client.Object, status bool) {
	switch a := answer.(type) {
	case *v1beta1.Workspace:
		b := before.DeepCopyObject().(*v1beta1.Workspace)
		if status {
			a.ObjectMeta, a.Spec = b.ObjectMeta, b.Spec
		} else {
			a.Status = b.Status
		}
	case *v1beta1.WorkspaceKind:
		b := before.DeepCopyObject().(*v1beta1.WorkspaceKind)
		if status {
			a.ObjectMeta, a.Spec = b.ObjectMeta, b.Spec
		} else {
			a.Status = b.Status
		}
	}
}

// delete removes an object where the mode says.
func (c *Cluster) delete(ctx context.Context, o client.Object, opts ...client.DeleteOption) (id identity, err error) {
	if id, err = c.identify(o); err != nil {
		return id, err
	}
	if (c.mode == Live || c.mode == Server) && !c.isVirtual(id) {
		if c.mode == Server {
			opts = append(opts, client.DryRunAll)
		}
		if err := c.api.Delete(ctx, o, opts...); err != nil {
			return id, err
		}
	} else if existing, _, _ := c.find(id); existing == nil {
		return id, notFound(id)
	}
	c.remove(id)
	return id, nil
}
