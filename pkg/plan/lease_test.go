package plan

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

var leaseKey = client.ObjectKey{Namespace: "kubeflow", Name: "lease"}

// leaseOf is a Lease as its holder has left it.
func leaseOf(holder string, renewed time.Time) *coordinationv1.Lease {
	return &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: leaseKey.Namespace, Name: leaseKey.Name},
		Spec: coordinationv1.LeaseSpec{
			HolderIdentity: &holder, LeaseDurationSeconds: ptr.To(int32(15)), RenewTime: &metav1.MicroTime{Time: renewed},
		},
	}
}

// leaseBench has a Lease of ours over an API server in memory; down makes its writes fail.
func leaseBench(t testing.TB, down *atomic.Bool, existing ...client.Object) *Lease {
	t.Helper()
	s, err := NewScheme()
	if err != nil {
		t.Fatal(err)
	}
	api := fake.NewClientBuilder().WithScheme(s).WithObjects(existing...).WithInterceptorFuncs(interceptor.Funcs{
		Update: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.UpdateOption) error {
			if down.Load() {
				return apierrors.NewInternalError(errors.New("etcd is away"))
			}
			return c.Update(ctx, o, opts...)
		},
	}).Build()
	return &Lease{API: api, Key: leaseKey, Identity: "us", Now: time.Now}
}

func (l *Lease) stored(t testing.TB) *coordinationv1.Lease {
	t.Helper()
	lease := &coordinationv1.Lease{}
	if err := l.API.Get(context.Background(), l.Key, lease); err != nil {
		t.Fatal(err)
	}
	return lease
}

func TestLeaseHeldAndGivenBack(t *testing.T) {
	for name, existing := range map[string]func() []client.Object{
		"none yet":         func() []client.Object { return nil },
		"given back":       func() []client.Object { return []client.Object{leaseOf("", time.Now())} },
		"its holder died":  func() []client.Object { return []client.Object{leaseOf("controller", time.Now().Add(-16*time.Second))} },
		"ours from before": func() []client.Object { return []client.Object{leaseOf("us", time.Now())} },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := leaseBench(t, new(atomic.Bool), existing()...)
				ctx, cancel := context.WithCancel(t.Context())
				err := l.Hold(ctx, func(held context.Context) {
					time.Sleep(time.Minute)
					lease := l.stored(t)
					if age := time.Since(lease.Spec.RenewTime.Time); *lease.Spec.HolderIdentity != "us" || age > leaseRenewal {
						t.Errorf("held by %q, renewed %s ago", *lease.Spec.HolderIdentity, age)
					}
					cancel() // Ctrl-C
					if held.Err() == nil {
						t.Error("the work does not end with its context")
					}
				})
				if holder := *l.stored(t).Spec.HolderIdentity; err != nil || holder != "" {
					t.Errorf("%v, held by %q", err, holder)
				}
			})
		})
	}
}

// A run that has lost its Lease ends, and leaves it to the other.
func TestLeaseLost(t *testing.T) {
	for name, lose := range map[string]func(t *testing.T, l *Lease, down *atomic.Bool) (holder string){
		"taken by another": func(t *testing.T, l *Lease, _ *atomic.Bool) string {
			lease := l.stored(t)
			lease.Spec.HolderIdentity = ptr.To("controller")
			if err := l.API.Update(t.Context(), lease); err != nil {
				t.Fatal(err)
			}
			return "controller"
		},
		"not renewed in time": func(_ *testing.T, _ *Lease, down *atomic.Bool) string { down.Store(true); return "us" },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var down atomic.Bool
				l := leaseBench(t, &down)
				want := ""
				err := l.Hold(t.Context(), func(held context.Context) {
					want = lose(t, l, &down)
					start := time.Now()
					<-held.Done()
					if took := time.Since(start); took > leaseDuration-leaseRenewal || !errors.Is(context.Cause(held), ErrLeaseLost) {
						t.Errorf("after %s: %v", took, context.Cause(held))
					}
				})
				if holder := *l.stored(t).Spec.HolderIdentity; !errors.Is(err, ErrLeaseLost) || holder != want {
					t.Errorf("%v, held by %q", err, holder)
				}
			})
		})
	}
}

func TestLeaseOfSomebodyAlive(t *testing.T) {
	l := leaseBench(t, new(atomic.Bool), leaseOf("controller", time.Now().Add(-3*time.Second)))
	var held *HeldError
	err := l.Hold(t.Context(), func(context.Context) { t.Error("the work began") })
	if !errors.As(err, &held) || held.Holder != "controller" || held.Renewed.Round(time.Second) != 3*time.Second {
		t.Errorf("%v", err)
	}
}
