package cluster

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// DeletePod deletes a Pod if it still has the uid, so that a Pod which has taken its
// name since is left alone. Such a Pod, or none, is a conflict or "not found".
func (l *Live) DeletePod(ctx context.Context, namespace, name string, uid types.UID) error {
	return l.dynamic.Resource(Pods.GroupVersionResource).Namespace(namespace).Delete(ctx, name, metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &uid},
	})
}
