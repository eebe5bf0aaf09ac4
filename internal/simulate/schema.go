package simulate

import (
	"encoding/json"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
)

// instance returns a value, as JSON, that fits a JSON schema: one of those that
// people write for answers and tools. What it does not know it takes for text.
func instance(schema json.RawMessage, r *rand.Rand) string {
	var root map[string]any
	if json.Unmarshal(schema, &root) != nil {
		root = map[string]any{"type": "object"}
	}
	left := mostValues
	return encode(sampler{root: root, rand: r, left: &left}.value(root))
}

// mostValues and mostText, in bytes, bound what a schema may ask for: it comes from
// whoever sends requests.
const mostValues, mostText = 4096, 4096

// sampler draws values that fit.
type sampler struct {
	root  map[string]any
	rand  *rand.Rand
	depth int
	// left is how many values may still be drawn.
	left *int
}

// value is one that fits a part of the schema.
func (s sampler) value(schema map[string]any) any {
	if s.depth++; s.depth > 16 {
		return nil // the schema contains itself
	}
	*s.left--
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

// resolved follows references, and takes the first of several ways.
func (s sampler) resolved(schema map[string]any) map[string]any {
	for range 8 { // deeper, or in a circle, it stays as it is
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
		ways := schema
		for _, key := range []string{"anyOf", "oneOf", "allOf"} {
			if all, ok := schema[key].([]any); ok && len(all) > 0 {
				ways, _ = all[0].(map[string]any)
			}
		}
		schema = ways
	}
	return schema
}

// object has all properties, so that a strict reader is content as well; deep
// inside one that may go on for ever, only those that it needs.
func (s sampler) object(schema map[string]any) any {
	out := map[string]any{}
	properties, _ := schema["properties"].(map[string]any)
	required, _ := schema["required"].([]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if s.depth > 4 && !slices.Contains(required, any(name)) {
			continue
		}
		if *s.left <= 0 {
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
	for n := bound(schema, "minItems", 1); float64(len(out)) < n && *s.left > 0; {
		out = append(out, s.value(items))
	}
	return out
}

// number lies between the bounds; without them it is small.
func (s sampler) number(schema map[string]any) float64 {
	least := bound(schema, "minimum", bound(schema, "exclusiveMinimum", -1)+1)
	most := bound(schema, "maximum", bound(schema, "exclusiveMaximum", least+100)-1)
	return math.Floor(least + s.rand.Float64()*max(most-least, 0))
}

// text is as long as it has to be: two words, if that is open.
func (s sampler) text(schema map[string]any) string {
	a := newAnswer(s.rand.Uint64(), 0)
	text := strings.TrimSpace(string(append(a.word(), a.word()...)))
	for float64(len(text)) < min(bound(schema, "minLength", 0), mostText) {
		text += string(a.word())
	}
	return text[:int(min(float64(len(text)), max(bound(schema, "maxLength", float64(len(text))), 0)))]
}

// bound is a number of a schema, or what holds without it.
func bound(schema map[string]any, key string, otherwise float64) float64 {
	if v, ok := schema[key].(float64); ok {
		return v
	}
	return otherwise
}
