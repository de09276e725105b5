package causes

import (
	"fmt"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/api/v1beta1"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/diagnose"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/facts"
)

// mountRules are about volumes that are not where the user expects them, though the
// Workspace runs. All of them are warnings.
func mountRules() []diagnose.Rule {
	const dropped = "Two volumes of the Workspace have the same mount path, as text. The controller takes them in the order home, data, secrets, and leaves the later one out without a word."
	return []diagnose.Rule{{
		ID:         "secret-mount-dropped",
		Title:      "The controller has left a Secret out",
		Recognised: dropped,
		Fix:        "Mount the Secret at a path of its own.",
		Match:      func(c *diagnose.Case) []diagnose.Cause { return matchDropped(c, "Secret") },
	}, {
		ID:         "data-mount-dropped",
		Title:      "The controller has left a data volume out",
		Recognised: dropped,
		Fix:        "Mount the claim at a path of its own.",
		Match:      func(c *diagnose.Case) []diagnose.Cause { return matchDropped(c, "PersistentVolumeClaim") },
	}, {
		ID:         "mount-path-overlap",
		Title:      "One volume hides another",
		Recognised: "Two mounts of a container have paths that differ as text and are the same directory, such as /a and /a/: the later one hides the earlier one.",
		Fix:        "Give one of them a path of its own.",
		Match:      matchOverlap,
	}, {
		ID:         "secret-not-mountable-in-ui",
		Advice:     true,
		Title:      "The web UI refuses to edit the Workspace",
		Recognised: "A Secret of the Workspace exists without the label notebooks.kubeflow.org/can-mount=true.",
		Fix:        "Label the Secret.",
		Match:      matchNotMountableInUI,
	}}
}

func matchDropped(c *diagnose.Case, kind string) []diagnose.Cause {
	var out []diagnose.Cause
	for i, m := range c.Mounts {
		if m.Status != diagnose.MountDropped || !strings.HasPrefix(m.Object, kind+"/") {
			continue
		}
		holder := diagnose.Mount{}
		for _, other := range c.Mounts[:i] {
			if other.Path == m.Path {
				holder = other
				break
			}
		}
		name := strings.TrimPrefix(m.Object, kind+"/")
		cause := diagnose.Cause{
			Object: m.Object,
			Summary: fmt.Sprintf("%s %q is not mounted: its path %s is taken by %s (%s), and the controller leaves out the later one without a word.",
				kind, name, m.Path, strings.Replace(holder.Object, "/", " ", 1), holder.Origin),
			Confidence: diagnose.Certain,
			Origin:     m.Origin,
			State:      diagnose.StateRunning,
		}
		if kind == "Secret" {
			if c.Secrets[name].IsAbsent() {
				cause.Summary += " Besides, it does not exist."
			}
			cause.Fixes = []diagnose.Fix{{
				Text:    "Mount it at a path of its own (the one shown is an example)",
				Command: diagnose.Command("kubectl", "workspace", "secrets", "add", c.Name(), name, "--mount-path", "/secrets/"+name, "-n", c.Namespace()),
				Risk:    diagnose.RiskDisruptive,
			}, {
				Text:    "and drop the one that is left out",
				Command: diagnose.Command("kubectl", "workspace", "secrets", "remove", c.Name(), "--mount-path", m.Path, "-n", c.Namespace()),
				Risk:    diagnose.RiskSafe,
			}}
		} else {
			cause.Fixes = []diagnose.Fix{editWorkspace(c)}
		}
		out = append(out, cause)
	}
	return out
}

// matchOverlap goes by the Pod, or the template of the one to come: the volumes of the
// WorkspaceKind take part too. Runtimes mount the shallower path first and keep the order
// of equally deep ones, so that the later of two equal paths is what the user sees.
func matchOverlap(c *diagnose.Case) []diagnose.Cause {
	spec := c.PodSpec()
	if spec == nil {
		return nil
	}
	var out []diagnose.Cause
	for _, container := range spec.Containers {
		for i, over := range container.VolumeMounts {
			for _, under := range container.VolumeMounts[:i] {
				if path.Clean(over.MountPath) != path.Clean(under.MountPath) {
					continue
				}
				top, bottom := volumeObject(spec, over.Name), volumeObject(spec, under.Name)
				cause := diagnose.Cause{
					Object: top.String(),
					Summary: fmt.Sprintf("%s %q, mounted at %s, hides %s %q, mounted at %s: the two paths are the same directory.",
						top.Kind, top.Name, over.MountPath, bottom.Kind, bottom.Name, under.MountPath),
					Confidence: diagnose.Certain,
					State:      diagnose.StateRunning,
				}
				if m := mountOf(c, top); m != nil {
					cause.Origin = m.Origin
				}
				cause.Fixes = []diagnose.Fix{editWorkspace(c)}
				if cause.Origin == "" && bottom.Kind == "Volume" {
					cause.Fixes = []diagnose.Fix{correctKind(c)}
				}
				out = append(out, cause)
			}
		}
	}
	return out
}

// volumeObject is the object behind a volume, or the volume itself if there is none.
func volumeObject(spec *corev1.PodSpec, name string) facts.Ref {
	if ref := behind(volumeNamed(spec, name)); ref != (facts.Ref{}) {
		return ref
	}
	return facts.Ref{Kind: "Volume", Name: name}
}

func matchNotMountableInUI(c *diagnose.Case) []diagnose.Cause {
	var names []string
	for _, s := range c.Workspace.Spec.PodTemplate.Volumes.Secrets {
		secret := c.Secrets[s.SecretName]
		if secret.IsFound() && secret.Value.Labels[v1beta1.LabelCanMount] != v1beta1.LabelValueTrue && !slices.Contains(names, s.SecretName) {
			names = append(names, s.SecretName)
		}
	}
	if len(names) == 0 {
		return nil
	}
	// One warning for all of them: any one is enough for the UI to refuse.
	cause := diagnose.Cause{
		Object: "Secret/" + names[0],
		Summary: fmt.Sprintf("The web UI refuses to save changes of Workspace %s, as Secret %s lacks the label %s=%s.",
			c.Name(), strings.Join(names, ", "), v1beta1.LabelCanMount, v1beta1.LabelValueTrue),
		Confidence: diagnose.Certain,
		Origin:     "spec.podTemplate.volumes.secrets",
		State:      diagnose.StateRunning,
	}
	cause.Fixes = []diagnose.Fix{{
		Text:    "Allow it to be mounted by everybody who may use the UI in the namespace",
		Command: diagnose.Command(append(append([]string{"kubectl", "label", "secret"}, names...), "-n", c.Namespace(), v1beta1.LabelCanMount+"="+v1beta1.LabelValueTrue)...),
		Risk:    diagnose.RiskSafe,
	}}
	return one(cause)
}
