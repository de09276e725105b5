package facts

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Reference is one place in a Pod's spec that cannot do without another object.
type Reference struct {
	Object Ref
	// Volume is the name of the volume that needs the object; empty for an
	// environment variable.
	Volume string
	// Container is the name of the container whose environment needs the object; empty
	// for a volume.
	Container string
}

// String says where the reference stands.
func (r Reference) String() string {
	if r.Volume != "" {
		return "volume " + r.Volume
	}
	return "environment of container " + r.Container
}

// References lists the Secrets, ConfigMaps and PersistentVolumeClaims that a Pod needs
// in its namespace, in the order of its spec. Optional references are left out, since
// nothing fails when they are missing, and so is the volume with the API credentials
// that admission puts into every Pod: it is the cluster's business.
func References(spec *corev1.PodSpec) []Reference {
	var out []Reference
	add := func(kind, name, volume, container string, optional *bool) {
		r := Reference{Ref{kind, name}, volume, container}
		if name != "" && (optional == nil || !*optional) && !slices.Contains(out, r) {
			out = append(out, r)
		}
	}
	for _, v := range spec.Volumes {
		switch {
		case v.Secret != nil:
			add("Secret", v.Secret.SecretName, v.Name, "", v.Secret.Optional)
		case v.ConfigMap != nil:
			add("ConfigMap", v.ConfigMap.Name, v.Name, "", v.ConfigMap.Optional)
		case v.PersistentVolumeClaim != nil:
			add("PersistentVolumeClaim", v.PersistentVolumeClaim.ClaimName, v.Name, "", nil)
		case v.Projected != nil && !isServiceAccountVolume(v.Projected):
			for _, s := range v.Projected.Sources {
				if s.Secret != nil {
					add("Secret", s.Secret.Name, v.Name, "", s.Secret.Optional)
				}
				if s.ConfigMap != nil {
					add("ConfigMap", s.ConfigMap.Name, v.Name, "", s.ConfigMap.Optional)
				}
			}
		}
	}
	for _, c := range slices.Concat(spec.InitContainers, spec.Containers) {
		for _, e := range c.EnvFrom {
			if e.SecretRef != nil {
				add("Secret", e.SecretRef.Name, "", c.Name, e.SecretRef.Optional)
			}
			if e.ConfigMapRef != nil {
				add("ConfigMap", e.ConfigMapRef.Name, "", c.Name, e.ConfigMapRef.Optional)
			}
		}
		for _, e := range c.Env {
			if e.ValueFrom == nil {
				continue
			}
			if k := e.ValueFrom.SecretKeyRef; k != nil {
				add("Secret", k.Name, "", c.Name, k.Optional)
			}
			if k := e.ValueFrom.ConfigMapKeyRef; k != nil {
				add("ConfigMap", k.Name, "", c.Name, k.Optional)
			}
		}
	}
	return out
}

// isServiceAccountVolume recognises the kube-api-access volume by its token.
func isServiceAccountVolume(p *corev1.ProjectedVolumeSource) bool {
	return slices.ContainsFunc(p.Sources, func(s corev1.VolumeProjection) bool { return s.ServiceAccountToken != nil })
}
