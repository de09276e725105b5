package contract

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

const diagnosis = `{
	"apiVersion": "kubectl-workspace/v1", "kind": "Diagnosis",
	"workspace": {"namespace": "team-a", "name": "alice", "kind": "jupyterlab", "imageConfig": "scipy", "podConfig": "tiny", "paused": false, "created": "2026-01-15T11:50:00Z"},
	"state": "Error", "rung": "scheduled", "since": "2026-01-15T11:58:00Z", "summary": "Secret \"minio-creds\" does not exist",
	"controller": {"state": "Error", "message": "…", "stale": true, "why": "…"},
	"causes": [{"id": "secret-not-found", "object": "Secret/minio-creds", "summary": "…", "confidence": "certain", "origin": "spec.podTemplate.volumes.secrets[0]",
		"chain": ["…"], "evidence": [{"source": "Event/Pod/ws-alice-x-0", "reason": "FailedMount", "message": "…", "count": 8, "last": "2026-01-15T11:59:00Z"}],
		"fixes": [{"text": "…", "command": "kubectl create secret …", "risk": "safe"}]}],
	"warnings": [{"id": "x", "object": "x", "summary": "…", "fixes": [{"text": "…", "risk": "disruptive"}], "advice": true}],
	"mounts": [{"path": "/secrets/minio-creds", "object": "Secret/minio-creds", "origin": "x", "status": "missing"}],
	"history": [{"source": "x", "message": "…"}],
	"unchecked": [{"object": "Secret/minio-creds", "reason": "forbidden", "detail": "…"}],
	"timeline": [{"time": "2026-01-15T11:58:00Z", "object": "Pod/x", "type": "Warning", "reason": "…", "message": "…", "count": 3}],
	"objects": ["StatefulSet/ws-alice-x"], "checkedAt": "2026-01-15T12:00:00Z"
}`

// The names in these documents are promised to scripts: the schemas are generated from
// the Go types, so it is here that a renamed field is found.
var promised = map[string]string{
	"Diagnosis":     diagnosis,
	"DiagnosisList": `{"apiVersion": "kubectl-workspace/v1", "kind": "DiagnosisList", "items": [` + diagnosis + `]}`,
	"Plan": `{
		"apiVersion": "kubectl-workspace/v1", "kind": "Plan", "mode": "client",
		"workspaces": [{"namespace": "team-a", "name": "alice", "workspaceKind": "jupyterlab", "result": "updated",
			"changes": [{"verb": "update", "kind": "StatefulSet", "namespace": "team-a", "name": "ws-alice-x", "pod": "restarts",
				"fields": [{"path": "spec.replicas", "before": 0, "after": 1}]}],
			"events": [{"type": "Warning", "reason": "SecretNotFound", "message": "…"}],
			"status": {"before": {"state": "Running", "message": ""}, "after": {"state": "Pending", "message": ""}, "fields": [{"path": "status.state"}]},
			"lookAgainSeconds": 15, "podRestarts": true, "activityRules": "not evaluated", "error": "…"}],
		"workspaceKinds": [{"name": "jupyterlab", "result": "failed", "changes": []}],
		"summary": {"workspaces": 1, "created": 0, "updated": 1, "unchanged": 0, "failed": 0, "podRestarts": 1, "workspaceKinds": 0},
		"notes": ["…"]
	}`,
	"SecretMountList": `{
		"apiVersion": "kubectl-workspace/v1", "kind": "SecretMountList",
		"items": [{"namespace": "team-a", "workspace": "alice", "secretName": "minio-creds", "mountPath": "/secrets/minio-creds", "defaultMode": 420,
			"secretExists": null, "uiMountable": true, "inPod": "dropped", "heldBy": "x", "keys": ["token"], "pod": "ws-alice-x-0"}],
		"unchecked": [{"object": "Secret/minio-creds", "reason": "forbidden", "detail": "…"}]
	}`,
	"Snapshot": `{
		"apiVersion": "kubectl-workspace/v1", "kind": "Snapshot", "capturedAt": "2026-01-15T12:00:00Z", "namespaces": ["team-a"], "complete": ["Pod", "Secret"],
		"lists": [{"kind": "Pod", "namespace": "team-a", "labels": "a=b", "about": "x"}], "absent": ["Secret/team-a/minio-creds"],
		"unchecked": [{"object": "Node/node-1", "reason": "forbidden", "detail": "…"}], "server": "v1.37.2", "items": [{"kind": "Pod"}]
	}`,
	"Version": `{"version": "v1.0.0", "commit": "abc", "date": "2026-01-15T12:00:00Z", "goVersion": "go1.26", "platform": "linux/amd64"}`,
}

func TestPromised(t *testing.T) {
	schemas := Load(t)
	for kind, document := range promised {
		if err := schemas.Check(kind, document); err != nil {
			t.Error(err)
		}
	}
	for kind, schema := range schemas.byKind {
		for _, field := range slices.Sorted(maps.Keys(fields(schema, map[string]bool{}))) {
			if !strings.Contains(promised[kind], `"`+field+`":`) {
				t.Errorf("the field %s of a %s is not promised: add it above", field, kind)
			}
		}
	}
}

// fields collects the names of all fields of a schema.
func fields(schema *jsonschema.Schema, into map[string]bool) map[string]bool {
	if schema == nil {
		return into
	}
	for name, property := range schema.Properties {
		into[name] = true
		fields(property, into)
	}
	fields(schema.Ref, into)
	fields(schema.Items2020, into)
	return into
}

// A schema that accepts everything would prove nothing.
func TestCheckRefuses(t *testing.T) {
	schemas := Load(t)
	for name, c := range map[string]struct{ kind, from, to string }{
		"a field more":         {"Diagnosis", `"summary"`, `"news": 1, "summary"`},
		"a field more, inside": {"Diagnosis", `"confidence"`, `"news": 1, "confidence"`},
		"a field less":         {"SecretMountList", `"secretExists": null, `, ``},
		"a word not known":     {"Plan", `"mode": "client"`, `"mode": "dream"`},
		"another kind":         {"Plan", `"kind": "Plan"`, `"kind": "Diagnosis"`},
		"no time":              {"Snapshot", `2026-01-15T12:00:00Z`, `noon`},
		"null for a list":      {"Plan", `"changes": []`, `"changes": null`},
		"no document":          {"Version", `{`, `{{`},
	} {
		t.Run(name, func(t *testing.T) {
			spoilt := strings.Replace(promised[c.kind], c.from, c.to, 1)
			if spoilt == promised[c.kind] {
				t.Fatalf("%s is not in the document", c.from)
			}
			if err := schemas.Check(c.kind, spoilt); err == nil {
				t.Errorf("this is accepted: %s", spoilt)
			}
		})
	}
	if err := schemas.Check("Novel", "{}"); err == nil {
		t.Error("a kind without a schema is accepted")
	}
}
