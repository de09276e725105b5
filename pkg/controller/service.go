package controller

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/api/v1beta1"
)

// buildService returns the Service in front of a Workspace's Pod.
func buildService(w *v1beta1.Workspace, image *v1beta1.ImageConfigValue) *corev1.Service {
	s := &corev1.Service{ObjectMeta: ownedMeta(w)}
	s.GenerateName = generateName(w.Name, maxServiceName)
	s.Spec.Type = corev1.ServiceTypeClusterIP
	s.Spec.Selector = podSelector(w)
	for _, p := range image.Spec.Ports {
		s.Spec.Ports = append(s.Spec.Ports, corev1.ServicePort{
			Name: portName(p.Port), Protocol: corev1.ProtocolTCP, Port: p.Port, TargetPort: intstr.FromInt32(p.Port),
		})
	}
	return s
}
