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

// That a Pod has another value than its template must survive the masking, and nothing
// else about the values may.
func TestMasksTellValuesApart(t *testing.T) {
	text := `
{apiVersion: v1, kind: Pod, metadata: {name: old, namespace: ns}, spec: {containers: [{name: main, env: [{name: A, value: one}, {name: B, value: one}, {name: PATH_PREFIX, value: /ws/x}, {name: EMPTY, value: ""}]}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: same, namespace: ns}, spec: {containers: [{name: main, env: [{name: A, value: one}, {name: B, value: one}, {name: PATH_PREFIX, value: /ws/y}, {name: EMPTY, value: ""}]}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: new, namespace: ns}, spec: {containers: [{name: main, env: [{name: A, value: two}, {name: B, value: one}, {name: PATH_PREFIX, value: /ws/x}, {name: EMPTY, value: ""}]}]}}
---
{apiVersion: kubeflow.org/v1beta1, kind: WorkspaceKind, metadata: {name: k}, spec: {podTemplate: {extraEnv: [{name: PATH_PREFIX, value: '{{ httpPathPrefix "x" }}'}, {name: A, value: one}]}}}`
	read := func() map[string]map[string]string {
		recorder := NewRecorder(openText(t, text))
		for _, name := range []string{"old", "same", "new"} { // before the WorkspaceKind
			if _, err := recorder.Get(t.Context(), Pods, "ns", name); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := recorder.Get(t.Context(), WorkspaceKinds, "", "k"); err != nil {
			t.Fatal(err)
		}
		out := map[string]map[string]string{}
		for _, item := range recorder.Snapshot().Items {
			name := item["metadata"].(map[string]any)["name"].(string)
			out[name] = map[string]string{}
			eachVariable(item, func(variable string, v map[string]any) { out[name][variable] = v["value"].(string) })
		}
		return out
	}
	got := read()
	if diff := cmp.Diff(got["old"], got["same"]); diff != "" {
		t.Errorf("the same values, or those of a template, differ: %s", diff)
	}
	if got["k"]["A"] != got["old"]["A"] || got["k"]["PATH_PREFIX"] != got["old"]["PATH_PREFIX"] {
		t.Errorf("the WorkspaceKind differs from the Pod: %v", got)
	}
	if got["new"]["A"] == got["old"]["A"] || got["new"]["B"] != got["old"]["B"] {
		t.Errorf("a change cannot be seen: %v", got)
	}
	if got["old"]["A"] == got["old"]["B"] {
		t.Error("two variables can be seen to have the same value")
	}
	if got["old"]["EMPTY"] != "" {
		t.Errorf("nothing is masked as %q", got["old"]["EMPTY"])
	}
	if again := read(); again["old"]["A"] == got["old"]["A"] {
		t.Error("another snapshot has the same masks: values can be found by trying")
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
