package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/cluster"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/diagnose"
)

// workspaceSelection says which Workspaces a command is about: some by name, or all of one or
// every namespace, narrowed by label.
type workspaceSelection struct {
	names         []string
	allNamespaces bool
	selector      string
	labels        labels.Selector
}

func (s *workspaceSelection) addFlags(cmd *cobra.Command) {
	cmd.Flags().BoolVarP(&s.allNamespaces, "all-namespaces", "A", false, "Look at the Workspaces of all namespaces.")
	cmd.Flags().StringVarP(&s.selector, "selector", "l", "", "Label selector of Workspaces, such as team=research.")
}

func (s *workspaceSelection) complete(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) > 0 && s.allNamespaces:
		return usageError(cmd, "-A is about all Workspaces: leave out %q", args[0])
	case len(args) > 0 && s.selector != "":
		return usageError(cmd, "give names or -l, not both")
	}
	var err error
	if s.names, err = workspaceArgs(cmd, args); err != nil {
		return err
	}
	if s.labels, err = labels.Parse(s.selector); err != nil {
		return usageError(cmd, "-l %q is not a label selector: %w", s.selector, err)
	}
	return nil
}

// namespace is the namespace to look in; empty for all.
func (s *workspaceSelection) namespace(on *session) string {
	if s.allNamespaces {
		return ""
	}
	return on.namespace
}

// where names the place for messages.
func (s *workspaceSelection) where(on *session) string {
	if s.allNamespaces {
		return "any namespace"
	}
	return fmt.Sprintf("namespace %s", on.namespace)
}

// diagnoseAll explains every Workspace of a selection without names, from one list per
// kind, whatever their number. Those that cannot be explained are in the error, and the
// others are returned all the same.
func (s *session) diagnoseAll(ctx context.Context, which workspaceSelection) ([]diagnose.Diagnosis, error) {
	namespace := which.namespace(s)
	workspaces, err := s.List(ctx, cluster.Workspaces, cluster.ListOptions{Namespace: namespace, Labels: which.labels})
	if errors.Is(err, cluster.ErrNotInSnapshot) {
		err = nil // a snapshot without Workspaces
	}
	if err != nil {
		return nil, s.listError(namespace, err)
	}
	if len(workspaces) == 0 {
		return nil, nil
	}
	store, err := s.load(ctx, namespace)
	if err != nil {
		return nil, err
	}
	found := make([]diagnose.Diagnosis, 0, len(workspaces))
	var failed []error
	for i := range workspaces {
		w := &workspaces[i]
		store.Add(w)
		f, err := cluster.Gather(ctx, store, w.GetNamespace(), w.GetName())
		if err != nil {
			failed = append(failed, err)
			continue
		}
		found = append(found, s.explanation(f))
	}
	return found, errors.Join(failed...)
}

// listError explains why the Workspaces of a namespace, or of all, could not be listed.
func (s *session) listError(namespace string, err error) error {
	switch {
	case namespace != "":
		err = fmt.Errorf("cannot list the Workspaces of namespace %q: %w", namespace, err)
	case apierrors.IsForbidden(err):
		err = fmt.Errorf("cannot list the Workspaces of all namespaces: %w; leave out -A for those of one namespace", err)
	default:
		err = fmt.Errorf("cannot list the Workspaces of all namespaces: %w", err)
	}
	return s.explain(err)
}

// load returns what the explanations of many Workspaces rest on. Of a snapshot that is
// the snapshot itself.
func (s *session) load(ctx context.Context, namespace string) (*cluster.Store, error) {
	if store, ok := s.Reader.(*cluster.Store); ok {
		return store, nil
	}
	owned := cluster.ListOptions{Namespace: namespace, Labels: hasWorkspace()}
	all := cluster.ListOptions{Namespace: namespace}
	return cluster.Load(ctx, s,
		cluster.Query{Resource: cluster.StatefulSets, Options: owned},
		cluster.Query{Resource: cluster.Pods, Options: owned},
		cluster.Query{Resource: cluster.Events, Options: all},
		cluster.Query{Resource: cluster.Claims, Options: all},
		cluster.Query{Resource: cluster.Secrets, Options: all},
		cluster.Query{Resource: cluster.ConfigMaps, Options: all},
		cluster.Query{Resource: cluster.ServiceAccounts, Options: all},
		cluster.Query{Resource: cluster.WorkspaceKinds},
		cluster.Query{Resource: cluster.Nodes},
		cluster.Query{Resource: cluster.Volumes},
		cluster.Query{Resource: cluster.StorageClasses},
	)
}
