package causes

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/api/v1beta1"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/diagnose"
)

// workspaceRules are about the Workspace and its WorkspaceKind, before there is a Pod.
func workspaceRules() []diagnose.Rule {
	return []diagnose.Rule{{
		ID:         "workspace-kind-not-found",
		Title:      "The WorkspaceKind does not exist",
		Recognised: "The server has no WorkspaceKind of the name in spec.kind, or the controller says so in the status.",
		Fix:        "Create the WorkspaceKind. spec.kind is immutable, so otherwise make the Workspace anew with one that exists.",
		Match:      matchKindNotFound,
	}, {
		ID:         "workspace-option-invalid",
		Title:      "An option of the Workspace is not in its WorkspaceKind",
		Recognised: "The imageConfig or podConfig id, or the target of its redirect, is not among the WorkspaceKind's values, or the redirects go in a circle.",
		Fix:        "Choose an id that the WorkspaceKind offers, or repair the WorkspaceKind.",
		Match:      matchOptionInvalid,
	}, {
		ID:         "controller-not-running",
		Title:      "The Workspace controller has not acted",
		Recognised: "The Workspace has no status and nothing that belongs to it exists.",
		Fix:        "See whether the Workspace controller runs.",
		Match:      matchControllerNotRunning,
	}}
}

func matchKindNotFound(c *diagnose.Case) []diagnose.Cause {
	kind := c.Workspace.Spec.Kind
	cause := diagnose.Cause{
		Object:     "WorkspaceKind/" + kind,
		Summary:    fmt.Sprintf("WorkspaceKind %q does not exist, so the controller cannot act on Workspace %s.", kind, c.Name()),
		Confidence: diagnose.Certain,
		Origin:     "spec.kind",
		State:      diagnose.StateError,
		Chain:      []string{"Workspace " + c.Name(), fmt.Sprintf("WorkspaceKind %s does not exist", kind)},
		Fixes: []diagnose.Fix{{
			Text:    "See which WorkspaceKinds exist",
			Command: "kubectl get workspacekinds",
			Risk:    diagnose.RiskInspect,
		}},
	}
	// The controller's own words, for a person who may not read WorkspaceKinds.
	said := c.Workspace.Status.StateMessage == "Workspace references unknown WorkspaceKind: "+kind
	switch {
	case c.Kind.IsAbsent():
		if said {
			cause.Evidence = []diagnose.Evidence{c.WorkspaceEvidence()}
		}
	case said && !c.Kind.IsFound():
		cause.Confidence = diagnose.Likely
		cause.Summary = fmt.Sprintf("The Workspace controller says that WorkspaceKind %q does not exist.", kind)
		cause.Evidence = []diagnose.Evidence{c.WorkspaceEvidence()}
	default:
		return nil
	}
	return one(cause)
}

// option is an imageConfig or podConfig value, as far as redirects are concerned.
type option struct {
	id       string
	redirect string
}

func matchOptionInvalid(c *diagnose.Case) []diagnose.Cause {
	options := c.Workspace.Spec.PodTemplate.Options
	if !c.Kind.IsFound() {
		return optionInvalidBySay(c)
	}
	values := c.Kind.Value.Spec.PodTemplate.Options
	var images, pods []option
	for _, v := range values.ImageConfig.Values {
		images = append(images, option{v.ID, redirectTarget(v.Redirect)})
	}
	for _, v := range values.PodConfig.Values {
		pods = append(pods, option{v.ID, redirectTarget(v.Redirect)})
	}
	var out []diagnose.Cause
	for _, check := range []struct {
		field, id string
		options   []option
	}{{"imageConfig", options.ImageConfig, images}, {"podConfig", options.PodConfig, pods}} {
		problem := resolve(check.options, check.id)
		if problem == "" {
			continue
		}
		cause := diagnose.Cause{
			Object:     "WorkspaceKind/" + c.Workspace.Spec.Kind,
			Summary:    fmt.Sprintf("%s %q of Workspace %s %s WorkspaceKind %q.", check.field, check.id, c.Name(), problem, c.Workspace.Spec.Kind),
			Confidence: diagnose.Certain,
			Origin:     "spec.podTemplate.options." + check.field,
			State:      diagnose.StateError,
			Chain:      []string{"Workspace " + c.Name(), fmt.Sprintf("%s %s", check.field, check.id), "WorkspaceKind " + c.Workspace.Spec.Kind},
			Fixes:      []diagnose.Fix{chooseOption(c, check.field, check.options)},
		}
		if strings.HasPrefix(c.Workspace.Status.StateMessage, optionInvalidPrefix(check.field)) {
			cause.Evidence = []diagnose.Evidence{c.WorkspaceEvidence()}
		}
		out = append(out, cause)
	}
	return out
}

func redirectTarget(r *v1beta1.OptionRedirect) string {
	if r == nil {
		return ""
	}
	return r.To
}

func optionInvalidPrefix(field string) string { return "Workspace has invalid " + field + ": " }

// optionInvalidBySay takes the controller's word where the WorkspaceKind cannot be read.
func optionInvalidBySay(c *diagnose.Case) []diagnose.Cause {
	if c.Kind.IsAbsent() {
		return nil
	}
	for _, field := range []string{"imageConfig", "podConfig"} {
		if said, ok := strings.CutPrefix(c.Workspace.Status.StateMessage, optionInvalidPrefix(field)); ok {
			return one(diagnose.Cause{
				Object:     "WorkspaceKind/" + c.Workspace.Spec.Kind,
				Summary:    fmt.Sprintf("The Workspace controller refuses the %s: %s.", field, said),
				Confidence: diagnose.Likely,
				Origin:     "spec.podTemplate.options." + field,
				State:      diagnose.StateError,
				Evidence:   []diagnose.Evidence{c.WorkspaceEvidence()},
			})
		}
	}
	return nil
}

// resolve follows the redirects from an option and says what is wrong with them, as
// the words between the option and the WorkspaceKind; empty if nothing is.
func resolve(options []option, id string) string {
	seen := map[string]bool{}
	for from := ""; ; {
		i := slices.IndexFunc(options, func(o option) bool { return o.id == id })
		switch {
		case i < 0 && from == "":
			return "is not offered by"
		case i < 0:
			return fmt.Sprintf("is redirected from %q to %q, which is not offered by", from, id)
		case seen[id]:
			return fmt.Sprintf("is redirected in a circle (through %q) in", id)
		case options[i].redirect == "":
			return ""
		}
		seen[id] = true
		from, id = id, options[i].redirect
	}
}

func chooseOption(c *diagnose.Case, field string, options []option) diagnose.Fix {
	var ids []string
	for _, o := range options {
		if resolve(options, o.id) == "" {
			ids = append(ids, o.id)
		}
	}
	if len(ids) == 0 {
		return diagnose.Fix{Text: fmt.Sprintf("The WorkspaceKind has no valid %s: ask whoever keeps it", field), Risk: diagnose.RiskInspect}
	}
	return diagnose.Fix{
		Text: "Choose one that it offers: " + strings.Join(ids, ", "),
		Command: diagnose.Command("kubectl", "patch", "workspace", c.Name(), "-n", c.Namespace(), "--type=merge",
			"-p", fmt.Sprintf(`{"spec":{"podTemplate":{"options":{%q:%q}}}}`, field, ids[0])),
		Risk: diagnose.RiskDisruptive,
	}
}

// controllerGrace is how long a controller that is alive may take to look at a new
// Workspace: its queue lets through ten reconciles per second.
const controllerGrace = 30 * time.Second

func matchControllerNotRunning(c *diagnose.Case) []diagnose.Cause {
	if !neverActedOn(c) || len(matchOptionInvalid(c)) > 0 || len(matchStatefulSetRejected(c)) > 0 {
		return nil
	}
	age := c.Now.Sub(c.Workspace.CreationTimestamp.Time)
	cause := diagnose.Cause{
		Object:     "",
		Summary:    fmt.Sprintf("The Workspace controller has not looked at Workspace %s yet; it was created %s ago.", c.Name(), duration.HumanDuration(age)),
		Confidence: diagnose.Likely,
		State:      diagnose.StatePending,
		Chain:      []string{"Workspace " + c.Name() + " has no status and no StatefulSet", "the Workspace controller has not acted"},
	}
	if age > controllerGrace {
		cause.Summary = fmt.Sprintf("The Workspace controller does not seem to run: Workspace %s was created %s ago and has neither a status nor a StatefulSet.",
			c.Name(), duration.HumanDuration(age))
		cause.Fixes = []diagnose.Fix{{
			Text:    "See whether the controller runs (its namespace may have another name)",
			Command: "kubectl get pods -n kubeflow-workspaces",
			Risk:    diagnose.RiskInspect,
		}}
	}
	return one(cause)
}
