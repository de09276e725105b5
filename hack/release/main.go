// Command release makes what goes into a release beside the binaries:
//
//	release licenses DIR
//	    checks the licence of everything that the binaries contain, on every platform, and
//	    writes DIR/THIRD-PARTY-LICENSES for the archives and DIR/licenses.json for sbom
//	release sbom --licenses FILE --version V --created TIME BINARY DOCUMENT
//	    writes the SPDX 2.3 document of one binary, from what the Go linker says is in it
//
// It runs in the folder of the main module and needs no network once the modules are
// downloaded. The same source gives the same bytes.
package main

import (
	"context"
	"fmt"
	"os"
)

const usage = "usage: release licenses DIR | release sbom --licenses FILE --version V --created TIME BINARY DOCUMENT"

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	switch {
	case len(args) == 2 && args[0] == "licenses":
		return writeLicenses(ctx, args[1])
	case len(args) > 0 && args[0] == "sbom":
		return writeSBOM(args[1:])
	}
	return fmt.Errorf("%s", usage)
}
