package render

import (
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/rivo/uniseg"
)

// Screen draws one text after the other in the same place of a terminal. Nothing is
// cleared before it is written again, so nothing flickers.
type Screen struct {
	out           io.Writer
	width, height int
}

// NewScreen returns a Screen on a terminal.
func NewScreen(out io.Writer) *Screen { return &Screen{out: out} }

// Resized reports whether the terminal has another size than at the last Draw.
func (s *Screen) Resized() bool {
	width, height := terminalSize(s.out)
	return width != s.width || height != s.height
}

const (
	clearScreen = "\x1b[2J"
	cursorHome  = "\x1b[H"
	clearLine   = "\x1b[K" // from the cursor to the end of the line
	clearBelow  = "\x1b[J"
)

// Draw writes frame, and below it what is to be seen in any case, over what was drawn
// before. A frame that is too high for the terminal is cut: a text that scrolls cannot be
// drawn over.
func (s *Screen) Draw(frame, below []string) error {
	p := NewPainter(ColorNever, s.out)
	var b strings.Builder
	if p.Width != s.width || p.Height != s.height {
		// The terminal has moved what was there.
		b.WriteString(clearScreen)
	}
	s.width, s.height = p.Width, p.Height
	b.WriteString(cursorHome)
	// The cursor ends in a line of its own, below everything.
	for _, line := range fit(frame, below, s.width, s.height-1) {
		b.WriteString(line)
		if _, full := rows(line, s.width); !full {
			// In a full line the cursor is still on the last character.
			b.WriteString(clearLine)
		}
		b.WriteByte('\n')
	}
	b.WriteString(clearBelow)
	_, err := io.WriteString(s.out, b.String())
	return err
}

// fit joins frame and below, less those lines of the frame for which there is no room.
func fit(frame, below []string, width, height int) []string {
	height -= total(below, width)
	if total(frame, width) > height {
		kept, room := 0, height-1 // one for the remark
		for kept < len(frame) {
			r, _ := rows(frame[kept], width)
			if r > room {
				break
			}
			room -= r
			kept++
		}
		frame = append(frame[:kept:kept], fmt.Sprintf("… %d more lines", len(frame)-kept))
	}
	return append(frame[:len(frame):len(frame)], below...)
}

func total(lines []string, width int) int {
	n := 0
	for _, line := range lines {
		r, _ := rows(line, width)
		n += r
	}
	return n
}

// colours are the escape sequences that this package writes.
var colours = regexp.MustCompile("\x1b\\[[0-9;]*m")

// rows is how many lines of the terminal a line takes. full reports whether it ends in
// the last column.
func rows(line string, width int) (n int, full bool) {
	column := 0
	n = 1
	for g := uniseg.NewGraphemes(colours.ReplaceAllString(line, "")); g.Next(); {
		w := g.Width()
		if column+w > width {
			n++
			column = 0
		}
		column += w
	}
	return n, column == width
}
