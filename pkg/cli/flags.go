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

// list names the words in a sentence, without the empty one, which is "not given".
func (c *choice) list() string {
	words := slices.DeleteFunc(slices.Clone(c.allowed), func(w string) bool { return w == "" })
	last := len(words) - 1
	if last == 0 {
		return words[0]
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}
