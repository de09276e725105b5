package plan

import (
	"fmt"
	"time"
)

// APIVersion and Kind head a Plan in JSON.
const (
	APIVersion = "kubectl-workspace/v1"
	Kind       = "Plan"
)

// Plan is what reconciling did, or would do. Its JSON form is a contract.
type Plan struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Mode       Mode   `json:"mode"`
	// Workspaces are in the order of namespace and name.
	Workspaces []Outcome `json:"workspaces"`
	// WorkspaceKinds are those whose own reconcile came along.
	WorkspaceKinds []Outcome `json:"workspaceKinds,omitempty"`
	Summary        Summary   `json:"summary"`
	// Notes say what was not simulated or not looked at.
	Notes []string `json:"notes,omitempty"`
}

// Result is how the reconcile of one object ended.
type Result string

// The results.
const (
	// Created: the StatefulSet did not exist before.
	Created Result = "created"
	// Updated: something was written.
	Updated Result = "updated"
	// Unchanged: nothing was written.
	Unchanged Result = "unchanged"
	// Failed: it ended with an error. What it wrote before is listed all the same.
	Failed Result = "failed"
)

// Outcome is the reconcile of one Workspace or WorkspaceKind.
type Outcome struct {
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	// WorkspaceKind is the kind of a Workspace.
	WorkspaceKind string `json:"workspaceKind,omitempty"`
	Result        Result `json:"result"`
	// Changes are the objects of the Workspace, unchanged ones included.
	Changes []Change      `json:"changes"`
	Events  []Event       `json:"events,omitempty"`
	Status  *StatusChange `json:"status,omitempty"`
	// LookAgainSeconds is after how long the controller would look again by itself.
	LookAgainSeconds int `json:"lookAgainSeconds,omitempty"`
	// PodRestarts tells that the running Pod is replaced.
	PodRestarts bool `json:"podRestarts,omitempty"`
	// ActivityRules is "not evaluated" where the WorkspaceKind has some.
	ActivityRules string `json:"activityRules,omitempty"`
	Error         string `json:"error,omitempty"`
}

// Verb is what happens to an object.
type Verb string

// The verbs.
const (
	VerbCreate Verb = "create"
	VerbUpdate Verb = "update"
	VerbDelete Verb = "delete"
	VerbNone   Verb = "none"
)

// Change is what happens to one object.
type Change struct {
	Verb      Verb   `json:"verb"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	// Fields are the differences of an update.
	Fields []Field `json:"fields,omitempty"`
	// Pod is what the change does to the Pod: "restarts", "stops" or "starts".
	Pod string `json:"pod,omitempty"`
}

// Field is one field that differs. Values that may be secret are masked.
type Field struct {
	// Path names items of lists by what identifies them: containers[main].
	Path string `json:"path"`
	// Before is absent for a field that is added, After for one that is removed.
	Before any `json:"before,omitempty"`
	After  any `json:"after,omitempty"`
}

// Event is an Event that is recorded.
type Event struct {
	Type    string `json:"type"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

// StatusChange is the status before and after; Fields is empty if they are the same.
type StatusChange struct {
	Before State   `json:"before"`
	After  State   `json:"after"`
	Fields []Field `json:"fields,omitempty"`
}

// State is the part of a status that people read.
type State struct {
	State   string `json:"state"`
	Message string `json:"message"`
}

// Summary counts.
type Summary struct {
	Workspaces  int `json:"workspaces"`
	Created     int `json:"created"`
	Updated     int `json:"updated"`
	Unchanged   int `json:"unchanged"`
	Failed      int `json:"failed"`
	PodRestarts int `json:"podRestarts"`
	// WorkspaceKinds is the number of WorkspaceKinds that are written to.
	WorkspaceKinds int `json:"workspaceKinds"`
}

// LookAgain is after how long the controller would look again by itself.
func (o Outcome) LookAgain() time.Duration { return time.Duration(o.LookAgainSeconds) * time.Second }

// String names the object.
func (o Outcome) String() string {
	if o.Namespace == "" {
		return "WorkspaceKind " + o.Name
	}
	return fmt.Sprintf("Workspace %s/%s", o.Namespace, o.Name)
}

// Changed tells whether anything is written.
func (p *Plan) Changed() bool {
	for _, list := range [][]Outcome{p.Workspaces, p.WorkspaceKinds} {
		for _, o := range list {
			if o.writes() {
				return true
			}
		}
	}
	return false
}

func (o Outcome) writes() bool {
	if len(o.Events) > 0 || o.Status != nil && len(o.Status.Fields) > 0 {
		return true
	}
	for _, c := range o.Changes {
		if c.Verb != VerbNone {
			return true
		}
	}
	return false
}

// DropEvents takes the Events out of a Plan, for a user who cannot record them.
func (p *Plan) DropEvents() {
	for i := range p.Workspaces {
		o := &p.Workspaces[i]
		o.Events = nil
		if o.Result == Updated && !o.writes() {
			o.Result = Unchanged
		}
	}
	p.summarise()
}

// DropKinds takes the WorkspaceKinds out of a Plan, for a user who cannot write to them.
func (p *Plan) DropKinds() {
	p.WorkspaceKinds = nil
	p.summarise()
}

// summarise counts the outcomes.
func (p *Plan) summarise() {
	s := Summary{Workspaces: len(p.Workspaces)}
	for _, o := range p.Workspaces {
		switch o.Result {
		case Created:
			s.Created++
		case Updated:
			s.Updated++
		case Unchanged:
			s.Unchanged++
		case Failed:
			s.Failed++
		}
		if o.PodRestarts {
			s.PodRestarts++
		}
	}
	for _, o := range p.WorkspaceKinds {
		if o.Result == Failed {
			s.Failed++
		} else if o.writes() {
			s.WorkspaceKinds++
		}
	}
	p.Summary = s
}
