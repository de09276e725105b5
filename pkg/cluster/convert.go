package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// MalformedError says that a field of an object has another type than it must have. An API
// server does not let that happen; a manifest, or a CRD of another release, does.
type MalformedError struct {
	Kind, Namespace, Name string
	// Problem says what is wrong with which field.
	Problem string
}

func (e *MalformedError) Error() string {
	where := ""
	if e.Namespace != "" {
		where = fmt.Sprintf(" in namespace %q", e.Namespace)
	}
	return fmt.Sprintf("%s %q%s is malformed: %s", e.Kind, e.Name, where, e.Problem)
}

// ConvertAll turns unstructured objects into typed ones. Those that cannot be are left out,
// and the error has a MalformedError for each.
func ConvertAll[T any](items []unstructured.Unstructured) ([]T, error) {
	out := make([]T, 0, len(items))
	var malformed []error
	for i := range items {
		t, err := convert[T](&items[i])
		if err != nil {
			malformed = append(malformed, err)
			continue
		}
		out = append(out, *t)
	}
	return out, errors.Join(malformed...)
}

func convert[T any](u *unstructured.Unstructured) (*T, error) {
	t := new(T)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, t); err != nil {
		return nil, &MalformedError{u.GetKind(), u.GetNamespace(), u.GetName(), problem[T](u, err)}
	}
	return t, nil
}

// problem says what kept an object from being converted. The converter does not name the
// field; encoding/json does.
func problem[T any](u *unstructured.Unstructured, err error) string {
	text, marshalErr := json.Marshal(u.Object)
	var wrong *json.UnmarshalTypeError
	if marshalErr != nil || !errors.As(json.Unmarshal(text, new(T)), &wrong) {
		return err.Error()
	}
	return fmt.Sprintf("%s is %s where %s belongs", wrong.Field, jsonValue(wrong.Value), jsonType(wrong.Type))
}

func jsonValue(value string) string {
	switch value {
	case "array":
		return "a list"
	case "object":
		return "an object"
	case "bool":
		return "true or false"
	}
	return "a " + value
}

func jsonType(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "a string"
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Pointer:
		return jsonType(t.Elem())
	}
	return "a number"
}
