package cluster

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/facts"
)

func openText(t *testing.T, text string) *Store {
	t.Helper()
	s, err := OpenSnapshot([]string{"-"}, strings.NewReader(text), time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestOpenSnapshotReadsEveryShape(t *testing.T) {
	pod := `{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: ns}}`
	for name, text := range map[string]string{
		"object":    pod,
		"documents": "# a comment\n---\n" + pod + "\n---\n\n---\n{apiVersion: v1, kind: Node, metadata: {name: node-1}}",
		"list":      "{apiVersion: v1, kind: List, items: [" + pod + "]}",
		"JSON":      `{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "ns"}}` + "\n",
		"JSON values in a row": `{"kind":"NodeList","apiVersion":"v1","items":[]}` + "\n" +
			`{"kind":"PodList","apiVersion":"v1","items":[{"metadata":{"name":"p","namespace":"ns"}}]}`,
		"JSON, then YAML": `{"kind":"Node","apiVersion":"v1","metadata":{"name":"n"}}` + "\n---\n" + pod,
		"a list of null":  `{"kind":"EventList","apiVersion":"v1","items":null}` + "\n---\n" + pod,
		"JSON snapshot":   `{"kind":"Snapshot","apiVersion":"kubectl-workspace/v1","items":[` + "\n" + `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"ns"}}]}`,
		"typed list":      `{"kind":"PodList","apiVersion":"v1","items":[{"metadata":{"name":"p","namespace":"ns"}}]}`,
		"snapshot":        "apiVersion: kubectl-workspace/v1\nkind: Snapshot\ncapturedAt: '2026-01-15T12:00:00Z'\nitems: [" + pod + "]",
	} {
		t.Run(name, func(t *testing.T) {
			u, err := openText(t, text).Get(t.Context(), Pods, "ns", "p")
			if err != nil || u.GetKind() != "Pod" || u.GetAPIVersion() != "v1" {
				t.Errorf("Get = %v, %v", u, err)
			}
		})
	}
}

func TestOpenSnapshotReadsDirectories(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("team-a/pods.json", `{"kind":"PodList","apiVersion":"v1","items":[{"metadata":{"name":"p","namespace":"team-a"}}]}`)
	write("team-a/main/logs.txt", "neither YAML: nor: JSON")
	write("team-a/main/broken.json", `{"kind": "Pod`)
	write("team-a/core/configmaps.yaml", "apiVersion: v1\nkind: ConfigMapList\nitems:\n- metadata: {name: c, namespace: team-a}\n")
	s, err := OpenSnapshot([]string{dir}, nil, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Get(t.Context(), Pods, "team-a", "p"); err != nil {
		t.Error(err)
	}
	if _, err := s.Get(t.Context(), ConfigMaps, "team-a", "c"); err != nil {
		t.Error(err)
	}
	if len(s.Skipped) != 1 || !strings.Contains(s.Skipped[0].Error(), "broken.json") {
		t.Errorf("skipped = %v, want the broken file", s.Skipped)
	}
}

func TestOpenSnapshotErrorsNameTheSpot(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"not yaml":      {"a: b: c", "stdin, document 1: neither YAML nor JSON"},
		"no kind":       {"{apiVersion: v1, metadata: {name: x}}", "stdin, document 1: not a Kubernetes object: kind or apiVersion is missing"},
		"no name":       {"{apiVersion: v1, kind: Pod}", "stdin, document 1: Pod without a name"},
		"second":        {"{apiVersion: v1, kind: Pod, metadata: {name: x}}\n---\nfoo: 1", "stdin, document 2: not a Kubernetes object"},
		"bad JSON":      {`{"apiVersion": "v1", "kind": "Pod"`, "stdin, document 1: neither YAML nor JSON"},
		"bad items":     {"{apiVersion: kubectl-workspace/v1, kind: Snapshot, items: 5}", "stdin, document 1: not a valid Snapshot"},
		"bad item":      {"{apiVersion: v1, kind: List, items: [1]}", "stdin, document 1: item 0 is not an object"},
		"bad time":      {"{apiVersion: kubectl-workspace/v1, kind: Snapshot, capturedAt: noon, items: []}", "stdin, document 1: not a valid Snapshot"},
		"empty":         {"", "no Kubernetes objects in -"},
		"only comments": {"# nothing\n---\n# here", "no Kubernetes objects in -"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := OpenSnapshot([]string{"-"}, strings.NewReader(c.text), time.Time{})
			if err == nil || !strings.HasPrefix(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error = %v, want one line that begins %q", err, c.want)
			}
		})
	}
}

func TestSnapshotClock(t *testing.T) {
	const objects = `
- {apiVersion: v1, kind: Pod, metadata: {name: p, namespace: ns, creationTimestamp: "2026-01-15T10:00:00Z", annotations: {certificate/notAfter: "2036-01-01T00:00:00Z"}}}
- {apiVersion: v1, kind: Event, metadata: {name: e, namespace: ns}, eventTime: "2026-01-15T10:30:00.5Z", involvedObject: {kind: Pod, name: p}}`
	at := func(s string) time.Time {
		u, err := time.Parse(time.RFC3339Nano, s)
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	list := "{apiVersion: v1, kind: List, items: [" + strings.ReplaceAll(strings.TrimSpace(objects), "\n-", ",")[1:] + "]}"
	snapshot := "apiVersion: kubectl-workspace/v1\nkind: Snapshot\ncapturedAt: '2026-01-15T12:00:00Z'\nitems:" + objects
	for name, c := range map[string]struct {
		text     string
		override time.Time
		want     string
	}{
		"time of capture":      {snapshot, time.Time{}, "2026-01-15T12:00:00Z"},
		"newest observed time": {list, time.Time{}, "2026-01-15T10:30:00.5Z"},
		"--now":                {snapshot, at("2026-02-01T00:00:00Z"), "2026-02-01T00:00:00Z"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := OpenSnapshot([]string{"-"}, strings.NewReader(c.text), c.override)
			if err != nil {
				t.Fatal(err)
			}
			if !s.Now().Equal(at(c.want)) {
				t.Errorf("Now = %s, want %s", s.Now(), c.want)
			}
		})
	}
}

// Whether something that is not in a snapshot is absent or unknown decides between a
// right and a confidently wrong answer.
func TestAbsenceFromASnapshot(t *testing.T) {
	const text = `
apiVersion: kubectl-workspace/v1
kind: Snapshot
capturedAt: "2026-01-15T12:00:00Z"
namespaces: [team-a]
complete: [Pod, Node]
absent: [Secret/team-a/gone, WorkspaceKind/gone]
unchecked:
- {object: Secret/team-a/hidden, reason: forbidden, detail: 'secrets "hidden" is forbidden'}
- {object: PersistentVolumeClaim, reason: timeout, detail: too slow}
items:
- {apiVersion: v1, kind: Secret, metadata: {name: here, namespace: team-a}, data: {k: c2VjcmV0}}`
	s := openText(t, text)
	for name, c := range map[string]struct {
		r               Resource
		namespace, name string
		want            string
	}{
		"present":                        {Secrets, "team-a", "here", "found"},
		"said to be absent":              {Secrets, "team-a", "gone", "absent"},
		"cluster-scoped, absent":         {WorkspaceKinds, "", "gone", "absent"},
		"complete kind":                  {Pods, "team-a", "p", "absent"},
		"complete kind, other namespace": {Pods, "team-b", "p", "not-in-snapshot"},
		"kind not claimed":               {Secrets, "team-a", "other", "not-in-snapshot"},
		"was forbidden":                  {Secrets, "team-a", "hidden", "forbidden"},
		"list had failed":                {Claims, "team-a", "home", "timeout"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := s.Get(t.Context(), c.r, c.namespace, c.name)
			a := AnswerOf(0, err)
			if got := string(a.Status) + a.Reason; got != c.want && got != "unknown"+c.want {
				t.Errorf("answer = %+v, want %s", a, c.want)
			}
		})
	}
	t.Run("data is dropped", func(t *testing.T) {
		u, err := s.Get(t.Context(), Secrets, "team-a", "here")
		if err != nil || u.Object["data"] != nil {
			t.Errorf("Get = %v, %v; want no data", u, err)
		}
	})
	t.Run("lists", func(t *testing.T) {
		if items, err := s.List(t.Context(), Pods, ListOptions{Namespace: "team-a", Labels: labels.Everything()}); err != nil || len(items) != 0 {
			t.Errorf("List of a complete kind = %v, %v; want none and no error", items, err)
		}
		if _, err := s.List(t.Context(), StatefulSets, ListOptions{Namespace: "team-a"}); !errors.Is(err, ErrNotInSnapshot) {
			t.Errorf("List of a kind that is not claimed: %v, want ErrNotInSnapshot", err)
		}
	})
}

// People dump what they think matters: that one object of a kind is there says nothing
// about the others.
func TestAListIsCompleteOnlyIfTheSnapshotSaysSo(t *testing.T) {
	const objects = `
- {apiVersion: v1, kind: Event, metadata: {name: e, namespace: team-a}, involvedObject: {kind: Pod, name: p}}
- {apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: slow}}`
	snapshot := func(claims string) string {
		return "apiVersion: kubectl-workspace/v1\nkind: Snapshot\ncapturedAt: '2026-01-15T12:00:00Z'\n" + claims + "\nitems:" + objects
	}
	pod, other := ListOptions{Namespace: "team-a", About: &About{"Pod", "p"}}, ListOptions{Namespace: "team-a", About: &About{"Pod", "q"}}
	for name, c := range map[string]struct {
		text string
		r    Resource
		opts ListOptions
		want facts.Answer[int] // the number of objects
	}{
		"plain objects":                 {"apiVersion: v1\nkind: List\nitems:" + objects, Events, pod, facts.Answer[int]{Status: facts.Found, Value: 1, Partial: true}},
		"plain objects, of another":     {"apiVersion: v1\nkind: List\nitems:" + objects, Events, other, facts.Answer[int]{Status: facts.Unknown}},
		"nothing claimed":               {snapshot(""), StorageClasses, ListOptions{}, facts.Answer[int]{Status: facts.Found, Value: 1, Partial: true}},
		"kind claimed":                  {snapshot("complete: [StorageClass]"), StorageClasses, ListOptions{}, facts.Answer[int]{Status: facts.Found, Value: 1}},
		"kind claimed, nothing there":   {snapshot("complete: [Event]"), Events, other, facts.Answer[int]{Status: facts.Found}},
		"another namespace claimed":     {snapshot("complete: [Event]\nnamespaces: [team-b]"), Events, pod, facts.Answer[int]{Status: facts.Found, Value: 1, Partial: true}},
		"the selection claimed":         {snapshot("lists: [{kind: Event, namespace: team-a, about: Pod/p}]"), Events, pod, facts.Answer[int]{Status: facts.Found, Value: 1}},
		"a selection claimed, not this": {snapshot("lists: [{kind: Event, namespace: team-a, about: Pod/p}]"), Events, other, facts.Answer[int]{Status: facts.Unknown}},
	} {
		t.Run(name, func(t *testing.T) {
			store := openText(t, c.text)
			// A record of it, and what a bulk load of it gives, may not claim more.
			recorder := NewRecorder(store)
			for who, reader := range map[string]Reader{"store": store, "recorder": recorder, "record": store} {
				if who == "record" {
					ListAnswer(t.Context(), recorder, c.r, c.opts)
					written, err := yaml.Marshal(recorder.Snapshot())
					if err != nil {
						t.Fatal(err)
					}
					reader = openText(t, string(written))
				}
				got := ListAnswer(t.Context(), reader, c.r, c.opts)
				if got.Status != c.want.Status || len(got.Value) != c.want.Value || got.Partial != c.want.Partial {
					t.Errorf("%s: %d objects, %s, partial %v; want %+v", who, len(got.Value), got.Status, got.Partial, c.want)
				}
			}
		})
	}
}

func TestEventsOfBothAPIsAreTheSame(t *testing.T) {
	s := openText(t, `{apiVersion: events.k8s.io/v1, kind: Event, metadata: {name: e, namespace: ns}, regarding: {kind: Pod, name: p}, note: hello, reason: R, type: Warning, deprecatedCount: 3, deprecatedLastTimestamp: "2026-01-15T12:00:00Z"}`)
	items, err := s.List(context.Background(), Events, ListOptions{Namespace: "ns", About: &About{"Pod", "p"}})
	if err != nil || len(items) != 1 {
		t.Fatalf("List = %v, %v", items, err)
	}
	if e := items[0].Object; e["message"] != "hello" || e["count"] != int64(3) || e["lastTimestamp"] != "2026-01-15T12:00:00Z" {
		t.Errorf("event = %v", e)
	}
}

func TestLoadRemembersWhatFailed(t *testing.T) {
	from := openText(t, `
apiVersion: kubectl-workspace/v1
kind: Snapshot
capturedAt: "2026-01-15T12:00:00Z"
complete: [Pod]
unchecked: [{object: Secret, reason: forbidden, detail: no}]
items: []`)
	s, err := Load(t.Context(), from, Query{Resource: Pods, Options: ListOptions{Namespace: "ns"}}, Query{Resource: Secrets, Options: ListOptions{Namespace: "ns"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Get(t.Context(), Pods, "ns", "p"); !apierrors.IsNotFound(err) {
		t.Errorf("Pod that a complete list lacks: %v, want not found", err)
	}
	if _, err := s.Get(t.Context(), Secrets, "ns", "x"); AnswerOf(0, err).Reason != "forbidden" {
		t.Errorf("Secret after a forbidden list: %v, want forbidden", err)
	}

	part := openText(t, "{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: ns}}")
	if s, err = Load(t.Context(), part, Query{Resource: Pods, Options: ListOptions{Namespace: "ns"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Get(t.Context(), Pods, "ns", "q"); !errors.Is(err, ErrNotInSnapshot) {
		t.Errorf("Pod that a list of only a part lacks: %v, want that nobody knows", err)
	}
}

func FuzzOpenSnapshot(f *testing.F) {
	f.Add("{apiVersion: v1, kind: Pod, metadata: {name: p}}")
	f.Add("{kind: EventList, apiVersion: events.k8s.io/v1, items: [{metadata: {name: e}, note: 1}]}")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := OpenSnapshot([]string{"-"}, strings.NewReader(text), time.Time{})
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("error of more than one line: %q", err)
			}
			return
		}
		s.DefaultNamespace()
	})
}

// An Event is found by what it is about, also if it has come to be about something else.
func TestStoreFindsEventsByObject(t *testing.T) {
	s := openText(t, `
{apiVersion: v1, kind: Event, metadata: {name: a, namespace: ns}, involvedObject: {kind: Pod, name: one}}
---
{apiVersion: v1, kind: Event, metadata: {name: b, namespace: ns}, involvedObject: {kind: Pod, name: one}}
---
{apiVersion: v1, kind: Event, metadata: {name: c, namespace: other}, involvedObject: {kind: Pod, name: one}}
---
{apiVersion: v1, kind: Event, metadata: {name: a, namespace: ns}, involvedObject: {kind: Pod, name: two}}
---
{apiVersion: v1, kind: Event, metadata: {name: b, namespace: ns}, involvedObject: {kind: Pod, name: two}}
---
{apiVersion: v1, kind: Event, metadata: {name: b, namespace: ns}, involvedObject: {kind: Pod, name: one}}`)
	for _, c := range []struct {
		namespace string
		about     About
		want      string
	}{
		{"ns", About{"Pod", "one"}, "b"},
		{"ns", About{"Pod", "two"}, "a"},
		{"", About{"Pod", "one"}, "b c"},
	} {
		items, err := s.List(t.Context(), Events, ListOptions{Namespace: c.namespace, About: &c.about})
		var names []string
		for i := range items {
			names = append(names, items[i].GetName())
		}
		if got := strings.Join(names, " "); err != nil || got != c.want {
			t.Errorf("%q %v: %q, %v; want %q", c.namespace, c.about, got, err, c.want)
		}
	}
	for _, about := range []About{{"StatefulSet", "one"}, {"Pod", "three"}} {
		if _, err := s.List(t.Context(), Events, ListOptions{Namespace: "ns", About: &about}); !errors.Is(err, ErrNotInSnapshot) {
			t.Errorf("%v: %v; the Events of others say nothing about those of this one", about, err)
		}
	}
}
