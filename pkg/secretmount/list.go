package secretmount

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// fields lead to the list.
var (
	podTemplateField = []string{"spec", "podTemplate"}
	volumesField     = []string{"spec", "podTemplate", "volumes"}
	secretsField     = []string{"spec", "podTemplate", "volumes", "secrets"}
	dataField        = []string{"spec", "podTemplate", "volumes", "data"}
	homeField        = []string{"spec", "podTemplate", "volumes", "home"}
)

// entry is one element of the list: what this package understands of it, and all
// of it.
type entry struct {
	Mount
	raw map[string]any
}

// List returns the mounts of a Workspace in their order. A list that does not have
// the shape of the API is an error that names the field.
func List(workspace map[string]any) ([]Mount, error) {
	entries, err := entriesOf(workspace)
	if err != nil {
		return nil, err
	}
	mounts := make([]Mount, len(entries))
	for i, e := range entries {
		mounts[i] = e.Mount
	}
	return mounts, nil
}

func entriesOf(workspace map[string]any) ([]entry, error) {
	items, err := listAt(workspace, secretsField)
	if err != nil {
		return nil, err
	}
	entries := make([]entry, len(items))
	for i, raw := range items {
		at := fmt.Sprintf("spec.podTemplate.volumes.secrets[%d]", i)
		e := entry{raw: raw}
		if e.SecretName, err = text(raw, at, "secretName"); err != nil {
			return nil, err
		}
		if e.MountPath, err = text(raw, at, "mountPath"); err != nil {
			return nil, err
		}
		if e.DefaultMode, err = mode(raw, at); err != nil {
			return nil, err
		}
		entries[i] = e
	}
	return entries, nil
}

// listAt returns the objects of a list; none if the list is absent or null.
func listAt(object map[string]any, field []string) ([]map[string]any, error) {
	value, err := valueAt(object, field)
	if err != nil || value == nil {
		return nil, err
	}
	list, ok := value.([]any)
	if !ok {
		return nil, fmt.Errorf("%s is not a list", dotted(field))
	}
	objects := make([]map[string]any, len(list))
	for i, item := range list {
		if objects[i], ok = item.(map[string]any); !ok {
			return nil, fmt.Errorf("%s[%d] is not an object", dotted(field), i)
		}
	}
	return objects, nil
}

// valueAt returns nil for a field that is absent or null, wherever on the way.
func valueAt(object map[string]any, field []string) (any, error) {
	for i := range field {
		value, _, err := unstructured.NestedFieldNoCopy(object, field[:i+1]...)
		if err != nil {
			return nil, fmt.Errorf("%s is not an object", dotted(field[:i]))
		}
		if value == nil || i == len(field)-1 {
			return value, nil
		}
	}
	return nil, nil
}

func dotted(field []string) string {
	s := ""
	for _, f := range field {
		s += "." + f
	}
	if s == "" {
		return s
	}
	return s[1:]
}

func text(object map[string]any, at, field string) (string, error) {
	switch v := object[field].(type) {
	case string:
		if v != "" {
			return v, nil
		}
		return "", fmt.Errorf("%s.%s is empty", at, field)
	case nil:
		return "", fmt.Errorf("%s.%s is missing", at, field)
	default:
		return "", fmt.Errorf("%s.%s is not a string", at, field)
	}
}

func mode(object map[string]any, at string) (*int32, error) {
	var v int64
	switch raw := object["defaultMode"].(type) {
	case nil:
		return nil, nil
	case int64:
		v = raw
	case int:
		v = int64(raw)
	case float64:
		v = int64(raw)
		if float64(v) != raw {
			return nil, fmt.Errorf("%s.defaultMode is not a whole number", at)
		}
	default:
		return nil, fmt.Errorf("%s.defaultMode is not a number", at)
	}
	if v < 0 || v > maxMode {
		return nil, fmt.Errorf("%s.defaultMode is %d; 0 to %d are allowed", at, v, maxMode)
	}
	m := int32(v)
	return &m, nil
}
