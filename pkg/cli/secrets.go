package cli

import (
	"context"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/cluster"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/facts"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/secretmount"
)

func newSecrets(f *factory) *cobra.Command {
	cmd := &cobra.Command{
		Use:                   "secrets COMMAND",
		Aliases:               []string{"secret"},
		DisableFlagsInUseLine: true,
		Short:                 "Mount Secrets into Workspaces, list them, take them away",
		Long: templates.LongDesc(`
			Mount Secrets into a Workspace as directories with one file per key.

			The Secret itself is never changed or deleted, and its content is not read: only
			its existence, type and labels are looked at. (list --keys, if you ask for it,
			reads the names of the keys.)`),
	}
	asGroup(cmd)
	cmd.AddCommand(newSecretsAdd(f), newSecretsList(f), newSecretsRemove(f))
	return cmd
}

// readSecrets reads the metadata of some Secrets of a namespace: one by one where
// they are few, as that needs less permission, else with one list. get reads one.
func (s *session) readSecrets(ctx context.Context, namespace string, names []string, few int, get secretGetter) map[string]secretmount.SecretAnswer {
	answers := map[string]secretmount.SecretAnswer{}
	if s.live == nil || len(names) <= few {
		results := make([]secretmount.SecretAnswer, len(names))
		cluster.Parallel(len(names), func(i int) {
			results[i] = cluster.AnswerOf(get(ctx, namespace, names[i]))
		})
		for i, name := range names {
			answers[name] = results[i]
		}
		return answers
	}
	items, err := s.List(ctx, cluster.Secrets, cluster.ListOptions{Namespace: namespace})
	listed := cluster.AnswerOf(items, err)
	for _, name := range names {
		answers[name] = pickSecret(listed, namespace, name)
	}
	return answers
}

// secretGetter reads one Secret without its content.
type secretGetter func(ctx context.Context, namespace, name string) (*unstructured.Unstructured, error)

// secretMetadata reads the metadata of a Secret.
func (s *session) secretMetadata(ctx context.Context, namespace, name string) (*unstructured.Unstructured, error) {
	return s.Get(ctx, cluster.Secrets, namespace, name)
}

// secretInfo reads the type of a Secret as well.
func (s *session) secretInfo(ctx context.Context, namespace, name string) (*unstructured.Unstructured, error) {
	if s.live == nil {
		return s.secretMetadata(ctx, namespace, name)
	}
	return s.live.SecretInfo(ctx, namespace, name)
}

// pickSecret finds a Secret in a complete list.
func pickSecret(listed facts.Answer[[]unstructured.Unstructured], namespace, name string) secretmount.SecretAnswer {
	if !listed.IsFound() {
		return secretmount.SecretAnswer{Status: listed.Status, Reason: listed.Reason, Detail: listed.Detail}
	}
	for i := range listed.Value {
		if u := &listed.Value[i]; u.GetName() == name && u.GetNamespace() == namespace {
			return secretmount.SecretAnswer{Status: facts.Found, Value: u}
		}
	}
	return secretmount.SecretAnswer{Status: facts.Absent}
}
