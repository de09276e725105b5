package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
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
	return orList(slices.DeleteFunc(slices.Clone(c.allowed), func(w string) bool { return w == "" }))
}

// orList joins words as in "a, b or c".
func orList(words []string) string {
	last := len(words) - 1
	if last == 0 {
		return words[0]
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// flagError says what is wrong with a flag in the words of a user, and where to read on.
func flagError(cmd *cobra.Command, err error) error {
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		want := map[string]string{"bool": "must be true or false", "duration": "must be a duration, such as 30s or 5m"}[invalid.GetFlag().Value.Type()]
		if want != "" {
			err = errors.New(strings.TrimSuffix(err.Error(), invalid.Unwrap().Error()) + want)
		}
	}
	return usageError(cmd, "%w", err)
}
