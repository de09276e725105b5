package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/cluster"
)

// usageError says that the command line is wrong and where to read how it goes.
func usageError(cmd *cobra.Command, format string, args ...any) error {
	return fmt.Errorf(format+"\nSee '%s --help' for usage.", append(args, cmd.CommandPath())...)
}

func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usageError(cmd, "%q is one argument too many", args[0])
	}
	return nil
}

// workspaceArg reads the name of a Workspace, also as kubectl prints and takes it:
// workspace/NAME, ws/NAME.
func workspaceArg(arg string) (string, error) {
	name := arg
	if resource, n, ok := strings.Cut(arg, "/"); ok {
		resource, group, _ := strings.Cut(strings.ToLower(resource), ".")
		known := slices.Contains([]string{"workspace", "workspaces", "ws"}, resource)
		if !known || group != "" && group != cluster.Workspaces.Group {
			return "", fmt.Errorf("%q is not a Workspace; give its name, or workspace/NAME", arg)
		}
		if n == "" {
			return "", fmt.Errorf("%q has no name after the '/'", arg)
		}
		name = n
	}
	if len(validation.IsDNS1123Subdomain(name)) > 0 {
		return "", fmt.Errorf("%q is not the name of a Workspace: names are made of lower-case letters, digits, '-' and '.', "+
			"and begin and end with a letter or digit", name)
	}
	return name, nil
}

// workspaceArgs reads the names of Workspaces, each once.
func workspaceArgs(cmd *cobra.Command, args []string) ([]string, error) {
	var names []string
	for _, arg := range args {
		name, err := workspaceArg(arg)
		if err != nil {
			return nil, usageError(cmd, "%w", err)
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names, nil
}
