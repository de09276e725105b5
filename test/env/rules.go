package env

import (
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"testing"
)

// Rule makes the containers of some Pods fail. The matchers (all that are set
// must match; "*" is any text) and effects are described, field by field, in
// hack/controlplane/kubernetes/node/rules.go, whose format this is.
type Rule struct {
	Image     string `json:"image,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	Pod       string `json:"pod,omitempty"`
	Container string `json:"container,omitempty"`
	Source    string `json:"source,omitempty"`

	PullError    string `json:"pullError,omitempty"`
	SandboxError string `json:"sandboxError,omitempty"`
	CreateError  string `json:"createError,omitempty"`
	StartError   string `json:"startError,omitempty"`
	MountError   string `json:"mountError,omitempty"`

	PullDelay  string `json:"pullDelay,omitempty"` // "10s"
	ImageUID   *int64 `json:"imageUID,omitempty"`
	HTTPStatus int    `json:"httpStatus,omitempty"`
	Exec       *Exec  `json:"exec,omitempty"`
	Exit       *Exit  `json:"exit,omitempty"`
}

// Exec is the answer to exec probes.
type Exec struct {
	Code   int32  `json:"code"`
	Output string `json:"output,omitempty"`
}

// Exit ends a container some time after its start.
type Exit struct {
	Code   int32  `json:"code"`
	Reason string `json:"reason,omitempty"` // "OOMKilled"; else by code
	After  string `json:"after,omitempty"`  // "2s"
}

// AddRules puts rules in force before those of other tests, and returns a
// function that takes them out again; the end of the test does it otherwise.
// Give each rule a Namespace or an Image of its own: all tests share the node.
func (e *Env) AddRules(t testing.TB, rules ...Rule) (remove func()) {
	t.Helper()
	e.editRules(t, func(all []Rule) []Rule { return append(slices.Clone(rules), all...) })
	removed := false
	remove = func() {
		if removed {
			return
		}
		removed = true
		e.editRules(t, func(all []Rule) []Rule {
			for _, rule := range rules {
				if i := slices.IndexFunc(all, func(other Rule) bool { return reflect.DeepEqual(other, rule) }); i >= 0 {
					all = slices.Delete(all, i, i+1)
				}
			}
			return all
		})
	}
	t.Cleanup(remove)
	return remove
}

func (e *Env) editRules(t testing.TB, edit func([]Rule) []Rule) {
	t.Helper()
	e.rulesLock.Lock()
	defer e.rulesLock.Unlock()
	var file struct {
		Rules []Rule `json:"rules"`
	}
	data, err := os.ReadFile(e.RulesFile)
	if err == nil {
		err = json.Unmarshal(data, &file)
	}
	if err != nil {
		t.Fatalf("rules of the test node: %v", err)
	}
	file.Rules = edit(file.Rules)
	if data, err = json.MarshalIndent(file, "", "  "); err == nil {
		err = os.WriteFile(e.RulesFile+".tmp", data, 0o600)
	}
	if err == nil { // the node must never see half a file
		err = os.Rename(e.RulesFile+".tmp", e.RulesFile)
	}
	if err != nil {
		t.Fatalf("rules of the test node: %v", err)
	}
}
