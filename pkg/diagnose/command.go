package diagnose

import "al.essio.dev/pkg/shellescape"

// Command returns a shell command line in which every argument is quoted as needed,
// so that it can be pasted even if a name in it came from a hostile object.
func Command(args ...string) string { return shellescape.QuoteCommand(args) }
