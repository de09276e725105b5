package secretmount

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// operation is one step of a JSON Patch.
type operation struct {
	Op   string `json:"op"`
	Path string `json:"path"`
	// Value is written for every operation but remove. It is encoded as the server
	// encodes objects, so that the texts which a test compares are equal.
	Value json.RawMessage `json:"value,omitempty"`
}

// JSON Pointers (RFC 6901) to the parts that patches touch.
const (
	uidPointer         = "/metadata/uid"
	versionPointer     = "/metadata/resourceVersion"
	podTemplatePointer = "/spec/podTemplate"
	volumesPointer     = podTemplatePointer + "/volumes"
	secretsPointer     = volumesPointer + "/secrets"
)

func elementPointer(index int) string { return fmt.Sprintf("%s/%d", secretsPointer, index) }

// patchBuilder collects operations. The first error ends it.
type patchBuilder struct {
	operations []operation
	err        error
}

func (b *patchBuilder) test(pointer string, value any) { b.with("test", pointer, value) }
func (b *patchBuilder) add(pointer string, value any)  { b.with("add", pointer, value) }
func (b *patchBuilder) remove(pointer string) {
	b.operations = append(b.operations, operation{Op: "remove", Path: pointer})
}

func (b *patchBuilder) with(op, pointer string, value any) {
	raw, err := json.Marshal(value)
	if err != nil && b.err == nil {
		b.err = fmt.Errorf("cannot encode %s: %w", pointer, err)
	}
	b.operations = append(b.operations, operation{op, pointer, raw})
}

// testUID makes a patch fail on another Workspace that has taken the name. A
// manifest has no uid.
func (b *patchBuilder) testUID(workspace map[string]any) {
	metadata, _ := workspace["metadata"].(map[string]any)
	if uid, ok := metadata["uid"]; ok && uid != nil {
		b.test(uidPointer, uid)
	}
}

// testUnchanged makes a patch fail if a part of the Workspace is not as it was read. API
// servers compare with a library that panics on a null in a list, as there may be in fields
// that this program does not know. Where there is one, the whole Workspace must be as it was.
func (b *patchBuilder) testUnchanged(workspace map[string]any, pointer string, value any) {
	metadata, _ := workspace["metadata"].(map[string]any)
	if version, ok := metadata["resourceVersion"].(string); ok && listsNull(value) {
		b.test(versionPointer, version)
		return
	}
	b.test(pointer, value)
}

// listsNull reports whether a null is in a list anywhere in v.
func listsNull(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for _, item := range v {
			if listsNull(item) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, func(item any) bool { return item == nil || listsNull(item) })
	}
	return false
}

// Patch returns the JSON Patch of the edit; nil if there is nothing to write.
func (e Edit) Patch() ([]byte, error) {
	if len(e.operations) == 0 {
		return nil, nil
	}
	return json.Marshal(e.operations)
}

// Apply returns what the patch makes of a Workspace, which is not changed. It fails
// where the server would refuse the patch, too: when a tested value differs.
func (e Edit) Apply(workspace map[string]any) (map[string]any, error) {
	current, err := json.Marshal(workspace)
	if err != nil {
		return nil, fmt.Errorf("cannot encode the Workspace: %w", err)
	}
	var result map[string]any
	decode := func() error {
		result = nil
		if err := utiljson.Unmarshal(current, &result); err != nil {
			return fmt.Errorf("cannot decode the Workspace: %w", err)
		}
		return nil
	}
	if err := decode(); err != nil {
		return nil, err
	}
	for _, o := range e.operations {
		// Not a test: that of the library panics on a null in a list.
		if o.Op == "test" {
			if err := o.check(result); err != nil {
				return nil, err
			}
			continue
		}
		raw, err := json.Marshal([]operation{o})
		if err != nil {
			return nil, fmt.Errorf("cannot build the patch: %w", err)
		}
		step, err := jsonpatch.DecodePatch(raw)
		if err != nil {
			return nil, fmt.Errorf("cannot build the patch: %w", err)
		}
		if current, err = step.Apply(current); err != nil {
			return nil, fmt.Errorf("the patch does not apply: %w", err)
		}
		if err := decode(); err != nil {
			return nil, err
		}
	}
	return result, nil
}

// check compares a tested value.
func (o operation) check(object map[string]any) error {
	var want any
	if err := utiljson.Unmarshal(o.Value, &want); err != nil {
		return fmt.Errorf("cannot decode the patch: %w", err)
	}
	var have any = object
	for _, token := range strings.Split(o.Path, "/")[1:] {
		switch v := have.(type) {
		case map[string]any:
			have = v[token]
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(v) {
				return fmt.Errorf("the patch does not apply: there is no %s", o.Path)
			}
			have = v[i]
		default:
			have = nil
		}
	}
	if !reflect.DeepEqual(have, want) {
		return fmt.Errorf("the patch does not apply: %s is not what it was", o.Path)
	}
	return nil
}
