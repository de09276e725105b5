package causes

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/cluster"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/diagnose"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/facts"
)

// demo is the cluster of testdata/demo after some edits of its text. Each edit must
// change something, so that a test cannot go stale unnoticed.
func demo(t *testing.T, edits ...string) cluster.Reader {
	t.Helper()
	text, err := os.ReadFile("../../../testdata/demo/cluster.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(edits); i += 2 {
		edited := bytes.ReplaceAll(text, []byte(edits[i]), []byte(edits[i+1]))
		if bytes.Equal(edited, text) {
			t.Fatalf("nothing to replace: %q", edits[i])
		}
		text = edited
	}
	store, err := cluster.OpenSnapshot([]string{"-"}, bytes.NewReader(text), time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	return store
}

func explain(t *testing.T, r cluster.Reader, name string) diagnose.Diagnosis {
	t.Helper()
	f, err := cluster.Gather(t.Context(), r, "team-a", name)
	if err != nil {
		t.Fatal(err)
	}
	return Diagnose(f)
}

const (
	alice        = "alice-notebook"
	bob          = "bob-notebook"
	carol        = "carol-notebook"
	secretObject = "metadata: {name: git-token, namespace: team-a, creationTimestamp: \"2026-01-05T10:00:00Z\"}"
	missingSaid  = `secret "minio-creds" not found`
)

func TestCauses(t *testing.T) {
	for name, c := range map[string]struct {
		workspace string
		edits     []string
		state     diagnose.State
		cause     string // "" for none
		object    string
		certain   bool
		warnings  []string
	}{
		"Secret missing": {alice, nil, diagnose.StateError, "secret-not-found", "Secret/minio-creds", true, nil},
		"Secret missing, Events expired": {alice, []string{missingSaid, "something else"},
			diagnose.StateError, "secret-not-found", "Secret/minio-creds", true, nil},
		"Secret missing, old wording": {alice, []string{missingSaid, `secrets "minio-creds" not found`},
			diagnose.StateError, "secret-not-found", "Secret/minio-creds", true, nil},
		"the Secret exists now": {alice, []string{secretObject, strings.NewReplacer("git-token", "minio-creds", "2026-01-05T10:00:00Z", "2026-01-15T11:59:30Z").Replace(secretObject), "secretName: git-token", "secretName: minio-creds"},
			diagnose.StatePending, "waiting-for-kubelet-retry", "Secret/minio-creds", true, nil},
		"the kubelet does not see a Secret that has long existed": {alice, []string{secretObject, strings.Replace(secretObject, "git-token", "minio-creds", 1), "secretName: git-token", "secretName: minio-creds"},
			diagnose.StateError, "secret-not-found", "Secret/minio-creds", false, nil},
		"the kubelet's word alone": {alice, []string{"Event, Secret,", "Event,"},
			diagnose.StateError, "secret-not-found", "Secret/minio-creds", false, nil},
		"ConfigMap missing": {alice, []string{"secret: {secretName: minio-creds, defaultMode: 420}", "configMap: {name: settings}"},
			diagnose.StateError, "configmap-not-found", "ConfigMap/settings", true, nil},
		"an optional Secret is not missed": {alice, []string{"secret: {secretName: minio-creds, defaultMode: 420}", "secret: {secretName: minio-creds, optional: true}"},
			diagnose.StateError, diagnose.UnexplainedID, "Pod/ws-alice-notebook-x7k2p-0", false, nil},
		"a missing Secret does not explain an unscheduled Pod": {alice, []string{"nodeName: node-1\n    serviceAccountName: ws-alice", "serviceAccountName: ws-alice", `{type: PodScheduled, status: "True", lastTransitionTime: "2026-01-15T11:56:42Z"}`, `{type: PodScheduled, status: "False", reason: Unschedulable, message: "0/3 nodes are available"}`, missingSaid, "x"},
			diagnose.StateError, diagnose.UnexplainedID, "Pod/ws-alice-notebook-x7k2p-0", false, []string{"running-next-restart-fails"}},

		"running": {bob, nil, diagnose.StateRunning, "", "", false, nil},
		"running, its Secret deleted since": {bob, []string{secretObject, strings.Replace(secretObject, "git-token", "other", 1)},
			diagnose.StateRunning, "", "", false, []string{"running-next-restart-fails"}},
		"running, its WorkspaceKind deleted since": {bob, []string{"metadata: {name: jupyterlab, uid", "metadata: {name: other, uid"},
			diagnose.StateRunning, "", "", false, []string{"workspace-kind-not-found"}},

		"paused":       {carol, nil, diagnose.StatePaused, "paused", "Workspace/carol-notebook", true, nil},
		"being paused": {bob, []string{"paused: false", "paused: true"}, diagnose.StateTerminating, "pausing", "Pod/ws-bob-notebook-9fj2k-0", true, nil},
		"being deleted": {bob, []string{"uid: bob-1, resourceVersion", `deletionTimestamp: "2026-01-15T11:59:00Z", finalizers: [example.com/hold], uid: bob-1, resourceVersion`},
			diagnose.StateTerminating, "workspace-deleting", "Pod/ws-bob-notebook-9fj2k-0", true, nil},
		"its Pod shutting down": {bob, []string{"uid: bob-1-pod\n", "uid: bob-1-pod\n    deletionTimestamp: \"2026-01-15T12:00:20Z\"\n    deletionGracePeriodSeconds: 30\n"},
			diagnose.StateTerminating, "terminating-in-progress", "Pod/ws-bob-notebook-9fj2k-0", true, nil},

		"WorkspaceKind missing": {alice, []string{"metadata: {name: jupyterlab, uid", "metadata: {name: other, uid"},
			diagnose.StateError, "workspace-kind-not-found", "WorkspaceKind/jupyterlab", true, nil},
		"imageConfig unknown": {alice, []string{"- id: jupyterlab_scipy_200", "- id: newer"},
			diagnose.StateError, "workspace-option-invalid", "WorkspaceKind/jupyterlab", true, nil},
		"podConfig redirected to nothing": {alice, []string{"spawner: {displayName: Tiny CPU}", "spawner: {displayName: Tiny CPU}\n            redirect: {to: gone}"},
			diagnose.StateError, "workspace-option-invalid", "WorkspaceKind/jupyterlab", true, nil},
		"podConfig redirected to itself": {alice, []string{"spawner: {displayName: Tiny CPU}", "spawner: {displayName: Tiny CPU}\n            redirect: {to: tiny_cpu}"},
			diagnose.StateError, "workspace-option-invalid", "WorkspaceKind/jupyterlab", true, nil},
		"nobody has looked at it": {"dave", []string{"name: alice-notebook, namespace: team-a, uid", "name: dave, namespace: team-a, uid", "state: Error", "unused: x"},
			diagnose.StatePending, "controller-not-running", "", false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			d := explain(t, demo(t, c.edits...), c.workspace)
			if d.State != c.state {
				t.Errorf("state = %s, want %s", d.State, c.state)
			}
			got := diagnose.Cause{}
			if len(d.Causes) > 0 {
				got = d.Causes[0]
			}
			if got.ID != c.cause || got.Object != c.object {
				t.Errorf("cause = %q about %q, want %q about %q\n%s", got.ID, got.Object, c.cause, c.object, d.Summary)
			}
			if c.cause != "" && (got.Confidence == diagnose.Certain) != c.certain {
				t.Errorf("confidence = %s", got.Confidence)
			}
			var warnings []string
			for _, w := range d.Warnings {
				warnings = append(warnings, w.ID)
			}
			for _, w := range c.warnings {
				if !slices.Contains(warnings, w) {
					t.Errorf("warnings = %v, want %s among them", warnings, w)
				}
			}
		})
	}
}

// The issue's own example, word by word, since scripts and people rely on it.
func TestMissingSecretInFull(t *testing.T) {
	d := explain(t, demo(t), alice)
	c := d.Causes[0]
	if want := `Secret "minio-creds" does not exist in namespace team-a; it is mounted at /secrets/minio-creds.`; c.Summary != want || d.Summary != want {
		t.Errorf("summary = %q, %q", c.Summary, d.Summary)
	}
	if c.Origin != "spec.podTemplate.volumes.secrets[0]" {
		t.Errorf("origin = %q", c.Origin)
	}
	if len(c.Evidence) != 1 || c.Evidence[0].Reason != "FailedMount" || c.Evidence[0].Count != 9 || !strings.Contains(c.Evidence[0].Message, missingSaid) {
		t.Errorf("evidence = %+v", c.Evidence)
	}
	if d.Rung != diagnose.RungScheduled || d.Controller.Stale {
		t.Errorf("rung = %s, controller = %+v", d.Rung, d.Controller)
	}
}

// failing fails the reads of one resource.
type failing struct {
	cluster.Reader
	resource cluster.Resource
	err      error
}

func (f failing) Get(ctx context.Context, r cluster.Resource, ns, name string) (*unstructured.Unstructured, error) {
	if r == f.resource {
		return nil, f.err
	}
	return f.Reader.Get(ctx, r, ns, name)
}

func (f failing) List(ctx context.Context, r cluster.Resource, o cluster.ListOptions) ([]unstructured.Unstructured, error) {
	if r == f.resource {
		return nil, f.err
	}
	return f.Reader.List(ctx, r, o)
}

// The honesty table: whatever source fails, and however, nothing is called missing on
// the strength of it, and the failure is listed.
func TestNothingIsMissingThatCouldNotBeRead(t *testing.T) {
	missing := regexp.MustCompile(`does not exist|not found|is missing|no longer exists`)
	for _, r := range []cluster.Resource{
		cluster.WorkspaceKinds, cluster.StatefulSets, cluster.Pods, cluster.Events,
		cluster.Secrets, cluster.ConfigMaps, cluster.ServiceAccounts, cluster.Claims,
	} {
		for how, err := range map[string]error{
			facts.ReasonForbidden: apierrors.NewForbidden(r.GroupResource(), "x", errors.New("no")),
			facts.ReasonTimeout:   context.DeadlineExceeded,
			facts.ReasonError:     apierrors.NewInternalError(errors.New("boom")),
		} {
			t.Run(r.Kind+" "+how, func(t *testing.T) {
				d := explain(t, failing{demo(t), r, err}, bob)
				if missing.MatchString(d.Summary) {
					t.Errorf("summary = %q", d.Summary)
				}
				for _, c := range d.Causes {
					if missing.MatchString(c.Summary) {
						t.Errorf("cause %s: %q", c.ID, c.Summary)
					}
				}
				for _, w := range d.Warnings {
					if missing.MatchString(w.Summary) {
						t.Errorf("warning %s: %q", w.ID, w.Summary)
					}
				}
				for _, m := range d.Mounts {
					if m.Status == diagnose.MountMissing {
						t.Errorf("mount %s is called missing", m.Path)
					}
				}
				if r == cluster.ConfigMaps {
					return // bob needs none
				}
				if !slices.ContainsFunc(d.Unchecked, func(u facts.Unchecked) bool {
					return strings.HasPrefix(u.Object, r.Kind) && u.Reason == how
				}) {
					t.Errorf("unchecked = %v, want %s %s", d.Unchecked, r.Kind, how)
				}
			})
		}
	}
}

// A person who may read Workspaces and nothing else still learns what the controller
// knows, as its word.
func TestTheControllersWordIsUsedWhereNothingElseIsReadable(t *testing.T) {
	r := demo(t)
	for _, resource := range []cluster.Resource{cluster.WorkspaceKinds, cluster.StatefulSets, cluster.Pods, cluster.Events, cluster.Secrets, cluster.Claims} {
		r = failing{r, resource, apierrors.NewForbidden(resource.GroupResource(), "x", errors.New("no"))}
	}
	d := explain(t, r, alice)
	if len(d.Causes) == 0 || d.Causes[0].ID != "secret-not-found" || d.Causes[0].Confidence != diagnose.Likely || d.State != diagnose.StateError {
		t.Fatalf("%s, %+v", d.State, d.Causes)
	}
	if e := d.Causes[0].Evidence; len(e) != 1 || e[0].Source != "Workspace/alice-notebook" {
		t.Errorf("evidence = %+v, want the Workspace's own status", e)
	}
	if d := explain(t, r, bob); d.State != diagnose.StateRunning || len(d.Causes) > 0 || !strings.Contains(d.Summary, "controller reports") {
		t.Errorf("bob is %s (%s, %v), want Running as the controller's word", d.State, d.Summary, d.Causes)
	}
}

// The rung is told by what the controller quotes, too: a person who has not seen a Pod
// must not hear that it has no node.
func TestWhatIsReadFromTheStatusAlone(t *testing.T) {
	const said = `stateMessage: 'Workspace Pod has warning event: MountVolume.SetUp failed for volume "secret-volume-0" : secret "minio-creds" not found'`
	pulls := "of imageConfig jupyterlab_scipy_200"
	for name, c := range map[string]struct {
		message, cause, object string
		rung                   diagnose.Rung
		mentions               string
	}{
		"mount":              {`Workspace Pod has warning event: MountVolume.SetUp failed for volume "pvc-1" : rpc error: code = Internal desc = odd`, "volume-mount-failed", "PersistentVolumeClaim/alice-home", diagnose.RungScheduled, "odd"},
		"multi-attach":       {`Workspace Pod has warning event: Multi-Attach error for volume "pvc-1" Volume is already used by pod(s) x`, "volume-multi-attach", "PersistentVolumeClaim/alice-home", diagnose.RungScheduled, "pod(s) x"},
		"too many volumes":   {`Workspace Pod has warning event: AttachVolume.Attach failed for volume "pvc-1" : rpc error: code = ResourceExhausted desc = Attachment limit exceeded`, "volume-limit-exceeded", "Node/node-1", diagnose.RungScheduled, "have the Pod deleted"},
		"never pull":         {`Workspace Pod has warning event: Container image "lab:dev" is not present with pull policy of Never`, "image-not-found", "Image/lab:dev", diagnose.RungInitialised, ""},
		"cgroups":            {`Workspace Pod has warning event: unable to ensure pod container exists: failed to create container for [kubepods burstable pod1] : mkdir /sys/fs/cgroup/memory/kubepods: cannot allocate memory`, "sandbox-creation-failed", "Node/node-1", diagnose.RungScheduled, "cgroups"},
		"sandbox":            {`Workspace Pod has warning event: Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup network for sandbox "1": plugin type="calico" failed`, "sandbox-creation-failed", "Node/node-1", diagnose.RungMounted, "calico"},
		"no node":            {`Workspace Pod is unschedulable: 0/3 nodes are available: 3 Insufficient cpu.`, "insufficient-resources", "Node", diagnose.RungPodCreated, "cpu"},
		"no node, an Event":  {`Workspace Pod has warning event: 0/3 nodes are available: 3 Insufficient cpu.`, "insufficient-resources", "Node", diagnose.RungPodCreated, "cpu"},
		"refused":            {`Workspace StatefulSet has warning event: create Pod p in StatefulSet s failed error: pods "p" is forbidden: exceeded quota: q, requested: cpu=1`, "quota-exceeded", "ResourceQuota/q", diagnose.RungAccepted, "cpu=1"},
		"image":              {`Workspace Pod has warning event: Failed to pull image "example.com/x:1": example.com/x:1: not found`, "image-not-found", "Image/example.com/x:1", diagnose.RungInitialised, ""},
		"image, a symptom":   {`Workspace Pod has warning event: Error: ImagePullBackOff`, "image-pull-failed", "Container/main", diagnose.RungInitialised, pulls},
		"image, the status":  {`Workspace Container is not running (ImagePullBackOff)`, "image-pull-failed", "Container/main", diagnose.RungInitialised, pulls},
		"crash loop":         {`Workspace Container is not running (CrashLoopBackOff)`, crashError, "Container/main", diagnose.RungStarted, "kubectl logs ws-alice-notebook-x7k2p-0 -c main -n team-a --previous"},
		"crash, an Event":    {`Workspace Pod has warning event: Back-off restarting failed container proxy in pod ws-alice-notebook-x7k2p-0_team-a(1)`, crashError, "Container/proxy", diagnose.RungStarted, "container proxy"},
		"readiness":          {`Workspace Pod has warning event: Readiness probe failed: HTTP probe failed with statuscode: 503`, unready, "Container/main", diagnose.RungStarted, "statuscode: 503"},
		"liveness":           {`Workspace Pod has warning event: Liveness probe failed: connection refused`, crashLiveness, "Container/main", diagnose.RungStarted, "connection refused"},
		"cannot start":       {`Workspace Pod has warning event: Error: failed to create containerd task: exec: "lab": executable file not found in $PATH`, startCommand, "Container/main", diagnose.RungInitialised, "cannot be executed"},
		"cannot start, odd":  {`Workspace Pod has warning event: Error: failed to create containerd task: odd`, startFailed, "Container/main", diagnose.RungInitialised, "odd"},
		"no word about it":   {`Workspace is pending`, diagnose.UnexplainedID, "Workspace/alice-notebook", diagnose.RungScheduled, "could not be read"},
		"words nobody knows": {`Workspace Pod has warning event: Odd`, diagnose.UnexplainedID, "Workspace/alice-notebook", diagnose.RungScheduled, "is not running. The newest Warning about it: Odd"},
	} {
		t.Run(name, func(t *testing.T) {
			r := demo(t, said, "stateMessage: '"+c.message+"'")
			for _, resource := range []cluster.Resource{cluster.WorkspaceKinds, cluster.StatefulSets, cluster.Pods, cluster.Events, cluster.Secrets, cluster.Claims, cluster.Nodes} {
				r = failing{r, resource, apierrors.NewForbidden(resource.GroupResource(), "x", errors.New("no"))}
			}
			d := explain(t, r, alice)
			if len(d.Causes) == 0 {
				t.Fatalf("%s: %s", d.State, d.Summary)
			}
			if got := d.Causes[0]; got.ID != c.cause || got.Object != c.object || d.Rung != c.rung || got.Confidence != diagnose.Likely {
				t.Errorf("%s about %q, on rung %s, %s; want %s about %q, on %s\n%s", got.ID, got.Object, d.Rung, got.Confidence, c.cause, c.object, c.rung, d.Summary)
			}
			if !mentioned(texts(d), c.mentions) {
				t.Errorf("%q is not mentioned: %s", c.mentions, d.Summary)
			}
			if c.rung > diagnose.RungPodCreated && strings.Contains(texts(d), "assigned to a node") {
				t.Errorf("it has a node, says the status: %s", d.Summary)
			}
		})
	}
}

func TestEventsOfOthersAndTheirOrderChangeNothing(t *testing.T) {
	f, err := cluster.Gather(t.Context(), demo(t), "team-a", alice)
	if err != nil {
		t.Fatal(err)
	}
	want := Diagnose(f)
	pod := facts.Ref{Kind: "Pod", Name: "ws-alice-notebook-x7k2p-0"}
	own := f.Events[pod].Value
	strange := *own[0].DeepCopy()
	strange.UID, strange.InvolvedObject.UID = "other", "the-pod-before"
	strange.Type, strange.Reason, strange.Message = "Warning", "FailedMount", `secret "other" not found`
	for range 20 {
		events := append(slices.Clone(own), own...)
		events = append(events, strange)
		rand.Shuffle(len(events), func(i, j int) { events[i], events[j] = events[j], events[i] })
		f.Events[pod] = facts.Answer[[]corev1.Event]{Status: facts.Found, Value: events}
		if diff := cmp.Diff(want, Diagnose(f)); diff != "" {
			t.Fatal(diff)
		}
	}
}

func TestTheCatalogueIsComplete(t *testing.T) {
	id := regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`)
	seen := map[string]bool{}
	for _, r := range All() {
		if !id.MatchString(r.ID) || seen[r.ID] {
			t.Errorf("id %q is not kebab-case or not unique", r.ID)
		}
		seen[r.ID] = true
		if r.Title == "" || r.Recognised == "" || r.Fix == "" || r.Match == nil {
			t.Errorf("%s lacks a title, its signs, a fix or a matcher", r.ID)
		}
	}
}

// What is suggested must survive being pasted, whatever the names are.
func TestSuggestedCommandsAreQuoted(t *testing.T) {
	for _, name := range []string{alice, carol} {
		d := explain(t, demo(t, "/secrets/minio-creds", "/secrets/$(reboot) x"), name)
		for _, c := range d.Causes {
			for _, f := range c.Fixes {
				if strings.Contains(f.Command, " /secrets/$(") {
					t.Errorf("unquoted: %s", f.Command)
				}
			}
		}
	}
}

// A claim is not looked for among the Secrets.
func TestAMissingClaimIsNoMissingSecret(t *testing.T) {
	d := explain(t, demo(t, "metadata: {name: bob-home,", "metadata: {name: bob-other,"), bob)
	for _, w := range d.Warnings {
		for _, f := range w.Fixes {
			if strings.Contains(f.Command, "create secret") {
				t.Errorf("%s: %s", w.Summary, f.Command)
			}
		}
	}
	if !slices.ContainsFunc(d.Warnings, func(w diagnose.Warning) bool { return w.Object == "PersistentVolumeClaim/bob-home" }) {
		t.Errorf("warnings = %+v, want one about the claim", d.Warnings)
	}
}
