package causes

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/diagnose"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/facts"
)

// missingKey is a key that a Secret or ConfigMap lacks, as a kubelet says.
type missingKey struct {
	kind, key string
	// name of the object; empty where the kubelet names the volume only.
	name string
	// volume that asks for the key; empty if a container's environment does.
	volume string
}

var (
	// pkg/volume/secret and pkg/volume/configmap; a projected volume says the same of both.
	volumeKeyPattern = regexp.MustCompile(`references non-existent (secret|config) key: (\S+)`)
	// pkg/kubelet/kubelet_pods.go; with a capital C before 1.10.
	envKeyPattern = regexp.MustCompile(`(?i)couldn't find key (\S+) in (Secret|ConfigMap) ([^/\s]+)/([^\s"]+)`)
)

// parseMissingKey finds the key that a message of the kubelet calls missing.
func parseMissingKey(message string) (missingKey, bool) {
	// Every Event is asked, and both patterns search in vain from every position.
	if !strings.Contains(message, "key") {
		return missingKey{}, false
	}
	if m := envKeyPattern.FindStringSubmatch(message); m != nil {
		k := missingKey{kind: "Secret", key: m[1], name: m[4]}
		if strings.EqualFold(m[2], "ConfigMap") {
			k.kind = "ConfigMap"
		}
		return k, true
	}
	if m := volumeKeyPattern.FindStringSubmatch(message); m != nil {
		k := missingKey{kind: "Secret", key: m[2], volume: volumeIn(message)}
		if m[1] == "config" {
			k.kind = "ConfigMap"
		}
		return k, true
	}
	return missingKey{}, false
}

func matchMissingKey(c *diagnose.Case, kind string) []diagnose.Cause {
	var keys []missingKey
	evidence := map[missingKey][]diagnose.Evidence{}
	inStatus := map[missingKey]bool{}
	collect := func(message string, e diagnose.Evidence, status bool) {
		k, ok := parseMissingKey(message)
		if !ok || k.kind != kind {
			return
		}
		if !slices.Contains(keys, k) {
			keys = append(keys, k)
		}
		evidence[k] = append(evidence[k], e)
		inStatus[k] = inStatus[k] || status
	}
	for _, s := range c.Containers() {
		if w := s.State.Waiting; w != nil && w.Reason == configError {
			collect(w.Message, diagnose.Evidence{Source: "Pod/" + c.Pod.Name, Reason: w.Reason, Message: w.Message}, true)
		}
	}
	for _, e := range c.CurrentOf("Pod") {
		collect(e.Plain(), e.Evidence(), false)
	}
	var out []diagnose.Cause
	for _, k := range keys {
		ref := facts.Ref{Kind: kind, Name: k.name}
		if k.name == "" {
			ref.Name = keyHolder(c, k)
		}
		if ref.Name == "" {
			ref = facts.Ref{Kind: "Volume", Name: k.volume}
		}
		if ref.Kind == kind && status(c, ref) == facts.Absent {
			continue // then the key is the lesser trouble
		}
		cause := missingKeyCause(c, k, ref)
		cause.Evidence = evidence[k]
		if inStatus[k] {
			cause.Confidence = diagnose.Certain
		}
		out = append(out, cause)
	}
	return out
}

func missingKeyCause(c *diagnose.Case, k missingKey, ref facts.Ref) diagnose.Cause {
	where := fmt.Sprintf("volume %s needs it", k.volume)
	if k.volume == "" {
		where = "an environment variable needs it"
		if name := keyReader(c, k); name != "" {
			where = fmt.Sprintf("%s takes an environment variable from it", containerNamed(c, name))
		}
	}
	what := fmt.Sprintf("%s %q has no key %q", ref.Kind, ref.Name, k.key)
	if ref.Kind == "Volume" {
		what = fmt.Sprintf("The %s behind volume %q has no key %q", k.kind, ref.Name, k.key)
	}
	cause := diagnose.Cause{
		Object:     ref.String(),
		Summary:    fmt.Sprintf("%s, says the kubelet; %s.", what, where),
		Confidence: diagnose.Likely,
		Origin:     "spec.kind",
		State:      diagnose.StateError,
		Chain:      []string{"Workspace " + c.Name(), "Pod cannot start", where, what},
	}
	if ref.Kind == "Volume" {
		return cause
	}
	if m := mountOf(c, ref); m != nil {
		cause.Origin = m.Origin
	}
	resource := strings.ToLower(ref.Kind)
	cause.Fixes = []diagnose.Fix{
		inspect("See which keys it has (without their values)", "kubectl", "describe", resource, ref.Name, "-n", c.Namespace()),
		{
			Text:    fmt.Sprintf("Add the key %s", k.key),
			Command: diagnose.Command("kubectl", "edit", resource, ref.Name, "-n", c.Namespace()),
			Risk:    diagnose.RiskSafe,
		},
		correctKind(c),
	}
	return cause
}

// keyHolder finds the object that a volume takes a key from: the one whose item has that
// key, or the only one there is.
func keyHolder(c *diagnose.Case, k missingKey) string {
	var volumes []corev1.Volume
	if spec := c.PodSpec(); spec != nil {
		volumes = spec.Volumes
	} else if c.Kind.IsFound() {
		volumes = c.Kind.Value.Spec.PodTemplate.ExtraVolumes
	}
	only := ""
	for _, v := range volumes {
		if v.Name != k.volume {
			continue
		}
		for _, s := range keySources(&v) {
			if s.kind != k.kind {
				continue
			}
			if slices.ContainsFunc(s.items, func(i corev1.KeyToPath) bool { return i.Key == k.key }) {
				return s.name
			}
			only = s.name
		}
	}
	return only
}

type keySource struct {
	kind, name string
	items      []corev1.KeyToPath
}

func keySources(v *corev1.Volume) []keySource {
	var out []keySource
	switch {
	case v.Secret != nil:
		out = append(out, keySource{"Secret", v.Secret.SecretName, v.Secret.Items})
	case v.ConfigMap != nil:
		out = append(out, keySource{"ConfigMap", v.ConfigMap.Name, v.ConfigMap.Items})
	case v.Projected != nil:
		for _, s := range v.Projected.Sources {
			if s.Secret != nil {
				out = append(out, keySource{"Secret", s.Secret.Name, s.Secret.Items})
			}
			if s.ConfigMap != nil {
				out = append(out, keySource{"ConfigMap", s.ConfigMap.Name, s.ConfigMap.Items})
			}
		}
	}
	return out
}

// keyReader finds the container that takes an environment variable from a key.
func keyReader(c *diagnose.Case, k missingKey) string {
	for _, container := range c.PodContainers() {
		for _, e := range container.Spec.Env {
			if e.ValueFrom == nil {
				continue
			}
			if s := e.ValueFrom.SecretKeyRef; k.kind == "Secret" && s != nil && s.Name == k.name && s.Key == k.key {
				return container.Name()
			}
			if s := e.ValueFrom.ConfigMapKeyRef; k.kind == "ConfigMap" && s != nil && s.Name == k.name && s.Key == k.key {
				return container.Name()
			}
		}
	}
	return ""
}
