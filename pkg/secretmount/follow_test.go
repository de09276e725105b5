package secretmount

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func podWith(secret, path string) *corev1.Pod {
	mode := DefaultMode
	return &corev1.Pod{Spec: corev1.PodSpec{
		Volumes: []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{
			Secret: &corev1.SecretVolumeSource{SecretName: secret, DefaultMode: &mode}}}},
		Containers: []corev1.Container{{Name: mainContainer, VolumeMounts: []corev1.VolumeMount{{Name: "v", MountPath: path}}}},
	}}
}

func TestHas(t *testing.T) {
	w := workspace(t, "")
	result := func(o Outcome, secret, path string) []Result {
		return []Result{{Mount: Mount{SecretName: secret, MountPath: path}, Outcome: o}}
	}
	for name, c := range map[string]struct {
		results []Result
		want    bool
	}{
		"nothing asked for":                     {nil, true},
		"added and there":                       {result(Added, "a", "/a"), true},
		"added and not there":                   {result(Added, "b", "/b"), false},
		"added, another Secret is there":        {result(Replaced, "b", "/a"), false},
		"unchanged and not there":               {result(Unchanged, "b", "/b"), false},
		"removed and still there":               {result(Removed, "a", "/a"), false},
		"removed and gone":                      {result(Removed, "b", "/b"), true},
		"removed, another Secret took the path": {result(Removed, "b", "/a"), true},
		"never to be there, the path is taken":  {result(Added, "b", "/data/sets"), true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Has(&podWith("a", "/a").Spec, w, c.results); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestUnready(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*corev1.Pod)
		want   bool
	}{
		"waits for its volumes": {func(p *corev1.Pod) { p.Status.Phase = corev1.PodPending }, true},
		"runs, not ready":       {func(p *corev1.Pod) { p.Status.Phase = corev1.PodRunning }, true},
		"ready": {func(p *corev1.Pod) {
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		}, false},
		"failed":   {func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }, false},
		"is going": {func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: time.Now()} }, false},
	} {
		t.Run(name, func(t *testing.T) {
			p := podWith("a", "/a")
			c.change(p)
			if got := Unready(p); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
	if Unready(nil) {
		t.Error("no Pod is unready")
	}
}

func TestOutdated(t *testing.T) {
	pod := podWith("a", "/a")
	pod.Labels = map[string]string{appsv1.ControllerRevisionHashLabelKey: "old"}
	set := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Generation: 2}, Status: appsv1.StatefulSetStatus{ObservedGeneration: 2, UpdateRevision: "new"}}
	if !Outdated(pod, set) {
		t.Error("a Pod of an older revision is outdated")
	}
	set.Status.ObservedGeneration = 1
	if Outdated(pod, set) {
		t.Error("what its controller has not seen proves nothing")
	}
	set.Status = appsv1.StatefulSetStatus{ObservedGeneration: 2, UpdateRevision: "old"}
	if Outdated(pod, set) {
		t.Error("a Pod of this revision is not outdated")
	}
}

// Only what is controlled by uid counts: a Pod of the same name and labels may be
// somebody else's.
func TestOwned(t *testing.T) {
	controlled := func(name string, uid types.UID) metav1.ObjectMeta {
		yes := true
		return metav1.ObjectMeta{Name: name, UID: types.UID("uid-" + name), OwnerReferences: []metav1.OwnerReference{{Kind: "StatefulSet", UID: uid, Controller: &yes}}}
	}
	sets := []appsv1.StatefulSet{{ObjectMeta: controlled("other", "x")}, {ObjectMeta: controlled("ws", "w")}}
	set := OwnedSet("w", sets)
	if set == nil || set.Name != "ws" {
		t.Fatalf("StatefulSet %v", set)
	}
	if OwnedSet("", sets) != nil || OwnedSet("gone", sets) != nil {
		t.Error("a StatefulSet of somebody else was taken")
	}
	pods := []corev1.Pod{{ObjectMeta: controlled("theirs-0", "x")}, {ObjectMeta: controlled("mine-0", "uid-ws")}}
	if p := OwnedPod(set, pods); p == nil || p.Name != "mine-0" {
		t.Errorf("Pod %v", p)
	}
	if p := OwnedPod(set, pods[:1]); p != nil {
		t.Errorf("Pod %v", p)
	}
}
