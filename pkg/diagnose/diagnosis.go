package diagnose

import (
	"time"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/facts"
)

// State is what this program concludes about a Workspace. Unlike the state in the
// Workspace's status it is about now.
type State string

const (
	// StateRunning means that the Pod is Ready.
	StateRunning State = "Running"
	// StatePending means that it gets there by itself, or waits for something that comes by itself.
	StatePending State = "Pending"
	// StateError means that it will not get there unless a person does something.
	StateError State = "Error"
	// StatePaused means that it was switched off on purpose.
	StatePaused State = "Paused"
	// StateTerminating means that the Pod or the Workspace is going away.
	StateTerminating State = "Terminating"
	// StateUnknown means that too little could be read to tell.
	StateUnknown State = "Unknown"
)

// Confidence tells proof from inference.
type Confidence string

const (
	// Certain means that a status field or a direct check proves it.
	Certain Confidence = "certain"
	// Likely means that it rests on somebody else's word, such as an Event, or the best explanation.
	Likely Confidence = "likely"
)

// Risk is what a suggested command does to a running system.
type Risk string

const (
	// RiskInspect only reads.
	RiskInspect Risk = "inspect"
	// RiskSafe changes something without interrupting anybody.
	RiskSafe Risk = "safe"
	// RiskDisruptive restarts a Pod or deletes something.
	RiskDisruptive Risk = "disruptive"
)

// Diagnosis is the explanation of one Workspace. Its JSON form is a contract with
// scripts: fields are added, never renamed.
type Diagnosis struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"`
	Workspace  Workspace `json:"workspace"`
	State      State     `json:"state"`
	// Rung is the last rung that was reached.
	Rung Rung `json:"rung"`
	// Since is when this state began, as far as known.
	Since *time.Time `json:"since,omitempty"`
	// Summary is one sentence for a person.
	Summary string `json:"summary"`
	// Controller is what the in-cluster controller says, and whether that still holds.
	Controller Controller `json:"controller"`
	// Causes are what keeps it from running, the primary one first. Empty if it runs.
	Causes []Cause `json:"causes"`
	// Warnings do not keep it from running now.
	Warnings []Warning `json:"warnings"`
	// Mounts are the volumes that the Workspace asks for.
	Mounts []Mount `json:"mounts"`
	// History are Warnings that later progress has overtaken.
	History []Evidence `json:"history"`
	// Unchecked is what could not be read.
	Unchecked []facts.Unchecked `json:"unchecked"`
	// Timeline are the Events, oldest first.
	Timeline []TimelineEntry `json:"timeline"`
	// Objects are the owned objects from the Workspace down, as far as they exist.
	Objects []string `json:"objects"`
	// CheckedAt is the moment that all of this is about.
	CheckedAt time.Time `json:"checkedAt"`
}

// Reason is the id of the primary cause, else of the first warning that is more than
// advice, else "-".
func (d Diagnosis) Reason() string {
	if len(d.Causes) > 0 {
		return d.Causes[0].ID
	}
	for _, w := range d.Warnings {
		if !w.Advice {
			return w.ID
		}
	}
	return "-"
}

// List is the JSON form of several Diagnoses.
type List struct {
	APIVersion string      `json:"apiVersion"`
	Kind       string      `json:"kind"`
	Items      []Diagnosis `json:"items"`
}

// NewList wraps several Diagnoses.
func NewList(items []Diagnosis) List {
	notNil(&items)
	return List{facts.APIVersion, "DiagnosisList", items}
}

// Workspace identifies the Workspace and the options it runs with.
type Workspace struct {
	Namespace   string `json:"namespace"`
	Name        string `json:"name"`
	Kind        string `json:"kind"`
	ImageConfig string `json:"imageConfig"`
	PodConfig   string `json:"podConfig"`
	// Paused is spec.paused.
	Paused bool `json:"paused"`
	// Created is when the Workspace was made; absent if that is not known.
	Created *time.Time `json:"created,omitempty"`
}

// Controller is the in-cluster controller's own view, from the Workspace's status.
type Controller struct {
	State   string `json:"state"`
	Message string `json:"message"`
	// Stale is true if State or Message no longer describes the Workspace.
	Stale bool `json:"stale"`
	// Why says why it is stale; or why, though it holds, it does not name the cause.
	Why string `json:"why,omitempty"`
}

// Cause is one reason why a Workspace does not run.
type Cause struct {
	// ID is stable; docs/causes.md lists them.
	ID string `json:"id"`
	// Object is what is at fault, "Kind/name"; empty if nothing is.
	Object     string     `json:"object"`
	Summary    string     `json:"summary"`
	Confidence Confidence `json:"confidence"`
	// Origin is where in the spec the faulty reference stands.
	Origin string `json:"origin,omitempty"`
	// Chain leads from the symptom to the cause.
	Chain    []string   `json:"chain"`
	Evidence []Evidence `json:"evidence"`
	Fixes    []Fix      `json:"fixes"`

	// State is the state of a Workspace of which this is the primary cause.
	State State `json:"-"`
}

// Warning is a finding that does not keep the Workspace from running now.
type Warning struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Summary string `json:"summary"`
	Fixes   []Fix  `json:"fixes,omitempty"`
	// Advice is set for what harms nothing.
	Advice bool `json:"advice,omitempty"`
}

// Evidence is what was seen, in the words of whoever said it.
type Evidence struct {
	// Source is "Event/Kind/name", or "Kind/name" for a field of the object itself.
	Source  string     `json:"source"`
	Reason  string     `json:"reason,omitempty"`
	Message string     `json:"message"`
	Count   int32      `json:"count,omitempty"`
	Last    *time.Time `json:"last,omitempty"`
}

// Fix is something to do about a cause.
type Fix struct {
	Text    string `json:"text"`
	Command string `json:"command,omitempty"`
	Risk    Risk   `json:"risk"`
}

// Mount is one volume that the Workspace asks for.
type Mount struct {
	Path   string `json:"path"`
	Object string `json:"object"`
	// Origin is the field of the Workspace that asks for it.
	Origin string      `json:"origin"`
	Status MountStatus `json:"status"`
}

// MountStatus says how a mount is doing.
type MountStatus string

const (
	// MountOK means that the object exists and the Pod has the mount.
	MountOK MountStatus = "ok"
	// MountMissing means that the object does not exist.
	MountMissing MountStatus = "missing"
	// MountNotReady means that the claim is not bound.
	MountNotReady MountStatus = "not-bound"
	// MountDropped means that the controller leaves it out since its path is taken.
	MountDropped MountStatus = "dropped"
	// MountPending means that the Pod does not have it yet.
	MountPending MountStatus = "pending"
	// MountUnknown means that it could not be checked.
	MountUnknown MountStatus = "unknown"
)

// TimelineEntry is one Event, repeats collapsed.
type TimelineEntry struct {
	Time    time.Time `json:"time"`
	Object  string    `json:"object"`
	Type    string    `json:"type"`
	Reason  string    `json:"reason"`
	Message string    `json:"message"`
	Count   int32     `json:"count"`
}
