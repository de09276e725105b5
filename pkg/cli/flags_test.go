package cli

import "testing"

func TestChoiceList(t *testing.T) {
	for want, allowed := range map[string][]string{
		"json":               {"json"},
		"json or yaml":       {"", "json", "yaml"},
		"none, one or all":   {"none", "one", "all"},
		"wide, json or name": {"", "wide", "json", "name"},
	} {
		c := newChoice(allowed...)
		if got := c.list(); got != want {
			t.Errorf("%q: %q, want %q", allowed, got, want)
		}
	}
}
