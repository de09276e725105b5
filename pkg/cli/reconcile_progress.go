package cli

import (
	"fmt"

	"github.com/schollz/progressbar/v3"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/plan"
)

// progressBar draws a bar on the terminal that stderr is.
func (o *reconcileOptions) progressBar(total int) (done func(plan.Outcome), end func()) {
	bar := progressbar.NewOptions(total,
		progressbar.OptionSetWriter(o.ErrOut), progressbar.OptionSetDescription("Reconciling"),
		progressbar.OptionShowCount(), progressbar.OptionSetWidth(30), progressbar.OptionClearOnFinish(),
		progressbar.OptionUseANSICodes(true))
	// A bar that cannot be drawn is no reason to stop.
	return func(plan.Outcome) { _ = bar.Add(1) }, func() { _ = bar.Finish(); fmt.Fprint(o.ErrOut, "\r") }
}
