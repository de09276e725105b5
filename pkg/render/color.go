package render

import (
	"io"
	"os"

	"github.com/fatih/color"
	"golang.org/x/term"
)

// Values of --color.
const (
	ColorAuto   = "auto"
	ColorAlways = "always"
	ColorNever  = "never"
)

// Painter colours words. Colour only repeats what the words say.
type Painter struct {
	// Good, Bad, Wait, Dim and Bold colour one string each.
	Good, Bad, Wait, Dim, Bold func(string) string
	// Width and Height are the columns and lines of the terminal; 0 if the output is
	// not one.
	Width, Height int
}

// NewPainter returns the colours for a stream. With "auto" it colours only a
// terminal, and not if NO_COLOR is set (https://no-color.org) or TERM is "dumb".
func NewPainter(mode string, out io.Writer) Painter {
	width, height := terminalSize(out)
	enabled := mode == ColorAlways
	if mode == ColorAuto {
		enabled = width > 0 && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	}
	paint := func(attributes ...color.Attribute) func(string) string {
		c := color.New(attributes...)
		// Both calls are needed: fatih/color's default is a guess about os.Stdout.
		if enabled {
			c.EnableColor()
		} else {
			c.DisableColor()
		}
		return func(s string) string { return c.Sprint(s) }
	}
	return Painter{
		Good:   paint(color.FgGreen),
		Bad:    paint(color.FgRed, color.Bold),
		Wait:   paint(color.FgYellow),
		Dim:    paint(color.Faint),
		Bold:   paint(color.Bold),
		Width:  width,
		Height: height,
	}
}

func terminalSize(out io.Writer) (width, height int) {
	f, ok := out.(interface{ Fd() uintptr })
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return 0, 0
	}
	width, height, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0, 0
	}
	return width, height
}
