package causes

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/cluster"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/diagnose"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/facts"
)

// podCase is alice's Workspace of the demo whose Pod has got over its volumes: its
// Secrets exist, its sandbox is there. Each test says what its containers do.
type podCase struct {
	facts *facts.Facts
	pod   *corev1.Pod
	seq   int
}

func newPodCase(t *testing.T) *podCase {
	t.Helper()
	f, err := cluster.Gather(t.Context(), demo(t), "team-a", alice)
	if err != nil {
		t.Fatal(err)
	}
	f.Secrets["minio-creds"] = f.Secrets["git-token"]
	p := &podCase{facts: f, pod: &f.Pods.Value[0]}
	p.pod.Status.Conditions = []corev1.PodCondition{
		{Type: corev1.PodScheduled, Status: corev1.ConditionTrue},
		{Type: corev1.PodInitialized, Status: corev1.ConditionTrue},
		{Type: corev1.PodReadyToStartContainers, Status: corev1.ConditionTrue},
		{Type: corev1.PodReady, Status: corev1.ConditionFalse},
	}
	p.pod.Status.ContainerStatuses = nil
	f.Events = map[facts.Ref]facts.Answer[[]corev1.Event]{p.ref(): {Status: facts.Found}}
	return p
}

func (p *podCase) ref() facts.Ref { return facts.Ref{Kind: "Pod", Name: p.pod.Name} }

// container adds a container, or sets the status of main.
func (p *podCase) container(name string, s corev1.ContainerStatus) *podCase {
	s.Name = name
	if name != diagnose.MainContainer {
		p.pod.Spec.Containers = append(p.pod.Spec.Containers, corev1.Container{Name: name, Image: "registry.example.com/" + name + ":1"})
	}
	p.pod.Status.ContainerStatuses = append(p.pod.Status.ContainerStatuses, s)
	return p
}

func (p *podCase) init(name string, s corev1.ContainerStatus) *podCase {
	s.Name = name
	p.pod.Spec.InitContainers = append(p.pod.Spec.InitContainers, corev1.Container{Name: name, Image: "registry.example.com/" + name + ":1"})
	p.pod.Status.InitContainerStatuses = append(p.pod.Status.InitContainerStatuses, s)
	return p
}

// spec edits the spec of main.
func (p *podCase) spec(edit func(*corev1.Container)) *podCase {
	edit(&p.pod.Spec.Containers[0])
	return p
}

func (p *podCase) ready() *podCase {
	p.pod.Status.Conditions[3].Status = corev1.ConditionTrue
	return p
}

// event adds an Event about a container (about the Pod, if that is empty) of some time ago.
func (p *podCase) event(container, reason, message string, ago time.Duration) *podCase {
	p.seq++
	typ := corev1.EventTypeWarning
	switch reason {
	case "Pulling", "Pulled", "Created", "Started", "Killing", "SandboxChanged":
		typ = corev1.EventTypeNormal
	case "BackOff":
		if strings.Contains(message, "image") {
			typ = corev1.EventTypeNormal
		}
	}
	path := ""
	if container != "" {
		path = fmt.Sprintf("spec.containers{%s}", container)
	}
	events := append(p.facts.Events[p.ref()].Value, corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{Name: fmt.Sprint(p.seq), UID: types.UID(fmt.Sprint("e", p.seq))},
		InvolvedObject: corev1.ObjectReference{Kind: "Pod", Name: p.pod.Name, UID: p.pod.UID, FieldPath: path},
		Type:           typ, Reason: reason, Message: message, LastTimestamp: metav1.Time{Time: p.facts.Now.Add(-ago)}, Count: 1,
	})
	p.facts.Events[p.ref()] = facts.Answer[[]corev1.Event]{Status: facts.Found, Value: events}
	return p
}

// sandbox sets whether the Pod's sandbox is there; it was made an hour ago.
func (p *podCase) sandbox(s corev1.ConditionStatus) {
	p.pod.Status.Conditions[2].Status = s
	p.pod.Status.Conditions[2].LastTransitionTime = metav1.Time{Time: p.facts.Now.Add(-time.Hour)}
}

func waitingWith(reason, message string) corev1.ContainerStatus {
	return corev1.ContainerStatus{State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}}
}

func (p *podCase) runs(ago time.Duration, ready bool) corev1.ContainerStatus {
	return corev1.ContainerStatus{Ready: ready, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Time{Time: p.facts.Now.Add(-ago)}}}}
}

// ended is a status whose last run ended some time ago, after five seconds.
func (p *podCase) ended(s corev1.ContainerStatus, code int32, reason, message string, ago time.Duration) corev1.ContainerStatus {
	end := p.facts.Now.Add(-ago)
	s.RestartCount++
	s.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ExitCode: code, Reason: reason, Message: message,
		StartedAt: metav1.Time{Time: end.Add(-5 * time.Second)}, FinishedAt: metav1.Time{Time: end}}
	return s
}

// podWant is what a case should be explained by.
type podWant struct {
	cause   string // "" for none
	object  string
	state   diagnose.State
	certain bool
	summary string // a part of it
	warning string // the id of a warning
}

func (p *podCase) check(t *testing.T, w podWant) diagnose.Diagnosis {
	t.Helper()
	d := Diagnose(p.facts)
	got := diagnose.Cause{}
	if len(d.Causes) > 0 {
		got = d.Causes[0]
	}
	if got.ID != w.cause || got.Object != w.object || d.State != w.state {
		t.Errorf("got %q about %q, %s, want %q about %q, %s\n%s", got.ID, got.Object, d.State, w.cause, w.object, w.state, d.Summary)
	}
	if (got.Confidence == diagnose.Certain) != w.certain {
		t.Errorf("confidence = %q", got.Confidence)
	}
	text := d.Summary
	for _, warning := range d.Warnings {
		text += warning.Summary
		if warning.ID == w.warning {
			w.warning = ""
		}
	}
	if !strings.Contains(text, w.summary) {
		t.Errorf("summary = %q, want %q in it", text, w.summary)
	}
	if w.warning != "" {
		t.Errorf("warnings = %+v, want %s", d.Warnings, w.warning)
	}
	return d
}

const scipy = "registry.example.com/jupyter-scipy:2.0.0"

const (
	second = time.Second
	minute = time.Minute
)

func failedPull(reason string) string { return `Failed to pull image "` + scipy + `": ` + reason }

func TestImageCauses(t *testing.T) {
	notFound := `rpc error: code = NotFound desc = failed to pull and unpack image "` + scipy + `": failed to resolve reference "` + scipy + `": ` + scipy + `: not found`
	backOff := `Back-off pulling image "` + scipy + `"`
	backsOff := waitingWith("ImagePullBackOff", backOff)
	object := "Image/" + scipy
	for name, c := range map[string]struct {
		set  func(p *podCase)
		want podWant
	}{
		"not found, told by status": {func(p *podCase) {
			p.container("main", waitingWith("ImagePullBackOff", backOff+": ErrImagePull: "+notFound))
		}, podWant{imageNotFound, object, diagnose.StateError, true, "has no such repository, tag or digest", ""}},
		"not found, told by an older Event": {func(p *podCase) {
			p.container("main", backsOff).event("main", "Failed", failedPull(notFound), 17*time.Hour).
				event("main", "Failed", "Error: ImagePullBackOff", minute).event("main", "BackOff", backOff, second)
		}, podWant{imageNotFound, object, diagnose.StateError, false, "not found", ""}},
		"Events combined": {func(p *podCase) {
			p.container("main", backsOff).event("main", "Failed", "(combined from similar events): "+failedPull(notFound), minute)
		}, podWant{imageNotFound, object, diagnose.StateError, false, "", ""}},
		"Event without a field path": {func(p *podCase) {
			p.container("main", backsOff).event("", "Failed", failedPull(notFound), minute)
		}, podWant{imageNotFound, object, diagnose.StateError, false, "", ""}},
		"status not reported yet": {func(p *podCase) {
			p.container("main", waitingWith("ContainerCreating", "")).event("main", "Pulling", `Pulling image "`+scipy+`"`, 2*second).event("main", "Failed", failedPull(notFound), second)
		}, podWant{imageNotFound, object, diagnose.StateError, false, "", ""}},
		"Events expired": {func(p *podCase) { p.container("main", backsOff) },
			podWant{imageFailed, object, diagnose.StateError, false, "does not say why any more", ""}},
		"a scanner forbids it": {func(p *podCase) {
			p.container("main", backsOff).event("main", "Failed", failedPull("unknown: current image with 120 vulnerabilities cannot be pulled due to configured policy"), minute)
		}, podWant{imageFailed, object, diagnose.StateError, false, "a policy of the registry or of the node forbids to use it", ""}},
		"unknown reason, quoted": {func(p *podCase) {
			p.container("main", backsOff).event("main", "Failed", failedPull("rpc error: code = Unknown desc = the dog ate it"), minute)
		}, podWant{imageFailed, object, diagnose.StateError, false, `"the dog ate it"`, ""}},
		"never pull": {func(p *podCase) {
			p.container("main", waitingWith("ErrImageNeverPull", `Container image "`+scipy+`" is not present with pull policy of Never`))
		}, podWant{imageNotFound, object, diagnose.StateError, true, "imagePullPolicy Never", ""}},
		"invalid name, no message": {func(p *podCase) { p.container("main", waitingWith("InvalidImageName", "")) },
			podWant{imageName, object, diagnose.StateError, true, "", ""}},
		"an init container's": {func(p *podCase) {
			p.container("main", waitingWith("PodInitializing", "")).init("prepare", waitingWith("ErrImagePull", "toomanyrequests: rate limit"))
		}, podWant{imageRateLimited, "Image/registry.example.com/prepare:1", diagnose.StateError, true, "for init container prepare", ""}},
		"a sidecar's, main runs": {func(p *podCase) {
			p.container("main", p.runs(minute, true)).container("proxy", waitingWith("ErrImagePull", "x509: certificate signed by unknown authority"))
		}, podWant{imageTLS, "Image/registry.example.com/proxy:1", diagnose.StateError, true, "for container proxy", ""}},
		"another container's failure is not main's": {func(p *podCase) {
			p.container("main", waitingWith("ContainerCreating", "")).container("proxy", p.runs(minute, true)).
				event("proxy", "Failed", `Failed to pull image "registry.example.com/proxy:1": not found`, 2*minute)
		}, podWant{"container-starting", "", diagnose.StatePending, false, "", ""}},
		"after a crash, the image is pulled again": {func(p *podCase) {
			p.container("main", p.ended(waitingWith("ImagePullBackOff", "dial tcp: lookup r.example.com: no such host"), 1, "Error", "", minute))
		}, podWant{imageUnreachable, object, diagnose.StateError, true, "r.example.com cannot be resolved by DNS", ""}},
		"exec format error at start": {func(p *podCase) {
			p.container("main", p.ended(waitingWith("CrashLoopBackOff", ""), 128, "StartError", "exec /start.sh: exec format error", minute))
		}, podWant{imagePlatform, object, diagnose.StateError, true, "cannot run image", ""}},
		"a fresh pull, the status still tells of the one before": {func(p *podCase) {
			p.container("main", backsOff).event("main", "Failed", failedPull(notFound), minute).event("main", "Pulling", `Pulling image "`+scipy+`"`, 20*second)
		}, podWant{"image-pulling", object, diagnose.StatePending, false, "for 20s now", ""}},
		"a pull that is about to fail again": {func(p *podCase) {
			p.container("main", backsOff).event("main", "Failed", failedPull(notFound), minute).event("main", "Pulling", `Pulling image "`+scipy+`"`, second)
		}, podWant{imageNotFound, object, diagnose.StateError, false, "", ""}},
		"a pull that is about to time out again": {func(p *podCase) {
			p.container("main", backsOff).event("main", "Failed", failedPull("dial tcp 10.0.0.9:443: i/o timeout"), minute).event("main", "Pulling", `Pulling image "`+scipy+`"`, 20*second)
		}, podWant{imageUnreachable, object, diagnose.StateError, false, "10.0.0.9:443", ""}},
		"pulled since": {func(p *podCase) {
			p.container("main", waitingWith("ContainerCreating", "")).event("main", "Failed", failedPull(notFound), minute).
				event("main", "Pulling", `Pulling image "`+scipy+`"`, 20*second).event("main", "Pulled", `Successfully pulled image "`+scipy+`"`, second)
		}, podWant{"container-starting", "", diagnose.StatePending, false, "", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPodCase(t)
			c.set(p)
			p.check(t, c.want)
		})
	}
}

func TestPullSecrets(t *testing.T) {
	for name, c := range map[string]struct {
		status facts.Status
		event  bool
		reason string
		want   podWant
	}{
		"missing":                     {facts.Absent, false, "401 Unauthorized", podWant{imageForbidden, "Secret/login", diagnose.StateError, true, `Secret "login" does not exist`, ""}},
		"the kubelet's word":          {facts.Unknown, true, "401 Unauthorized", podWant{imageForbidden, "Secret/login", diagnose.StateError, false, `the kubelet reports that it could not retrieve Secret "login"`, ""}},
		"not readable, nothing said":  {facts.Unknown, false, "401 Unauthorized", podWant{imageForbidden, "Image/" + scipy, diagnose.StateError, true, "", ""}},
		"it exists, whatever is said": {facts.Found, true, "401 Unauthorized", podWant{imageForbidden, "Image/" + scipy, diagnose.StateError, true, "", ""}},
		"missing, but it is the disk": {facts.Absent, true, "no space left on device", podWant{imageDiskFull, "Image/" + scipy, diagnose.StateError, true, "", ""}},
		"hidden by the registry":      {facts.Absent, false, "404 Not Found", podWant{imageNotFound, "Image/" + scipy, diagnose.StateError, true, "Perhaps it needs the credentials", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPodCase(t).container("main", waitingWith("ImagePullBackOff", c.reason))
			p.pod.Spec.ImagePullSecrets = []corev1.LocalObjectReference{{Name: "login"}}
			p.facts.Secrets["login"] = facts.Answer[*metav1.PartialObjectMetadata]{Status: c.status}
			if c.event {
				p.event("", "FailedToRetrieveImagePullSecret", "Unable to retrieve some image pull secrets (login); attempting to pull the image may not succeed.", second)
			}
			p.check(t, c.want)
		})
	}
}

// A missing pull Secret alone harms nothing: the pull may work without.
func TestAMissingPullSecretAloneIsNoCause(t *testing.T) {
	p := newPodCase(t).container("main", waitingWith("ContainerCreating", "")).
		event("", "FailedToRetrieveImagePullSecret", "Unable to retrieve some image pull secrets (login); attempting to pull the image may not succeed.", second).
		event("main", "Pulling", `Pulling image "`+scipy+`"`, second)
	p.check(t, podWant{"image-pulling", "Image/" + scipy, diagnose.StatePending, false, "", ""})
}

// A person who may read the Workspace only learns what the controller quotes.
func TestImageFailureInTheControllersWords(t *testing.T) {
	p := newPodCase(t)
	p.facts.Pods = facts.Answer[[]corev1.Pod]{Status: facts.Unknown, Reason: facts.ReasonForbidden}
	p.facts.Events = nil
	p.facts.Workspace.Status.StateMessage = "Workspace Pod has warning event: " + failedPull("manifest unknown")
	p.check(t, podWant{imageNotFound, "Image/" + scipy, diagnose.StateError, false, "Node node-1 cannot pull", ""})
}
