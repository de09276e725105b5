package cli

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/diagnose"
)

func diagnosisOf(state diagnose.State, paused bool, ids ...string) diagnose.Diagnosis {
	d := diagnose.Diagnosis{State: state}
	d.Workspace.Paused = paused
	for _, id := range ids {
		d.Causes = append(d.Causes, diagnose.Cause{ID: id, State: state})
	}
	return d
}

// When wait gives up at once, when after a while, and when not.
func TestWaitGivesUp(t *testing.T) {
	const never, deleted, paused, notPaused = "it will not get there by itself", "it is being deleted, so it will not be ", "it is paused, so it will not run", "nobody has paused it: spec.paused is false"
	running, pausing := diagnose.StateRunning, diagnose.StatePaused
	for name, c := range map[string]struct {
		target       diagnose.State
		d            diagnose.Diagnosis
		first, later string
	}{
		"progress":                    {running, diagnosisOf(diagnose.StatePending, false, "scheduling-in-progress"), "", ""},
		"a fault":                     {running, diagnosisOf(diagnose.StateError, false, "secret-not-found"), "", never},
		"shutting down":               {running, diagnosisOf(diagnose.StateTerminating, false, "terminating-in-progress"), "", ""},
		"node lost":                   {running, diagnosisOf(diagnose.StateTerminating, false, "terminating-node-lost"), "", never},
		"held by a finalizer":         {running, diagnosisOf(diagnose.StateTerminating, false, "terminating-finalizer"), "", never},
		"deleted":                     {running, diagnosisOf(diagnose.StateTerminating, false, "workspace-deleting"), deleted + "running", ""},
		"paused":                      {running, diagnosisOf(diagnose.StatePaused, true, "paused"), paused, ""},
		"being paused":                {running, diagnosisOf(diagnose.StateTerminating, true, "pausing"), paused, ""},
		"to pause, deleted":           {pausing, diagnosisOf(diagnose.StateTerminating, true, "workspace-deleting"), deleted + "paused", ""},
		"to pause, in progress":       {pausing, diagnosisOf(diagnose.StateTerminating, true, "pausing"), "", ""},
		"to pause, not paused":        {pausing, diagnosisOf(diagnose.StateRunning, false), notPaused, ""},
		"to pause, node lost":         {pausing, diagnosisOf(diagnose.StateTerminating, true, "terminating-node-lost", "pausing"), "", never},
		"to pause, finalizer":         {pausing, diagnosisOf(diagnose.StateTerminating, true, "terminating-finalizer", "pausing"), "", never},
		"to pause, option invalid":    {pausing, diagnosisOf(diagnose.StateTerminating, true, "pausing", "workspace-option-invalid"), "", never},
		"to pause, a fault of no use": {pausing, diagnosisOf(diagnose.StateTerminating, true, "pausing", "secret-not-found"), "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := &waiter{target: c.target, goal: strings.ToLower(string(c.target))}
			if got := w.hopeless(c.d, true); got != c.first {
				t.Errorf("at first %q, want %q", got, c.first)
			}
			if c.first != "" {
				return
			}
			w.faultSince = w.faultSince.Add(-waitPatience)
			if got := w.hopeless(c.d, true); got != c.later {
				t.Errorf("later %q, want %q", got, c.later)
			}
		})
	}
}

// A container that is up for a few seconds between two crashes does not start the
// patience anew; one that has proven itself does.
func TestWaitSeesThroughACrashLoop(t *testing.T) {
	crash, up := diagnosisOf(diagnose.StateError, false, "crash-loop-application-error"), diagnosisOf(diagnose.StateRunning, false)
	w := &waiter{target: diagnose.StateRunning}
	step := func(d diagnose.Diagnosis, proven bool, want string) {
		t.Helper()
		if got := w.hopeless(d, proven); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	step(crash, true, "")
	w.faultSince = w.faultSince.Add(-waitPatience)
	step(up, false, "")
	step(crash, true, "it will not get there by itself")
	step(up, true, "")
	step(crash, true, "")
}

// A Pod is Ready for a moment before it crashes again. That is no success.
func TestWaitIsNotFooledByARestart(t *testing.T) {
	s := newAPIServer(t)
	now := time.Now().UTC()
	pod := podObject("True")
	pod["spec"].(map[string]any)["nodeName"] = "node-a"
	status := pod["status"].(map[string]any)
	status["phase"] = "Running"
	container := map[string]any{"name": "main", "ready": true, "started": true, "restartCount": 1,
		"state": map[string]any{"running": map[string]any{"startedAt": now.Format(time.RFC3339)}},
		"lastState": map[string]any{"terminated": map[string]any{"exitCode": 1, "reason": "Error",
			"startedAt": now.Add(-60 * time.Second).Format(time.RFC3339), "finishedAt": now.Add(-30 * time.Second).Format(time.RFC3339)}}}
	status["containerStatuses"] = []any{container}
	s.objects[podPath] = pod
	s.objects["/apis/apps/v1/namespaces/team-a/statefulsets/ws-alice-notebook-x7k2p"] = map[string]any{
		"apiVersion": "apps/v1", "kind": "StatefulSet",
		"metadata": map[string]any{"name": "ws-alice-notebook-x7k2p", "namespace": "team-a", "uid": "s-1", "generation": 1,
			"labels":          map[string]any{"notebooks.kubeflow.org/workspace-name": "alice-notebook"},
			"ownerReferences": []any{map[string]any{"apiVersion": "kubeflow.org/v1beta1", "kind": "Workspace", "name": "alice-notebook", "uid": "u-1", "controller": true}}},
		"status": map[string]any{"observedGeneration": 1},
	}
	config := s.kubeconfig(t)
	run := func() (int, string, string) {
		var out, errOut bytes.Buffer
		code := Run(t.Context(), []string{"wait", "alice-notebook", "--timeout=1s", "--kubeconfig", config},
			genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &errOut}, Build{})
		return code, out.String(), errOut.String()
	}
	if code, out, errOut := run(); code != 1 || !strings.Contains(errOut, "Running: it has just started; whether it stays up is to be seen\n") {
		t.Errorf("exit code %d, stdout:\n%s\nstderr:\n%s", code, out, errOut)
	}
	// The near miss: it has outlived its last run.
	container["state"] = map[string]any{"running": map[string]any{"startedAt": now.Add(-40 * time.Second).Format(time.RFC3339)}}
	if code, out, errOut := run(); code != 0 || out != "workspace.kubeflow.org/alice-notebook running\n" {
		t.Errorf("exit code %d, stdout:\n%s\nstderr:\n%s", code, out, errOut)
	}
}
