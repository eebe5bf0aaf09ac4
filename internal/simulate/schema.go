package simulate

import (
	"encoding/json"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
)

// instance returns a value, as JSON, that fits a JSON schema. It supports what schemas of answers and
// tools usually contain, and returns a string for the rest.
func instance(schema json.RawMessage, r *rand.Rand) string {
	var root map[string]any
	if json.Unmarshal(schema, &root) != nil {
		root = map[string]any{"type": "object"}
	}
	left := maxValues
	return encode(sampler{root: root, rand: r, valuesLeft: &left}.value(root))
}

// Clients choose schemas, so the size of an instance is limited: in values, and in bytes per string.
const maxValues, maxText = 4096, 4096

// sampler draws values that fit a schema.
type sampler struct {
	root       map[string]any
	rand       *rand.Rand
	depth      int
	valuesLeft *int
}

func (s sampler) value(schema map[string]any) any {
	if s.depth++; s.depth > 16 {
		return nil // the schema contains itself
	}
	*s.valuesLeft--
	schema = s.resolved(schema)
	if v, ok := schema["const"]; ok {
		return v
	}
	if all, ok := schema["enum"].([]any); ok && len(all) > 0 {
		return all[s.rand.IntN(len(all))]
	}
	kind := schema["type"]
	if several, ok := kind.([]any); ok && len(several) > 0 {
		kind = several[0]
	}
	switch kind {
	case "object":
		return s.object(schema)
	case "array":
		return s.array(schema)
	case "integer":
		return math.Ceil(s.number(schema))
	case "number":
		return s.number(schema)
	case "boolean":
		return s.rand.IntN(2) == 0
	case "null":
		return nil
	}
	if schema["properties"] != nil {
		return s.object(schema)
	}
	return s.text(schema)
}

// resolved follows references and takes the first alternative of anyOf, oneOf and allOf.
func (s sampler) resolved(schema map[string]any) map[string]any {
	for range 8 { // a circle of references is left as it is
		next, _ := schema["$ref"].(string)
		if path, ok := strings.CutPrefix(next, "#"); ok {
			schema = s.root
			for part := range strings.SplitSeq(path, "/") {
				if part != "" {
					schema, _ = schema[part].(map[string]any)
				}
			}
			continue
		}
		alternative := schema
		for _, key := range []string{"anyOf", "oneOf", "allOf"} {
			if all, ok := schema[key].([]any); ok && len(all) > 0 {
				alternative, _ = all[0].(map[string]any)
			}
		}
		schema = alternative
	}
	return schema
}

// object draws all properties, so that strict readers accept the object, too. Deep inside a schema
// that may contain itself, it draws only the required ones.
func (s sampler) object(schema map[string]any) any {
	out := map[string]any{}
	properties, _ := schema["properties"].(map[string]any)
	required, _ := schema["required"].([]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if s.depth > 4 && !slices.Contains(required, any(name)) {
			continue
		}
		if *s.valuesLeft <= 0 {
			break
		}
		part, _ := properties[name].(map[string]any)
		out[name] = s.value(part)
	}
	return out
}

func (s sampler) array(schema map[string]any) any {
	items, _ := schema["items"].(map[string]any)
	out := []any{}
	for n := bound(schema, "minItems", 1); float64(len(out)) < n && *s.valuesLeft > 0; {
		out = append(out, s.value(items))
	}
	return out
}

// number draws a number between the bounds. Without bounds it is small.
func (s sampler) number(schema map[string]any) float64 {
	low := bound(schema, "minimum", bound(schema, "exclusiveMinimum", -1)+1)
	high := bound(schema, "maximum", bound(schema, "exclusiveMaximum", low+100)-1)
	return math.Floor(low + s.rand.Float64()*max(high-low, 0))
}

// text draws two words, or more if the schema requires a longer text.
func (s sampler) text(schema map[string]any) string {
	a := newAnswer(s.rand.Uint64(), 0)
	text := strings.TrimSpace(string(append(a.word(), a.word()...)))
	for float64(len(text)) < min(bound(schema, "minLength", 0), maxText) {
		text += string(a.word())
	}
	return text[:int(min(float64(len(text)), max(bound(schema, "maxLength", float64(len(text))), 0)))]
}

// bound returns a number of a schema, or fallback if the schema does not have it.
func bound(schema map[string]any, key string, fallback float64) float64 {
	if v, ok := schema[key].(float64); ok {
		return v
	}
	return fallback
}
