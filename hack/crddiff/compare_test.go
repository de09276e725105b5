package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// base has one of everything that the comparison distinguishes.
const base = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: things.example.com
  annotations: {generator: v1}
spec:
  group: example.com
  scope: Namespaced
  names:
    kind: Thing
    listKind: ThingList
    plural: things
    singular: thing
    shortNames: [th, tg]
  versions:
  - name: v1
    served: true
    storage: true
    subresources:
      status: {}
    additionalPrinterColumns:
    - {name: Size, type: integer, jsonPath: .spec.size, description: How big}
    - {name: Age, type: date, jsonPath: .metadata.creationTimestamp}
    schema:
      openAPIV3Schema:
        type: object
        description: A thing
        properties:
          spec:
            type: object
            required: [size, parts]
            x-kubernetes-validations:
            - {rule: self.size > 0, message: must be positive}
            - {rule: has(self.parts), message: must have parts}
            properties:
              size: {type: integer, format: int32, minimum: 0, maximum: 9, default: 1, example: 5}
              colour: {type: string, enum: [red, green], minLength: 1, maxLength: 8, pattern: '^[a-z]+$', nullable: true}
              description: {type: string}
              amount:
                x-kubernetes-int-or-string: true
                pattern: ^[0-9]+$
                anyOf:
                - type: integer
                - type: string
              labels: {type: object, additionalProperties: {type: string}, x-kubernetes-map-type: atomic}
              raw: {type: object, x-kubernetes-preserve-unknown-fields: true}
              parts:
                type: array
                minItems: 1
                maxItems: 4
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [a, b]
                items:
                  type: object
                  required: [a, b]
                  properties:
                    a: {type: string}
                    b: {type: string, default: ""}
`

// TestDifferences changes the definition in one aspect at a time, which must give exactly one
// difference, at the right place, in both directions.
func TestDifferences(t *testing.T) {
	const (
		version = "things.example.com.spec.versions.v1"
		spec    = version + ".schema.openAPIV3Schema.properties.spec"
		fields  = spec + ".properties"
	)
	cases := map[string]struct {
		old, new string
		path     string
	}{
		"group":                  {"group: example.com", "group: example.org", "things.example.com.spec.group"},
		"scope":                  {"scope: Namespaced", "scope: Cluster", "things.example.com.spec.scope"},
		"kind":                   {"kind: Thing\n", "kind: Thingy\n", "things.example.com.spec.names.kind"},
		"list kind":              {"listKind: ThingList", "listKind: Things", "things.example.com.spec.names.listKind"},
		"plural":                 {"plural: things", "plural: thingses", "things.example.com.spec.names.plural"},
		"singular":               {"singular: thing\n", "singular: thingy\n", "things.example.com.spec.names.singular"},
		"short name":             {"[th, tg]", "[th]", "things.example.com.spec.names.shortNames"},
		"deprecated":             {"served: true", "served: true\n    deprecated: true", version + ".deprecated"},
		"served":                 {"served: true", "served: false", version + ".served"},
		"storage":                {"storage: true", "storage: false", version + ".storage"},
		"no status subresource":  {"status: {}", "status: null", version + ".subresources"},
		"scale subresource":      {"status: {}", "status: {}\n      scale: {specReplicasPath: .spec.size}", version + ".subresources"},
		"column missing":         {"    - {name: Age, type: date, jsonPath: .metadata.creationTimestamp}\n", "", version + ".additionalPrinterColumns"},
		"column name":            {"name: Size", "name: Volume", version + ".additionalPrinterColumns[0].name"},
		"column type":            {"type: date", "type: string", version + ".additionalPrinterColumns[1].type"},
		"column path":            {"jsonPath: .spec.size", "jsonPath: .spec.colour", version + ".additionalPrinterColumns[0].jsonPath"},
		"column priority":        {"type: date", "priority: 1, type: date", version + ".additionalPrinterColumns[1].priority"},
		"property missing":       {"              description: {type: string}\n", "", fields + ".description"},
		"property renamed below": {"                    a: {type: string}\n", "", fields + ".parts.items.properties.a"},
		"type":                   {"description: {type: string}", "description: {type: integer}", fields + ".description.type"},
		"format":                 {"format: int32", "format: int64", fields + ".size.format"},
		"format missing":         {"format: int32, ", "", fields + ".size.format"},
		"required":               {"required: [size, parts]", "required: [size]", spec + ".required"},
		"required missing":       {"                  required: [a, b]\n", "", fields + ".parts.items.required"},
		"default":                {"default: 1", "default: 2", fields + ".size.default"},
		"default missing":        {", default: \"\"", "", fields + ".parts.items.properties.b.default"},
		"example is no default":  {"default: 1, example: 5", "example: 5", fields + ".size.default"},
		"enum":                   {"enum: [red, green]", "enum: [red]", fields + ".colour.enum"},
		"minimum":                {"minimum: 0", "minimum: 1", fields + ".size.minimum"},
		"exclusive minimum":      {"minimum: 0", "minimum: 0, exclusiveMinimum: true", fields + ".size.exclusiveMinimum"},
		"maximum":                {"maximum: 9", "maximum: 8", fields + ".size.maximum"},
		"minLength":              {"minLength: 1", "minLength: 2", fields + ".colour.minLength"},
		"maxLength":              {"maxLength: 8", "maxLength: 9", fields + ".colour.maxLength"},
		"minItems":               {"minItems: 1", "minItems: 2", fields + ".parts.minItems"},
		"maxItems":               {"maxItems: 4", "maxItems: 5", fields + ".parts.maxItems"},
		"pattern":                {"pattern: '^[a-z]+$'", "pattern: '^[a-y]+$'", fields + ".colour.pattern"},
		"nullable":               {", nullable: true", "", fields + ".colour.nullable"},
		"list type":              {"list-type: map", "list-type: set", fields + ".parts.x-kubernetes-list-type"},
		"list map keys":          {"list-map-keys: [a, b]", "list-map-keys: [a]", fields + ".parts.x-kubernetes-list-map-keys"},
		"map type":               {"map-type: atomic", "map-type: granular", fields + ".labels.x-kubernetes-map-type"},
		"values of a map":        {"additionalProperties: {type: string}", "additionalProperties: {type: integer}", fields + ".labels.additionalProperties.type"},
		"any values of a map":    {"additionalProperties: {type: string}", "additionalProperties: true", fields + ".labels.additionalProperties"},
		"int or string":          {"                x-kubernetes-int-or-string: true\n", "", fields + ".amount.x-kubernetes-int-or-string"},
		"anyOf":                  {"                - type: integer\n", "", fields + ".amount.anyOf"},
		"anyOf element":          {"                - type: integer\n", "                - type: number\n", fields + ".amount.anyOf[0].type"},
		"preserve unknown":       {", x-kubernetes-preserve-unknown-fields: true", "", fields + ".raw.x-kubernetes-preserve-unknown-fields"},
		"rule":                   {"rule: self.size > 0", "rule: self.size >= 0", spec + ".x-kubernetes-validations[0].rule"},
		"rule message":           {"message: must have parts", "message: needs parts", spec + ".x-kubernetes-validations[1].message"},
		"rule reason":            {"rule: self.size > 0", "reason: FieldValueInvalid, rule: self.size > 0", spec + ".x-kubernetes-validations[0].reason"},
		"rule missing":           {"            - {rule: has(self.parts), message: must have parts}\n", "", spec + ".x-kubernetes-validations"},
		"keyword not known here": {"raw: {type: object", "raw: {x-kubernetes-new: 1, type: object", fields + ".raw.x-kubernetes-new"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if n := strings.Count(base, tc.old); n != 1 {
				t.Fatalf("%q occurs %d times in the base", tc.old, n)
			}
			changed := strings.Replace(base, tc.old, tc.new, 1)
			for _, differences := range [][]string{
				compareAll(parse(t, base), parse(t, changed)).differences,
				compareAll(parse(t, changed), parse(t, base)).differences,
			} {
				if len(differences) != 1 {
					t.Fatalf("want one difference, got %q", differences)
				}
				if path, _, _ := strings.Cut(differences[0], ": ours "); path != tc.path && !strings.HasPrefix(path, tc.path+".") {
					t.Errorf("got a difference at %s, want it at %s", path, tc.path)
				}
			}
		})
	}
}

func TestMissingDefinition(t *testing.T) {
	got := compareAll(parse(t, base), map[string]any{}).differences
	if len(got) != 1 || !strings.HasPrefix(got[0], "things.example.com: ours {") || !strings.HasSuffix(got[0], "published absent") {
		t.Errorf("got %q", got)
	}
}

func TestNoDifference(t *testing.T) {
	cases := map[string]struct{ old, new string }{
		"same":                     {"", ""},
		"description":              {"description: A thing", "description: Something else"},
		"description missing":      {"        description: A thing\n", ""},
		"example":                  {", example: 5", ""},
		"generator":                {"{generator: v1}", "{generator: v2}"},
		"column description":       {", description: How big", ""},
		"order of required":        {"[size, parts]", "[parts, size]"},
		"order of enum":            {"[red, green]", "[green, red]"},
		"order of short names":     {"[th, tg]", "[tg, th]"},
		"order of keys":            {"[a, b]\n                items", "[b, a]\n                items"},
		"status of the definition": {"spec:\n  group", "status: {storedVersions: [v1]}\nspec:\n  group"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			changed := strings.Replace(base, tc.old, tc.new, 1)
			if tc.old != "" && changed == base {
				t.Fatalf("%q does not occur in the base", tc.old)
			}
			got := compareAll(parse(t, base), parse(t, changed))
			if len(got.differences) > 0 {
				t.Errorf("got %q", got.differences)
			}
			if want := 15; got.properties != want {
				t.Errorf("compared %d properties, want %d", got.properties, want)
			}
		})
	}
}

func TestRun(t *testing.T) {
	write := func(content string) string {
		dir := t.TempDir()
		if content != "" {
			if err := os.WriteFile(filepath.Join(dir, "crd.yaml"), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return dir
	}
	same, other := write(base), write(strings.Replace(base, "maximum: 9", "maximum: 8", 1))

	cases := map[string]struct {
		args    []string
		want    int
		wantOut string
	}{
		"equal":     {[]string{"--ours", same, "--published", same}, 0, "0 differences in 15 properties\n"},
		"different": {[]string{"--ours", same, "--published", other}, 1, ".properties.size.maximum: ours 9, published 8\n1 differences in 15 properties\n"},
		"no files":  {[]string{"--ours", same, "--published", write("")}, 2, ""},
		"not a CRD": {[]string{"--ours", same, "--published", write("kind: ConfigMap")}, 2, ""},
		"no flags":  {nil, 2, ""},
		"bad flag":  {[]string{"--theirs", same}, 2, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			if got := run(tc.args, &stdout, &stderr); got != tc.want {
				t.Errorf("exit code %d, want %d; stderr: %s", got, tc.want, &stderr)
			}
			if !strings.HasSuffix(stdout.String(), tc.wantOut) {
				t.Errorf("stdout %q, want it to end in %q", &stdout, tc.wantOut)
			}
			if (tc.want == 2) != (stderr.Len() > 0) {
				t.Errorf("exit code %d with stderr %q", tc.want, &stderr)
			}
		})
	}
}

func parse(t *testing.T, text string) map[string]any {
	t.Helper()
	var crd map[string]any
	if err := yaml.Unmarshal([]byte(text), &crd); err != nil {
		t.Fatal(err)
	}
	return map[string]any{"things.example.com": crd}
}
