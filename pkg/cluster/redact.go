package cluster

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Redacted stands in a snapshot for what nobody else should read; see masks.
const Redacted = "<redacted>"

// dropBookkeeping takes out of an object what repeats the rest of it.
func dropBookkeeping(u *unstructured.Unstructured) {
	u.SetManagedFields(nil)
	if a := u.GetAnnotations(); a != nil {
		delete(a, "kubectl.kubernetes.io/last-applied-configuration")
		if len(a) == 0 {
			a = nil
		}
		u.SetAnnotations(a)
	}
}

// masks replace the values of environment variables. Two values of a variable have the
// same mask if and only if they are the same: that a Pod differs from its template must
// be seen in a snapshot too. The mask is a hash with a key that nobody keeps, so that it
// cannot be found by trying values; it covers the name of the variable, so that nobody
// sees that two variables share a value.
type masks struct {
	key []byte
	// rendered are the variables whose values the Workspace controller makes from
	// templates of a WorkspaceKind. What it makes differs from the template by nature, and
	// must not look like a change: these have one mask for all values.
	rendered map[string]bool
}

func newMasks() masks {
	key := make([]byte, sha256.Size)
	rand.Read(key) // never fails
	return masks{key, map[string]bool{}}
}

// learn looks for templates in a WorkspaceKind.
func (m masks) learn(u *unstructured.Unstructured) {
	if u.GetKind() != WorkspaceKinds.Kind {
		return
	}
	eachVariable(u.Object, func(name string, variable map[string]any) {
		if value, _ := variable["value"].(string); strings.Contains(value, "{{") {
			m.rendered[name] = true
		}
	})
}

// apply masks the values in every list of environment variables of an object.
func (m masks) apply(u *unstructured.Unstructured) {
	if u.GetKind() == Events.Kind {
		return
	}
	eachVariable(u.Object, func(name string, variable map[string]any) {
		switch value := variable["value"]; {
		case value == nil, value == "": // which says that there is none
		case m.rendered[name]:
			variable["value"] = Redacted
		default:
			hash := hmac.New(sha256.New, m.key)
			fmt.Fprintf(hash, "%s\x00%v", name, value)
			variable["value"] = fmt.Sprintf("%s-%x>", strings.TrimSuffix(Redacted, ">"), hash.Sum(nil)[:4])
		}
	})
}

// eachVariable visits the environment variables below v, whether of a Pod, of a template
// or of a WorkspaceKind.
func eachVariable(v any, visit func(name string, variable map[string]any)) {
	switch v := v.(type) {
	case map[string]any:
		for key, item := range v {
			if list, isList := item.([]any); isList && (key == "env" || key == "extraEnv") {
				for _, e := range list {
					if variable, ok := e.(map[string]any); ok {
						name, _ := variable["name"].(string)
						visit(name, variable)
					}
				}
			}
			eachVariable(item, visit)
		}
	case []any:
		for _, item := range v {
			eachVariable(item, visit)
		}
	}
}
