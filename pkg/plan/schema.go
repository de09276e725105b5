package plan

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/api/crds"
)

// crdSchema is the part of an OpenAPI schema that defaulting and the search for unknown fields
// go by.
type crdSchema struct {
	Properties           map[string]*crdSchema `json:"properties"`
	Items                *crdSchema            `json:"items"`
	AdditionalProperties *crdSchema            `json:"additionalProperties"`
	Default              any                   `json:"default"`
	Nullable             bool                  `json:"nullable"`
	PreserveUnknown      bool                  `json:"x-kubernetes-preserve-unknown-fields"`
}

// schemas are those of the CRDs that this program was built with, by kind.
var schemas = sync.OnceValues(func() (map[string]*crdSchema, error) {
	out := map[string]*crdSchema{}
	for kind, definition := range map[string][]byte{workspaceGVK.Kind: crds.Workspaces, kindGVK.Kind: crds.WorkspaceKinds} {
		var crd struct {
			Spec struct {
				Versions []struct {
					Name   string `json:"name"`
					Schema struct {
						OpenAPIV3Schema *crdSchema `json:"openAPIV3Schema"`
					} `json:"schema"`
				} `json:"versions"`
			} `json:"spec"`
		}
		if err := yaml.Unmarshal(definition, &crd); err != nil {
			return nil, fmt.Errorf("the CRD of %s: %w", kind, err)
		}
		for _, v := range crd.Spec.Versions {
			if v.Name == workspaceGVK.Version {
				out[kind] = v.Schema.OpenAPIV3Schema
			}
		}
	}
	return out, nil
})

// applyDefaults fills in what the API server fills in when it stores or reads a Workspace or a
// WorkspaceKind: for every absent field with a default in the CRD that default, and then the
// same within what was filled in. Objects from files need it; the API server's own have it.
//
// The rules are those of structural defaulting in k8s.io/apiextensions-apiserver, which is not
// used because it would link the API server's libraries into a kubectl plugin.
func applyDefaults(u *unstructured.Unstructured) error {
	all, err := schemas()
	if err != nil {
		return err
	}
	if s := all[u.GetKind()]; s != nil {
		defaultValue(u.Object, s)
	}
	return nil
}

func defaultValue(v any, s *crdSchema) {
	switch v := v.(type) {
	case map[string]any:
		for name, property := range s.Properties {
			value, present := v[name]
			if present && value == nil && !property.Nullable {
				// A null that is not allowed counts as absent.
				delete(v, name)
				present = false
			}
			if !present && property.Default != nil {
				v[name] = runtime.DeepCopyJSONValue(jsonNumbers(property.Default))
			}
			if value, ok := v[name]; ok {
				defaultValue(value, property)
			}
		}
		if s.AdditionalProperties != nil {
			for name, value := range v {
				if s.Properties[name] == nil {
					defaultValue(value, s.AdditionalProperties)
				}
			}
		}
	case []any:
		if s.Items != nil {
			for _, item := range v {
				defaultValue(item, s.Items)
			}
		}
	}
}

// jsonNumbers gives whole numbers the type that unstructured objects have for them.
func jsonNumbers(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, value := range v {
			out[k] = jsonNumbers(value)
		}
		return out
	case []any:
		out := make([]any, 0, len(v))
		for _, value := range v {
			out = append(out, jsonNumbers(value))
		}
		return out
	case float64:
		if v == float64(int64(v)) {
			return int64(v)
		}
	}
	return v
}

// unknownFields returns the paths of the fields of an object's spec that the CRDs of this
// program do not have. A cluster with another release of Kubeflow Notebooks has such fields.
func unknownFields(u *unstructured.Unstructured) []string {
	all, err := schemas()
	if err != nil || all[u.GetKind()] == nil {
		return nil
	}
	var out []string
	collectUnknown(u.Object["spec"], all[u.GetKind()].Properties["spec"], "spec", &out)
	slices.Sort(out)
	return slices.Compact(out)
}

func collectUnknown(v any, s *crdSchema, path string, out *[]string) {
	if s == nil || s.PreserveUnknown {
		return
	}
	switch v := v.(type) {
	case map[string]any:
		if len(s.Properties) == 0 && s.AdditionalProperties == nil {
			return
		}
		for name, value := range v {
			switch p := s.Properties[name]; {
			case p != nil:
				collectUnknown(value, p, path+"."+name, out)
			case s.AdditionalProperties != nil:
				collectUnknown(value, s.AdditionalProperties, path+"."+name, out)
			default:
				*out = append(*out, path+"."+name)
			}
		}
	case []any:
		for _, item := range v {
			collectUnknown(item, s.Items, path+"[]", out)
		}
	}
}

// harmless are unknown fields of a WorkspaceKind's Pod template that the objects of a Workspace
// do not depend on. Culling of earlier releases pauses Workspaces, which nothing here does.
var harmless = []string{"spec.podTemplate.culling"}

// buildsOn tells whether a field decides what a controller builds.
func buildsOn(path string) bool {
	return strings.HasPrefix(path, "spec.podTemplate.") && !strings.Contains(path, ".spawner.") &&
		!slices.ContainsFunc(harmless, func(h string) bool { return strings.HasPrefix(path, h) })
}

func (c *Cluster) noteUnknownFields(id identity, u *unstructured.Unstructured) {
	fields := unknownFields(u)
	if len(fields) == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.foreign == nil {
		c.foreign = map[identity][]string{}
	}
	c.foreign[id] = fields
}

// Foreign is an object with fields of another release of Kubeflow Notebooks, from which that
// release's controller would build something that this program would not.
type Foreign struct {
	Object string
	Fields []string
}

// Foreign returns such objects among the given Workspaces and their WorkspaceKinds.
func (c *Cluster) Foreign(used func(kind, namespace, name string) bool) []Foreign {
	c.mu.RLock()
	defer c.mu.RUnlock()
	var out []Foreign
	for id, fields := range c.foreign {
		fields = slices.DeleteFunc(slices.Clone(fields), func(f string) bool { return !buildsOn(f) })
		if len(fields) > 0 && used(id.gvk.Kind, id.key.Namespace, id.key.Name) {
			out = append(out, Foreign{id.String(), fields})
		}
	}
	slices.SortFunc(out, func(a, b Foreign) int { return strings.Compare(a.Object, b.Object) })
	return out
}
