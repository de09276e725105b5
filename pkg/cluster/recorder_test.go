package cluster

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// What was read from a cluster and what is read from a snapshot of it must be the same,
// down to the questions that got no answer: describe then prints the same bytes.
func TestSnapshotGivesTheSameFacts(t *testing.T) {
	text, err := os.ReadFile("../../testdata/demo/cluster.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for name, edit := range map[string]func(string) string{
		"everything readable": func(s string) string { return s },
		"Secrets forbidden": func(s string) string {
			return strings.Replace(s, "items:", "unchecked: [{object: Secret, reason: forbidden, detail: no}, {object: Event/Pod/ws-alice-notebook-x7k2p-0, reason: timeout, detail: slow}]\nitems:", 1)
		},
		"nothing claimed": func(s string) string { return strings.Replace(s, "complete: [", "unused: [", 1) },
		"no StatefulSet":  func(s string) string { return strings.ReplaceAll(s, "kind: StatefulSet", "kind: Deployment") },
	} {
		t.Run(name, func(t *testing.T) {
			recorder := NewRecorder(openText(t, edit(string(text))))
			want, err := Gather(t.Context(), recorder, "team-a", "alice-notebook")
			if err != nil {
				t.Fatal(err)
			}
			written, err := yaml.Marshal(recorder.Snapshot())
			if err != nil {
				t.Fatal(err)
			}
			store, err := OpenSnapshot([]string{"-"}, bytes.NewReader(written), time.Time{})
			if err != nil {
				t.Fatal(err)
			}
			got, err := Gather(t.Context(), store, "team-a", "alice-notebook")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("facts (-read +snapshot):\n%s", diff)
			}
		})
	}
}

func TestSnapshotIsRedacted(t *testing.T) {
	recorder := NewRecorder(openText(t, `
{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: ns,
  annotations: {kubectl.kubernetes.io/last-applied-configuration: "hush-1", keep: this},
  managedFields: [{manager: hush-2}]},
 spec: {containers: [{name: main, env: [{name: TOKEN, value: hush-3}, {name: REF, valueFrom: {secretKeyRef: {name: s, key: k}}}]}]}}
---
{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: ns}, data: {k: hush-4}, stringData: {k: hush-5}}
---
{apiVersion: kubeflow.org/v1beta1, kind: WorkspaceKind, metadata: {name: k}, spec: {podTemplate: {extraEnv: [{name: A, value: hush-6}]}}}`))
	for _, g := range []struct {
		r    Resource
		name string
	}{{Pods, "p"}, {Secrets, "s"}, {WorkspaceKinds, "k"}} {
		if _, err := recorder.Get(t.Context(), g.r, "ns", g.name); err != nil {
			t.Fatal(err)
		}
	}
	written, err := yaml.Marshal(recorder.Snapshot())
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(written, []byte("hush")) {
		t.Errorf("the snapshot gives something away:\n%s", written)
	}
	for _, keep := range []string{"keep: this", "name: TOKEN", "secretKeyRef"} {
		if !bytes.Contains(written, []byte(keep)) {
			t.Errorf("the snapshot lacks %q:\n%s", keep, written)
		}
	}
}
