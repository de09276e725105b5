package plan

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// write is one thing that the controller did.
type write struct {
	verb   Verb
	id     identity
	status bool
	// before and after are nil for what was created and deleted.
	before, after client.Object
}

// recording is the client of one reconcile: the Cluster, with every write noted.
type recording struct {
	*Cluster
	writes []write
	// failed is the write that failed last.
	failed *write
}

var errNotUsed = errors.New("the controller does not use this")

func (r *recording) note(w write, err error) error {
	if err != nil {
		r.failed = &w
		return err
	}
	r.writes = append(r.writes, w)
	return nil
}

// Create implements client.Writer.
func (r *recording) Create(ctx context.Context, o client.Object, _ ...client.CreateOption) error {
	id, err := r.create(ctx, o)
	return r.note(write{verb: VerbCreate, id: id, after: o.DeepCopyObject().(client.Object)}, err)
}

// Patch implements client.Writer.
func (r *recording) Patch(ctx context.Context, o client.Object, p client.Patch, _ ...client.PatchOption) error {
	id, before, err := r.patch(ctx, o, p, false)
	return r.note(write{verb: VerbUpdate, id: id, before: before, after: o.DeepCopyObject().(client.Object)}, err)
}

// Delete implements client.Writer.
func (r *recording) Delete(ctx context.Context, o client.Object, opts ...client.DeleteOption) error {
	before := o.DeepCopyObject().(client.Object)
	id, err := r.delete(ctx, o, opts...)
	return r.note(write{verb: VerbDelete, id: id, before: before}, err)
}

// Update implements client.Writer; everything is patched.
func (r *recording) Update(context.Context, client.Object, ...client.UpdateOption) error {
	return errNotUsed
}

// Apply implements client.Writer.
func (r *recording) Apply(context.Context, runtime.ApplyConfiguration, ...client.ApplyOption) error {
	return errNotUsed
}

// DeleteAllOf implements client.Writer.
func (r *recording) DeleteAllOf(context.Context, client.Object, ...client.DeleteAllOfOption) error {
	return errNotUsed
}

// Status implements client.StatusClient.
func (r *recording) Status() client.SubResourceWriter { return statusRecording{r} }

// SubResource implements client.SubResourceClientConstructor.
func (r *recording) SubResource(string) client.SubResourceClient { return statusRecording{r} }

type statusRecording struct{ *recording }

// Patch implements client.SubResourceWriter.
func (s statusRecording) Patch(ctx context.Context, o client.Object, p client.Patch, _ ...client.SubResourcePatchOption) error {
	id, before, err := s.patch(ctx, o, p, true)
	return s.note(write{verb: VerbUpdate, id: id, status: true, before: before, after: o.DeepCopyObject().(client.Object)}, err)
}

// Get implements client.SubResourceReader.
func (s statusRecording) Get(context.Context, client.Object, client.Object, ...client.SubResourceGetOption) error {
	return errNotUsed
}

// Create implements client.SubResourceWriter.
func (s statusRecording) Create(context.Context, client.Object, client.Object, ...client.SubResourceCreateOption) error {
	return errNotUsed
}

// Update implements client.SubResourceWriter.
func (s statusRecording) Update(context.Context, client.Object, ...client.SubResourceUpdateOption) error {
	return errNotUsed
}

// Apply implements client.SubResourceWriter.
func (s statusRecording) Apply(context.Context, runtime.ApplyConfiguration, ...client.SubResourceApplyOption) error {
	return errNotUsed
}

func eachObject(list client.ObjectList, do func(client.Object) error) error {
	return meta.EachListItem(list, func(item runtime.Object) error {
		if o, ok := item.(client.Object); ok {
			return do(o)
		}
		return nil
	})
}
