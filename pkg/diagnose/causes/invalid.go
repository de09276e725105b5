package causes

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/diagnose"
)

// invalidPart is something that the CRDs let through and the API server refuses once it
// stands in a StatefulSet.
type invalidPart struct {
	object, origin string
	// what is wrong, as part of a sentence.
	what string
	fix  diagnose.Fix
}

// invalidParts looks for what would make the API server refuse the StatefulSet that the
// controller builds. The rules are those of ValidateStatefulSet and ValidatePodTemplateSpec
// (k8s.io/kubernetes/pkg/apis), as far as the CRDs do not have them too.
func invalidParts(c *diagnose.Case) []invalidPart {
	var out []invalidPart
	rename := diagnose.Fix{Text: "Make the Workspace anew under another name, with the same volumes: it cannot be renamed", Risk: diagnose.RiskDisruptive}
	switch {
	case len(c.Name()) > validation.LabelValueMaxLength:
		out = append(out, invalidPart{c.WorkspaceRef(), "metadata.name", fmt.Sprintf("the name %q has %d characters, and it must be a label value, of at most 63", c.Name(), len(c.Name())), rename})
	case strings.Contains(c.Name(), "."):
		out = append(out, invalidPart{c.WorkspaceRef(), "metadata.name", fmt.Sprintf("the name %q has a dot in it, and the name of a StatefulSet must not", c.Name()), rename})
	}
	if m := c.Workspace.Spec.PodTemplate.PodMetadata; m != nil {
		for _, what := range invalidLabels("podMetadata", m.Labels, m.Annotations) {
			out = append(out, invalidPart{c.WorkspaceRef(), "spec.podTemplate.podMetadata", what, editWorkspace(c)})
		}
	}
	for _, m := range c.Mounts {
		if strings.Contains(m.Path, ":") && !strings.HasSuffix(m.Origin, ".home") {
			out = append(out, invalidPart{c.WorkspaceRef(), m.Origin, fmt.Sprintf("mount path %q has a colon in it", m.Path), editWorkspace(c)})
		}
	}
	if c.Kind.IsFound() {
		for _, what := range invalidKind(c) {
			out = append(out, invalidPart{"WorkspaceKind/" + c.Workspace.Spec.Kind, "spec.kind", what, correctKind(c)})
		}
	}
	return out
}

func invalidKind(c *diagnose.Case) []string {
	var out []string
	wrong := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	template := c.Kind.Value.Spec.PodTemplate
	for _, v := range template.ExtraVolumes {
		if problems := validation.IsDNS1123Label(v.Name); len(problems) > 0 {
			wrong("volume name %q in extraVolumes of the WorkspaceKind is invalid (%s)", v.Name, brief(problems))
		}
	}
	for _, m := range template.ExtraVolumeMounts {
		if strings.Contains(m.MountPath, ":") {
			wrong("mount path %q in extraVolumeMounts of the WorkspaceKind has a colon in it", m.MountPath)
		}
	}
	for _, e := range template.ExtraEnv {
		if problems := validation.IsRelaxedEnvVarName(e.Name); len(problems) > 0 {
			wrong("variable name %q in extraEnv of the WorkspaceKind is invalid (%s)", e.Name, brief(problems))
		}
		if e.Value != "" && e.ValueFrom != nil {
			wrong("variable %q in extraEnv of the WorkspaceKind has both value and valueFrom", e.Name)
		}
	}
	if m := template.PodMetadata; m != nil {
		out = append(out, invalidLabels("podMetadata of the WorkspaceKind", m.Labels, m.Annotations)...)
	}
	for _, v := range template.Options.PodConfig.Values {
		if v.ID != c.Workspace.Spec.PodTemplate.Options.PodConfig {
			continue
		}
		where := fmt.Sprintf("podConfig %q", v.ID)
		out = append(out, invalidLabels("nodeSelector of "+where, v.Spec.NodeSelector, nil)...)
		if v.Spec.Resources != nil {
			out = append(out, invalidResources(where, *v.Spec.Resources)...)
		}
		for _, t := range v.Spec.Tolerations {
			switch {
			case t.Key == "" && t.Operator != corev1.TolerationOpExists:
				wrong("a toleration of %s has no key, which only operator Exists allows", where)
			case t.Operator == corev1.TolerationOpExists && t.Value != "":
				wrong("toleration %q of %s has operator Exists and a value", t.Key, where)
			case t.TolerationSeconds != nil && t.Effect != corev1.TaintEffectNoExecute:
				wrong("toleration %q of %s has tolerationSeconds, which only effect NoExecute allows", t.Key, where)
			}
		}
	}
	return out
}

func invalidResources(where string, r corev1.ResourceRequirements) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(r.Requests)) {
		request, limit := r.Requests[name], r.Limits[name]
		_, limited := r.Limits[name]
		// Extended resources and huge pages cannot be overcommitted.
		fixed := strings.Contains(string(name), "/") || strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
		switch {
		case limited && request.Cmp(limit) > 0:
			out = append(out, fmt.Sprintf("%s requests %s of %s, more than its limit of %s", where, request.String(), name, limit.String()))
		case limited && fixed && request.Cmp(limit) != 0:
			out = append(out, fmt.Sprintf("%s requests %s of %s, which must be the same as its limit of %s", where, request.String(), name, limit.String()))
		case !limited && fixed:
			out = append(out, fmt.Sprintf("%s requests %s of %s and sets no limit for it", where, request.String(), name))
		}
	}
	return out
}

func invalidLabels(where string, labels, annotations map[string]string) []string {
	var out []string
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		if problems := append(validation.IsQualifiedName(key), validation.IsValidLabelValue(labels[key])...); len(problems) > 0 {
			out = append(out, fmt.Sprintf("label %q: %q in %s is invalid (%s)", key, labels[key], where, brief(problems)))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(annotations)) {
		if problems := validation.IsQualifiedName(strings.ToLower(key)); len(problems) > 0 {
			out = append(out, fmt.Sprintf("annotation %q in %s is invalid (%s)", key, where, brief(problems)))
		}
	}
	return out
}

func correctKind(c *diagnose.Case) diagnose.Fix {
	return diagnose.Fix{
		Text:    "Correct the WorkspaceKind, or ask whoever keeps it",
		Command: diagnose.Command("kubectl", "edit", "workspacekind", c.Workspace.Spec.Kind),
		Risk:    diagnose.RiskDisruptive,
	}
}

func editWorkspace(c *diagnose.Case) diagnose.Fix {
	return diagnose.Fix{Text: "Correct the Workspace", Command: diagnose.Command("kubectl", "edit", "workspace", c.Name(), "-n", c.Namespace()), Risk: diagnose.RiskSafe}
}

// brief is the first of the API's complaints, without its examples.
func brief(problems []string) string {
	what, _, _ := strings.Cut(problems[0], " (e.g.")
	return what
}
