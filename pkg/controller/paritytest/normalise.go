package paritytest

import (
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Normaliser knows the random names of a set of objects.
type Normaliser struct{ names *strings.Replacer }

// NewNormaliser learns the generated names of the objects.
func NewNormaliser(objects []*unstructured.Unstructured) Normaliser {
	var pairs []string
	for _, o := range objects {
		if g := o.GetGenerateName(); g != "" && strings.HasPrefix(o.GetName(), g) {
			pairs = append(pairs, o.GetName(), g+"XXXXX")
		}
	}
	return Normaliser{strings.NewReplacer(pairs...)}
}

// Objects returns the objects as they are recorded, in the order they are recorded in.
func (n Normaliser) Objects(objects []*unstructured.Unstructured) []map[string]any {
	sorted := slices.Clone(objects)
	order := []string{"ServiceAccount", "StatefulSet", "Service", "RoleBinding", "VirtualService"}
	slices.SortStableFunc(sorted, func(a, b *unstructured.Unstructured) int {
		if d := slices.Index(order, a.GetKind()) - slices.Index(order, b.GetKind()); d != 0 {
			return d
		}
		return strings.Compare(a.GetName(), b.GetName())
	})
	var out []map[string]any
	for _, o := range sorted {
		out = append(out, n.object(o))
	}
	return out
}

func (n Normaliser) object(o *unstructured.Unstructured) map[string]any {
	m := o.DeepCopy().Object
	meta, _ := m["metadata"].(map[string]any)
	for _, f := range []string{"uid", "resourceVersion", "creationTimestamp", "managedFields", "generation", "selfLink"} {
		delete(meta, f)
	}
	owners, _ := meta["ownerReferences"].([]any)
	for _, owner := range owners {
		delete(owner.(map[string]any), "uid")
	}
	delete(m, "status")
	if spec, ok := m["spec"].(map[string]any); ok && o.GetKind() == "Service" {
		delete(spec, "clusterIP")
		delete(spec, "clusterIPs")
		ports, _ := spec["ports"].([]any)
		for _, p := range ports {
			if port := p.(map[string]any); port["nodePort"] != nil {
				port["nodePort"] = "NODEPORT"
			}
		}
	}
	if template, ok, _ := unstructured.NestedMap(m, "spec", "template"); ok {
		if tm, ok := template["metadata"].(map[string]any); ok {
			delete(tm, "creationTimestamp")
			_ = unstructured.SetNestedMap(m, template, "spec", "template")
		}
	}
	return n.value(m).(map[string]any)
}

// Status returns a status as it is recorded.
func (n Normaliser) Status(status map[string]any) map[string]any {
	if status == nil {
		return nil
	}
	return n.value(times(status)).(map[string]any)
}

func (n Normaliser) value(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			v[k] = n.value(v[k])
		}
	case []any:
		for i := range v {
			v[i] = n.value(v[i])
		}
	case string:
		return n.names.Replace(v)
	}
	return v
}

var timeFields = []string{"lastActivity", "lastUpdate", "lastRunningTime", "pauseTime", "startTime", "endTime", "eligibleAfter"}

func times(m map[string]any) map[string]any {
	for k, v := range m {
		switch v := v.(type) {
		case map[string]any:
			m[k] = times(v)
		case int64:
			if v != 0 && slices.Contains(timeFields, k) {
				m[k] = int64(1)
			}
		}
	}
	return m
}

// serverDefaults are the fields outside of Pod templates that only an API server fills in.
// They are paths below spec, by kind.
var serverDefaults = map[string][]string{
	"StatefulSet": {"serviceName", "podManagementPolicy", "updateStrategy", "revisionHistoryLimit", "persistentVolumeClaimRetentionPolicy"},
	"Service":     {"sessionAffinity", "ipFamilies", "ipFamilyPolicy", "internalTrafficPolicy"},
}

// newDefaults are those among them that API servers before 1.37 do not fill in.
var newDefaults = map[string][]string{"StatefulSet": {"updateStrategy.rollingUpdate.maxUnavailable"}}

// Diff compares recorded objects with objects that no API server has completed; it is empty if
// they are the same.
func Diff(recorded, got []*unstructured.Unstructured) string {
	return DiffStored(without(serverDefaults, recorded), without(serverDefaults, got))
}

// CompletedBy returns recorded objects as an API server of Kubernetes 1.minor stores them. They
// were recorded on 1.37; older ones fill in less.
func CompletedBy(minor int, recorded []*unstructured.Unstructured) []*unstructured.Unstructured {
	if minor >= 37 {
		return recorded
	}
	return without(newDefaults, recorded)
}

// DiffStored compares recorded objects with those of an API server.
func DiffStored(recorded, got []*unstructured.Unstructured) string {
	byIdentity := cmpopts.SortSlices(func(a, b map[string]any) bool { return sortKey(a) < sortKey(b) })
	return cmp.Diff(NewNormaliser(nil).Objects(recorded), NewNormaliser(got).Objects(got), cmpopts.EquateEmpty(), byIdentity)
}

// without returns copies of the objects that lack the fields.
func without(fields map[string][]string, objects []*unstructured.Unstructured) []*unstructured.Unstructured {
	var out []*unstructured.Unstructured
	for _, o := range objects {
		o = o.DeepCopy()
		for _, f := range fields[o.GetKind()] {
			unstructured.RemoveNestedField(o.Object, append([]string{"spec"}, strings.Split(f, ".")...)...)
		}
		out = append(out, o)
	}
	return out
}

func sortKey(m map[string]any) string {
	u := unstructured.Unstructured{Object: m}
	if u.GetKind() == "" {
		return ""
	}
	owner := ""
	for _, ref := range u.GetOwnerReferences() {
		owner = ref.Name
	}
	return strings.Join([]string{u.GetNamespace(), owner, u.GetKind(), u.GetName()}, "/")
}
