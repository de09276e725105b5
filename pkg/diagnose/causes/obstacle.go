package causes

import (
	"slices"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/diagnose"
)

var (
	// heldIDs are the causes of a Pod that ends and will not have ended until a person
	// does something.
	heldIDs = []string{"terminating-node-lost", "terminating-finalizer"}
	// controllerIDs are the faults for which the Workspace controller acts on nothing.
	controllerIDs = []string{"workspace-kind-not-found", "workspace-option-invalid", "multiple-statefulsets", "service-account-not-owned"}
)

// Obstacle returns the cause for which a Workspace does not get into a state (Running or
// Paused) unless a person does something; nil if it may well get there.
func Obstacle(d diagnose.Diagnosis, target diagnose.State) *diagnose.Cause {
	ids := heldIDs
	if target == diagnose.StatePaused {
		// What is wrong with the Pod does not keep it from ending.
		ids = slices.Concat(heldIDs, controllerIDs)
	}
	for i := range d.Causes {
		c := &d.Causes[i]
		if slices.Contains(ids, c.ID) || target == diagnose.StateRunning && i == 0 && c.State == diagnose.StateError {
			return c
		}
	}
	return nil
}
