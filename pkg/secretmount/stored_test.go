package secretmount

import (
	"strings"
	"testing"
)

func TestStored(t *testing.T) {
	workspace := func(entries ...any) map[string]any {
		return map[string]any{"spec": map[string]any{"podTemplate": map[string]any{"volumes": map[string]any{"secrets": entries}}}}
	}
	mount := func(secret, path string, mode any) map[string]any {
		m := map[string]any{"secretName": secret, "mountPath": path}
		if mode != nil {
			m["defaultMode"] = mode
		}
		return m
	}
	read := int32(0o400)
	git := Mount{SecretName: "git", MountPath: "/git"}
	gitRead := Mount{SecretName: "git", MountPath: "/git", DefaultMode: &read}
	for name, c := range map[string]struct {
		result    Result
		workspace map[string]any
		err       string // part of it
	}{
		"added":                   {Result{Mount: git, Outcome: Added}, workspace(mount("git", "/git", int64(420))), ""},
		"added, no mode":          {Result{Mount: git, Outcome: Added}, workspace(mount("git", "/git", nil)), ""},
		"added, dropped":          {Result{Mount: git, Outcome: Added}, map[string]any{"spec": map[string]any{}}, `Secret "git" is not mounted at /git afterwards`},
		"added, another there":    {Result{Mount: git, Outcome: Added}, workspace(mount("other", "/git", nil)), `Secret "git" is not mounted at /git afterwards`},
		"added, mode dropped":     {Result{Mount: gitRead, Outcome: Added}, workspace(mount("git", "/git", nil)), "with mode 0644 afterwards, not 0400"},
		"replaced, mode kept":     {Result{Mount: gitRead, Outcome: Replaced}, workspace(mount("git", "/git", int64(0o400))), ""},
		"removed":                 {Result{Mount: git, Outcome: Removed}, workspace(mount("git", "/other", nil)), ""},
		"removed, another there":  {Result{Mount: git, Outcome: Removed}, workspace(mount("other", "/git", nil)), ""},
		"removed, put back":       {Result{Mount: git, Outcome: Removed}, workspace(mount("git", "/git", nil)), "is mounted at /git afterwards"},
		"unchanged is not looked": {Result{Mount: git, Outcome: Unchanged}, workspace(), ""},
	} {
		t.Run(name, func(t *testing.T) {
			err := Edit{Results: []Result{c.result}}.Stored(c.workspace)
			if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
				t.Errorf("error = %v, want %q", err, c.err)
			}
		})
	}
}
