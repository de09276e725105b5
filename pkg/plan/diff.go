package plan

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// content returns the fields of an object that a person would compare.
func content(o client.Object, status bool) (map[string]any, error) {
	if o == nil {
		return nil, nil
	}
	var m map[string]any
	if u, ok := o.(*unstructured.Unstructured); ok {
		m = u.DeepCopy().Object
	} else {
		var err error
		if m, err = runtime.DefaultUnstructuredConverter.ToUnstructured(o); err != nil {
			return nil, err
		}
	}
	if status {
		s, _ := m["status"].(map[string]any)
		return map[string]any{"status": s}, nil
	}
	for _, f := range []string{"kind", "apiVersion", "status"} {
		delete(m, f)
	}
	if meta, ok := m["metadata"].(map[string]any); ok {
		for _, f := range []string{"resourceVersion", "generation", "managedFields", "creationTimestamp", "uid"} {
			delete(meta, f)
		}
	}
	return m, nil
}

// diff returns the fields that differ, in the order of their paths.
func diff(before, after client.Object, status bool) ([]Field, error) {
	b, err := content(before, status)
	if err != nil {
		return nil, err
	}
	a, err := content(after, status)
	if err != nil {
		return nil, err
	}
	var d differ
	d.compare("", b, a)
	for i := range d.fields {
		mask(&d.fields[i])
	}
	return d.fields, nil
}

type differ struct{ fields []Field }

func (d *differ) compare(path string, before, after any) {
	if equality.Semantic.DeepEqual(before, after) || isEmpty(before) && isEmpty(after) {
		return
	}
	switch b := before.(type) {
	case map[string]any:
		if a, ok := after.(map[string]any); ok {
			d.maps(path, b, a)
			return
		}
	case []any:
		if a, ok := after.([]any); ok {
			if d.lists(path, b, a) {
				return
			}
		}
	}
	if isEmpty(before) {
		before = nil
	}
	if isEmpty(after) {
		after = nil
	}
	d.fields = append(d.fields, Field{Path: path, Before: before, After: after})
}

func isEmpty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return false
}

func (d *differ) maps(path string, before, after map[string]any) {
	keys := map[string]bool{}
	for k := range before {
		keys[k] = true
	}
	for k := range after {
		keys[k] = true
	}
	for _, k := range slices.Sorted(maps.Keys(keys)) {
		d.compare(join(path, k), before[k], after[k])
	}
}

var plainKey = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

func join(path, key string) string {
	switch {
	case !plainKey.MatchString(key):
		return path + "[" + strconv.Quote(key) + "]"
	case path == "":
		return key
	}
	return path + "." + key
}

// listKeys are the fields that identify the items of lists, the stronger first.
var listKeys = []string{"mountPath", "name", "id", "containerPort", "port", "source", "uid"}

// lists compares lists item by item where the items have an identity; it reports whether they
// have. A change of order alone shows as a change of the whole list.
func (d *differ) lists(path string, before, after []any) bool {
	for _, key := range listKeys {
		b, okB := byKey(before, key)
		a, okA := byKey(after, key)
		if !okB || !okA {
			continue
		}
		start := len(d.fields)
		seen := map[string]bool{}
		for _, item := range slices.Concat(before, after) {
			id := fmt.Sprint(item.(map[string]any)[key])
			if seen[id] {
				continue
			}
			seen[id] = true
			d.compare(path+"["+id+"]", b[id], a[id])
		}
		return len(d.fields) != start
	}
	return false
}

func byKey(list []any, key string) (map[string]any, bool) {
	out := map[string]any{}
	for _, item := range list {
		m, ok := item.(map[string]any)
		if !ok || m[key] == nil {
			return nil, false
		}
		id := fmt.Sprint(m[key])
		if _, twice := out[id]; twice {
			return nil, false
		}
		out[id] = m
	}
	return out, true
}

const masked = "***"

// secretPaths are where values may be secret: literal environment variables, request headers.
var secretPaths = regexp.MustCompile(`\.env(\[|$)|headers\.request\.(set|add)|\.http(\[|$)`)

// mask hides values that may be secret. That they differ is shown, as kubectl diff shows it.
func mask(f *Field) {
	if !secretPaths.MatchString(f.Path) {
		f.Before, f.After = maskNested(f.Before), maskNested(f.After)
		return
	}
	b, a := f.Before != nil, f.After != nil
	f.Before, f.After = maskAll(f.Before), maskAll(f.After)
	if s, ok := f.Before.(string); ok && b && a && f.After == s {
		f.Before, f.After = masked+" (before)", masked+" (after)"
	}
}

// maskNested hides the environment within a larger value, such as a whole container.
func maskNested(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, value := range v {
			if k == "env" || k == "headers" {
				out[k] = maskAll(value)
			} else {
				out[k] = maskNested(value)
			}
		}
		return out
	case []any:
		out := make([]any, 0, len(v))
		for _, value := range v {
			out = append(out, maskNested(value))
		}
		return out
	}
	return v
}

// open are the fields within a masked value that say what it is, and are no secret.
var open = map[string]bool{
	"name": true, "valueFrom": true, "match": true, "route": true, "rewrite": true, "remove": true,
}

func maskAll(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, value := range v {
			if open[k] {
				out[k] = value
			} else {
				out[k] = maskAll(value)
			}
		}
		return out
	case []any:
		out := make([]any, 0, len(v))
		for _, value := range v {
			out = append(out, maskAll(value))
		}
		return out
	case nil:
		return nil
	}
	return masked
}
