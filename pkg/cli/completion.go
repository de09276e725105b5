package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/spf13/cobra"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/render"
)

// completerMark tells a file of ours from one that somebody else has put there.
const completerMark = "Completion of 'kubectl workspace', written by 'kubectl workspace completion install'."

func newCompletion(f *factory) *cobra.Command {
	cmd := &cobra.Command{
		Use:                   "completion bash|zsh|fish|powershell",
		DisableFlagsInUseLine: true,
		Short:                 "Complete commands with TAB",
		Long: templates.LongDesc(`
			Complete commands with TAB.

			'completion install' is what you want: with it, TAB completes "kubectl workspace" as
			soon as kubectl's own completion is set up in your shell.

			'completion bash', and likewise zsh, fish and powershell, print a script that
			completes the binary ` + f.build.program() + ` itself, for those who call it directly.`),
		Example: templates.Examples(`
			# Complete kubectl workspace with TAB
			kubectl workspace completion install

			# Complete the binary itself in this bash
			source <(` + f.build.program() + ` completion bash)`),
		ValidArgs: []string{"bash", "zsh", "fish", "powershell"},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			if len(args) > 1 {
				return usageError(cmd, "%q is one argument too many", args[1])
			}
			return writeCompletion(cmd, args[0])
		},
	}
	cmd.Args = cobra.ArbitraryArgs
	cmd.AddCommand(newCompletionInstall(f))
	return cmd
}

func writeCompletion(cmd *cobra.Command, shell string) error {
	root, out := cmd.Root(), cmd.OutOrStdout()
	switch shell {
	case "bash":
		return root.GenBashCompletionV2(out, true)
	case "zsh":
		return root.GenZshCompletion(out)
	case "fish":
		return root.GenFishCompletion(out, true)
	case "powershell":
		return root.GenPowerShellCompletionWithDesc(out)
	}
	return usageError(cmd, "%q is not a shell that is known here: bash, zsh, fish or powershell; or did you mean 'completion install'?", shell)
}

func newCompletionInstall(f *factory) *cobra.Command {
	dir := ""
	cmd := &cobra.Command{
		Use:                   "install [--dir=DIR]",
		DisableFlagsInUseLine: true,
		Short:                 "Let kubectl complete this plugin",
		Long: templates.LongDesc(`
			Write the executable ` + f.build.completer() + `, which kubectl runs for TAB after
			"kubectl workspace", into the folder of the plugin. To undo it, delete that file.`),
		Example: templates.Examples(`
			# Beside the plugin
			kubectl workspace completion install

			# Elsewhere on PATH
			kubectl workspace completion install --dir ~/.local/bin`),
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error { return f.installCompleter(dir) },
	}
	cmd.Flags().StringVar(&dir, "dir", "", "Folder on PATH to write it to. Default: the one of the plugin.")
	return cmd
}

func (f *factory) installCompleter(dir string) error {
	if dir == "" {
		var err error
		if dir, err = f.build.dir(); err != nil {
			return err
		}
	}
	name, script := f.build.completion(runtime.GOOS)
	file := filepath.Join(dir, name)
	present, err := os.ReadFile(file)
	switch {
	case err == nil && bytes.Equal(present, script):
		fmt.Fprintln(f.Out, render.SafeLine(file)+" unchanged")
		return f.noteCompleterPath(dir)
	case err == nil && !bytes.Contains(present, []byte(completerMark)):
		return fmt.Errorf("%s is there already and is not of this program: remove it, or choose another folder with --dir", file)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("cannot look at %s: %w", file, err)
	}
	if err := os.WriteFile(file, script, 0o755); err != nil {
		return fmt.Errorf("cannot write the completion: %w; choose a folder on PATH that you may write to with --dir", err)
	}
	// WriteFile leaves the mode of a file that was there.
	if err := os.Chmod(file, 0o755); err != nil {
		return fmt.Errorf("cannot make the completion executable: %w", err)
	}
	fmt.Fprintln(f.Out, render.SafeLine(file)+" written")
	return f.noteCompleterPath(dir)
}

// noteCompleterPath warns where kubectl would not find the file.
func (f *factory) noteCompleterPath(dir string) error {
	wanted, err := filepath.Abs(dir)
	if err != nil {
		return fmt.Errorf("cannot tell the folder: %w", err)
	}
	if !slices.ContainsFunc(filepath.SplitList(os.Getenv("PATH")), func(p string) bool { return filepath.Clean(p) == wanted }) {
		f.note("Warning: %s is not on PATH: kubectl does not find it there", dir)
	}
	return nil
}

// dir is the folder in which kubectl finds this plugin. Where the plugin is a
// link, as with krew, that is the folder of the link: the one on PATH.
func (b Build) dir() (string, error) {
	if found, err := exec.LookPath(b.program()); err == nil {
		return filepath.Dir(found), nil
	}
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("cannot tell where this program is (%w): say where to write with --dir", err)
	}
	return filepath.Dir(self), nil
}

// completion is the name and the content of the executable that kubectl runs for TAB.
func (b Build) completion(goos string) (name string, script []byte) {
	if goos == "windows" {
		return b.completer() + ".cmd", []byte("@rem " + completerMark + "\r\n@" + b.program() + " __complete %*\r\n")
	}
	return b.completer(), []byte("#!/bin/sh\n# " + completerMark + "\nexec " + b.program() + " __complete \"$@\"\n")
}
