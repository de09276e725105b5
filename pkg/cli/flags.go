package cli

import (
	"fmt"
	"slices"
	"strings"
)

// choice is a flag whose value is one of a few words.
type choice struct {
	value   string
	allowed []string
}

// newChoice returns a choice that starts at the first of the allowed words.
func newChoice(allowed ...string) choice { return choice{allowed[0], allowed} }

// String implements pflag.Value.
func (c *choice) String() string { return c.value }

// Type implements pflag.Value.
func (c *choice) Type() string { return "string" }

// Set implements pflag.Value.
func (c *choice) Set(s string) error {
	if !slices.Contains(c.allowed, s) {
		return fmt.Errorf("must be %s", c.list())
	}
	c.value = s
	return nil
}

func (c *choice) list() string {
	last := len(c.allowed) - 1
	if last == 0 {
		return c.allowed[0]
	}
	return strings.Join(c.allowed[:last], ", ") + " or " + c.allowed[last]
}
