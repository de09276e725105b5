package causes

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/cluster"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/diagnose"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/facts"
)

// recording is the index.yaml of a namespace that was read every two seconds.
type recording struct {
	Namespace string
	Frames    []struct {
		File       string
		RecordedAt time.Time `json:"recorded_at"`
	}
}

// change is the first frame with another explanation than the one before.
type change struct {
	frame string
	state diagnose.State
	cause string
}

// Explanations change when something has changed, and do not go back and forth with the
// seconds: not with each try to pull an image, and not between two crashes.
func TestSequences(t *testing.T) {
	const fresh = "controller-not-running"
	for name, want := range map[string][]change{
		"01-secret-missing": {{"t000", diagnose.StatePending, fresh}, {"t002", diagnose.StateError, "secret-not-found"}},
		"103-failedscheduling-then-pulling": {{"t000", diagnose.StatePending, fresh}, {"t002", diagnose.StateError, "node-unschedulable"},
			{"t014", diagnose.StatePending, "image-pulling"}, {"t070", diagnose.StateRunning, ""}},
		"122-stuck-on-old-template": {{"t000", diagnose.StatePending, fresh}, {"t002", diagnose.StateError, "secret-not-found"},
			{"t018", diagnose.StateError, "pod-stuck-on-old-template"}},
		"19-image-not-found": {{"t000", diagnose.StatePending, fresh}, {"t002", diagnose.StatePending, "image-pulling"}, {"t004", diagnose.StateError, imageNotFound}},
		"42-crash-exit-1": {{"t000", diagnose.StatePending, fresh}, {"t002", diagnose.StatePending, "container-starting"}, {"t010", diagnose.StateRunning, ""},
			{"t016", diagnose.StateError, crashError}},
		"75-pausing": {{"t000", diagnose.StateRunning, ""}, {"t004", diagnose.StateTerminating, "pausing"}, {"t030", diagnose.StatePaused, "paused"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join("../../../testdata/sequences", name)
			var index recording
			readYAML(t, filepath.Join(dir, "index.yaml"), &index)
			var got []change
			for _, frame := range index.Frames {
				f, err := cluster.Gather(t.Context(), openFrame(t, filepath.Join(dir, frame.File), index.Namespace, frame.RecordedAt), index.Namespace, alice)
				if err != nil {
					t.Fatal(err)
				}
				d := Diagnose(f)
				now := change{frame.File[:len("t000")], d.State, ""}
				if len(d.Causes) > 0 {
					now.cause = d.Causes[0].ID
				}
				if n := len(got); n == 0 || got[n-1].state != now.state || got[n-1].cause != now.cause {
					got = append(got, now)
				}
			}
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(change{})); diff != "" {
				t.Errorf("(-want +got): %s", diff)
			}
		})
	}
}

// openFrame reads a dump of everything in a namespace as what it is: complete.
func openFrame(t *testing.T, file, namespace string, at time.Time) *cluster.Store {
	t.Helper()
	s := cluster.Snapshot{APIVersion: facts.APIVersion, Kind: cluster.SnapshotKind, CapturedAt: at, Namespaces: []string{namespace}}
	readYAML(t, file, &s)
	s.APIVersion, s.Kind = facts.APIVersion, cluster.SnapshotKind
	for _, item := range s.Items {
		if kind, _ := item["kind"].(string); !slices.Contains(s.Complete, kind) {
			s.Complete = append(s.Complete, kind)
		}
	}
	s.Complete = append(s.Complete, cluster.Secrets.Kind, cluster.Pods.Kind, cluster.StatefulSets.Kind, cluster.Events.Kind)
	text, err := yaml.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	store, err := cluster.OpenSnapshot([]string{"-"}, bytes.NewReader(text), time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	return store
}

func readYAML(t *testing.T, file string, into any) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, into); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}
