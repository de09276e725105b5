package causes

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/cluster"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/diagnose"
)

// expectation is the expected.json of a case.
type expectation struct {
	Workspace        string
	Namespace        string
	Cause            string
	AcceptableCauses []string `json:"acceptable_causes"`
	Culprit          string
	CulpritAliases   []string `json:"culprit_aliases"`
	State            string
	AcceptableStates []string `json:"acceptable_states"`
	MustMention      []string `json:"must_mention"`
	MustNotName      []string `json:"must_not_name_as_cause"`
}

// TestCorpus explains every failure in testdata: those recorded from real components and
// those rebuilt from public reports. It prints the score by cause.
func TestCorpus(t *testing.T) {
	for name, c := range map[string]struct {
		dir string
		// most is the share of cases that may be missed, of 100.
		most int
	}{
		"recorded from real components": {"recorded", 0},
		"rebuilt from public reports":   {"cases", 5},
	} {
		t.Run(name, func(t *testing.T) {
			dirs, err := filepath.Glob("../../../testdata/" + c.dir + "/*")
			if err != nil || len(dirs) == 0 {
				t.Fatalf("no cases: %v", err)
			}
			type score struct{ right, all int }
			scores := map[string]score{}
			missed := 0
			for _, dir := range dirs {
				e, problems := check(t, dir)
				s := scores[e.Cause]
				s.all++
				if len(problems) == 0 {
					s.right++
				} else {
					missed++
					t.Logf("%s: %s", filepath.Base(dir), strings.Join(problems, "; "))
				}
				scores[e.Cause] = s
			}
			for _, cause := range slices.Sorted(maps.Keys(scores)) {
				t.Logf("%-32s %d/%d", cause, scores[cause].right, scores[cause].all)
			}
			if missed*100 > c.most*len(dirs) {
				t.Errorf("%d of %d cases missed, at most %d%% may be", missed, len(dirs), c.most)
			}
		})
	}
}

// diagnoseCase explains one case.
func diagnoseCase(t *testing.T, dir string) (e expectation, d diagnose.Diagnosis) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "expected.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &e); err != nil {
		t.Fatalf("%s: %v", dir, err)
	}
	store, err := cluster.OpenSnapshot([]string{filepath.Join(dir, "objects.yaml")}, nil, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	f, err := cluster.Gather(t.Context(), store, e.Namespace, e.Workspace)
	if err != nil {
		t.Fatal(err)
	}
	return e, Diagnose(f)
}

// check explains one case and says what is wrong with the explanation.
func check(t *testing.T, dir string) (e expectation, problems []string) {
	t.Helper()
	e, d := diagnoseCase(t, dir)
	wrong := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }

	top := diagnose.Cause{ID: "running"}
	if len(d.Causes) > 0 {
		top = d.Causes[0]
	} else if d.State != diagnose.StateRunning {
		wrong("no cause, and %s", d.State)
	}
	if top.ID != e.Cause && !slices.Contains(e.AcceptableCauses, top.ID) {
		wrong("cause %s, want %s", top.ID, e.Cause)
	}
	if string(d.State) != e.State && !slices.Contains(e.AcceptableStates, string(d.State)) {
		wrong("state %s, want %s", d.State, e.State)
	}
	if !namesCulprit(e, top) {
		// Of a Workspace that runs, the finding is a warning.
		if len(d.Causes) > 0 || !slices.ContainsFunc(d.Warnings, func(w diagnose.Warning) bool { return w.Object == e.Culprit }) {
			wrong("culprit %q, want %q", top.Object, e.Culprit)
		}
	}
	all := normal(texts(d))
	for _, s := range e.MustMention {
		if !strings.Contains(all, normal(s)) {
			wrong("%q is not mentioned", s)
		}
	}
	for _, n := range e.MustNotName {
		if top.ID == n || top.Object == n {
			wrong("names %s", n)
		}
	}
	return e, problems
}

// namesCulprit reports whether a cause is about the object at fault, or at least names it.
func namesCulprit(e expectation, top diagnose.Cause) bool {
	kind, name, _ := strings.Cut(e.Culprit, "/")
	switch {
	case e.Culprit == "" || e.Culprit == "none":
		return true
	case top.Object == e.Culprit, slices.Contains(e.CulpritAliases, top.Object):
		return true
	case name == "":
		return strings.HasPrefix(top.Object, kind)
	}
	return regexp.MustCompile(`(^|[^\w-])` + regexp.QuoteMeta(normal(name)) + `($|[^\w-])`).MatchString(normal(texts(top)))
}

// texts is every string in the JSON form of a value.
func texts(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	var plain any
	if err := json.Unmarshal(b, &plain); err != nil {
		return err.Error()
	}
	var out []string
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for _, k := range slices.Sorted(maps.Keys(v)) {
				walk(v[k])
			}
		case []any:
			for _, item := range v {
				walk(item)
			}
		case string:
			out = append(out, v)
		}
	}
	walk(plain)
	return strings.Join(out, " ;\n")
}

func normal(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }

// A snapshot of every case is explained as the case itself, although it claims only what
// was asked for and masks the environment.
func TestASnapshotIsExplainedAsTheCluster(t *testing.T) {
	dirs, err := filepath.Glob("../../../testdata/*/*/expected.json")
	if err != nil || len(dirs) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range dirs {
		e, _ := diagnoseCase(t, filepath.Dir(file))
		store, err := cluster.OpenSnapshot([]string{filepath.Join(filepath.Dir(file), "objects.yaml")}, nil, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		if diff := againFromASnapshot(t, store, e.Namespace, e.Workspace); diff != "" {
			t.Errorf("%s (-read +snapshot): %s", filepath.Base(filepath.Dir(file)), diff)
		}
	}
}

// againFromASnapshot records what is read about a Workspace, and tells how the explanation
// of the record differs from the explanation of what was read.
func againFromASnapshot(t *testing.T, r cluster.Reader, namespace, name string) (diff string) {
	t.Helper()
	gather := func(r cluster.Reader) diagnose.Diagnosis {
		f, err := cluster.Gather(t.Context(), r, namespace, name)
		if err != nil {
			t.Fatal(err)
		}
		return Diagnose(f)
	}
	recorder := cluster.NewRecorder(r)
	want := gather(recorder)
	written, err := yaml.Marshal(recorder.Snapshot())
	if err != nil {
		t.Fatal(err)
	}
	store, err := cluster.OpenSnapshot([]string{"-"}, bytes.NewReader(written), time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	return cmp.Diff(want, gather(store))
}

// What differs in the environment alone must be seen in a snapshot too.
func TestASnapshotShowsAChangedEnvironment(t *testing.T) {
	for name, c := range map[string]struct{ pod, template, cause string }{
		"changed": {"one", "two", "pod-stuck-on-old-template"},
		"equal":   {"one", "one", crashError},
	} {
		t.Run(name, func(t *testing.T) {
			e := newDemoCase(t, alice)
			e.Secrets["minio-creds"] = e.Secrets["git-token"]
			e.noEvents()
			crashed := corev1.ContainerStatus{Name: diagnose.MainContainer, RestartCount: 2}
			crashed.State.Waiting = &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}
			crashed.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ExitCode: 1, Reason: "Error"}
			e.pod().Status.ContainerStatuses = []corev1.ContainerStatus{crashed}
			e.behind(func(s *corev1.PodSpec) { s.Containers[0].Env = []corev1.EnvVar{{Name: "MODE", Value: c.template}} })
			e.pod().Spec.Containers[0].Env = []corev1.EnvVar{{Name: "MODE", Value: c.pod}}
			store := cluster.NewStore(e.Now)
			for _, o := range []runtime.Object{e.Workspace, e.Kind.Value, e.set(), e.pod()} {
				store.Add(asUnstructured(t, o))
			}
			if d := explain(t, store, alice); d.Reason() != c.cause {
				t.Errorf("reason = %s, want %s", d.Reason(), c.cause)
			}
			if diff := againFromASnapshot(t, store, "team-a", alice); diff != "" {
				t.Errorf("(-read +snapshot): %s", diff)
			}
		})
	}
}

// asUnstructured turns an object of the demo into what a Store holds.
func asUnstructured(t *testing.T, o runtime.Object) *unstructured.Unstructured {
	t.Helper()
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		t.Fatal(err)
	}
	return &unstructured.Unstructured{Object: content}
}
