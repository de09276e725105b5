package controller

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Each correct… function makes an existing object what it should be, in the fields that the
// in-cluster controller corrects and in no others, and tells whether anything was wrong. Which
// fields those are was found by editing every object by hand while it ran (testdata/parity,
// sequences 11 to 14 and 44).

// correctStatefulSet overwrites labels, annotations, replicas, selector and the whole template.
func correctStatefulSet(existing, desired *appsv1.StatefulSet) bool {
	want := desired.DeepCopy()
	if equality.Semantic.DeepEqual(existing.Labels, want.Labels) &&
		equality.Semantic.DeepEqual(existing.Annotations, want.Annotations) &&
		equality.Semantic.DeepEqual(existing.Spec.Replicas, want.Spec.Replicas) &&
		equality.Semantic.DeepEqual(existing.Spec.Selector, want.Spec.Selector) &&
		equality.Semantic.DeepEqual(existing.Spec.Template, want.Spec.Template) {
		return false
	}
	existing.Labels, existing.Annotations = want.Labels, want.Annotations
	existing.Spec.Replicas, existing.Spec.Selector, existing.Spec.Template =
		want.Spec.Replicas, want.Spec.Selector, want.Spec.Template
	return true
}

// correctService overwrites ports, selector and type, and metadata as needsMetadata says.
func correctService(existing, desired *corev1.Service) bool {
	if !needsMetadata(existing, desired) &&
		equality.Semantic.DeepEqual(existing.Spec.Ports, desired.Spec.Ports) &&
		equality.Semantic.DeepEqual(existing.Spec.Selector, desired.Spec.Selector) &&
		existing.Spec.Type == desired.Spec.Type {
		return false
	}
	setMetadata(existing, desired)
	existing.Spec.Ports, existing.Spec.Selector, existing.Spec.Type =
		desired.Spec.Ports, desired.Spec.Selector, desired.Spec.Type
	return true
}

// correctRoleBinding overwrites the subjects. The role cannot be changed; a binding to another
// role is deleted instead.
func correctRoleBinding(existing, desired *rbacv1.RoleBinding) bool {
	if !needsMetadata(existing, desired) && equality.Semantic.DeepEqual(existing.Subjects, desired.Subjects) {
		return false
	}
	setMetadata(existing, desired)
	existing.Subjects = desired.Subjects
	return true
}

// correctVirtualService overwrites the spec.
func correctVirtualService(existing, desired *unstructured.Unstructured) bool {
	if !needsMetadata(existing, desired) && sameMessage(existing.Object["spec"], desired.Object["spec"]) {
		return false
	}
	setMetadata(existing, desired)
	existing.Object["spec"] = desired.DeepCopy().Object["spec"]
	return true
}

// sameMessage compares two protobuf messages in their JSON form, where a field that is empty,
// zero or false is the same as one that is not there. A message without fields is not.
func sameMessage(a, b any) bool {
	return equality.Semantic.DeepEqual(setFields(a), setFields(b))
}

func setFields(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, value := range v {
			if headers, ok := value.(map[string]any); ok && (key == "set" || key == "add") {
				// A map and not a message: what is empty is the map, and not its values.
				if len(headers) > 0 {
					out[key] = headers
				}
			} else if value = setFields(value); !isUnset(value) {
				out[key] = value
			}
		}
		return out
	case []any:
		out := make([]any, 0, len(v))
		for _, item := range v {
			out = append(out, setFields(item))
		}
		return out
	}
	return v
}

func isUnset(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case []any:
		return len(v) == 0
	default:
		return v == "" || v == false || v == int64(0) || v == float64(0)
	}
}

// needsMetadata looks only at the labels and annotations that are there: foreign ones and
// wrong values are corrected, a missing label is put back only along with another correction.
func needsMetadata(existing, desired metav1.Object) bool {
	return hasOther(existing.GetLabels(), desired.GetLabels()) ||
		hasOther(existing.GetAnnotations(), desired.GetAnnotations())
}

func setMetadata(existing, desired metav1.Object) {
	existing.SetLabels(desired.GetLabels())
	existing.SetAnnotations(desired.GetAnnotations())
}

func hasOther(existing, desired map[string]string) bool {
	for k, v := range existing {
		if desired[k] != v {
			return true
		}
	}
	return false
}
