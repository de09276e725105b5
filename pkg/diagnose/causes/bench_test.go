package causes

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/cluster"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/facts"
)

// BenchmarkDiagnose explains a Workspace whose Pod has many Events, each with a message
// of its own.
func BenchmarkDiagnose(b *testing.B) {
	store, err := cluster.OpenSnapshot([]string{"../../../testdata/demo"}, nil, time.Time{})
	if err != nil {
		b.Fatal(err)
	}
	for _, n := range []int{10, 10_000} {
		b.Run(fmt.Sprintf("%d Events", n), func(b *testing.B) {
			f, err := cluster.Gather(b.Context(), store, "team-a", alice)
			if err != nil {
				b.Fatal(err)
			}
			pod := facts.Ref{Kind: "Pod", Name: "ws-alice-notebook-x7k2p-0"}
			events := f.Events[pod].Value
			for i := range n {
				e := *events[i%len(events)].DeepCopy()
				e.UID = types.UID(fmt.Sprint("copy-", i))
				e.Message = fmt.Sprintf("%s (%d)", e.Message, i)
				e.LastTimestamp = metav1.NewTime(e.CreationTimestamp.Add(time.Duration(i) * time.Second))
				events = append(events, e)
			}
			f.Events[pod] = facts.Answer[[]corev1.Event]{Status: facts.Found, Value: events}
			b.ResetTimer()
			for b.Loop() {
				Diagnose(f)
			}
		})
	}
}
