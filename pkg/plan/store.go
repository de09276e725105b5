package plan

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// store keeps objects by kind, namespace and name. What a Workspace owns is looked for in its
// own namespace alone, so that a thousand of them do not make a million comparisons.
type store map[schema.GroupVersionKind]map[string]map[string]client.Object

// get returns nil for an object that is not there.
func (s store) get(id identity) client.Object {
	return s[id.gvk][id.key.Namespace][id.key.Name]
}

func (s store) put(id identity, o client.Object) {
	if s[id.gvk] == nil {
		s[id.gvk] = map[string]map[string]client.Object{}
	}
	if s[id.gvk][id.key.Namespace] == nil {
		s[id.gvk][id.key.Namespace] = map[string]client.Object{}
	}
	s[id.gvk][id.key.Namespace][id.key.Name] = o
}

func (s store) remove(id identity) { delete(s[id.gvk][id.key.Namespace], id.key.Name) }

// list returns the objects of a kind that are wanted, by namespace and name. An empty namespace
// means all of them.
func (s store) list(gvk schema.GroupVersionKind, namespace string, wanted func(client.Object) bool) []client.Object {
	var found []client.Object
	for ns, objects := range s[gvk] {
		if namespace != "" && ns != namespace {
			continue
		}
		for _, o := range objects {
			if wanted == nil || wanted(o) {
				found = append(found, o)
			}
		}
	}
	slices.SortFunc(found, func(a, b client.Object) int {
		if d := strings.Compare(a.GetNamespace(), b.GetNamespace()); d != 0 {
			return d
		}
		return strings.Compare(a.GetName(), b.GetName())
	})
	return found
}
