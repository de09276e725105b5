package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"sync"
	"time"

	"k8s.io/klog/v2"
)

// Rule makes some Pods fail in a chosen way. The first group of fields says
// which, the second how. All matchers that are set must match; each is a glob
// in which "*" stands for any text, slashes included.
type Rule struct {
	Image     string `json:"image,omitempty"`     // image as the Pod spells it
	Namespace string `json:"namespace,omitempty"` // namespace of the Pod
	Pod       string `json:"pod,omitempty"`       // name of the Pod
	Container string `json:"container,omitempty"` // name of the container
	Source    string `json:"source,omitempty"`    // what is mounted, as in "server:/export"

	// Errors are what the runtime answers, without a gRPC prefix. A rule with a
	// PullError also hides the image if the node has it already, so that a tag
	// can be used twice.
	PullError    string `json:"pullError,omitempty"`
	SandboxError string `json:"sandboxError,omitempty"`
	CreateError  string `json:"createError,omitempty"`
	StartError   string `json:"startError,omitempty"`
	MountError   string `json:"mountError,omitempty"`

	PullDelay  Duration `json:"pullDelay,omitempty"`  // how long a pull takes
	ImageUID   *int64   `json:"imageUID,omitempty"`   // user of the image, 1000 without a rule
	HTTPStatus int      `json:"httpStatus,omitempty"` // answer to HTTP probes, 200 without a rule
	Exec       *Exec    `json:"exec,omitempty"`       // answer to exec probes, exit code 0 without a rule
	Exit       *Exit    `json:"exit,omitempty"`       // end of a container after it started
}

// Exec is the outcome of a command run in a container.
type Exec struct {
	Code   int32  `json:"code"`
	Output string `json:"output,omitempty"`
}

// Exit ends a container some time after its start.
type Exit struct {
	Code   int32    `json:"code"`
	Reason string   `json:"reason,omitempty"` // "Completed" or "Error", by code, when empty; "OOMKilled"
	After  Duration `json:"after,omitempty"`  // at once when empty
}

// Duration is a time.Duration written as "1m30s".
type Duration struct{ time.Duration }

// UnmarshalText parses what time.ParseDuration does.
func (d *Duration) UnmarshalText(text []byte) (err error) {
	d.Duration, err = time.ParseDuration(string(text))
	return err
}

// Subject is what a rule is matched against. Fields that make no sense at a
// point (a sandbox has no image) stay empty, and a matcher on them fails.
type Subject struct{ Image, Namespace, Pod, Container, Source string }

func (r Rule) matches(s Subject) bool {
	return glob(r.Image, s.Image) && glob(r.Namespace, s.Namespace) && glob(r.Pod, s.Pod) &&
		glob(r.Container, s.Container) && glob(r.Source, s.Source)
}

// glob reports whether text matches the pattern; an empty pattern matches all.
func glob(pattern, text string) bool {
	if pattern == "" {
		return true
	}
	expr := "^(?s:" + strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, ".*") + ")$"
	return regexp.MustCompile(expr).MatchString(text)
}

// Rules is the rules file: {"rules": [ … ]}. It is read anew each time a
// decision is due, so a test changes the node's behaviour by replacing the
// file. An unreadable file leaves the last good rules in force.
type Rules struct {
	path string

	mu   sync.Mutex
	last []Rule
}

// Find returns the first matching rule that has the wanted effect.
func (r *Rules) Find(s Subject, wanted func(Rule) bool) (Rule, bool) {
	for _, rule := range r.load() {
		if rule.matches(s) && wanted(rule) {
			return rule, true
		}
	}
	return Rule{}, false
}

func (r *Rules) load() []Rule {
	r.mu.Lock()
	defer r.mu.Unlock()
	rules, err := readRules(r.path)
	if err != nil {
		klog.ErrorS(err, "Keeping the rules read before")
		return r.last
	}
	r.last = rules
	return rules
}

func readRules(path string) ([]Rule, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var file struct {
		Rules []Rule `json:"rules"`
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields() // a misspelt effect must not pass for "no failure"
	if err := dec.Decode(&file); err != nil {
		return nil, fmt.Errorf("rules file %s: %w", path, err)
	}
	return file.Rules, nil
}
