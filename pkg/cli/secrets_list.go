package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/api/v1beta1"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/cluster"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/facts"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/render"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/secretmount"
)

// fewSecrets is up to how many Secrets of one Workspace are read one by one.
const fewSecrets = 8

type secretsListOptions struct {
	*factory
	workspaceSelection
	noHeaders bool
	output    outputFormat
	keys      bool

	session   *session
	unchecked []facts.Unchecked
}

func newSecretsList(f *factory) *cobra.Command {
	o := &secretsListOptions{factory: f, output: outputFormat{formats: []string{"wide", "json", "yaml", "name"}}}
	cmd := &cobra.Command{
		Use:                   "list [WORKSPACE...] [-A] [-l SELECTOR] [--keys] [-o wide|json|yaml|name|custom-columns=...|jsonpath=...]",
		Aliases:               []string{"ls"},
		DisableFlagsInUseLine: true,
		Short:                 "List the Secrets that are mounted into Workspaces",
		Long: templates.LongDesc(`
			List the Secrets that are mounted into Workspaces, those of the namespace if no
			WORKSPACE is given.

			SECRET-EXISTS tells whether there is such a Secret, UI-MOUNTABLE whether the web UI
			accepts it. IN-POD tells whether the Pod has the mount: "yes"; "pending" if it was
			made before; "dropped" if it never will, because something else is mounted at that
			path (-o wide names it); "-" if there is no Pod. What could not be checked is
			shown as unknown, with the reason on stderr.

			--keys also lists the keys of each Secret, which are the names of the files. This
			is the only command that reads Secrets; their values are dropped on arrival.`),
		Example: templates.Examples(`
			# List the Secrets of a Workspace
			kubectl workspace secrets list alice-notebook

			# List those of all Workspaces that you may see
			kubectl workspace secrets list -A

			# List the files that each mount has
			kubectl workspace secrets list alice-notebook --keys

			# Choose the columns
			kubectl workspace secrets list -o custom-columns=SECRET:.secretName,PATH:.mountPath

			# Print the mounts whose Secret is missing
			kubectl workspace secrets list -o json | jq -r '.items[] | select(.secretExists == false) | .workspace + " " + .secretName'`),
		RunE: func(cmd *cobra.Command, args []string) error {
			err := o.complete(cmd, args)
			if err != nil {
				return err
			}
			if err := o.output.check(); err != nil {
				return usageError(cmd, "%w", err)
			}
			if o.session, err = o.open(); err != nil {
				return err
			}
			if o.keys && o.session.live == nil {
				return errors.New("a snapshot has no keys of Secrets: leave out --keys")
			}
			return o.run(cmd.Context())
		},
	}
	o.addFlags(cmd)
	flags := cmd.Flags()
	flags.BoolVar(&o.noHeaders, "no-headers", false, "Print no header line.")
	flags.VarP(&o.output, "output", "o", "Output format: "+o.output.list()+".")
	flags.BoolVar(&o.keys, "keys", false, "Show the names of the keys of each Secret. This reads the Secrets; values are dropped on arrival.")
	return cmd
}

func (o *secretsListOptions) run(ctx context.Context) error {
	gather := o.many
	if len(o.names) == 1 {
		gather = o.one
	}
	items, missing, err := gather(ctx)
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if o.keys {
		o.readKeys(ctx, items)
	}
	for _, u := range o.unchecked {
		o.note("Warning: could not check %s: %s", u.Object, u.Detail)
	}
	if err := o.print(items); err != nil {
		return err
	}
	return missing
}

// one asks about a single Workspace what a user with few rights may ask.
func (o *secretsListOptions) one(ctx context.Context) (items []secretmount.Status, missing, err error) {
	name, namespace := o.names[0], o.session.namespace
	var workspace *unstructured.Unstructured
	var podsOf podsOf
	cluster.Parallel(2, func(i int) {
		switch i {
		case 0:
			workspace, err = o.session.Get(ctx, cluster.Workspaces, namespace, name)
		case 1:
			podsOf = o.session.pods(ctx, namespace, ofWorkspace(name))
		}
	})
	if err != nil {
		return nil, nil, o.session.explain(cluster.WorkspaceError(ctx, o.session, namespace, name, err))
	}
	mounts, err := secretmount.List(workspace.Object)
	if err != nil {
		return nil, nil, fmt.Errorf("workspace %q: %w", name, err)
	}
	pods := podsOf(namespace, name)
	secrets := o.session.readSecrets(ctx, namespace, secretNames(mounts), fewSecrets, o.session.secretMetadata)
	if len(mounts) > 0 {
		o.remark("Pod", pods.Status, pods.Reason, pods.Detail)
	}
	for _, s := range secretNames(mounts) {
		o.remark("Secret/"+s, secrets[s].Status, secrets[s].Reason, secrets[s].Detail)
	}
	items, err = secretmount.StatusOf(workspace, func(s string) secretmount.SecretAnswer { return secrets[s] }, pods)
	return items, nil, err
}

// many asks with three lists, however many Workspaces there are.
func (o *secretsListOptions) many(ctx context.Context) (items []secretmount.Status, missing, err error) {
	namespace := o.namespace(o.session)
	var (
		workspaces []unstructured.Unstructured
		podsOf     podsOf
		secrets    facts.Answer[[]unstructured.Unstructured]
	)
	cluster.Parallel(3, func(i int) {
		switch i {
		case 0:
			workspaces, err = o.session.List(ctx, cluster.Workspaces, cluster.ListOptions{Namespace: namespace, Labels: o.labels})
		case 1:
			podsOf = o.session.pods(ctx, namespace, hasWorkspace())
		case 2:
			secrets = cluster.ListAnswer(ctx, o.session, cluster.Secrets, cluster.ListOptions{Namespace: namespace})
		}
	})
	if errors.Is(err, cluster.ErrNotInSnapshot) {
		err = nil // A snapshot without Workspaces has no mounts to list.
	}
	if err != nil {
		return nil, nil, o.session.listError(namespace, err)
	}

	type key struct{ namespace, name string }
	secretsBy := map[key]*unstructured.Unstructured{}
	for i := range secrets.Value {
		secretsBy[key{secrets.Value[i].GetNamespace(), secrets.Value[i].GetName()}] = &secrets.Value[i]
	}

	var problems []error
	found := map[string]bool{}
	for i := range workspaces {
		w := &workspaces[i]
		found[w.GetName()] = true
		if len(o.names) > 0 && !slices.Contains(o.names, w.GetName()) {
			continue
		}
		pods := podsOf(w.GetNamespace(), w.GetName())
		statuses, err := secretmount.StatusOf(w, func(name string) secretmount.SecretAnswer {
			if !secrets.IsFound() {
				return secretmount.SecretAnswer{Status: secrets.Status}
			}
			if s := secretsBy[key{w.GetNamespace(), name}]; s != nil {
				return secretmount.SecretAnswer{Status: facts.Found, Value: s}
			}
			if secrets.Partial {
				o.remark("Secret/"+name, facts.Unknown, facts.ReasonNotInSnapshot, cluster.ErrNotInSnapshot.Error())
				return cluster.AnswerOf[*unstructured.Unstructured](nil, cluster.ErrNotInSnapshot)
			}
			return secretmount.SecretAnswer{Status: facts.Absent}
		}, pods)
		if err != nil {
			problems = append(problems, fmt.Errorf("workspace %q: %w", w.GetName(), err))
		}
		if len(statuses) > 0 {
			o.remark("Pod", pods.Status, pods.Reason, pods.Detail)
		}
		items = append(items, statuses...)
	}
	for _, name := range o.names {
		if !found[name] {
			problems = append(problems, fmt.Errorf("workspace %q not found in namespace %q", name, namespace))
		}
	}
	if len(items) > 0 {
		o.remark("Secret", secrets.Status, secrets.Reason, secrets.Detail)
	}
	return items, errors.Join(problems...), nil
}

// maxKeyReads bounds for how many Secrets the keys are read: each is a request, and its
// answer holds the values.
const maxKeyReads = 50

// readKeys adds the names of the keys of each Secret that exists.
func (o *secretsListOptions) readKeys(ctx context.Context, items []secretmount.Status) {
	type ref struct{ namespace, name string }
	var refs []ref
	for _, s := range items {
		r := ref{s.Namespace, s.SecretName}
		if (s.SecretExists == nil || *s.SecretExists) && !slices.Contains(refs, r) {
			refs = append(refs, r)
		}
	}
	if len(refs) == 0 {
		return
	}
	if len(refs) > maxKeyReads {
		o.note("Warning: --keys reads %d Secrets at most, and %d are mounted: name a WORKSPACE", maxKeyReads, len(refs))
		refs = refs[:maxKeyReads]
	}
	o.note("Note: --keys reads %s; the values are dropped on arrival", count(len(refs), "Secret"))
	answers := make([]facts.Answer[[]string], len(refs))
	cluster.Parallel(len(refs), func(i int) {
		answers[i] = cluster.AnswerOf(o.session.live.SecretKeys(ctx, refs[i].namespace, refs[i].name))
	})
	for i, r := range refs {
		o.remark("Secret/"+r.name+" (keys)", answers[i].Status, answers[i].Reason, answers[i].Detail)
		for j := range items {
			if items[j].Namespace == r.namespace && items[j].SecretName == r.name {
				items[j].Keys = answers[i].Value
			}
		}
	}
}

// podsOf answers which Pods a Workspace has.
type podsOf func(namespace, workspace string) facts.Answer[[]corev1.Pod]

// pods reads the Pods that a selector chooses. One that is malformed leaves the question
// open for its own Workspace only.
func (s *session) pods(ctx context.Context, namespace string, which labels.Selector) podsOf {
	type key struct{ namespace, workspace string }
	listed := cluster.ListAnswer(ctx, s, cluster.Pods, cluster.ListOptions{Namespace: namespace, Labels: which})
	by := map[key][]unstructured.Unstructured{}
	for _, pod := range listed.Value {
		k := key{pod.GetNamespace(), pod.GetLabels()[v1beta1.LabelWorkspaceName]}
		by[k] = append(by[k], pod)
	}
	return func(namespace, workspace string) facts.Answer[[]corev1.Pod] {
		mine := listed
		mine.Value = by[key{namespace, workspace}]
		return cluster.ConvertAnswer[corev1.Pod](mine)
	}
}

// ofWorkspace selects what belongs to one Workspace.
func ofWorkspace(name string) labels.Selector {
	return labels.SelectorFromSet(labels.Set{v1beta1.LabelWorkspaceName: name})
}

// hasWorkspace selects what belongs to some Workspace.
func hasWorkspace() labels.Selector {
	r, err := labels.NewRequirement(v1beta1.LabelWorkspaceName, selection.Exists, nil)
	if err != nil {
		panic(err) // The key is a constant.
	}
	return labels.NewSelector().Add(*r)
}

// remark keeps a question that got no answer, once.
func (o *secretsListOptions) remark(object string, status facts.Status, reason, detail string) {
	u := facts.Unchecked{Object: object, Reason: reason, Detail: detail}
	if status == facts.Unknown && !slices.Contains(o.unchecked, u) {
		o.unchecked = append(o.unchecked, u)
	}
}

func (o *secretsListOptions) print(items []secretmount.Status) error {
	switch format, argument := o.output.split(); {
	case format == "name":
		return o.printNames(items)
	case format != "" && format != "wide":
		list := secretmount.NewStatusList(items, o.unchecked)
		switch format {
		case "json":
			return printJSON(o.Out, list)
		case "yaml":
			return printYAML(o.Out, list)
		case "custom-columns":
			return printColumns(o.Out, argument, list, o.noHeaders)
		}
		return printTemplate(o.Out, o.output.value, list)
	}
	if len(items) == 0 {
		where := o.where(o.session)
		if len(o.names) > 0 {
			where = strings.Join(o.names, ", ")
		}
		o.note("No mounted Secrets found in %s.", where)
		return nil
	}
	return o.printTable(items)
}

// printNames prints each Secret once, in a form that kubectl get takes.
func (o *secretsListOptions) printNames(items []secretmount.Status) error {
	seen := map[string]bool{}
	for _, s := range items {
		if seen[s.SecretName] {
			continue
		}
		seen[s.SecretName] = true
		if _, err := fmt.Fprintln(o.Out, "secret/"+render.SafeLine(s.SecretName)); err != nil {
			return err
		}
	}
	return nil
}

func (o *secretsListOptions) printTable(items []secretmount.Status) error {
	wide := o.output.value == "wide"
	headers := []string{"WORKSPACE", "SECRET", "MOUNT-PATH", "MODE", "SECRET-EXISTS", "UI-MOUNTABLE", "IN-POD"}
	if o.allNamespaces {
		headers = append([]string{"NAMESPACE"}, headers...)
	}
	if o.keys {
		headers = append(headers, "KEYS")
	}
	if wide {
		headers = append(headers, "POD", "HELD-BY")
	}
	var rows [][]string
	for _, s := range items {
		mountable := yesNo(s.UIMountable)
		if s.SecretExists != nil && !*s.SecretExists {
			mountable = "-"
		}
		row := []string{s.Workspace, s.SecretName, s.MountPath, secretmount.FormatMode(s.DefaultMode), yesNo(s.SecretExists), mountable, inPod(s.InPod)}
		if o.allNamespaces {
			row = append([]string{s.Namespace}, row...)
		}
		if o.keys {
			row = append(row, orDash(strings.Join(s.Keys, ",")))
		}
		if wide {
			row = append(row, orDash(s.Pod), orDash(s.HeldBy))
		}
		rows = append(rows, row)
	}
	if o.noHeaders {
		headers = nil
	}
	return render.Table(o.Out, headers, rows)
}

func yesNo(b *bool) string {
	switch {
	case b == nil:
		return "<unknown>"
	case *b:
		return "yes"
	}
	return "no"
}

func inPod(s secretmount.InPod) string {
	switch s {
	case secretmount.InPodApplied:
		return "yes"
	case secretmount.InPodNone:
		return "-"
	case secretmount.InPodUnknown:
		return "<unknown>"
	}
	return string(s)
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
