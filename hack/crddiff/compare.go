package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// comparison is a comparison in progress, and its result. It walks over plain data rather than over
// the Go types of apiextensions, so that a keyword which those types do not know is compared as well.
type comparison struct {
	// differences, one line each: the path, ours, theirs.
	differences []string
	// properties is the number of schema nodes that were compared, so that "0 differences" cannot be
	// the result of having looked at nothing.
	properties int
}

// compareFunc compares the values that the two sides have at a path.
type compareFunc func(path string, a, b any)

// compareAll compares definitions by name.
func compareAll(ours, published map[string]any) *comparison {
	c := &comparison{}
	c.entries("", ours, published, c.definition)
	return c
}

// ignore stands for a key that has no influence on what is accepted or shown.
var ignore compareFunc

func (c *comparison) definition(path string, a, b any) {
	c.keywords(path, a, b, map[string]compareFunc{
		"metadata": ignore, // who generated it; the name has already been compared
		"status":   ignore, // a definition read back from a cluster has one
		"spec":     c.spec,
	})
}

func (c *comparison) spec(path string, a, b any) {
	c.keywords(path, a, b, map[string]compareFunc{
		"versions": func(path string, a, b any) { c.entries(path, byName(a), byName(b), c.version) },
		"names": func(path string, a, b any) {
			c.keywords(path, a, b, map[string]compareFunc{"shortNames": c.set, "categories": c.set})
		},
	})
}

func (c *comparison) version(path string, a, b any) {
	c.keywords(path, a, b, map[string]compareFunc{
		"schema": func(path string, a, b any) { c.entries(path, a, b, c.schema) },
		// The order of columns is what a person sees.
		"additionalPrinterColumns": c.list(func(path string, a, b any) {
			c.keywords(path, a, b, map[string]compareFunc{"description": ignore})
		}),
	})
}

// schema compares a node of an OpenAPI schema. The keywords are those of JSONSchemaProps in
// apiextensions/v1; those that are not listed (types, limits, defaults, …) hold plain values.
//
// Below "properties" the keys are names of fields: a field may well be called "description".
func (c *comparison) schema(path string, a, b any) {
	c.properties++
	schemas := func(path string, a, b any) { c.entries(path, a, b, c.schema) }
	c.keywords(path, a, b, map[string]compareFunc{
		"description":  ignore,
		"example":      ignore,
		"title":        ignore,
		"externalDocs": ignore,

		"properties":           schemas,
		"patternProperties":    schemas,
		"definitions":          schemas,
		"items":                c.schemaOrValue,
		"not":                  c.schemaOrValue,
		"additionalProperties": c.schemaOrValue,
		"additionalItems":      c.schemaOrValue,
		"allOf":                c.list(c.schema),
		"anyOf":                c.list(c.schema),
		"oneOf":                c.list(c.schema),

		"required":                   c.set,
		"enum":                       c.set,
		"x-kubernetes-list-map-keys": c.set,
		// The order of rules is the order of the errors.
		"x-kubernetes-validations": c.list(func(path string, a, b any) { c.keywords(path, a, b, nil) }),
	})
}

// schemaOrValue compares what may be a schema or, as in additionalProperties, a boolean.
func (c *comparison) schemaOrValue(path string, a, b any) {
	if isMap(a) && isMap(b) {
		c.schema(path, a, b)
		return
	}
	c.value(path, a, b)
}

// keywords compares two objects key by key, each key in its own way: as listed, or as a plain value.
func (c *comparison) keywords(path string, a, b any, how map[string]compareFunc) {
	c.walk(path, a, b, func(key string) (compareFunc, bool) {
		compare, listed := how[key]
		if !listed {
			return c.value, true
		}
		return compare, compare != nil
	})
}

// entries compares two objects key by key, each key in the same way.
func (c *comparison) entries(path string, a, b any, compare compareFunc) {
	c.walk(path, a, b, func(string) (compareFunc, bool) { return compare, true })
}

// walk compares two objects key by key. A key that only one side has is one difference, however much
// there is below it.
func (c *comparison) walk(path string, a, b any, how func(key string) (compare compareFunc, matters bool)) {
	if !isMap(a) || !isMap(b) {
		c.value(path, a, b)
		return
	}
	am, bm := a.(map[string]any), b.(map[string]any)
	union := maps.Clone(am)
	maps.Copy(union, bm)
	for _, key := range slices.Sorted(maps.Keys(union)) {
		compare, matters := how(key)
		if !matters {
			continue
		}
		av, inA := am[key]
		bv, inB := bm[key]
		if inA && inB {
			compare(join(path, key), av, bv)
		} else {
			c.differ(join(path, key), av, bv)
		}
	}
}

// list returns a comparison of two lists, position by position.
func (c *comparison) list(compare compareFunc) compareFunc {
	return func(path string, a, b any) {
		as, aIsList := a.([]any)
		bs, bIsList := b.([]any)
		if !aIsList || !bIsList || len(as) != len(bs) {
			c.differ(path, a, b)
			return
		}
		for i := range as {
			compare(fmt.Sprintf("%s[%d]", path, i), as[i], bs[i])
		}
	}
}

// set compares two lists whose order has no meaning.
func (c *comparison) set(path string, a, b any) {
	if !slices.Equal(sorted(a), sorted(b)) {
		c.differ(path, a, b)
	}
}

// value compares two plain values.
func (c *comparison) value(path string, a, b any) {
	if !reflect.DeepEqual(a, b) {
		c.differ(path, a, b)
	}
}

func (c *comparison) differ(path string, a, b any) {
	c.differences = append(c.differences, fmt.Sprintf("%s: ours %s, published %s", path, short(a), short(b)))
}

func isMap(v any) bool {
	_, ok := v.(map[string]any)
	return ok
}

// byName turns a list of objects that have a "name" into a map.
func byName(list any) map[string]any {
	items, _ := list.([]any)
	m := make(map[string]any, len(items))
	for _, item := range items {
		object, _ := item.(map[string]any)
		name, _ := object["name"].(string)
		m[name] = item
	}
	return m
}

func sorted(list any) []string {
	items, _ := list.([]any)
	texts := make([]string, 0, len(items))
	for _, item := range items {
		texts = append(texts, full(item))
	}
	slices.Sort(texts)
	return texts
}

// join appends a key to a path, in the syntax of JSONPath.
func join(path, key string) string {
	switch {
	case path == "":
		return key
	case strings.ContainsAny(key, ".[]'"):
		return path + "['" + key + "']"
	default:
		return path + "." + key
	}
}

// full renders a value. It comes from YAML, so JSON can hold it.
func full(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(text)
}

// short renders a value for a line that a person reads.
func short(v any) string {
	if v == nil {
		return "absent"
	}
	text := []rune(full(v))
	if len(text) > 120 {
		return string(text[:117]) + "..."
	}
	return string(text)
}
