// Command picture draws what a command prints on a terminal as SVG, for the README:
//
//	picture [--check] PROGRAM FILE LINES COMMAND
//
// COMMAND is one line of arguments for PROGRAM, which runs on a terminal of its own
// with the snapshot testdata/demo. It is shown as a person would type it, with the first
// LINES lines that it prints. The picture follows the colour scheme of who looks at it,
// light or dark. With --check nothing is written, and a file that is out of date is an
// error.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"html"
	"io"
	"math"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"syscall"

	"github.com/creack/pty"
)

const (
	columns  = 108
	snapshot = "testdata/demo"

	// In pixels; a monospaced glyph is about 0.6 times as wide as the font is high.
	fontSize, glyphWidth, lineHeight, margin = 14, 8.43, 20, 20
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "picture:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	check := len(args) > 0 && args[0] == "--check"
	if check {
		args = args[1:]
	}
	if len(args) != 4 {
		return errors.New("usage: picture [--check] PROGRAM FILE LINES COMMAND")
	}
	program, file, command := args[0], args[1], args[3]
	limit, err := strconv.Atoi(args[2])
	if err != nil {
		return fmt.Errorf("LINES: %w", err)
	}
	printed, err := play(program, strings.Fields(command))
	if err != nil {
		return fmt.Errorf("%s: %w", command, err)
	}
	lines := []string{"\x1b[2m$\x1b[0m \x1b[1mkubectl workspace " + command + "\x1b[0m"}
	if len(printed) > limit {
		printed = append(printed[:limit], "…")
	}
	lines = append(lines, printed...)
	picture := draw(lines)
	if !check {
		return os.WriteFile(file, picture, 0o644)
	}
	if current, err := os.ReadFile(file); err != nil {
		return err
	} else if !bytes.Equal(current, picture) {
		return fmt.Errorf("%s is out of date: run make generate", file)
	}
	return nil
}

// play runs a command on a terminal and returns the lines that it prints.
func play(program string, args []string) ([]string, error) {
	cmd := exec.Command(program, append(args, "--snapshot", snapshot)...)
	cmd.Env = []string{"TERM=xterm-256color", "HOME=" + os.TempDir()}
	terminal, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: columns, Rows: 60})
	if err != nil {
		return nil, err
	}
	defer terminal.Close()
	printed, err := io.ReadAll(terminal)
	// On Linux a terminal whose other end is closed reads as an I/O error.
	if err != nil && !errors.Is(err, syscall.EIO) {
		return nil, err
	}
	if err := cmd.Wait(); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, printed)
	}
	return strings.Split(strings.TrimRight(strings.ReplaceAll(string(printed), "\r\n", "\n"), "\n"), "\n"), nil
}

// style is the sheet of the picture: colours of GitHub's code, for both schemes, and one
// class for each colour and weight that pkg/render uses.
const style = `
rect { fill: #f6f8fa; stroke: #d1d9e0 }
text { font: %dpx ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #1f2328 }
.c1 { font-weight: bold } .c2 { fill: #59636e } .c31 { fill: #cf222e } .c32 { fill: #1a7f37 } .c33 { fill: #9a6700 }
@media (prefers-color-scheme: dark) {
rect { fill: #0d1117; stroke: #3d444d }
text { fill: #f0f6fc }
.c2 { fill: #9198a1 } .c31 { fill: #ff7b72 } .c32 { fill: #3fb950 } .c33 { fill: #d29922 }
}
`

func draw(lines []string) []byte {
	var b bytes.Buffer
	width, height := int(math.Ceil(columns*glyphWidth))+2*margin, len(lines)*lineHeight+2*margin
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" xml:space="preserve" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" role="img">`, width, height)
	fmt.Fprintf(&b, "\n<title>What kubectl workspace prints</title>\n<style>"+style+"</style>\n", fontSize)
	fmt.Fprintf(&b, `<rect x="0.5" y="0.5" width="%d" height="%d" rx="8"/>`+"\n", width-1, height-1)
	for i, line := range lines {
		if line != "" {
			fmt.Fprintf(&b, `<text x="%d" y="%d">%s</text>`+"\n", margin, margin+i*lineHeight+fontSize, spans(line))
		}
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

var sgr = regexp.MustCompile("\x1b\\[([0-9;]*)m")

// spans turns the attributes that a terminal knows (ECMA-48, select graphic rendition)
// into spans with classes.
func spans(line string) string {
	var b strings.Builder
	var classes []string
	write := func(text string) {
		switch {
		case text == "":
		case len(classes) == 0:
			b.WriteString(html.EscapeString(text))
		default:
			fmt.Fprintf(&b, `<tspan class="%s">%s</tspan>`, strings.Join(classes, " "), html.EscapeString(text))
		}
	}
	at := 0
	for _, m := range sgr.FindAllStringSubmatchIndex(line, -1) {
		write(line[at:m[0]])
		at = m[1]
		for attribute := range strings.SplitSeq(line[m[2]:m[3]], ";") {
			switch attribute {
			case "", "0", "22", "39": // each ends what this program's output ever turns on
				classes = nil
			default:
				classes = append(classes, "c"+attribute)
			}
		}
	}
	write(line[at:])
	return b.String()
}
