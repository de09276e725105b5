//go:build !windows

package render

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/hinshun/vt10x"
)

// terminal is a pseudo terminal with an emulator on its other side.
type terminal struct {
	t   *testing.T
	tty *os.File
	vt  vt10x.Terminal
	pty *os.File
	// marks counts what was written to see how far the emulator is.
	marks int
}

func newTerminal(t *testing.T, columns, lines int) *terminal {
	t.Helper()
	master, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	term := &terminal{t: t, tty: tty, pty: master, vt: vt10x.New()}
	term.resize(columns, lines)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.Copy(term.vt, master) // ends with an error when the tty is closed
	}()
	t.Cleanup(func() {
		tty.Close()
		<-done
		master.Close()
	})
	return term
}

func (term *terminal) resize(columns, lines int) {
	term.t.Helper()
	term.vt.Resize(columns, lines)
	if err := pty.Setsize(term.pty, &pty.Winsize{Cols: uint16(columns), Rows: uint16(lines)}); err != nil {
		term.t.Fatal(err)
	}
}

// title is what the window says; another goroutine feeds the terminal.
func (term *terminal) title() string {
	term.vt.Lock()
	defer term.vt.Unlock()
	return term.vt.Title()
}

// lines are what is on the screen now, less blanks at the ends.
func (term *terminal) lines() []string {
	term.t.Helper()
	term.marks++
	mark := fmt.Sprint("mark ", term.marks)
	fmt.Fprintf(term.tty, "\x1b]0;%s\x07", mark) // sets the title
	for deadline := time.Now().Add(10 * time.Second); term.title() != mark; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			term.t.Fatal("the terminal does not get on")
		}
	}
	var lines []string
	for line := range strings.Lines(term.vt.String()) {
		lines = append(lines, strings.TrimRight(line, " \n"))
	}
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

func TestScreen(t *testing.T) {
	wide := strings.Repeat("0123456789", 5) // 50 columns
	for name, c := range map[string]struct {
		frame, below []string
		want         string
	}{
		"fits":                      {[]string{"a", "b"}, []string{"", "c"}, "a|b||c"},
		"coloured":                  {[]string{"\x1b[1m" + wide[:20] + "\x1b[0m", "b"}, nil, wide[:20] + "|b"},
		"a line as wide as it gets": {[]string{wide[:20], "b"}, nil, wide[:20] + "|b"},
		"a wrapped line":            {[]string{wide, "b"}, nil, wide[:20] + "|" + wide[20:40] + "|" + wide[40:] + "|b"},
		"too many lines":            {[]string{"1", "2", "3", "4", "5", "6", "7", "8"}, nil, "1|2|3|4|… 4 more lines"},
		"as many lines as fit":      {[]string{"1", "2", "3", "4", "5"}, nil, "1|2|3|4|5"},
		"too many by wrapping":      {[]string{"1", wide, "3", "4"}, nil, "1|" + wide[:20] + "|" + wide[20:40] + "|" + wide[40:] + "|… 2 more lines"},
		"what is below stays":       {[]string{"1", wide, "3", "4"}, []string{"x", "y"}, "1|… 3 more lines|x|y"},
	} {
		t.Run(name, func(t *testing.T) {
			term := newTerminal(t, 20, 6)
			s := NewScreen(term.tty)
			if err := s.Draw([]string{wide, "before", "before"}, []string{wide}); err != nil {
				t.Fatal(err)
			}
			if err := s.Draw(c.frame, c.below); err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(term.lines(), "|"); got != c.want {
				t.Errorf("%q\nwant\n%q", got, c.want)
			}
		})
	}
}

// Whatever was there before, after a Draw the terminal shows what an empty one would, and
// nothing has scrolled.
func TestScreenLeavesNothingBehind(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	text := func() (lines []string) {
		for i := range random.IntN(8) {
			lines = append(lines, strings.Repeat(string(rune('a'+i)), random.IntN(70)))
		}
		return lines
	}
	term := newTerminal(t, 30, 8)
	s := NewScreen(term.tty)
	for i := range 60 {
		columns, lines := 20+random.IntN(3), 6+random.IntN(3)
		if i%3 == 0 {
			term.resize(columns, lines)
			if resized := s.width != columns || s.height != lines; s.Resized() != resized {
				t.Errorf("Resized = %v", !resized)
			}
		}
		frame, below := append([]string{"top"}, text()...), []string(nil)
		if random.IntN(2) == 0 {
			below = []string{"", strings.Repeat("z", random.IntN(30))}
		}
		if err := s.Draw(frame, below); err != nil {
			t.Fatal(err)
		}
		if s.Resized() {
			t.Error("Resized after Draw")
		}
		fresh := newTerminal(t, s.width, s.height)
		if err := NewScreen(fresh.tty).Draw(frame, below); err != nil {
			t.Fatal(err)
		}
		got, want := term.lines(), fresh.lines()
		if strings.Join(got, "\n") != strings.Join(want, "\n") || got[0] != "top" {
			t.Fatalf("draw %d on %dx%d of %q shows\n%s\nwant\n%s", i, s.width, s.height, frame, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

func TestRows(t *testing.T) {
	for line, want := range map[string]int{
		"":                            1,
		"0123456789":                  1,
		"01234567890":                 2,
		"\x1b[31m0123456789\x1b[0m":   1,
		"日本語日本":                       1,
		"日本語日本語":                      2,
		"0日本語日本":                      2, // a wide character does not fit into the last column
		"e\u0301e\u0301e\u0301456789": 1, // combining accents
	} {
		if got, _ := rows(line, 10); got != want {
			t.Errorf("%q takes %d lines, want %d", line, got, want)
		}
	}
}
