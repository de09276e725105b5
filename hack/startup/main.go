// Command startup compares the start-up time of programs: it runs each many times in
// turn, so that whatever else the machine does falls on all of them, and prints the
// medians and their ratio.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

const runs = 40

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, `usage: startup "COMMAND ARGS" "OTHER-COMMAND ARGS"`)
		os.Exit(2)
	}
	commands := os.Args[1:]
	times := make([][]time.Duration, len(commands))
	for range runs {
		for i, c := range commands {
			words := strings.Fields(c)
			if last := len(words) - 1; words[last] == "''" { // nothing, as is completed
				words[last] = ""
			}
			begin := time.Now()
			if err := exec.Command(words[0], words[1:]...).Run(); err != nil {
				fmt.Fprintf(os.Stderr, "startup: %s: %v\n", c, err)
				os.Exit(1)
			}
			times[i] = append(times[i], time.Since(begin))
		}
	}
	medians := make([]time.Duration, len(commands))
	for i, c := range commands {
		slices.Sort(times[i])
		medians[i] = times[i][runs/2]
		fmt.Printf("%8s  %s\n", medians[i].Round(100*time.Microsecond), c)
	}
	fmt.Printf("ratio %.2f (medians of %d runs each, in turn)\n", float64(medians[0])/float64(medians[1]), runs)
}
