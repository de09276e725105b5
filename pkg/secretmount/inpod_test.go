package secretmount

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

func TestLookInPod(t *testing.T) {
	const pod = `
metadata: {name: ws-alice-x7k2p-0, ownerReferences: [{kind: StatefulSet, name: ws-alice-x7k2p}]}
spec:
  volumes:
  - {name: home-volume, persistentVolumeClaim: {claimName: alice-home}}
  - {name: secret-volume-0, secret: {secretName: a, defaultMode: 420}}
  - {name: secret-volume-1, secret: {secretName: b, defaultMode: 0}}
  - {name: shm, emptyDir: {}}
  containers:
  - name: istio-proxy
    volumeMounts: [{name: secret-volume-0, mountPath: /proxy}]
  - name: main
    volumeMounts:
    - {name: home-volume, mountPath: /home/jovyan}
    - {name: secret-volume-0, mountPath: /a}
    - {name: secret-volume-1, mountPath: /b}
    - {name: shm, mountPath: /dev/shm}
`
	var p corev1.Pod
	if err := yaml.Unmarshal([]byte(pod), &p); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		arg    string
		noPod  bool
		want   InPod
		holder string
	}{
		"there":                       {arg: "a=/a", want: InPodApplied},
		"there with mode 0":           {arg: "b=/b:0", want: InPodApplied},
		"other mode":                  {arg: "b=/b:0400", want: InPodPending},
		"other Secret":                {arg: "z=/a", want: InPodPending},
		"not there":                   {arg: "a=/new", want: InPodPending},
		"in another container":        {arg: "a=/proxy", want: InPodPending},
		"path of home":                {arg: "a=/home/jovyan", want: InPodDropped, holder: `the home volume "alice-home"`},
		"path of a data volume":       {arg: "a=/data/sets", want: InPodDropped, holder: `the data volume "datasets"`},
		"the kind's mount gives way":  {arg: "a=/dev/shm", want: InPodPending},
		"no Pod":                      {arg: "a=/a", noPod: true, want: InPodNone},
		"no Pod, and never to be one": {arg: "a=/data/sets", noPod: true, want: InPodDropped, holder: `the data volume "datasets"`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			pods := []corev1.Pod{p}
			if tc.noPod {
				pods = nil
			}
			got, holder := LookInPod(workspace(t, ""), PodOf(pods), mounts(t, tc.arg)[0])
			if got != tc.want || holder != tc.holder {
				t.Errorf("got %s %q, want %s %q", got, holder, tc.want, tc.holder)
			}
		})
	}
}
