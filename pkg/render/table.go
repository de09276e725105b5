package render

import (
	"fmt"
	"io"
	"strings"

	"k8s.io/cli-runtime/pkg/printers"
)

// Table prints rows in aligned columns, spaced as kubectl does. headers is nil for a
// table without a header line. Every cell is made safe for a terminal.
func Table(out io.Writer, headers []string, rows [][]string) error {
	w := printers.GetNewTabWriter(out)
	if headers != nil {
		rows = append([][]string{headers}, rows...)
	}
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = SafeLine(cell)
		}
		if _, err := fmt.Fprintln(w, strings.Join(cells, "\t")); err != nil {
			return err
		}
	}
	return w.Flush()
}
