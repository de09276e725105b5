package cli

import (
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/diagnose"
)

// The usual name of the program. The public krew index takes no generic names, so from
// there it comes as kubectl-kubeflow_workspace, and anyone may rename the file.
const (
	usualProgram = "kubectl-workspace"
	usualCall    = "kubectl workspace"
)

// pluginName matches the names of files that kubectl takes for plugins, as far as they
// mean the same to every shell.
var pluginName = regexp.MustCompile(`^kubectl-[0-9A-Za-z._-]+$`)

// Program returns the name of the file that the program was started as, without folder
// and .exe, given the first word of its command line. It is kubectl-workspace where
// that word is not the name of a kubectl plugin.
func Program(argv0 string) string {
	name := filepath.Base(argv0)
	if ext := filepath.Ext(name); strings.EqualFold(ext, ".exe") {
		name = strings.TrimSuffix(name, ext)
	}
	if pluginName.MatchString(name) {
		return name
	}
	return usualProgram
}

// call is what a person types to run the program: kubectl looks for the file
// kubectl-a-b_c when it is asked for "kubectl a b-c".
func (b Build) call() string {
	return strings.NewReplacer("-", " ", "_", "-").Replace(b.program())
}

func (b Build) program() string {
	if b.Program == "" {
		return usualProgram
	}
	return b.Program
}

// asCalled corrects the commands in a text to the name that the program was started
// under, so that they work when they are pasted.
func (b Build) asCalled(text string) string {
	return strings.ReplaceAll(text, usualCall, b.call())
}

// nameHelp corrects the help of a command and of all below it.
func (b Build) nameHelp(cmd *cobra.Command) {
	cmd.Long, cmd.Example = b.asCalled(cmd.Long), b.asCalled(cmd.Example)
	for _, c := range cmd.Commands() {
		b.nameHelp(c)
	}
}

// nameFixes corrects the commands that a Diagnosis suggests.
func (b Build) nameFixes(fixes []diagnose.Fix) {
	for i := range fixes {
		fixes[i].Command = b.asCalled(fixes[i].Command)
	}
}

// completer is the name of the executable that kubectl looks for on PATH when TAB is
// pressed after the plugin's name (kubernetes/kubernetes#105867). It is given the words
// and answers as cobra's hidden command __complete does.
func (b Build) completer() string {
	return "kubectl_complete-" + strings.TrimPrefix(b.program(), "kubectl-")
}
