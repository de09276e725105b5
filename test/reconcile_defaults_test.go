package test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/controller"
	"github.com/kubectl-workspace/kubectl-workspace/test/env"
)

// What the API server makes of a Pod template is what DefaultTemplate makes of it, for all that a
// WorkspaceKind can put into one. A default that were missing would be a write in every run.
func TestDefaultTemplateIsTheServers(t *testing.T) {
	e := env.Get(t)
	ns := e.Namespace(t)
	sets := e.Client(t, env.Admin).AppsV1().StatefulSets(ns)
	check := func(t *testing.T, spec string) {
		t.Helper()
		want := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"a": "b"}}}
		if err := yaml.UnmarshalStrict([]byte(spec), &want.Spec); err != nil {
			t.Fatal(err)
		}
		if len(want.Spec.Containers) == 0 {
			want.Spec.Containers = []corev1.Container{{Name: "main", Image: "registry.example.com/lab:1"}}
		}
		stored, err := sets.Create(t.Context(), &appsv1.StatefulSet{
			ObjectMeta: metav1.ObjectMeta{GenerateName: "x-"},
			Spec: appsv1.StatefulSetSpec{
				Replicas: ptr.To(int32(0)), Selector: &metav1.LabelSelector{MatchLabels: want.Labels}, Template: *want.DeepCopy(),
			},
		}, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err != nil {
			t.Fatal(err)
		}
		controller.DefaultTemplate(&want)
		if !equality.Semantic.DeepEqual(want, stored.Spec.Template) {
			t.Errorf("(-ours +the server's):\n%s", cmp.Diff(want, stored.Spec.Template))
		}
	}
	for name, volume := range map[string]string{
		"none":                 `{}`,
		"emptyDir":             `{emptyDir: {}}`,
		"emptyDir, memory":     `{emptyDir: {medium: Memory, sizeLimit: 0.5Gi}}`,
		"hostPath":             `{hostPath: {path: /x}}`,
		"hostPath, typed":      `{hostPath: {path: /x, type: DirectoryOrCreate}}`,
		"gcePersistentDisk":    `{gcePersistentDisk: {pdName: x}}`,
		"awsElasticBlockStore": `{awsElasticBlockStore: {volumeID: x}}`,
		"secret":               `{secret: {secretName: x}}`,
		"secret, zero":         `{secret: {secretName: x, defaultMode: 0, items: [{key: a, path: b}]}}`,
		"nfs":                  `{nfs: {server: x, path: /x}}`,
		"iscsi":                `{iscsi: {targetPortal: "10.0.0.1:3260", iqn: "iqn.2015-02.example.com:test", lun: 0}}`,
		"claim":                `{persistentVolumeClaim: {claimName: x}}`,
		"rbd":                  `{rbd: {monitors: [x], image: x}}`,
		"flexVolume":           `{flexVolume: {driver: example.com/x}}`,
		"cinder":               `{cinder: {volumeID: x}}`,
		"cephfs":               `{cephfs: {monitors: [x]}}`,
		"downwardAPI":          `{downwardAPI: {items: [{path: a, fieldRef: {fieldPath: metadata.labels}}, {path: b, resourceFieldRef: {containerName: main, resource: limits.cpu}}]}}`,
		"fc":                   `{fc: {wwids: [x]}}`,
		"azureFile":            `{azureFile: {secretName: x, shareName: x}}`,
		"azureDisk":            `{azureDisk: {diskName: x, diskURI: "https://blob/x"}}`,
		"configMap":            `{configMap: {name: x}}`,
		"vsphereVolume":        `{vsphereVolume: {volumePath: x}}`,
		"portworxVolume":       `{portworxVolume: {volumeID: x}}`,
		"scaleIO":              `{scaleIO: {gateway: x, system: x, secretRef: {name: x}, volumeName: x, storagePool: x}}`,
		"csi":                  `{csi: {driver: example.com}}`,
		"ephemeral":            `{ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 0.5Gi}}}}}}`,
		"image":                `{image: {reference: "registry.example.com/data"}}`,
		"image, tagged":        `{image: {reference: "registry.example.com/data:1"}}`,
		"projected": `{projected: {sources: [{secret: {name: x}}, {configMap: {name: x}}, {serviceAccountToken: {path: token}},
			{downwardAPI: {items: [{path: a, fieldRef: {fieldPath: metadata.name}}]}},
			{clusterTrustBundle: {path: ca, signerName: example.com/x}}]}}`,
	} {
		t.Run("volume "+name, func(t *testing.T) {
			check(t, "volumes: [{name: v, "+strings.TrimPrefix(volume, "{")+"]")
		})
	}
	for name, container := range map[string]string{
		"no tag":          `image: registry.example.com/lab`,
		"latest":          `image: "registry.example.com/lab:latest"`,
		"digest":          `image: "registry.example.com:5000/lab@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"`,
		"port of a host":  `image: "registry.example.com:5000/lab"`,
		"never":           `imagePullPolicy: Never`,
		"probes":          `{readinessProbe: {httpGet: {port: 1}}, livenessProbe: {tcpSocket: {port: http}}, startupProbe: {exec: {command: [a]}}}`,
		"more probes":     `{readinessProbe: {grpc: {port: 1}}, livenessProbe: {httpGet: {port: 1, path: /x, scheme: HTTPS, httpHeaders: [{name: a, value: b}]}, periodSeconds: 7, terminationGracePeriodSeconds: 3}}`,
		"env":             `env: [{name: A, value: b}, {name: B, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}, {name: C, valueFrom: {secretKeyRef: {name: x, key: y}}}, {name: D, valueFrom: {resourceFieldRef: {resource: limits.cpu}}}, {name: E, valueFrom: {configMapKeyRef: {name: x, key: y, optional: true}}}]`,
		"ports":           `ports: [{containerPort: 1}, {containerPort: 2, protocol: UDP, name: x}]`,
		"resources":       `resources: {limits: {cpu: 0.0005, memory: 1.5Gi, example.com/gpu: 1}, requests: {memory: 1e3}}`,
		"securityContext": `securityContext: {runAsUser: 0, capabilities: {drop: [ALL]}, seccompProfile: {type: RuntimeDefault}, procMount: Default, readOnlyRootFilesystem: false}`,
	} {
		t.Run("container "+name, func(t *testing.T) {
			if !strings.HasPrefix(container, "{") {
				container = "{" + container + "}"
			}
			image := `image: "registry.example.com/lab:1", `
			if strings.HasPrefix(container, "{image:") {
				image = ""
			}
			check(t, "containers: [{name: main, "+image+strings.TrimPrefix(container, "{")+"]")
		})
	}
	for name, spec := range map[string]string{
		"nothing":         `{}`,
		"securityContext": `{securityContext: {fsGroup: 100, fsGroupChangePolicy: OnRootMismatch, seccompProfile: {type: RuntimeDefault}, sysctls: [{name: a.b, value: c}]}, serviceAccountName: x}`,
		"placement": `{nodeSelector: {a: b}, tolerations: [{operator: Exists}, {key: a, effect: NoSchedule}], affinity: {
			podAntiAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, podAffinityTerm: {topologyKey: a, labelSelector: {}}}]},
			nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Exists}]}]}}}}`,
		"empty placement": `{nodeSelector: {}, tolerations: [], affinity: {}}`,
	} {
		t.Run("Pod, "+name, func(t *testing.T) { check(t, spec) })
	}
}
