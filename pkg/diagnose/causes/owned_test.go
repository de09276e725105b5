package causes

import (
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/api/v1beta1"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/diagnose"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/facts"
)

const (
	alicePod = "Pod/ws-alice-notebook-x7k2p-0"
	aliceSet = "StatefulSet/ws-alice-notebook-x7k2p"
)

// behind gives alice's StatefulSet a template that is newer than the Pod.
func (e *demoCase) behind(change func(*corev1.PodSpec)) *demoCase {
	e.pod().Labels[appsv1.ControllerRevisionHashLabelKey] = "old"
	e.set().Status.UpdateRevision = "new"
	e.set().Spec.Template.Spec = *e.pod().Spec.DeepCopy()
	change(&e.set().Spec.Template.Spec)
	return e
}

func TestOwned(t *testing.T) {
	unwell := func(e *demoCase) *demoCase { return e.node(corev1.ConditionFalse) }
	fresh := func(e *demoCase) *demoCase {
		e.noEvents().node(corev1.ConditionTrue).pod().Status = corev1.PodStatus{Phase: corev1.PodPending}
		e.pod().Spec.Volumes = nil
		return e
	}
	for name, c := range map[string]struct {
		edit func(e *demoCase)
		want outcome // an id of "not x" means: anything but x
	}{
		"two StatefulSets": {func(e *demoCase) {
			e.StatefulSets.Value = append(e.StatefulSets.Value, *e.set().DeepCopy())
			e.StatefulSets.Value[1].Name = "ws-alice-notebook-other"
		}, outcome{"multiple-statefulsets", "Workspace/alice-notebook", diagnose.StateError, true}},
		"a second one of somebody else's": {func(e *demoCase) {
			e.StatefulSets.Value = append(e.StatefulSets.Value, *e.set().DeepCopy())
			e.StatefulSets.Value[1].OwnerReferences = nil
		}, outcome{"secret-not-found", "Secret/minio-creds", diagnose.StateError, true}},

		"ServiceAccount of somebody else": {func(e *demoCase) {
			e.never().account("ws-alice-notebook", "").Workspace.Status = v1beta1.WorkspaceStatus{State: "Error",
				StateMessage: "Workspace ServiceAccount ws-alice-notebook already exists and is not owned by the Workspace"}
		}, outcome{"service-account-not-owned", "ServiceAccount/ws-alice-notebook", diagnose.StateError, true}},
		"ServiceAccount that could not be read": {func(e *demoCase) {
			e.never().Workspace.Status = v1beta1.WorkspaceStatus{State: "Error",
				StateMessage: "Workspace ServiceAccount ws-alice-notebook already exists and is not owned by the Workspace"}
		}, outcome{"service-account-not-owned", "ServiceAccount/ws-alice-notebook", diagnose.StateError, false}},
		"ServiceAccount is no longer in the way": {func(e *demoCase) {
			e.never().Workspace.Status = v1beta1.WorkspaceStatus{State: "Error",
				StateMessage: "Workspace ServiceAccount ws-alice-notebook already exists and is not owned by the Workspace"}
			e.ServiceAccounts["ws-alice-notebook"] = facts.Answer[*metav1.PartialObjectMetadata]{Status: facts.Absent}
		}, outcome{"service-account-not-owned", "Workspace/alice-notebook", diagnose.StateError, true}},

		"a volume name that is none": {func(e *demoCase) {
			e.never().Kind.Value.Spec.PodTemplate.ExtraVolumes = []corev1.Volume{{Name: "Under_Score"}}
		}, outcome{"statefulset-create-rejected", "WorkspaceKind/jupyterlab", diagnose.StateError, false}},
		"a dot in the name": {func(e *demoCase) {
			e.never().Workspace.Name = "a.b"
		}, outcome{"statefulset-create-rejected", "Workspace/a.b", diagnose.StateError, false}},
		"too long a name": {func(e *demoCase) {
			e.never().Workspace.Name = strings.Repeat("a", 64)
		}, outcome{"statefulset-create-rejected", "Workspace/" + strings.Repeat("a", 64), diagnose.StateError, false}},
		"requests over limits": {func(e *demoCase) {
			e.never().Kind.Value.Spec.PodTemplate.Options.PodConfig.Values[0].Spec.Resources = &corev1.ResourceRequirements{
				Requests: corev1.ResourceList{"memory": resource.MustParse("2Gi")}, Limits: corev1.ResourceList{"memory": resource.MustParse("1Gi")}}
		}, outcome{"statefulset-create-rejected", "WorkspaceKind/jupyterlab", diagnose.StateError, false}},
		"a ServiceAccount and nothing else": {func(e *demoCase) {
			e.never().account("ws-alice-notebook", alice)
		}, outcome{"statefulset-create-rejected", "Workspace/alice-notebook", diagnose.StateError, false}},
		"a ServiceAccount of somebody else and nothing else": {func(e *demoCase) {
			e.never().account("ws-alice-notebook", "")
		}, outcome{"controller-not-running", "", diagnose.StatePending, false}},
		"nothing": {func(e *demoCase) { e.never() }, outcome{"controller-not-running", "", diagnose.StatePending, false}},
		"the controller cannot make it": {func(e *demoCase) {
			e.never().Workspace.Status = v1beta1.WorkspaceStatus{State: "Error", StateMessage: "Workspace failed to generate StatefulSet with error: duplicate port number 8888 in imageConfig"}
		}, outcome{"statefulset-create-rejected", "WorkspaceKind/jupyterlab", diagnose.StateError, false}},
		"a volume name that is none, but it works": {func(e *demoCase) {
			e.Kind.Value.Spec.PodTemplate.ExtraVolumes = []corev1.Volume{{Name: "Under_Score"}}
		}, outcome{"secret-not-found", "Secret/minio-creds", diagnose.StateError, true}},

		"nobody has seen the StatefulSet": {func(e *demoCase) {
			e.Pods.Value, e.set().Status = nil, appsv1.StatefulSetStatus{}
		}, outcome{"statefulset-not-observed", aliceSet, diagnose.StatePending, false}},
		"somebody has": {func(e *demoCase) { e.Pods.Value = nil }, outcome{"not statefulset-not-observed", "", "", false}},

		"stuck, the template no longer needs the Secret": {func(e *demoCase) {
			e.behind(func(s *corev1.PodSpec) { s.Volumes = s.Volumes[:1] })
		}, outcome{"pod-stuck-on-old-template", alicePod, diagnose.StateError, true}},
		"the template needs the Secret too": {func(e *demoCase) {
			e.behind(func(s *corev1.PodSpec) { s.Containers[0].Image = "other" })
		}, outcome{"secret-not-found", "Secret/minio-creds", diagnose.StateError, true}},
		"same template": {func(e *demoCase) {
			e.behind(func(s *corev1.PodSpec) { s.Volumes = s.Volumes[:1] })
			e.set().Status.UpdateRevision = "old"
		}, outcome{"secret-not-found", "Secret/minio-creds", diagnose.StateError, true}},

		"kubelet silent": {func(e *demoCase) { fresh(e) }, outcome{"kubelet-silent", nodeOne, diagnose.StatePending, false}},
		"kubelet has said something": {func(e *demoCase) {
			fresh(e).says("FailedMount", "boom", time.Minute)
		}, outcome{"not kubelet-silent", "", "", false}},
		"node not Ready": {func(e *demoCase) { unwell(fresh(e)) }, outcome{"not kubelet-silent", "", "", false}},
		"just bound": {func(e *demoCase) {
			fresh(e).pod().CreationTimestamp = metav1.NewTime(e.at(5 * time.Second))
		}, outcome{"not kubelet-silent", "", "", false}},
	} {
		t.Run(name, func(t *testing.T) {
			e := newDemoCase(t, alice)
			c.edit(e)
			if not, ok := strings.CutPrefix(c.want.id, "not "); ok {
				if _, top := e.top(); top.ID == not {
					t.Errorf("%+v", top)
				}
				return
			}
			e.check(c.want)
		})
	}
}

func TestTemplateChanges(t *testing.T) {
	base := corev1.PodSpec{
		Volumes:    []corev1.Volume{{Name: "kube-api-access-x"}, {Name: "v"}},
		Containers: []corev1.Container{{Name: "main", Image: "a", VolumeMounts: []corev1.VolumeMount{{Name: "kube-api-access-x", MountPath: "/x"}}}, {Name: "injected"}},
	}
	template := func(edit func(*corev1.PodSpec)) *corev1.PodSpec {
		s := &corev1.PodSpec{Volumes: []corev1.Volume{{Name: "v"}}, Containers: []corev1.Container{{Name: "main", Image: "a"}}}
		edit(s)
		return s
	}
	for name, c := range map[string]struct {
		edit func(*corev1.PodSpec)
		want string
	}{
		"nothing": {func(*corev1.PodSpec) {}, ""},
		"image":   {func(s *corev1.PodSpec) { s.Containers[0].Image = "b" }, changedImage},
		"volumes": {func(s *corev1.PodSpec) { s.Volumes[0].Name = "w" }, changedVolumes},
		"resources": {func(s *corev1.PodSpec) {
			s.Containers[0].Resources.Requests = corev1.ResourceList{"cpu": resource.MustParse("1")}
		}, changedPlacement},
		"env":      {func(s *corev1.PodSpec) { s.Containers[0].Env = []corev1.EnvVar{{Name: "a"}} }, changedEnvironment},
		"command":  {func(s *corev1.PodSpec) { s.Containers[0].Command = []string{"x"} }, changedContainer},
		"selector": {func(s *corev1.PodSpec) { s.NodeSelector = map[string]string{"a": "b"} }, changedPlacement},
	} {
		t.Run(name, func(t *testing.T) {
			if got := strings.Join(templateChanges(&base, template(c.edit)), "; "); got != c.want {
				t.Errorf("changes = %q, want %q", got, c.want)
			}
		})
	}
}

func TestWarningsOfOneThatRuns(t *testing.T) {
	data := func(path string) func(e *demoCase) {
		return func(e *demoCase) {
			e.Workspace.Spec.PodTemplate.Volumes.Secrets = append(e.Workspace.Spec.PodTemplate.Volumes.Secrets, v1beta1.SecretMount{SecretName: "git-token", MountPath: path})
		}
	}
	for name, c := range map[string]struct {
		edit func(e *demoCase)
		want []string // object, and words
		id   string
	}{
		"as it is":           {func(*demoCase) {}, nil, "secret-mount-dropped"},
		"a path is taken":    {data("/home/jovyan"), []string{"Secret/git-token", "/home/jovyan", "PersistentVolumeClaim bob-home"}, "secret-mount-dropped"},
		"a path of its own":  {data("/elsewhere"), nil, "secret-mount-dropped"},
		"not in the Pod yet": {data("/elsewhere"), []string{"Workspace/bob-notebook", "Secret/git-token at /elsewhere"}, "pod-template-outdated"},
		"a claim is left out": {func(e *demoCase) {
			e.Workspace.Spec.PodTemplate.Volumes.Data = []v1beta1.DataMount{{PVCName: "sets", MountPath: "/home/jovyan"}}
		}, []string{"PersistentVolumeClaim/sets", "/home/jovyan"}, "data-mount-dropped"},
		"a trailing slash": {func(e *demoCase) {
			m := &e.pod().Spec.Containers[0].VolumeMounts
			*m = append(*m, corev1.VolumeMount{Name: "secret-volume-0", MountPath: "/home/jovyan/"})
		}, []string{"Secret/git-token", "hides PersistentVolumeClaim"}, "mount-path-overlap"},
		"a path below": {func(e *demoCase) {
			m := &e.pod().Spec.Containers[0].VolumeMounts
			*m = append(*m, corev1.VolumeMount{Name: "secret-volume-0", MountPath: "/home/jovyan/.git"})
		}, nil, "mount-path-overlap"},
		"the Secret lacks the label": {func(*demoCase) {}, []string{"Secret/git-token", "can-mount=true"}, "secret-not-mountable-in-ui"},
		"the Secret has the label": {func(e *demoCase) {
			e.Secrets["git-token"].Value.Labels = map[string]string{v1beta1.LabelCanMount: "true"}
		}, nil, "secret-not-mountable-in-ui"},
		"the Secret could not be read": {func(e *demoCase) {
			e.Secrets["git-token"] = facts.Answer[*metav1.PartialObjectMetadata]{Status: facts.Unknown, Reason: facts.ReasonForbidden}
		}, nil, "secret-not-mountable-in-ui"},
		"about to be replaced": {func(e *demoCase) {
			e.behind(func(s *corev1.PodSpec) { s.Containers[0].Image = "other" })
		}, []string{bobPod, "is about to replace"}, "pod-template-outdated"},
		"nobody acts on the change": {func(e *demoCase) { e.set().Generation = 9 }, []string{"StatefulSet/ws-bob-notebook-9fj2k", "generation 1 of 9"}, "pod-template-outdated"},
	} {
		t.Run(name, func(t *testing.T) {
			e := newDemoCase(t, bob)
			c.edit(e)
			d, _ := e.top()
			if d.State != diagnose.StateRunning || len(d.Causes) > 0 {
				t.Errorf("%s, %+v", d.State, d.Causes)
			}
			for _, w := range d.Warnings {
				if w.ID != c.id {
					continue
				}
				if len(c.want) == 0 {
					t.Fatalf("%+v", w)
				}
				for _, s := range c.want {
					if !mentioned(w.Object+" "+w.Summary, s) {
						t.Errorf("%q is not in %s: %s", s, w.Object, w.Summary)
					}
				}
				return
			}
			if len(c.want) > 0 {
				t.Errorf("no %s in %+v", c.id, d.Warnings)
			}
		})
	}
}
