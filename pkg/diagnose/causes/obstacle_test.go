package causes

import (
	"slices"
	"testing"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/diagnose"
)

// A cause that is renamed must not silently cease to be an obstacle.
func TestObstaclesAreInTheCatalogue(t *testing.T) {
	for _, id := range slices.Concat(heldIDs, controllerIDs) {
		if !slices.ContainsFunc(All(), func(r diagnose.Rule) bool { return r.ID == id }) {
			t.Errorf("there is no cause %q", id)
		}
	}
}
