package test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/rand"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/api/crds"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/api/v1beta1"
	"github.com/kubectl-workspace/kubectl-workspace/test/env"
)

// The CRD in the cluster may be of another release than this program: newer, with fields
// that it has never heard of, or older, without some that it knows. Nothing gets lost, and
// what the server does not keep is not called done.
func TestCRDsOfOtherReleases(t *testing.T) {
	e := env.Private(t, filepath.Join("pkg", "api", "crds"))
	applyKind(t, e)
	ns := e.Namespace(t)
	workspaces := e.Dynamic(t, env.Admin).Resource(v1beta1.WorkspaceGVR).Namespace(ns)
	get := func(t *testing.T, name string) map[string]any {
		t.Helper()
		u, err := workspaces.Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, field := range []string{"managedFields", "resourceVersion", "generation"} {
			unstructured.RemoveNestedField(u.Object, "metadata", field)
		}
		return u.Object
	}
	run := func(t *testing.T, line string) result {
		t.Helper()
		return kubectl(t, e, env.Admin, append(strings.Fields("workspace secrets "+line), "-n", ns)...)
	}
	const future = `{future: {deep: [{a: 1, b: [true, null, "x"]}, 2.5]}, soon: never}`

	t.Run("newer", func(t *testing.T) {
		install(t, e, func(at func(...string) map[string]any) {
			open := map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}
			for _, field := range [][]string{{"spec"}, {"spec", "podTemplate", "volumes"}, {"spec", "podTemplate", "volumes", "secrets", "items"}} {
				at(field...)["properties"].(map[string]any)["future"] = open
			}
			at("spec", "podTemplate")["x-kubernetes-preserve-unknown-fields"] = true
		})
		create(t, e, ns, "newer", strings.ReplaceAll(`{future: FUTURE, kind: jupyterlab, podTemplate: {unknown: FUTURE, options: {imageConfig: scipy, podConfig: tiny},
			volumes: {future: FUTURE, secrets: [{secretName: git, mountPath: /git, defaultMode: 0, future: FUTURE}]}}}`, "FUTURE", future))
		before := get(t, "newer")
		if n := strings.Count(fmt.Sprint(before), "never"); n != 4 {
			t.Fatalf("the server keeps %d of 4 unknown fields: this proves nothing: %v", n, before)
		}
		for _, line := range []string{
			"add newer minio-creds aws=/aws:0400",
			"add newer aws-2=/aws --overwrite",
			"remove newer minio-creds aws-2",
		} {
			if r := run(t, line); r.code != 0 {
				t.Fatalf("%s: %s", line, r.stderr)
			}
		}
		if diff := cmp.Diff(before, get(t, "newer")); diff != "" {
			t.Errorf("after adding and removing:\n%s", diff)
		}
		// The entry with an unknown field is replaced and put back.
		for _, line := range []string{"add newer other=/git:0400 --overwrite", "add newer git=/git:0000 --overwrite"} {
			if r := run(t, line); r.code != 0 {
				t.Fatalf("%s: %s", line, r.stderr)
			}
		}
		if diff := cmp.Diff(before, get(t, "newer")); diff != "" {
			t.Errorf("after overwriting back and forth:\n%s", diff)
		}
		// The same with its manifest.
		file := filepath.Join(t.TempDir(), "newer.yaml")
		local := func(line string) map[string]any {
			t.Helper()
			r := kubectl(t, e, env.Admin, append(strings.Fields("workspace secrets "+line), "--local", "-f", file)...)
			if r.code != 0 {
				t.Fatalf("%s: %s", line, r.stderr)
			}
			if err := os.WriteFile(file, []byte(r.stdout), 0o600); err != nil {
				t.Fatal(err)
			}
			var u map[string]any
			if err := yaml.Unmarshal([]byte(r.stdout), &u); err != nil {
				t.Fatal(err)
			}
			return u
		}
		r := kubectl(t, e, env.Admin, "get", "workspace", "newer", "-n", ns, "-o", "yaml")
		if err := os.WriteFile(file, []byte(r.stdout), 0o600); err != nil {
			t.Fatal(err)
		}
		if with := local("add minio-creds aws=/aws:0400"); strings.Count(fmt.Sprint(with), "never") != 4 {
			t.Errorf("unknown fields are lost: %v", with)
		}
		local("remove minio-creds aws")
		if after, err := os.ReadFile(file); err != nil || string(after) != r.stdout {
			t.Errorf("after adding and removing: %v\n%s", err, cmp.Diff(r.stdout, string(after)))
		}
	})

	t.Run("older, without a field elsewhere", func(t *testing.T) {
		install(t, e, func(func(...string) map[string]any) {})
		create(t, e, ns, "older", `{kind: jupyterlab, paused: true, podTemplate: {podMetadata: {labels: {a: b}}, options: {imageConfig: scipy, podConfig: tiny}, volumes: {home: alice-home}}}`)
		install(t, e, func(at func(...string) map[string]any) {
			delete(at("spec")["properties"].(map[string]any), "paused")
			delete(at("spec", "podTemplate")["properties"].(map[string]any), "podMetadata")
		})
		env.Eventually(t, patience, func() error {
			if spec := get(t, "older")["spec"]; strings.Contains(fmt.Sprint(spec), "paused") {
				return fmt.Errorf("the server still serves the field: %v", spec)
			}
			return nil
		})
		before := get(t, "older")
		if r := run(t, "add older minio-creds"); r.code != 0 || !strings.Contains(r.stdout, "mounted at /secrets/minio-creds") {
			t.Errorf("exit code %d, %q, %q", r.code, r.stdout, r.stderr)
		}
		if r := run(t, "list older --no-headers"); r.code != 0 || !strings.Contains(r.stdout, "/secrets/minio-creds") {
			t.Errorf("exit code %d, %q, %q", r.code, r.stdout, r.stderr)
		}
		if r := run(t, "remove older minio-creds"); r.code != 0 {
			t.Errorf("exit code %d, %q, %q", r.code, r.stdout, r.stderr)
		}
		if diff := cmp.Diff(before, get(t, "older")); diff != "" {
			t.Errorf("after adding and removing:\n%s", diff)
		}
	})

	t.Run("older, without the mode", func(t *testing.T) {
		install(t, e, func(at func(...string) map[string]any) {
			delete(at("spec", "podTemplate", "volumes", "secrets", "items")["properties"].(map[string]any), "defaultMode")
		})
		create(t, e, ns, "modeless", `{kind: jupyterlab, podTemplate: {options: {imageConfig: scipy, podConfig: tiny}, volumes: {home: alice-home}}}`)
		if r := run(t, "add modeless git"); r.code != 0 {
			t.Errorf("exit code %d, %q, %q", r.code, r.stdout, r.stderr)
		}
		if r := run(t, "add modeless minio-creds=/m:0400"); r.code != 1 || !strings.Contains(r.stderr, "with mode 0644 afterwards, not 0400") {
			t.Errorf("exit code %d, %q, %q", r.code, r.stdout, r.stderr)
		}
	})

	t.Run("older, without secrets", func(t *testing.T) {
		install(t, e, func(at func(...string) map[string]any) {
			delete(at("spec", "podTemplate", "volumes")["properties"].(map[string]any), "secrets")
		})
		create(t, e, ns, "secretless", `{kind: jupyterlab, podTemplate: {options: {imageConfig: scipy, podConfig: tiny}, volumes: {home: alice-home}}}`)
		before := get(t, "secretless")
		for _, line := range []string{"add secretless git", "add secretless git --dry-run=server"} {
			r := run(t, line)
			if r.code != 1 || r.stdout != "" || !strings.Contains(r.stderr, `error: the server accepts the change, but Secret "git" is not mounted at /secrets/git afterwards: its CRD`) {
				t.Errorf("%s: exit code %d, %q, %q", line, r.code, r.stdout, r.stderr)
			}
		}
		if diff := cmp.Diff(before, get(t, "secretless")); diff != "" {
			t.Errorf("afterwards:\n%s", diff)
		}
	})

	t.Run("none", func(t *testing.T) {
		if out, err := e.Kubectl(t, env.Admin, "", "delete", "crd", "workspaces.kubeflow.org"); err != nil {
			t.Fatal(out)
		}
		want := regexp.MustCompile(`^error: cluster \S+ \(context "\S+"\) has no Workspaces: the CRD workspaces.kubeflow.org is not installed or does not serve v1beta1; Kubeflow Notebooks 2 brings it\n$`)
		for _, line := range []string{"list", "list -A", "describe", "describe alice", "wait alice", "snapshot", "snapshot alice", "reconcile --once --dry-run=client",
			"secrets list", "secrets list alice", "secrets add alice git", "secrets remove alice git"} {
			env.Eventually(t, patience, func() error { // the server needs a moment
				r := kubectl(t, e, env.Admin, append([]string{"workspace"}, strings.Fields(line)...)...)
				if r.code != 1 || r.stdout != "" || !want.MatchString(r.stderr) {
					return fmt.Errorf("%s: exit code %d, %q, %q", line, r.code, r.stdout, r.stderr)
				}
				return nil
			})
		}
	})
}

// create makes a Workspace with a spec in YAML, sent as it is.
func create(t *testing.T, e *env.Env, namespace, name, spec string) {
	t.Helper()
	u := &unstructured.Unstructured{Object: map[string]any{}}
	text := fmt.Sprintf("{apiVersion: kubeflow.org/v1beta1, kind: Workspace, metadata: {name: %s}, spec: %s}", name, strings.ReplaceAll(spec, "\t", " "))
	if err := yaml.Unmarshal([]byte(text), &u.Object); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Dynamic(t, env.Admin).Resource(v1beta1.WorkspaceGVR).Namespace(namespace).Create(t.Context(), u, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// install replaces the CRD of Workspaces by a changed one, and waits until the server goes
// by it. at gives the schema of a field; "items" is that of a list's elements.
func install(t *testing.T, e *env.Env, change func(at func(field ...string) map[string]any)) {
	t.Helper()
	var crd unstructured.Unstructured
	if err := yaml.Unmarshal(crds.Workspaces, &crd.Object); err != nil {
		t.Fatal(err)
	}
	version := crd.Object["spec"].(map[string]any)["versions"].([]any)[0].(map[string]any)
	root := version["schema"].(map[string]any)["openAPIV3Schema"].(map[string]any)
	change(func(field ...string) map[string]any {
		t.Helper()
		at := root
		for _, f := range field {
			if f == "items" {
				at = at["items"].(map[string]any)
				continue
			}
			next, ok := at["properties"].(map[string]any)[f].(map[string]any)
			if !ok {
				t.Fatalf("the schema has no %v", field)
			}
			at = next
		}
		return at
	})
	// A field of its own tells that the server goes by this one.
	probe := "probe" + rand.String(8)
	root["properties"].(map[string]any)["spec"].(map[string]any)["properties"].(map[string]any)[probe] = map[string]any{"type": "string"}
	text, err := yaml.Marshal(crd.Object)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := e.Kubectl(t, env.Admin, string(text), "apply", "--server-side", "--force-conflicts", "-f", "-"); err != nil {
		t.Fatal(out)
	}
	workspace := &unstructured.Unstructured{Object: map[string]any{"apiVersion": v1beta1.GroupVersion.String(), "kind": "Workspace",
		"metadata": map[string]any{"name": probe},
		"spec": map[string]any{probe: "x", "kind": "jupyterlab", "podTemplate": map[string]any{
			"options": map[string]any{"imageConfig": "scipy", "podConfig": "tiny"}, "volumes": map[string]any{}}}}}
	env.Eventually(t, patience, func() error {
		_, err := e.Dynamic(t, env.Admin).Resource(v1beta1.WorkspaceGVR).Namespace("default").Create(t.Context(), workspace,
			metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}, FieldValidation: metav1.FieldValidationStrict})
		return err
	})
}
