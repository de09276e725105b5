package controller

import "sigs.k8s.io/controller-runtime/pkg/client"

// changed returns a copy of an object for the caller to edit, and the patch that carries those
// edits. A patch instead of an update, so that fields this program does not know, of a newer
// Kubernetes or a newer CRD, are not lost; with the resourceVersion in it, so that it fails
// where somebody else was faster.
func changed[T client.Object](object T) (T, client.Patch) {
	return object.DeepCopyObject().(T), client.MergeFromWithOptions(object, client.MergeFromWithOptimisticLock{})
}
