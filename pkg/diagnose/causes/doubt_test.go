package causes

import (
	"strings"
	"testing"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/diagnose"
)

func FuzzParseMissing(f *testing.F) {
	for _, s := range []string{`secret "x" not found`, `secrets "" not found`, `" not found`, ` "" not found secret "a" not found`, `rpc error: configmap "x" not found`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, message string) {
		ref, ok := parseMissing(message)
		if ok != (ref.Name != "") || ok && !strings.Contains(message, `"`+ref.Name+`" not found`) {
			t.Errorf("%q, %v", ref, ok)
		}
	})
}

// Near misses: what looks like a cause that the program knows, and is not.
func TestDoubtIsNotCertainty(t *testing.T) {
	t.Run("a Secret that has existed for long explains no silence", func(t *testing.T) {
		d := explain(t, demo(t,
			secretObject, strings.Replace(secretObject, `git-token, namespace: team-a, creationTimestamp: "2026-01-05T10:00:00Z"`, `minio-creds, namespace: team-a, creationTimestamp: "2026-01-15T11:40:30Z"`, 1),
			"secretName: git-token", "secretName: minio-creds",
			`lastTimestamp: "2026-01-15T11:59:01Z"`, `lastTimestamp: "2026-01-15T11:40:00Z"`,
			`creationTimestamp: "2026-01-15T11:56:43Z"`, `creationTimestamp: "2026-01-15T11:39:00Z"`,
			`firstTimestamp: "2026-01-15T11:56:43Z"`, `firstTimestamp: "2026-01-15T11:39:00Z"`), alice)
		if d.Reason() == "waiting-for-kubelet-retry" {
			t.Errorf("it is still waiting for a retry: %s", d.Summary)
		}
	})
	t.Run("the Secret of a CSI driver is not the user's", func(t *testing.T) {
		for _, message := range []string{
			`MountVolume.MountDevice failed for volume "pvc-1" : fetching NodeStageSecretRef ceph/csi-node failed: kubernetes.io/csi: failed to find the secret csi-node in the namespace ceph with error: secrets "csi-node" not found`,
			`MountVolume.SetUp failed for volume "pvc-1" : rpc error: code = Internal desc = secret "x" not found`,
		} {
			if ref, ok := parseMissing(message); ok {
				t.Errorf("%s is called missing by %q", ref, message)
			}
		}
		if ref, ok := parseMissing(`MountVolume.SetUp failed for volume "secret-volume-0" : secret "mine" not found`); !ok || ref.Name != "mine" {
			t.Errorf("the user's own Secret is not recognised: %v, %v", ref, ok)
		}
	})
	t.Run("the taint of the control plane is not the reason", func(t *testing.T) {
		s := parseScheduler(`0/3 nodes are available: 1 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }, 2 node(s) didn't pass the filter of our own.`)
		if cause, sure := decisive(s); cause != "" || sure {
			t.Errorf("decisive = %q, %v; the filter that is not known may be the reason", cause, sure)
		}
	})
	t.Run("progress is not listed beside a fault", func(t *testing.T) {
		for _, c := range explain(t, demo(t, missingSaid, "x", "type: Warning", "type: Normal"), alice).Causes {
			if c.State == diagnose.StatePending {
				t.Errorf("%s: %s", c.ID, c.Summary)
			}
		}
	})
}
