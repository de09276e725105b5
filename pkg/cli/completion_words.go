package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/cluster"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/secretmount"
)

// completionTimeout bounds what one TAB may take. A shell that hangs is worse than one
// that completes nothing.
const completionTimeout = time.Second

// words offers completions for what is being typed. Whatever goes wrong, it offers
// nothing: nobody wants an error in the middle of a command line.
type words func(ctx context.Context, s *session, args []string, typed string) []string

// addCompletions tells each command and flag what TAB offers.
func addCompletions(f *factory, root *cobra.Command) {
	arguments := map[string]words{
		"describe":       workspaceNames,
		"wait":           first(workspaceNames),
		"snapshot":       workspaceNames,
		"reconcile":      workspaceNames,
		"secrets list":   workspaceNames,
		"secrets add":    firstThen(workspaceNames, secretWords),
		"secrets remove": firstThen(workspaceNames, mountedSecrets),
	}
	flags := map[string]words{
		"default-mode": offer(modes...),
		"mount-path":   mountedPaths,
		"namespace":    namespaceNames,
		"dry-run":      offer(dryRunNone, dryRunClient, dryRunServer),
		"wait":         offer("running"),
		"for":          offer("running", "paused"),
	}
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		path := strings.TrimPrefix(cmd.CommandPath(), root.CommandPath()+" ")
		if w := arguments[path]; w != nil {
			cmd.ValidArgsFunction = f.completion(w)
		}
		for name, w := range flags {
			if cmd.Flags().Lookup(name) != nil || cmd.PersistentFlags().Lookup(name) != nil {
				// It fails only where a flag has a completion already.
				_ = cmd.RegisterFlagCompletionFunc(name, f.completion(w))
			}
		}
		for _, c := range cmd.Commands() {
			visit(c)
		}
	}
	visit(root)
}

// modes are those that make sense for the files of a Secret.
var modes = []string{
	"0400\treadable by the owner", "0440\treadable by owner and group", "0444\treadable by all",
	"0600\treadable and writable by the owner", "0640\tas 0600, readable by the group", "0644\tas 0600, readable by all",
}

func (f *factory) completion(w words) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		quiet := *f
		quiet.quiet, quiet.ErrOut, quiet.In = true, io.Discard, strings.NewReader("")
		parent := cmd.Context()
		if parent == nil {
			parent = context.Background()
		}
		ctx, cancel := context.WithTimeout(parent, completionTimeout)
		defer cancel()
		s, err := quiet.open()
		if err != nil {
			s = nil
		}
		var offered []string
		for _, word := range w(ctx, s, args, typed) {
			if strings.HasPrefix(word, typed) {
				offered = append(offered, word)
			}
		}
		return offered, cobra.ShellCompDirectiveNoFileComp
	}
}

func offer(list ...string) words {
	return func(context.Context, *session, []string, string) []string { return list }
}

// first offers words for the first argument only.
func first(w words) words {
	return firstThen(w, offer())
}

func firstThen(first, then words) words {
	return func(ctx context.Context, s *session, args []string, typed string) []string {
		if len(args) == 0 {
			return first(ctx, s, args, typed)
		}
		return then(ctx, s, args, typed)
	}
}

// namesOf lists the names of objects, read as metadata only; a nil session has none.
func namesOf(ctx context.Context, s *session, r cluster.Resource, namespace string) []string {
	if s == nil {
		return nil
	}
	r.MetadataOnly = true
	items, err := s.List(ctx, r, cluster.ListOptions{Namespace: namespace})
	if err != nil {
		return nil
	}
	var names []string
	for i := range items {
		names = append(names, items[i].GetName())
	}
	return names
}

// workspaceNames offers the Workspaces of the namespace that are not given yet.
func workspaceNames(ctx context.Context, s *session, args []string, _ string) []string {
	if s == nil {
		return nil
	}
	return without(namesOf(ctx, s, cluster.Workspaces, s.namespace), args)
}

func namespaceNames(ctx context.Context, s *session, _ []string, _ string) []string {
	return namesOf(ctx, s, cluster.Namespaces, "")
}

// secretWords offers the Secrets of the namespace, and after SECRET= the default path.
func secretWords(ctx context.Context, s *session, args []string, typed string) []string {
	if name, _, ok := strings.Cut(typed, "="); ok {
		m, err := secretmount.Parse(name)
		if err != nil {
			return nil
		}
		return []string{fmt.Sprintf("%s=%s", name, m.MountPath)}
	}
	if s == nil {
		return nil
	}
	return without(namesOf(ctx, s, cluster.Secrets, s.namespace), args[1:])
}

func without(names, given []string) []string {
	return slices.DeleteFunc(names, func(n string) bool { return slices.Contains(given, n) })
}

// mountsOf reads the mounts of the Workspace that is given.
func mountsOf(ctx context.Context, s *session, args []string) []secretmount.Mount {
	if s == nil || len(args) == 0 {
		return nil
	}
	name, err := workspaceArg(args[0])
	if err != nil {
		return nil
	}
	var u *unstructured.Unstructured
	if u, err = s.Get(ctx, cluster.Workspaces, s.namespace, name); err != nil {
		return nil
	}
	mounts, err := secretmount.List(u.Object)
	if err != nil {
		return nil
	}
	return mounts
}

// mountedSecrets offers the Secrets that the Workspace mounts.
func mountedSecrets(ctx context.Context, s *session, args []string, _ string) []string {
	return without(secretNames(mountsOf(ctx, s, args)), args[1:])
}

// mountedPaths offers the paths at which the Workspace mounts Secrets.
func mountedPaths(ctx context.Context, s *session, args []string, _ string) []string {
	var paths []string
	for _, m := range mountsOf(ctx, s, args) {
		paths = append(paths, m.MountPath)
	}
	return paths
}
