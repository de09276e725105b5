package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestMatching(t *testing.T) {
	pod := Subject{Image: "registry.example/team/jupyter:v1", Namespace: "team-a", Pod: "ws-alice-0", Container: "main"}
	cases := map[string]struct {
		rule Rule
		want bool
	}{
		"no matcher":                {Rule{}, true},
		"exact image":               {Rule{Image: "registry.example/team/jupyter:v1"}, true},
		"other tag":                 {Rule{Image: "registry.example/team/jupyter:v2"}, false},
		"star crosses slashes":      {Rule{Image: "*/jupyter:*"}, true},
		"a dot is no wildcard":      {Rule{Image: "registry-example/*"}, false},
		"prefix is not enough":      {Rule{Namespace: "team"}, false},
		"all matchers must match":   {Rule{Image: "*", Namespace: "team-b"}, false},
		"pod and container":         {Rule{Pod: "ws-alice-*", Container: "main"}, true},
		"a Pod has no mount source": {Rule{Source: "server:/export"}, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := tc.rule.matches(pod); got != tc.want {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
}

func TestRulesAreReadAnew(t *testing.T) {
	rules := &Rules{path: filepath.Join(t.TempDir(), "rules.json")}
	pull := func() string {
		rule, _ := rules.Find(Subject{Image: "a:b"}, func(r Rule) bool { return r.PullError != "" })
		return rule.PullError
	}
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(rules.path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := pull(); got != "" {
		t.Errorf("without a file: got %q", got)
	}
	write(`{"rules": [{"image": "a:*", "startError": "x"}, {"image": "a:*", "pullError": "first"}, {"pullError": "second"}]}`)
	if got := pull(); got != "first" {
		t.Errorf("the first rule with the effect must win: got %q", got)
	}
	write(`{"rules": [{"image": "a:*", "pulError": "misspelt"}]}`)
	if got := pull(); got != "first" {
		t.Errorf("a bad file must leave the last good rules: got %q", got)
	}
	write(`{"rules": [{"pullError": "third", "pullDelay": "1m30s"}]}`)
	if got := pull(); got != "third" {
		t.Errorf("a change must be noticed: got %q", got)
	}
	if got := rules.last[0].PullDelay.Duration; got != 90*time.Second {
		t.Errorf("pullDelay: got %s", got)
	}
}
