package config

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"

	"go.yaml.in/yaml/v3"
)

// Schema returns the JSON Schema (draft 2020-12) of a configuration file. It
// knows the shape of each key; what concerns several keys at once is checked by
// Load alone.
func Schema() []byte { return schemaOf(reflect.TypeFor[file](), "Configuration of synthetic") }

func schemaOf(t reflect.Type, title string) []byte {
	s := schemaOfStruct(t)
	s["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	s["title"] = title
	out, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		panic(err) // only maps, slices, texts and numbers are in it
	}
	return append(out, '\n')
}

func schemaOfStruct(t reflect.Type) map[string]any {
	properties, required := map[string]any{}, []string{}
	groups := map[string][]string{}
	for _, f := range fieldsOf(t) {
		properties[f.name] = schemaOfField(f)
		if f.required {
			required = append(required, f.name)
		}
		if f.group != "" {
			groups[f.group] = append(groups[f.group], f.name)
		}
	}
	s := map[string]any{"type": "object", "additionalProperties": false, "properties": properties}
	if len(required) > 0 {
		s["required"] = required
	}
	if rules := exclusions(groups); len(rules) > 0 {
		s["allOf"] = rules
	}
	return s
}

// exclusions says that no two keys of a group stand together.
func exclusions(groups map[string][]string) []any {
	var rules []any
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		keys := groups[name]
		for i, a := range keys {
			for _, b := range keys[i+1:] {
				rules = append(rules, map[string]any{"not": map[string]any{"required": []string{a, b}}})
			}
		}
	}
	return rules
}

// schemaOfField adds to the schema of the field's type what its tags say.
func schemaOfField(f field) map[string]any {
	s := schemaOfType(f.typ, f)
	s["description"] = f.doc
	if f.fallback != "" {
		s["default"] = literal(f.fallback)
	}
	for _, e := range f.examples {
		examples, _ := s["examples"].([]any)
		s["examples"] = append(examples, literal(e))
	}
	for key, text := range map[string]string{"minimum": f.min, "maximum": f.max, "exclusiveMinimum": f.above} {
		if text == "" {
			continue
		}
		switch s["type"] {
		case "integer", "number":
			s[key] = literal(text)
		case "array":
			s["minItems"] = literal(text)
		}
	}
	return s
}

func schemaOfType(t reflect.Type, f field) map[string]any {
	if s, ok := reflect.New(t).Interface().(scalar); ok {
		return s.schema()
	}
	switch t.Kind() {
	case reflect.Pointer:
		return schemaOfType(t.Elem(), f)
	case reflect.Struct:
		return schemaOfStruct(t)
	case reflect.Slice:
		s := map[string]any{"type": "array", "items": schemaOfType(t.Elem(), field{enum: f.enum})}
		if t == reflect.TypeFor[selection]() {
			s["minItems"] = 1
			return map[string]any{"oneOf": []any{map[string]any{"const": everything}, s}}
		}
		return s
	case reflect.Map:
		if t.Elem().Kind() == reflect.String {
			return map[string]any{"type": "object", "additionalProperties": map[string]any{"type": "string", "minLength": 1}}
		}
		return map[string]any{"type": "object", "propertyNames": map[string]any{"not": map[string]any{"enum": ownFields()}}}
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.Float64:
		return map[string]any{"type": "number"}
	case reflect.String:
		if len(f.enum) > 0 {
			return map[string]any{"enum": f.enum}
		}
		return map[string]any{"type": "string", "minLength": 1}
	case reflect.Uint64:
		return map[string]any{"type": "integer", "minimum": 0}
	}
	return map[string]any{"type": "integer"}
}

// literal is a value of a tag as JSON has it.
func literal(text string) any {
	var v any
	if text == everything || yaml.Unmarshal([]byte(text), &v) != nil {
		return text
	}
	return v
}
