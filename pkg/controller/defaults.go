package controller

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"
)

// DefaultTemplate fills a Pod template with what the API server fills in when it stores one, as
// far as a WorkspaceKind can leave it open, so that a stored template can be compared with a
// desired one. A default that is missing here costs a write that changes nothing, no more.
//
// Source: pkg/apis/core/v1/defaults.go of Kubernetes 1.37. Defaults that only Pods get, not
// templates (requests from limits, enableServiceLinks), are left out as they are there.
func DefaultTemplate(t *corev1.PodTemplateSpec) {
	s := &t.Spec
	setDefault(&s.RestartPolicy, corev1.RestartPolicyAlways)
	setDefault(&s.DNSPolicy, corev1.DNSClusterFirst)
	setDefault(&s.SchedulerName, corev1.DefaultSchedulerName)
	s.DeprecatedServiceAccount = s.ServiceAccountName
	setPointer(&s.TerminationGracePeriodSeconds, int64(corev1.DefaultTerminationGracePeriodSeconds))
	setPointer(&s.SecurityContext, corev1.PodSecurityContext{})
	for i := range s.Volumes {
		defaultVolume(&s.Volumes[i].VolumeSource)
	}
	for i := range s.Containers {
		defaultContainer(&s.Containers[i])
	}
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

func setPointer[T any](field **T, value T) {
	if *field == nil {
		*field = ptr.To(value)
	}
}

func defaultContainer(c *corev1.Container) {
	setDefault(&c.ImagePullPolicy, pullPolicy(c.Image))
	setDefault(&c.TerminationMessagePath, corev1.TerminationMessagePathDefault)
	setDefault(&c.TerminationMessagePolicy, corev1.TerminationMessageReadFile)
	for i := range c.Ports {
		setDefault(&c.Ports[i].Protocol, corev1.ProtocolTCP)
	}
	for i := range c.Env {
		if from := c.Env[i].ValueFrom; from != nil {
			defaultFieldRef(from.FieldRef)
			if from.FileKeyRef != nil {
				setPointer(&from.FileKeyRef.Optional, false)
			}
		}
	}
	roundUp(c.Resources.Limits)
	roundUp(c.Resources.Requests)
	for _, p := range []*corev1.Probe{c.StartupProbe, c.LivenessProbe, c.ReadinessProbe} {
		defaultProbe(p)
	}
}

// pullPolicy is the default for an image: its tag decides.
func pullPolicy(image string) corev1.PullPolicy {
	if strings.Contains(image, "@") {
		return corev1.PullIfNotPresent
	}
	_, tag, tagged := strings.Cut(image[strings.LastIndex(image, "/")+1:], ":")
	if !tagged || tag == "latest" {
		return corev1.PullAlways
	}
	return corev1.PullIfNotPresent
}

// roundUp makes quantities multiples of a thousandth, the finest that the API server stores.
func roundUp(list corev1.ResourceList) {
	for name, quantity := range list {
		quantity.RoundUp(resource.Milli)
		list[name] = quantity
	}
}

func defaultFieldRef(ref *corev1.ObjectFieldSelector) {
	if ref != nil {
		setDefault(&ref.APIVersion, "v1")
	}
}

func defaultProbe(p *corev1.Probe) {
	if p == nil {
		return
	}
	setDefault(&p.TimeoutSeconds, 1)
	setDefault(&p.PeriodSeconds, 10)
	setDefault(&p.SuccessThreshold, 1)
	setDefault(&p.FailureThreshold, 3)
	if p.HTTPGet != nil {
		setDefault(&p.HTTPGet.Path, "/")
		setDefault(&p.HTTPGet.Scheme, corev1.URISchemeHTTP)
	}
	if p.GRPC != nil {
		setPointer(&p.GRPC.Service, "")
	}
}

func defaultVolume(v *corev1.VolumeSource) {
	if *v == (corev1.VolumeSource{}) {
		v.EmptyDir = &corev1.EmptyDirVolumeSource{}
	}
	if v.Secret != nil {
		setPointer(&v.Secret.DefaultMode, corev1.SecretVolumeSourceDefaultMode)
	}
	if v.ConfigMap != nil {
		setPointer(&v.ConfigMap.DefaultMode, corev1.ConfigMapVolumeSourceDefaultMode)
	}
	if v.DownwardAPI != nil {
		setPointer(&v.DownwardAPI.DefaultMode, corev1.DownwardAPIVolumeSourceDefaultMode)
		for i := range v.DownwardAPI.Items {
			defaultFieldRef(v.DownwardAPI.Items[i].FieldRef)
		}
	}
	if v.Projected != nil {
		setPointer(&v.Projected.DefaultMode, corev1.ProjectedVolumeSourceDefaultMode)
		for i := range v.Projected.Sources {
			source := &v.Projected.Sources[i]
			if source.ServiceAccountToken != nil {
				setPointer(&source.ServiceAccountToken.ExpirationSeconds, int64(60*60))
			}
			if source.DownwardAPI != nil {
				for j := range source.DownwardAPI.Items {
					defaultFieldRef(source.DownwardAPI.Items[j].FieldRef)
				}
			}
		}
	}
	if v.HostPath != nil {
		setPointer(&v.HostPath.Type, corev1.HostPathUnset)
	}
	if v.Ephemeral != nil && v.Ephemeral.VolumeClaimTemplate != nil {
		setPointer(&v.Ephemeral.VolumeClaimTemplate.Spec.VolumeMode, corev1.PersistentVolumeFilesystem)
	}
	if v.Image != nil {
		setDefault(&v.Image.PullPolicy, pullPolicy(v.Image.Reference))
	}
	defaultStorage(v)
}

// defaultStorage fills in the volumes of particular storage systems.
func defaultStorage(v *corev1.VolumeSource) {
	if v.ISCSI != nil {
		setDefault(&v.ISCSI.ISCSIInterface, "default")
	}
	if v.RBD != nil {
		setDefault(&v.RBD.RBDPool, "rbd")
		setDefault(&v.RBD.RadosUser, "admin")
		setDefault(&v.RBD.Keyring, "/etc/ceph/keyring")
	}
	if v.AzureDisk != nil {
		setPointer(&v.AzureDisk.CachingMode, corev1.AzureDataDiskCachingReadWrite)
		setPointer(&v.AzureDisk.Kind, corev1.AzureSharedBlobDisk)
		setPointer(&v.AzureDisk.FSType, "ext4")
		setPointer(&v.AzureDisk.ReadOnly, false)
	}
	if v.ScaleIO != nil {
		setDefault(&v.ScaleIO.StorageMode, "ThinProvisioned")
		setDefault(&v.ScaleIO.FSType, "xfs")
	}
}
