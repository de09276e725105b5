package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/api/v1beta1"
)

// WorkspaceReconciler does for one Workspace what the in-cluster controller would do.
//
// A conflict is returned as an error ([apierrors.IsConflict]); the caller reconciles again with
// fresh objects. So is every failure of the API; the status is then left as it was, as the
// in-cluster controller leaves it.
type WorkspaceReconciler struct {
	Client client.Client
	Config Config
	Now    func() time.Time
	// Recorder is where Warnings go; nil is nowhere.
	Recorder Recorder
}

var _ reconcile.Reconciler = (*WorkspaceReconciler)(nil)

// statusError is a failure that belongs into the status of the Workspace: nothing that trying
// again would cure.
type statusError struct{ message string }

func (e *statusError) Error() string { return e.message }

func inStatus(format string, args ...any) error {
	return &statusError{fmt.Sprintf(format, args...)}
}

// Reconcile implements reconcile.Reconciler.
func (r *WorkspaceReconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	w := &v1beta1.Workspace{}
	if err := r.Client.Get(ctx, request.NamespacedName, w); err != nil {
		if apierrors.IsNotFound(err) {
			return reconcile.Result{}, nil
		}
		return reconcile.Result{}, fmt.Errorf("unable to read Workspace %s: %w", request, err)
	}
	if w.DeletionTimestamp != nil {
		return reconcile.Result{}, nil
	}
	before := w.DeepCopy()
	state, err := r.reconcile(ctx, w)
	var status *statusError
	if errors.As(err, &status) {
		if before.Status.State == v1beta1.WorkspaceStateError && before.Status.StateMessage == status.message {
			// The rest of the status is written along with a new error, and not for its own sake.
			return reconcile.Result{}, nil
		}
		w.Status.State, w.Status.StateMessage = v1beta1.WorkspaceStateError, status.message
		err = nil
	}
	if err == nil {
		err = r.writeStatus(ctx, before, w)
	}
	if err != nil {
		return reconcile.Result{}, err
	}
	return reconcile.Result{RequeueAfter: state.LookAgain}, nil
}

// reconcile puts the objects of a Workspace right and sets its status, in memory.
func (r *WorkspaceReconciler) reconcile(ctx context.Context, w *v1beta1.Workspace) (State, error) {
	kind := &v1beta1.WorkspaceKind{}
	if err := r.Client.Get(ctx, client.ObjectKey{Name: w.Spec.Kind}, kind); err != nil {
		if apierrors.IsNotFound(err) {
			return State{}, inStatus("Workspace references unknown WorkspaceKind: %s", w.Spec.Kind)
		}
		return State{}, fmt.Errorf("unable to read WorkspaceKind %s: %w", w.Spec.Kind, err)
	}
	if err := addFinalizer(ctx, r.Client, kind); err != nil {
		return State{}, err
	}

	// An option that is wrong leaves the chains as they were, but promises no restart.
	w.Status.PendingRestart = false
	image, imageStatus, err := resolveImage(kind, w.Spec.PodTemplate.Options.ImageConfig)
	if err != nil {
		return State{}, inStatus("Workspace has invalid imageConfig: %s", err)
	}
	pod, podStatus, err := resolvePod(kind, w.Spec.PodTemplate.Options.PodConfig)
	if err != nil {
		setOptions(&w.Status, &imageStatus, nil)
		return State{}, inStatus("Workspace has invalid podConfig: %s", err)
	}
	setOptions(&w.Status, &imageStatus, &podStatus)

	serviceAccount, err := r.serviceAccount(ctx, w)
	if err != nil {
		return State{}, err
	}
	set, err := r.statefulSet(ctx, w, kind, image, pod, serviceAccount)
	if err != nil {
		return State{}, err
	}
	service, err := r.service(ctx, w, image)
	if err != nil {
		return State{}, err
	}
	if r.Config.Istio != nil {
		if err := r.virtualService(ctx, w, kind, image, service); err != nil {
			return State{}, err
		}
	}
	if err := r.roleBindings(ctx, w, buildRoleBindings(w, kind, serviceAccount)); err != nil {
		return State{}, err
	}
	r.checkSecrets(ctx, w)

	situation, err := r.situation(ctx, w, set)
	if err != nil {
		return State{}, err
	}
	return setState(&w.Status, situation, serviceAccount), nil
}

// serviceAccount makes sure of the ServiceAccount and returns its name.
func (r *WorkspaceReconciler) serviceAccount(ctx context.Context, w *v1beta1.Workspace) (string, error) {
	owned, err := ownedBy[*corev1.ServiceAccount](ctx, r.Client, w, &corev1.ServiceAccountList{})
	if err != nil {
		return "", err
	}
	desired := buildServiceAccount(w)
	switch len(owned) {
	case 0:
		err := r.Client.Create(ctx, desired)
		if apierrors.IsAlreadyExists(err) {
			return "", inStatus("Workspace ServiceAccount %s already exists and is not owned by the Workspace", serviceAccountName(w.Name))
		}
		if err != nil {
			return "", fmt.Errorf("unable to create ServiceAccount: %w", err)
		}
		return desired.Name, nil
	case 1:
		existing, patch := changed(owned[0])
		if mergeServiceAccount(existing, desired) {
			if err := r.Client.Patch(ctx, existing, patch); err != nil {
				return "", fmt.Errorf("unable to update ServiceAccount: %w", err)
			}
		}
		return existing.Name, nil
	}
	return "", inStatus("Workspace owns multiple ServiceAccounts: %s", names(owned))
}

func (r *WorkspaceReconciler) statefulSet(ctx context.Context, w *v1beta1.Workspace, kind *v1beta1.WorkspaceKind,
	image *v1beta1.ImageConfigValue, pod *v1beta1.PodConfigValue, serviceAccount string,
) (*appsv1.StatefulSet, error) {
	desired, err := buildStatefulSet(w, kind, image, pod, serviceAccount)
	if err != nil {
		return nil, inStatus("Workspace failed to generate StatefulSet with error: %s", err)
	}
	owned, err := ownedBy[*appsv1.StatefulSet](ctx, r.Client, w, &appsv1.StatefulSetList{})
	if err != nil {
		return nil, err
	}
	switch len(owned) {
	case 0:
		if err := r.Client.Create(ctx, desired); err != nil {
			return nil, fmt.Errorf("unable to create StatefulSet: %w", err)
		}
		return desired, nil
	case 1:
		existing, patch := changed(owned[0])
		if correctStatefulSet(existing, desired) {
			if err := r.Client.Patch(ctx, existing, patch); err != nil {
				return nil, fmt.Errorf("unable to update StatefulSet %s: %w", existing.Name, err)
			}
		}
		return existing, nil
	}
	return nil, inStatus("Workspace owns multiple StatefulSets: %s", names(owned))
}

// service makes sure of the Service and returns its name.
func (r *WorkspaceReconciler) service(ctx context.Context, w *v1beta1.Workspace, image *v1beta1.ImageConfigValue) (string, error) {
	owned, err := ownedBy[*corev1.Service](ctx, r.Client, w, &corev1.ServiceList{})
	if err != nil {
		return "", err
	}
	desired := buildService(w, image)
	switch len(owned) {
	case 0:
		if err := r.Client.Create(ctx, desired); err != nil {
			return "", fmt.Errorf("unable to create Service: %w", err)
		}
		return desired.Name, nil
	case 1:
		existing, patch := changed(owned[0])
		if correctService(existing, desired) {
			if err := r.Client.Patch(ctx, existing, patch); err != nil {
				return "", fmt.Errorf("unable to update Service %s: %w", existing.Name, err)
			}
		}
		return existing.Name, nil
	}
	return "", inStatus("Workspace owns multiple Services: %s", names(owned))
}

func (r *WorkspaceReconciler) virtualService(ctx context.Context, w *v1beta1.Workspace, kind *v1beta1.WorkspaceKind,
	image *v1beta1.ImageConfigValue, service string,
) error {
	desired, err := buildVirtualService(w, kind, image, service, *r.Config.Istio)
	if err != nil {
		return inStatus("Workspace failed to generate VirtualService with error: %s", err)
	}
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(VirtualServiceGVK.GroupVersion().WithKind(VirtualServiceGVK.Kind + "List"))
	owned, err := ownedBy[*unstructured.Unstructured](ctx, r.Client, w, list)
	if err != nil {
		return err
	}
	switch len(owned) {
	case 0:
		if err := r.Client.Create(ctx, desired); err != nil {
			return fmt.Errorf("unable to create VirtualService: %w", err)
		}
		return nil
	case 1:
		existing, patch := changed(owned[0])
		if correctVirtualService(existing, desired) {
			if err := r.Client.Patch(ctx, existing, patch); err != nil {
				return fmt.Errorf("unable to update VirtualService %s: %w", existing.GetName(), err)
			}
		}
		return nil
	}
	return inStatus("Workspace owns multiple VirtualServices: %s", names(owned))
}

func (r *WorkspaceReconciler) roleBindings(ctx context.Context, w *v1beta1.Workspace, desired []*rbacv1.RoleBinding) error {
	owned, err := ownedBy[*rbacv1.RoleBinding](ctx, r.Client, w, &rbacv1.RoleBindingList{})
	if err != nil {
		return err
	}
	for _, existing := range owned {
		i := slices.IndexFunc(desired, func(d *rbacv1.RoleBinding) bool { return d.Name == existing.Name })
		if i < 0 || desired[i].RoleRef != existing.RoleRef {
			uid := existing.UID
			err := r.Client.Delete(ctx, existing, client.Preconditions(metav1.Preconditions{UID: &uid}))
			if client.IgnoreNotFound(err) != nil {
				return fmt.Errorf("unable to delete RoleBinding %s: %w", existing.Name, err)
			}
			continue
		}
		corrected, patch := changed(existing)
		if correctRoleBinding(corrected, desired[i]) {
			if err := r.Client.Patch(ctx, corrected, patch); err != nil {
				return fmt.Errorf("unable to update RoleBinding %s: %w", existing.Name, err)
			}
		}
		desired = slices.Delete(slices.Clone(desired), i, i+1)
	}
	for _, d := range desired {
		if err := r.Client.Create(ctx, d); err != nil {
			return fmt.Errorf("unable to create RoleBinding: %w", err)
		}
	}
	return nil
}

// checkSecrets warns of Secrets that do not exist. It never stands in the way: some Secrets
// come into being only when a Pod mounts them. Secrets that cannot be looked at are passed
// over, since nothing is known about them.
func (r *WorkspaceReconciler) checkSecrets(ctx context.Context, w *v1beta1.Workspace) {
	if r.Recorder == nil {
		return
	}
	seen := map[string]bool{}
	for _, s := range w.Spec.PodTemplate.Volumes.Secrets {
		if seen[s.SecretName] {
			continue
		}
		seen[s.SecretName] = true
		secret := &metav1.PartialObjectMetadata{}
		secret.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
		if err := r.Client.Get(ctx, client.ObjectKey{Namespace: w.Namespace, Name: s.SecretName}, secret); !apierrors.IsNotFound(err) {
			continue
		}
		// That an Event could not be recorded is no reason to fail, and the recorder's to tell.
		_ = r.Recorder.Warning(ctx, w, ReasonSecretNotFound, fmt.Sprintf(
			"Secret %q, to be mounted at %s, does not exist in namespace %s", s.SecretName, s.MountPath, w.Namespace))
	}
}

// situation reads what the state follows from.
func (r *WorkspaceReconciler) situation(ctx context.Context, w *v1beta1.Workspace, set *appsv1.StatefulSet) (Situation, error) {
	s := Situation{Paused: w.Spec.Paused, StatefulSet: set, Now: r.Now()}
	subject := set.UID
	pod := &corev1.Pod{}
	switch err := r.Client.Get(ctx, client.ObjectKey{Namespace: w.Namespace, Name: set.Name + "-0"}, pod); {
	case err == nil:
		s.Pod, subject = pod, pod.UID
	case !apierrors.IsNotFound(err):
		return s, fmt.Errorf("unable to read Pod %s-0: %w", set.Name, err)
	}
	var events corev1.EventList
	if err := r.Client.List(ctx, &events, client.InNamespace(w.Namespace), client.MatchingFields{involvedUID: string(subject)},
		client.UnsafeDisableDeepCopy); err != nil {
		return s, fmt.Errorf("unable to list Events: %w", err)
	}
	s.Events = events.Items
	return s, nil
}

func (r *WorkspaceReconciler) writeStatus(ctx context.Context, before, after *v1beta1.Workspace) error {
	if equality.Semantic.DeepEqual(before.Status, after.Status) {
		return nil
	}
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := r.Client.Status().Patch(ctx, after, patch); err != nil {
		return fmt.Errorf("unable to update the status of Workspace %s/%s: %w", after.Namespace, after.Name, err)
	}
	return nil
}
