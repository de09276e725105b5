package diagnose

// Rule recognises one kind of cause. The rules of package causes make up the
// catalogue, from which docs/causes.md is generated.
type Rule struct {
	// ID is the stable, kebab-case name of the cause.
	ID string
	// Blocks is the rung that a Workspace with this cause does not reach. The rule is
	// asked only while that rung is not reached. RungNone stands for rules about the
	// Workspace as a whole, which are always asked.
	Blocks Rung
	// Title says in a few words what is wrong.
	Title string
	// Recognised says by what it is told.
	Recognised string
	// Fix says what helps.
	Fix string
	// Progress marks what is only worth saying where nothing is broken.
	Progress bool
	// Advice marks what is worth knowing but harms nothing. It is left out of summaries.
	Advice bool
	// Match returns the causes of this kind that the Case has. It fills everything but
	// the ID. A cause whose State is StateRunning becomes a warning.
	Match func(c *Case) []Cause
}

func (r Rule) applies(c *Case) bool { return r.Blocks == RungNone || r.Blocks > c.Reached }
