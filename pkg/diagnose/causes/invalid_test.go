package causes

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/api/v1beta1"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/diagnose"
)

func TestInvalidParts(t *testing.T) {
	kind := func(change func(*v1beta1.WorkspaceKindPodTemplate)) func(*demoCase) {
		return func(e *demoCase) { change(&e.Kind.Value.Spec.PodTemplate) }
	}
	resources := func(requests, limits corev1.ResourceList) func(*demoCase) {
		return kind(func(k *v1beta1.WorkspaceKindPodTemplate) {
			k.Options.PodConfig.Values[0].Spec.Resources = &corev1.ResourceRequirements{Requests: requests, Limits: limits}
		})
	}
	tolerates := func(tol corev1.Toleration) func(*demoCase) {
		return kind(func(k *v1beta1.WorkspaceKindPodTemplate) {
			k.Options.PodConfig.Values[0].Spec.Tolerations = []corev1.Toleration{tol}
		})
	}
	one, two := resource.MustParse("1"), resource.MustParse("2")
	for name, c := range map[string]struct {
		edit func(*demoCase)
		want string // "" for nothing
	}{
		"as it is":         {func(*demoCase) {}, ""},
		"volume name":      {kind(func(k *v1beta1.WorkspaceKindPodTemplate) { k.ExtraVolumes = []corev1.Volume{{Name: "A"}} }), `volume name "A"`},
		"good volume name": {kind(func(k *v1beta1.WorkspaceKindPodTemplate) { k.ExtraVolumes = []corev1.Volume{{Name: "a-1"}} }), ""},
		"colon in a path": {kind(func(k *v1beta1.WorkspaceKindPodTemplate) {
			k.ExtraVolumeMounts = []corev1.VolumeMount{{Name: "a", MountPath: "/a:b"}}
		}), "colon"},
		"variable": {kind(func(k *v1beta1.WorkspaceKindPodTemplate) { k.ExtraEnv = []corev1.EnvVar{{Name: "a=b"}} }), `"a=b"`},
		"variable with two values": {kind(func(k *v1beta1.WorkspaceKindPodTemplate) {
			k.ExtraEnv = []corev1.EnvVar{{Name: "a", Value: "b", ValueFrom: &corev1.EnvVarSource{}}}
		}), "both"},
		"label of the kind": {kind(func(k *v1beta1.WorkspaceKindPodTemplate) {
			k.PodMetadata = &v1beta1.PodMetadata{Labels: map[string]string{"a": "no spaces"}}
		}), `"no spaces"`},
		"annotation of the Workspace": {func(e *demoCase) {
			e.Workspace.Spec.PodTemplate.PodMetadata = &v1beta1.PodMetadata{Annotations: map[string]string{"a b": ""}}
		}, `annotation "a b"`},
		"secret path with a colon": {func(e *demoCase) { e.Workspace.Spec.PodTemplate.Volumes.Secrets[0].MountPath = "/a:b" }, "colon"},
		"memory over the limit":    {resources(corev1.ResourceList{"memory": two}, corev1.ResourceList{"memory": one}), "more than its limit"},
		"memory at the limit":      {resources(corev1.ResourceList{"memory": two}, corev1.ResourceList{"memory": two}), ""},
		"memory without a limit":   {resources(corev1.ResourceList{"memory": two}, nil), ""},
		"GPU without a limit":      {resources(corev1.ResourceList{"nvidia.com/gpu": one}, nil), "no limit"},
		"GPU under the limit":      {resources(corev1.ResourceList{"nvidia.com/gpu": one}, corev1.ResourceList{"nvidia.com/gpu": two}), "the same"},
		"toleration without a key": {tolerates(corev1.Toleration{Operator: corev1.TolerationOpEqual}), "no key"},
		"toleration of everything": {tolerates(corev1.Toleration{Operator: corev1.TolerationOpExists}), ""},
		"toleration with a value":  {tolerates(corev1.Toleration{Key: "a", Operator: corev1.TolerationOpExists, Value: "b"}), "and a value"},
	} {
		t.Run(name, func(t *testing.T) {
			e := newDemoCase(t, alice)
			c.edit(e)
			var got []string
			for _, p := range invalidParts(diagnose.New(e.Facts)) {
				got = append(got, p.what)
			}
			if c.want == "" && len(got) > 0 || !strings.Contains(strings.Join(got, "; "), c.want) {
				t.Errorf("invalid = %q, want %q", got, c.want)
			}
		})
	}
}
