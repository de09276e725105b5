package causes

import (
	"slices"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/diagnose"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/facts"
)

// All returns the catalogue in order of rank: of several causes that hold, the first
// is the primary one. What was done on purpose comes before faults, faults in the
// order of the ladder, and mere progress last.
func All() []diagnose.Rule {
	return slices.Concat(
		lifecycleRules(),
		workspaceRules(),
		ownedRules(),
		admissionRules(),
		schedulingRules(),
		claimRules(),
		missingObjectRules(),
		volumeRules(),
		sandboxRules(),
		imageRules(),
		containerRules(),
		probeRules(),
		progressRules(),
	)
}

// Diagnose explains one Workspace with the whole catalogue.
func Diagnose(f *facts.Facts) diagnose.Diagnosis { return diagnose.Run(f, All()) }
