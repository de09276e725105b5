package cli

import (
	"encoding/json"
	"net/http"
	"path"
	"strings"
	"testing"
)

// addWorkspace puts one more Workspace on the server, with the mount of alice-notebook.
func (s *apiServer) addWorkspace(name string, labels map[string]any, secrets ...any) string {
	p := path.Dir(workspacePath) + "/" + name
	s.objects[p] = map[string]any{
		"apiVersion": "kubeflow.org/v1beta1", "kind": "Workspace",
		"metadata": map[string]any{"name": name, "namespace": "team-a", "uid": "u-" + name, "resourceVersion": "1", "labels": labels},
		"spec":     map[string]any{"kind": "jupyterlab", "podTemplate": map[string]any{"volumes": map[string]any{"secrets": secrets}}},
	}
	return p
}

func TestSecretsOfSeveralWorkspaces(t *testing.T) {
	research := map[string]any{"team": "research"}
	entry := func(secret, at string) any { return map[string]any{"secretName": secret, "mountPath": at} }
	for name, c := range map[string]struct {
		args string
		code int
		out  string
		// err is the whole of stderr.
		err      string
		requests int
	}{
		"by label": {
			args: "add -l team=research minio-creds -q", requests: 6, // list, Secret, Pods, kind, two patches
			out: "workspace.kubeflow.org/bob secret \"minio-creds\" mounted at /secrets/minio-creds\n" +
				"workspace.kubeflow.org/carol secret \"minio-creds\" mounted at /secrets/minio-creds\n",
		},
		"one fails, the others go on": {
			args: "add --all minio-creds=/c", code: 1, requests: 6,
			out: "workspace.kubeflow.org/alice-notebook secret \"minio-creds\" mounted at /c\n" +
				"workspace.kubeflow.org/bob secret \"minio-creds\" mounted at /c\n",
			err: "Note: the Pod of workspace \"alice-notebook\" restarts: its kernels and what is not saved are lost\n" +
				"error: workspace.kubeflow.org/carol: cannot mount Secret \"minio-creds\" at /c: Secret \"other\" is mounted there; choose another path, or use --overwrite to replace it\n" +
				"error: 3 Workspaces: 2 changed, 1 failed\n",
		},
		"dry run": {
			args: "add -l team=research minio-creds --dry-run=client", requests: 4,
			out: "workspace.kubeflow.org/bob secret \"minio-creds\" mounted at /secrets/minio-creds (dry run)\n" +
				"workspace.kubeflow.org/carol secret \"minio-creds\" mounted at /secrets/minio-creds (dry run)\n",
			err: "2 Workspaces: 2 to change, 0 failed\n",
		},
		"names for a script": {args: "add -l team=research minio-creds -o name -q", requests: 6, out: "workspace.kubeflow.org/bob\nworkspace.kubeflow.org/carol\n"},
		"remove where it is": {
			args: "remove -l team=research other --ignore-not-found", requests: 3,
			out: "workspace.kubeflow.org/bob unchanged\nworkspace.kubeflow.org/carol secret \"other\" unmounted from /c\n",
			err: "2 Workspaces: 1 changed, 0 failed\n",
		},
		"remove where it is not": {
			args: "remove -l team=research other", code: 1, requests: 3,
			out: "workspace.kubeflow.org/carol secret \"other\" unmounted from /c\n",
			err: "error: workspace.kubeflow.org/bob: Secret \"other\" is not mounted; the Workspace mounts no Secrets\nerror: 2 Workspaces: 1 changed, 1 failed\n",
		},
		"all mounts of some": {
			args: "remove -l team=research --all --yes --ignore-not-found", requests: 3,
			out: "workspace.kubeflow.org/bob unchanged\nworkspace.kubeflow.org/carol secret \"other\" unmounted from /c\n",
			err: "2 Workspaces: 1 changed, 0 failed\n",
		},
		"no such label": {args: "add -l team=none minio-creds", code: 1, requests: 3, err: "error: no Workspace in namespace \"team-a\" has the labels team=none\n"},
		"no Workspace":  {args: "add --all minio-creds -n team-b", code: 1, requests: 3, err: "error: there are no Workspaces in namespace \"team-b\"\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newAPIServer(t)
			s.addWorkspace("bob", research)
			s.addWorkspace("carol", research, entry("other", "/c"))
			code, out, errOut := s.run(t, strings.Fields(c.args)...)
			if code != c.code || out != c.out || errOut != c.err {
				t.Errorf("exit code %d, stdout:\n%s\nstderr:\n%s\nwant %d:\n%s\n%s", code, out, errOut, c.code, c.out, c.err)
			}
			if len(s.requests) != c.requests {
				t.Errorf("%d requests, want %d: %q", len(s.requests), c.requests, s.requests)
			}
		})
	}
}

func TestSecretsDiff(t *testing.T) {
	const want = `--- workspace.kubeflow.org/alice-notebook
+++ workspace.kubeflow.org/alice-notebook (changed)
@@ -16,3 +16,6 @@
         future: 2
         mountPath: /git
         secretName: git
+      - defaultMode: 420
+        mountPath: /secrets/minio-creds
+        secretName: minio-creds
`
	for name, c := range map[string]struct{ args, out, err string }{
		"dry run":   {"add alice-notebook minio-creds --diff --dry-run=client", want, mounted + " (dry run)\n"},
		"for real":  {"add alice-notebook minio-creds --diff", want, mounted + "\n"},
		"unchanged": {"add alice-notebook git=/git:0 --diff", "", "unchanged\n"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newAPIServer(t)
			code, out, errOut := s.run(t, strings.Fields(c.args)...)
			if code != 0 || out != c.out || !strings.Contains(errOut, c.err) {
				t.Errorf("exit code %d, stdout:\n%s\nstderr:\n%s\nwant:\n%s", code, out, errOut, c.out)
			}
		})
	}
}

const (
	setPath  = "/apis/apps/v1/namespaces/team-a/statefulsets/ws-alice-notebook-x7k2p"
	hangNote = `Note: Pod "ws-alice-notebook-x7k2p-0" of workspace "alice-notebook" is not ready, and a StatefulSet does not replace such a Pod. ` +
		"If it cannot start as it is, add --restart or run\n  kubectl delete pod ws-alice-notebook-x7k2p-0 -n team-a\n"
)

// setObject is the StatefulSet of alice-notebook; its template has what a Pod mounts.
func setObject(owner string, pod map[string]any) map[string]any {
	return map[string]any{
		"apiVersion": "apps/v1", "kind": "StatefulSet",
		"metadata": map[string]any{
			"name": "ws-alice-notebook-x7k2p", "namespace": "team-a", "uid": "s-1", "generation": 2,
			"labels":          map[string]any{"notebooks.kubeflow.org/workspace-name": "alice-notebook"},
			"ownerReferences": []any{map[string]any{"apiVersion": "kubeflow.org/v1beta1", "kind": "Workspace", "name": "alice-notebook", "uid": owner, "controller": true}},
		},
		"spec":   map[string]any{"template": map[string]any{"spec": pod["spec"]}},
		"status": map[string]any{"observedGeneration": 2, "updateRevision": "r-2"},
	}
}

// emptyPod is the Pod without its mount.
func emptyPod() map[string]any {
	p := podObject("False")
	p["spec"] = map[string]any{"containers": []any{map[string]any{"name": "main"}}}
	return p
}

func TestSecretsRestart(t *testing.T) {
	remove := "remove alice-notebook git --restart --timeout=1s"
	for name, c := range map[string]struct {
		prepare func(*apiServer)
		args    string
		code    int
		err     string
		deleted int
	}{
		"told without the flag": {prepare: func(s *apiServer) { s.objects[podPath] = podObject("False") }, args: "remove alice-notebook git", err: hangNote},
		"told in a dry run":     {prepare: func(s *apiServer) { s.objects[podPath] = podObject("False") }, args: "remove alice-notebook git --dry-run=server", err: hangNote},
		"not told of one that does not lack it": {
			prepare: func(s *apiServer) { s.objects[podPath] = podObject("False") }, args: "add alice-notebook git=/git:0 -q", err: "",
		},
		"no Pod, no note": {prepare: func(s *apiServer) { delete(s.objects, podPath) }, args: "remove alice-notebook git", err: ""},
		"deleted": {
			prepare: func(s *apiServer) {
				s.objects[podPath] = podObject("False")
				s.objects[setPath] = setObject("u-1", emptyPod())
				s.fail = func(w http.ResponseWriter, r *http.Request, _ int) bool {
					if r.Method != http.MethodDelete {
						return false
					}
					var options struct{ Preconditions struct{ UID string } }
					if err := json.NewDecoder(r.Body).Decode(&options); err != nil || options.Preconditions.UID != "p-1" {
						t.Errorf("the deletion is not bound to the uid: %+v, %v", options, err)
					}
					s.objects[podPath] = emptyPod() // made again
					reply(w, http.StatusOK, map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Success"})
					return true
				}
			},
			args: remove, deleted: 1,
			err: "Note: Pod \"ws-alice-notebook-x7k2p-0\" was not ready and had been made before the change: deleted it, so that it is made again\n",
		},
		"it comes back as it was": {
			prepare: func(s *apiServer) {
				s.objects[podPath] = podObject("False")
				s.objects[setPath] = setObject("u-1", emptyPod())
				s.fail = func(w http.ResponseWriter, r *http.Request, _ int) bool {
					if r.Method == http.MethodDelete {
						reply(w, http.StatusOK, map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Success"})
					}
					return r.Method == http.MethodDelete
				}
			},
			args: strings.Replace(remove, "1s", "9s", 1), deleted: 3, code: 1, err: "comes back without it, although it was deleted 3 times",
		},
		"ready": {prepare: func(s *apiServer) { s.objects[setPath] = setObject("u-1", emptyPod()) }, args: remove, err: restarts},
		"the controller is slow": {
			prepare: func(s *apiServer) {
				s.objects[podPath] = podObject("False")
				s.objects[setPath] = setObject("u-1", podObject("False"))
			},
			args: remove, code: 1, err: "error: the change is made, but after 1s the StatefulSet of workspace \"alice-notebook\" does not have it: is the Workspace controller running? Its Pod was not restarted\n",
		},
		"of another Workspace": {
			prepare: func(s *apiServer) {
				s.objects[podPath] = podObject("False")
				s.objects[setPath] = setObject("u-2", emptyPod())
			},
			args: remove, code: 1, err: "Its Pod was not restarted",
		},
		"of another StatefulSet": {
			prepare: func(s *apiServer) {
				s.objects[podPath] = podObject("False")
				s.objects[podPath]["metadata"].(map[string]any)["ownerReferences"].([]any)[0].(map[string]any)["uid"] = "s-2"
				s.objects[setPath] = setObject("u-1", emptyPod())
			},
			args: remove, err: "",
		},
		"not allowed to delete": {
			prepare: func(s *apiServer) {
				s.objects[podPath] = podObject("False")
				s.objects[setPath] = setObject("u-1", emptyPod())
				s.fail = func(w http.ResponseWriter, r *http.Request, _ int) bool {
					if r.Method == http.MethodDelete {
						status(w, http.StatusForbidden, "Forbidden", "not for you")
					}
					return r.Method == http.MethodDelete
				}
			},
			args: remove, code: 1, deleted: 1, err: "error: the change is made, but Pod \"ws-alice-notebook-x7k2p-0\" could not be deleted: not for you\n",
		},
		"not allowed to look": {
			prepare: func(s *apiServer) {
				s.objects[podPath] = podObject("False")
				s.fail = func(w http.ResponseWriter, r *http.Request, _ int) bool {
					if strings.Contains(r.URL.Path, "statefulsets") {
						status(w, http.StatusForbidden, "Forbidden", "not for you")
						return true
					}
					return false
				}
			},
			args: remove, code: 1,
			err: "error: the change is made, but whether its Pod must be restarted cannot be told: not for you\n" +
				"If it hangs, delete it: kubectl delete pod -n team-a -l notebooks.kubeflow.org/workspace-name=alice-notebook\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newAPIServer(t)
			c.prepare(s)
			code, _, errOut := s.run(t, strings.Fields(c.args)...)
			if code != c.code || !strings.HasSuffix(errOut, c.err) && !strings.Contains(errOut, c.err) || c.err == "" && errOut != "" {
				t.Errorf("exit code %d, stderr:\n%s\nwant %d:\n%s", code, errOut, c.code, c.err)
			}
			if s.counts[http.MethodDelete] != c.deleted {
				t.Errorf("%d deletions, want %d", s.counts[http.MethodDelete], c.deleted)
			}
		})
	}
}

// What the Pod has never had does not restart it when it goes.
func TestRemoveOfWhatThePodLacks(t *testing.T) {
	s := newAPIServer(t)
	volumes := s.objects[workspacePath]["spec"].(map[string]any)["podTemplate"].(map[string]any)["volumes"].(map[string]any)
	volumes["secrets"] = append(volumes["secrets"].([]any), map[string]any{"secretName": "late", "mountPath": "/late"})
	for _, ready := range []string{"True", "False"} {
		s.objects[podPath] = podObject(ready)
		code, _, errOut := s.run(t, "remove", "alice-notebook", "late", "--dry-run=server")
		if code != 0 || errOut != "" {
			t.Errorf("Pod ready %s: exit code %d, stderr %q", ready, code, errOut)
		}
	}
}
