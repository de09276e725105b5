package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
	"k8s.io/kubectl/pkg/util/templates"
)

// Build says which build of the program this is.
type Build struct {
	Version   string `json:"version"`
	Commit    string `json:"commit,omitempty"`
	Date      string `json:"date,omitempty"`
	GoVersion string `json:"goVersion"`
	Platform  string `json:"platform"`
	// Program is the name that it was started under, see [Program].
	Program string `json:"-"`
}

// NewBuild completes what the linker stamped with what the Go toolchain knows, so
// that a binary made by go install has a version, too.
func NewBuild(version, commit, date string) Build {
	b := Build{Version: version, Commit: commit, Date: date, GoVersion: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if b.Version == "" {
		b.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision" && b.Commit == "":
			b.Commit = s.Value
		case s.Key == "vcs.time" && b.Date == "":
			b.Date = s.Value
		}
	}
	if b.Version == "" {
		b.Version = "(devel)"
	}
	return b
}

func (b Build) userAgent() string { return "kubectl-workspace/" + b.Version }

func newVersion(f *factory) *cobra.Command {
	output := newChoice("", "json", "yaml")
	cmd := &cobra.Command{
		Use:                   "version [-o json|yaml]",
		Short:                 "Print the version of this plugin",
		DisableFlagsInUseLine: true,
		Example: templates.Examples(`
			# Print the version
			kubectl workspace version

			# Print all there is to say in a bug report
			kubectl workspace version -o yaml`),
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			switch output.value {
			case "json":
				return printJSON(f.Out, f.build)
			case "yaml":
				return printYAML(f.Out, f.build)
			}
			_, err := fmt.Fprintln(f.Out, f.build.Version)
			return err
		},
	}
	cmd.Flags().VarP(&output, "output", "o", "Output format: json or yaml.")
	return cmd
}
