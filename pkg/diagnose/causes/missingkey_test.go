package causes

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/diagnose"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/facts"
)

func TestParseMissingKey(t *testing.T) {
	for message, want := range map[string]missingKey{
		`MountVolume.SetUp failed for volume "v" : references non-existent secret key: a.crt`:                             {"Secret", "a.crt", "", "v"},
		`MountVolume.SetUp failed for volume "v" : configmap references non-existent config key: a.yaml`:                  {"ConfigMap", "a.yaml", "", "v"},
		`Error: couldn't find key TOKEN in Secret ns/s`:                                                                   {"Secret", "TOKEN", "s", ""},
		`Error: Couldn't find key TOKEN in ConfigMap ns/c`:                                                                {"ConfigMap", "TOKEN", "c", ""},
		`(combined from similar events): MountVolume.SetUp failed for volume "v" : references non-existent secret key: k`: {"Secret", "k", "", "v"},
		`secret "s" not found`: {},
		``:                     {},
	} {
		if got, ok := parseMissingKey(message); got != want || ok != (want != missingKey{}) {
			t.Errorf("%s: %+v, want %+v", message, got, want)
		}
	}
}

func FuzzParseMissingKey(f *testing.F) {
	f.Add(`couldn't find key a in Secret b/c`)
	f.Add(`for volume "v" : references non-existent config key: k`)
	f.Fuzz(func(t *testing.T, message string) {
		if k, ok := parseMissingKey(message); ok && (k.key == "" || k.kind == "") {
			t.Errorf("%q: %+v", message, k)
		}
	})
}

func TestMissingKeys(t *testing.T) {
	volume := func(source corev1.VolumeSource) func(e *demoCase) {
		return func(e *demoCase) {
			e.noEvents()
			e.pod().Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: source}}
		}
	}
	items := func(key string) []corev1.KeyToPath { return []corev1.KeyToPath{{Key: key}} }
	for name, c := range map[string]struct {
		edit     func(e *demoCase)
		want     outcome
		mentions []string
	}{
		"volume of a Secret": {func(e *demoCase) {
			volume(corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "git-token", Items: items("k")}})(e)
			e.says("FailedMount", `MountVolume.SetUp failed for volume "v" : references non-existent secret key: k`, time.Minute)
		}, outcome{"secret-key-not-found", "Secret/git-token", diagnose.StateError, false}, []string{"k", "volume v"}},
		"projected volume, the second Secret of two": {func(e *demoCase) {
			volume(corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
				{Secret: &corev1.SecretProjection{LocalObjectReference: corev1.LocalObjectReference{Name: "first"}, Items: items("a")}},
				{Secret: &corev1.SecretProjection{LocalObjectReference: corev1.LocalObjectReference{Name: "git-token"}, Items: items("k")}},
				{ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: corev1.LocalObjectReference{Name: "last"}, Items: items("k")}},
			}}})(e)
			e.says("FailedMount", `MountVolume.SetUp failed for volume "v" : references non-existent secret key: k`, time.Minute)
		}, outcome{"secret-key-not-found", "Secret/git-token", diagnose.StateError, false}, nil},
		"volume of a ConfigMap": {func(e *demoCase) {
			volume(corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "settings"}, Items: items("k")}})(e)
			e.says("FailedMount", `MountVolume.SetUp failed for volume "v" : configmap references non-existent config key: k`, time.Minute)
		}, outcome{"configmap-not-found", "ConfigMap/settings", diagnose.StateError, false}, []string{`has no key "k"`}},
		"environment of an init container, Events expired": {func(e *demoCase) {
			e.noEvents()
			e.pod().Spec.Volumes = nil
			e.pod().Spec.InitContainers = []corev1.Container{{Name: "setup", Env: []corev1.EnvVar{{Name: "T", ValueFrom: &corev1.EnvVarSource{
				SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "git-token"}, Key: "k"}}}}}}
			e.pod().Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "setup", State: corev1.ContainerState{
				Waiting: &corev1.ContainerStateWaiting{Reason: configError, Message: "couldn't find key k in Secret team-a/git-token"}}}}
		}, outcome{"secret-key-not-found", "Secret/git-token", diagnose.StateError, true}, []string{"init container setup"}},
		"the Secret itself is missing": {func(e *demoCase) {
			volume(corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "minio-creds", Items: items("k")}})(e)
			e.says("FailedMount", `MountVolume.SetUp failed for volume "v" : references non-existent secret key: k`, time.Minute)
		}, outcome{"secret-not-found", "Secret/minio-creds", diagnose.StateError, true}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			e := newDemoCase(t, alice)
			c.edit(e)
			e.check(c.want, c.mentions...)
		})
	}
}

// Kubelets say this about a Pod that starts or ends; it is not about the ConfigMap.
func TestNotRegisteredIsNoise(t *testing.T) {
	e := newDemoCase(t, alice).noEvents().says("FailedMount", `MountVolume.SetUp failed for volume "kube-api-access-x" : object "team-a"/"kube-root-ca.crt" not registered`, time.Second)
	e.pod().Spec.Volumes = nil
	if d, top := e.top(); d.State != diagnose.StatePending || len(d.History) != 1 || top.ID == "configmap-not-found" {
		t.Errorf("%s, %+v", d.State, top)
	}
}

// Nothing fails for want of what is optional, wherever it is referred to.
func TestWhatIsOptionalIsNotMissed(t *testing.T) {
	for _, optional := range []bool{true, false} {
		p := newPodCase(t)
		p.facts.Secrets["extra"] = facts.Answer[*metav1.PartialObjectMetadata]{Status: facts.Absent}
		ref := corev1.LocalObjectReference{Name: "extra"}
		p.container("main", waitingWith("ContainerCreating", "")).spec(func(c *corev1.Container) {
			c.EnvFrom = []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: ref, Optional: &optional}}}
			c.Env = []corev1.EnvVar{{Name: "A", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: ref, Key: "a", Optional: &optional}}}}
		})
		p.pod.Spec.Volumes = append(p.pod.Spec.Volumes,
			corev1.Volume{Name: "v", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "extra", Optional: &optional}}},
			corev1.Volume{Name: "w", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
				{Secret: &corev1.SecretProjection{LocalObjectReference: ref, Optional: &optional}}}}}})
		d := Diagnose(p.facts)
		if named := strings.Contains(texts(d.Causes)+texts(d.Warnings), "extra"); named == optional {
			t.Errorf("optional %v: named = %v\n%s, %+v", optional, named, d.Summary, d.Warnings)
		}
	}
}
