// Package cli holds the cobra commands. A command parses its flags, calls one of
// the packages that do the work, and renders the result; it has no logic of its own.
//
// Each command lives in a file named after it and follows kubectl's pattern: an
// options struct with complete, validate where there is something to check, and run.
package cli
