package controller

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/api/v1beta1"
)

// LabelImageSource marks the ConfigMaps that icons and logos of WorkspaceKinds may come from.
const LabelImageSource = "notebooks.kubeflow.org/image-source"

// WorkspaceKindReconciler lets a WorkspaceKind be deleted once no Workspace uses it any more, and
// counts those that do in its status. Its client must see the Workspaces of all namespaces.
type WorkspaceKindReconciler struct {
	Client client.Client
}

var _ reconcile.Reconciler = (*WorkspaceKindReconciler)(nil)

// Reconcile implements reconcile.Reconciler.
func (r *WorkspaceKindReconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	kind := &v1beta1.WorkspaceKind{}
	if err := r.Client.Get(ctx, request.NamespacedName, kind); err != nil {
		if apierrors.IsNotFound(err) {
			return reconcile.Result{}, nil
		}
		return reconcile.Result{}, fmt.Errorf("unable to read WorkspaceKind %s: %w", request.Name, err)
	}
	var all v1beta1.WorkspaceList
	if err := r.Client.List(ctx, &all, client.UnsafeDisableDeepCopy); err != nil {
		return reconcile.Result{}, fmt.Errorf("unable to list the Workspaces of WorkspaceKind %s: %w", kind.Name, err)
	}
	var users []*v1beta1.Workspace
	for i := range all.Items {
		if all.Items[i].Spec.Kind == kind.Name {
			users = append(users, &all.Items[i])
		}
	}
	// The finalizer is put there for each Workspace that is reconciled; see WorkspaceReconciler.
	if len(users) == 0 {
		gone, err := removeFinalizer(ctx, r.Client, kind)
		if gone || err != nil {
			return reconcile.Result{}, err
		}
	}
	before := kind.DeepCopy()
	countUsers(kind, users)
	r.asset(ctx, kind.Spec.Spawner.Icon, &kind.Status.SpawnerIcon)
	r.asset(ctx, kind.Spec.Spawner.Logo, &kind.Status.SpawnerLogo)
	if equality.Semantic.DeepEqual(before.Status, kind.Status) {
		return reconcile.Result{}, nil
	}
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := r.Client.Status().Patch(ctx, kind, patch); err != nil {
		return reconcile.Result{}, fmt.Errorf("unable to update the status of WorkspaceKind %s: %w", kind.Name, err)
	}
	return reconcile.Result{}, nil
}

// addFinalizer keeps a WorkspaceKind from being deleted. The patch has the finalizers and
// nothing else in it: writing the whole object through Go types would rewrite its spec.
func addFinalizer(ctx context.Context, c client.Client, kind *v1beta1.WorkspaceKind) error {
	if kind.DeletionTimestamp != nil || controllerutil.ContainsFinalizer(kind, v1beta1.FinalizerWorkspaceKind) {
		return nil
	}
	copied, patch := changed(kind)
	controllerutil.AddFinalizer(copied, v1beta1.FinalizerWorkspaceKind)
	if err := c.Patch(ctx, copied, patch); err != nil {
		return fmt.Errorf("unable to add the finalizer to WorkspaceKind %s: %w", kind.Name, err)
	}
	copied.DeepCopyInto(kind)
	return nil
}

// removeFinalizer reports whether that ended a deletion.
func removeFinalizer(ctx context.Context, c client.Client, kind *v1beta1.WorkspaceKind) (gone bool, err error) {
	if !controllerutil.ContainsFinalizer(kind, v1beta1.FinalizerWorkspaceKind) {
		return false, nil
	}
	copied, patch := changed(kind)
	controllerutil.RemoveFinalizer(copied, v1beta1.FinalizerWorkspaceKind)
	if err := c.Patch(ctx, copied, patch); err != nil {
		return false, fmt.Errorf("unable to remove the finalizer from WorkspaceKind %s: %w", kind.Name, err)
	}
	copied.DeepCopyInto(kind)
	return kind.DeletionTimestamp != nil && len(kind.Finalizers) == 0, nil
}

// countUsers counts Workspaces in total and by option. Options that do not exist count only in
// total.
func countUsers(kind *v1beta1.WorkspaceKind, users []*v1beta1.Workspace) {
	images, pods := map[string]int32{}, map[string]int32{}
	for _, w := range users {
		images[w.Spec.PodTemplate.Options.ImageConfig]++
		pods[w.Spec.PodTemplate.Options.PodConfig]++
	}
	options := &kind.Spec.PodTemplate.Options
	metrics := v1beta1.OptionsMetrics{ImageConfig: []v1beta1.OptionMetric{}, PodConfig: []v1beta1.OptionMetric{}}
	for i := range options.ImageConfig.Values {
		id := options.ImageConfig.Values[i].ID
		metrics.ImageConfig = append(metrics.ImageConfig, v1beta1.OptionMetric{ID: id, Workspaces: images[id]})
	}
	for i := range options.PodConfig.Values {
		id := options.PodConfig.Values[i].ID
		metrics.PodConfig = append(metrics.PodConfig, v1beta1.OptionMetric{ID: id, Workspaces: pods[id]})
	}
	kind.Status.Workspaces = int32(len(users)) //nolint:gosec // no cluster has two billion Workspaces
	kind.Status.PodTemplateOptions = metrics
}

// asset records the content of an icon or logo that comes from a ConfigMap. Where the ConfigMap
// cannot be read, the status stays as it is: what this user may not see, the controller may.
func (r *WorkspaceKindReconciler) asset(ctx context.Context, asset v1beta1.Asset, status *v1beta1.AssetStatus) {
	ref := asset.ConfigMap
	if ref == nil || asset.URL != nil {
		*status = v1beta1.AssetStatus{}
		return
	}
	var cm corev1.ConfigMap
	err := r.Client.Get(ctx, client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}, &cm)
	switch {
	case apierrors.IsNotFound(err), err == nil && cm.Labels[LabelImageSource] != v1beta1.LabelValueTrue:
		*status = assetError(v1beta1.AssetErrorNotFound, fmt.Sprintf(
			"ConfigMap %q not found in namespace %q (if it exists, ensure it has the %q label)", ref.Name, ref.Namespace, LabelImageSource))
	case err != nil, cm.Data == nil && cm.BinaryData == nil && status.SHA256 != "":
		// Not readable, or read from a snapshot, which keeps no content.
	default:
		content, ok := contentOf(&cm, ref.Key)
		if !ok {
			*status = assetError(v1beta1.AssetErrorKeyNotFound, fmt.Sprintf(
				"key %q not found in ConfigMap %q in namespace %q", ref.Key, ref.Name, ref.Namespace))
			return
		}
		sum := sha256.Sum256(content)
		*status = v1beta1.AssetStatus{SHA256: hex.EncodeToString(sum[:])}
	}
}

// contentOf returns what a ConfigMap holds under a key, as text or as bytes.
func contentOf(cm *corev1.ConfigMap, key string) ([]byte, bool) {
	if text, ok := cm.Data[key]; ok {
		return []byte(text), true
	}
	content, ok := cm.BinaryData[key]
	return content, ok
}

func assetError(kind v1beta1.AssetErrorType, message string) v1beta1.AssetStatus {
	return v1beta1.AssetStatus{ConfigMap: &v1beta1.AssetConfigMapStatus{ErrorType: kind, ErrorMessage: message}}
}
