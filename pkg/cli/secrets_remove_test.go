package cli

import (
	"context"
	"errors"
	"strings"
	"testing"
)

func TestReadYes(t *testing.T) {
	for text, want := range map[string]bool{"y\n": true, "YES\n": true, " y \n": true, "n\n": false, "\n": false, "yess\n": false} {
		if got, err := readYes(t.Context(), strings.NewReader(text)); got != want || err != nil {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	if yes, err := readYes(t.Context(), strings.NewReader("y")); yes || err == nil {
		t.Errorf("an end of the input before the end of the line: %v, %v", yes, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if yes, err := readYes(ctx, blocked{}); yes || !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v, %v", yes, err)
	}
}

// blocked is a terminal at which nobody types.
type blocked struct{}

func (blocked) Read([]byte) (int, error) { select {} }
