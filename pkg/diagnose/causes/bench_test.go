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
// of its own, of the kinds of which a broken Pod gathers many.
func BenchmarkDiagnose(b *testing.B) {
	store, err := cluster.OpenSnapshot([]string{"../../../testdata/demo"}, nil, time.Time{})
	if err != nil {
		b.Fatal(err)
	}
	for _, kind := range []struct{ reason, message string }{
		{"FailedMount", `MountVolume.SetUp failed for volume "secret-volume-0" : secret "minio-creds" not found`},
		{"FailedMount", `MountVolume.MountDevice failed for volume "pvc-1" : rpc error: code = Internal desc = mount failed: exit status 32`},
		{"FailedCreatePodSandBox", `Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup network for sandbox "1": plugin type="calico" failed (add): connection refused`},
		{"FailedScheduling", "0/3 nodes are available: 3 Insufficient cpu."},
		{"Failed", `Failed to pull image "registry.example.com/jupyter-scipy:2.0.0": rpc error: code = NotFound desc = not found`},
		{"Failed", `Error: failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: exec: "lab": executable file not found in $PATH`},
		{"Unhealthy", "Readiness probe failed: HTTP probe failed with statuscode: 503"},
	} {
		for _, n := range []int{10, 10_000} {
			b.Run(fmt.Sprintf("%s/%.20s/%d", kind.reason, kind.message, n), func(b *testing.B) {
				f, err := cluster.Gather(b.Context(), store, "team-a", alice)
				if err != nil {
					b.Fatal(err)
				}
				pod := facts.Ref{Kind: "Pod", Name: "ws-alice-notebook-x7k2p-0"}
				events := f.Events[pod].Value
				for i := range n {
					e := *events[i%len(events)].DeepCopy()
					e.UID = types.UID(fmt.Sprint("copy-", i))
					e.Type, e.Reason = corev1.EventTypeWarning, kind.reason
					e.Message = fmt.Sprintf("%s (%d)", kind.message, i)
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
}
