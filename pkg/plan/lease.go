package plan

import (
	"context"
	"errors"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// The in-cluster controller's own leader election, as its manifests set it up.
const (
	DefaultLeaseName      = "kubeflow-workspace-controller"
	DefaultLeaseNamespace = "kubeflow-workspaces"
)

const (
	// leaseDuration and leaseRenewal are controller-runtime's own values.
	leaseDuration = 15 * time.Second
	leaseRenewal  = 5 * time.Second
	// releaseTimeout bounds the release, which happens after Ctrl-C too.
	releaseTimeout = 5 * time.Second
)

// Lease keeps the in-cluster controller and other runs from working at the same time: two
// controllers make two StatefulSets, and a Workspace with two is broken for good.
type Lease struct {
	API client.Client
	Key client.ObjectKey
	// Identity is who we are to others.
	Identity string
	Now      func() time.Time

	// exists is what the last look at it has shown.
	exists bool
}

// HeldError says that somebody alive holds the Lease.
type HeldError struct {
	Key    client.ObjectKey
	Holder string
	// Renewed is how long ago the holder was last heard of.
	Renewed time.Duration
}

// Error implements error.
func (e *HeldError) Error() string {
	return fmt.Sprintf("the Lease %s is held by %q, which renewed it %s ago: the Workspace controller is running and does this itself",
		e.Key, e.Holder, max(e.Renewed, 0).Round(time.Second))
}

// NoLeaseError says why nobody can tell whether somebody holds the Lease.
type NoLeaseError struct {
	Key client.ObjectKey
	// NamespaceMissing: nobody can hold it.
	NamespaceMissing bool
	Err              error
}

// Error implements error.
func (e *NoLeaseError) Error() string {
	if e.NamespaceMissing {
		return fmt.Sprintf("the namespace %s does not exist", e.Key.Namespace)
	}
	return fmt.Sprintf("cannot see whether a Workspace controller is running (Lease %s): %v", e.Key, e.Err)
}

// Unwrap returns the answer of the API server.
func (e *NoLeaseError) Unwrap() error { return e.Err }

// Check returns nil if the Lease is free, a *HeldError if it is not, and a *NoLeaseError if
// that cannot be told.
func (l *Lease) Check(ctx context.Context) error {
	_, err := l.read(ctx)
	return err
}

// Rights are what it takes to hold the Lease, as Check has found it.
func (l *Lease) Rights() []Right {
	rights := []Right{rightTo("get", leaseGVK, "", l.Key.Namespace), rightTo("update", leaseGVK, "", l.Key.Namespace)}
	if !l.exists {
		rights = append(rights, rightTo("create", leaseGVK, "", l.Key.Namespace))
	}
	return rights
}

// read returns the Lease, nil if there is none.
func (l *Lease) read(ctx context.Context) (*coordinationv1.Lease, error) {
	lease := &coordinationv1.Lease{}
	err := l.API.Get(ctx, l.Key, lease)
	l.exists = err == nil
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case apierrors.IsForbidden(err):
		return nil, &NoLeaseError{Key: l.Key, Err: err}
	case err != nil:
		return nil, fmt.Errorf("cannot read the Lease %s: %w", l.Key, err)
	}
	holder := ptr.Deref(lease.Spec.HolderIdentity, "")
	if holder == "" || holder == l.Identity || lease.Spec.RenewTime == nil {
		return lease, nil
	}
	age := l.Now().Sub(lease.Spec.RenewTime.Time)
	if age > time.Duration(ptr.Deref(lease.Spec.LeaseDurationSeconds, 0))*time.Second {
		return lease, nil // its holder has died
	}
	return nil, &HeldError{Key: l.Key, Holder: holder, Renewed: age}
}

// ErrLeaseLost ends a run whose Lease somebody else has taken.
var ErrLeaseLost = errors.New("lost the Lease to another controller: stopped so that the two do not work at the same time; run it again")

// Hold takes the Lease, keeps it while do runs, and gives it back, also if ctx ends meanwhile.
// The context of do ends with ErrLeaseLost if the Lease is lost.
func (l *Lease) Hold(ctx context.Context, do func(context.Context)) error {
	lease, err := l.take(ctx)
	if err != nil {
		return err
	}
	held, cancel := context.WithCancelCause(ctx)
	renewed := make(chan struct{})
	stop := make(chan struct{})
	go func() {
		defer close(renewed)
		l.renew(held, stop, lease, cancel)
	}()
	do(held)
	close(stop)
	<-renewed
	lost := errors.Is(context.Cause(held), ErrLeaseLost)
	cancel(nil)
	if lost {
		return ErrLeaseLost
	}
	return l.release(context.WithoutCancel(ctx), lease)
}

func (l *Lease) take(ctx context.Context) (*coordinationv1.Lease, error) {
	lease, err := l.read(ctx)
	if err != nil {
		return nil, err
	}
	now := metav1.NewMicroTime(l.Now())
	if lease == nil {
		lease = &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: l.Key.Namespace, Name: l.Key.Name}}
		l.fill(lease, now)
		err := l.API.Create(ctx, lease)
		switch {
		case apierrors.IsNotFound(err):
			return nil, &NoLeaseError{Key: l.Key, NamespaceMissing: true, Err: err}
		case apierrors.IsAlreadyExists(err):
			return nil, fmt.Errorf("somebody else took the Lease %s at the same moment; try again", l.Key)
		case err != nil:
			return nil, fmt.Errorf("cannot take the Lease %s: %w", l.Key, err)
		}
		return lease, nil
	}
	l.fill(lease, now)
	lease.Spec.LeaseTransitions = ptr.To(ptr.Deref(lease.Spec.LeaseTransitions, 0) + 1)
	if err := l.API.Update(ctx, lease); err != nil {
		if apierrors.IsConflict(err) {
			return nil, fmt.Errorf("somebody else took the Lease %s at the same moment; try again", l.Key)
		}
		return nil, fmt.Errorf("cannot take the Lease %s: %w", l.Key, err)
	}
	return lease, nil
}

func (l *Lease) fill(lease *coordinationv1.Lease, now metav1.MicroTime) {
	lease.Spec.HolderIdentity = ptr.To(l.Identity)
	lease.Spec.LeaseDurationSeconds = ptr.To(int32(leaseDuration / time.Second))
	lease.Spec.AcquireTime, lease.Spec.RenewTime = &now, &now
}

// renew keeps the Lease until stop is closed. A failure is tried again as long as nobody else can
// have taken the Lease; a conflict means that somebody has.
func (l *Lease) renew(ctx context.Context, stop <-chan struct{}, lease *coordinationv1.Lease, cancel context.CancelCauseFunc) {
	ticker := time.NewTicker(leaseRenewal)
	defer ticker.Stop()
	last := l.Now()
	for {
		select {
		case <-stop:
			return
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		next := lease.DeepCopy()
		next.Spec.RenewTime = &metav1.MicroTime{Time: l.Now()}
		attempt, done := context.WithTimeout(ctx, leaseRenewal)
		err := l.API.Update(attempt, next)
		done()
		switch {
		case err == nil:
			next.DeepCopyInto(lease)
			last = l.Now()
		case apierrors.IsConflict(err), apierrors.IsNotFound(err), l.Now().Sub(last) >= leaseDuration-leaseRenewal:
			cancel(ErrLeaseLost)
			return
		}
	}
}

// release gives the Lease back as controller-runtime does: without a holder it is free at once.
func (l *Lease) release(ctx context.Context, lease *coordinationv1.Lease) error {
	ctx, done := context.WithTimeout(ctx, releaseTimeout)
	defer done()
	now := metav1.NewMicroTime(l.Now())
	lease.Spec.HolderIdentity = ptr.To("")
	lease.Spec.LeaseDurationSeconds = ptr.To(int32(1))
	lease.Spec.AcquireTime, lease.Spec.RenewTime = &now, &now
	if err := l.API.Update(ctx, lease); err != nil {
		return fmt.Errorf("cannot release the Lease %s; it runs out by itself in %s: %w", l.Key, leaseDuration, err)
	}
	return nil
}
