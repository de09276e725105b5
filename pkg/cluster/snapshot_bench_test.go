package cluster

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"
)

// largeDump is what "kubectl get -o json" gives of a busy cluster, some 12 MB: many Pods
// of Workspaces, and ten thousand Events about them.
func largeDump() (content map[string]any, workspaces int) {
	const pods, eventsPerPod = 500, 20
	var items []any
	object := func(kind, apiVersion, name string, rest map[string]any) {
		metadata := map[string]any{"name": name, "namespace": "team-a", "uid": "uid-" + name, "creationTimestamp": "2026-01-15T11:00:00Z",
			"annotations": map[string]any{"example.com/note": strings.Repeat("what controllers write ", 20)}}
		if workspace, ok := rest["workspace"]; ok {
			metadata["labels"] = map[string]any{"notebooks.kubeflow.org/workspace-name": workspace}
			delete(rest, "workspace")
		}
		rest["kind"], rest["apiVersion"], rest["metadata"] = kind, apiVersion, metadata
		items = append(items, rest)
	}
	for p := range pods {
		workspace, pod := fmt.Sprintf("notebook-%d", p), fmt.Sprintf("ws-notebook-%d-x7k2p-0", p)
		object("Workspace", "kubeflow.org/v1beta1", workspace, map[string]any{"spec": map[string]any{"kind": "jupyterlab"}})
		object("Pod", "v1", pod, map[string]any{"workspace": workspace, "status": map[string]any{"phase": "Pending"}})
		for e := range eventsPerPod {
			object("Event", "v1", fmt.Sprintf("%s.%x", pod, e), map[string]any{
				"type": "Warning", "reason": "FailedMount", "count": 3, "lastTimestamp": "2026-01-15T11:59:00Z",
				"message":        `MountVolume.SetUp failed for volume "secret-volume-0" : secret "minio-creds" not found ` + strings.Repeat("and more ", 30),
				"involvedObject": map[string]any{"kind": "Pod", "name": pod, "uid": "uid-" + pod, "namespace": "team-a"},
			})
		}
	}
	return map[string]any{"apiVersion": "v1", "kind": "List", "items": items}, pods
}

func BenchmarkOpenSnapshot(b *testing.B) {
	content, _ := largeDump()
	inJSON, err := json.MarshalIndent(content, "", "    ")
	if err != nil {
		b.Fatal(err)
	}
	inYAML, err := yaml.Marshal(content)
	if err != nil {
		b.Fatal(err)
	}
	for name, text := range map[string][]byte{"json": inJSON, "yaml": inYAML} {
		file := filepath.Join(b.TempDir(), name)
		if err := os.WriteFile(file, text, 0o600); err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := OpenSnapshot([]string{file}, nil, time.Time{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkGatherAll reads the facts of every Workspace of a large dump, as list does.
func BenchmarkGatherAll(b *testing.B) {
	content, workspaces := largeDump()
	l := snapshotLoader{store: NewStore(time.Time{})}
	if err := l.add(content); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		for i := range workspaces {
			if _, err := Gather(b.Context(), l.store, "team-a", fmt.Sprintf("notebook-%d", i)); err != nil {
				b.Fatal(err)
			}
		}
	}
}
