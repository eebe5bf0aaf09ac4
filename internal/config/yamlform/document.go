package yamlform

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// Document is the documentation of a file.
type Document struct {
	// File is the struct type of the file.
	File reflect.Type
	// Title is the title of the schema, Intro the beginning of the reference.
	Title, Intro string
	// Elsewhere holds paths of mappings whose keys another section documents.
	Elsewhere []string
	// Texts holds the description of each key by struct type and key, such as "fileTarget.name". After
	// "Absent: " follows the meaning of an absent key without a default.
	Texts map[string]string
	kinds map[reflect.Type]Kind
}

// Kind is a type in the documentation: its name in the reference, and its JSON Schema.
type Kind struct {
	Name   string
	Schema map[string]any
}

// TextKind returns the kind of a text that must satisfy a keyword of JSON Schema.
func TextKind(name, keyword string, value any) Kind {
	return Kind{name, map[string]any{"type": "string", keyword: value}}
}

// NewDocument documents files of type T. texts has a heading "## TYPE" for each struct type, followed by an
// item "- KEY: TEXT" for each key. Indented lines continue an item. own describes types that are no basic type of Go.
// The reference omits the keys of mappings whose paths are in elsewhere.
func NewDocument[T any](title, intro, texts string, own map[reflect.Type]Kind, elsewhere ...string) Document {
	names := map[string]any{"type": "array", "items": map[string]any{"type": "string", "minLength": 1}, "minItems": 1}
	fraction := map[string]any{"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}
	percentage := map[string]any{"type": "string", "pattern": `^[0-9]*\.?[0-9]+ ?%$`}
	kinds := map[reflect.Type]Kind{
		reflect.TypeFor[time.Duration](): TextKind("duration", "pattern", `^([0-9]+(y|w|d|h|m|s|ms))+$`),
		reflect.TypeFor[Selection]():     {"`\"*\"` or list of names", map[string]any{"oneOf": []any{map[string]any{"const": Everything}, names}}},
		reflect.TypeFor[Share]():         {"share", map[string]any{"oneOf": []any{fraction, percentage}}},
	}
	maps.Copy(kinds, own)
	return Document{reflect.TypeFor[T](), title, intro, elsewhere, parseTexts(texts), kinds}
}

func parseTexts(list string) map[string]string {
	texts, owner, key := map[string]string{}, "", ""
	for line := range strings.Lines(list) {
		if name, ok := strings.CutPrefix(line, "## "); ok {
			owner = strings.TrimSpace(name)
		} else if item, ok := strings.CutPrefix(line, "- "); ok {
			name, text, _ := strings.Cut(item, ": ")
			key = owner + "." + name
			texts[key] = strings.TrimSpace(text)
		} else if strings.HasPrefix(line, "  ") {
			texts[key] += " " + strings.TrimSpace(line)
		}
	}
	return texts
}

// Text returns the description of a key, and the meaning of its absence.
func (d Document) Text(k Field) (text, absent string) {
	text, absent, _ = strings.Cut(d.Texts[k.owner+"."+k.Name], " Absent: ")
	return text, absent
}

// Schema returns the JSON Schema (draft 2020-12) of the file. It describes single keys; only the
// reader checks keys against each other.
func (d Document) Schema() []byte {
	s := d.mapping(d.File)
	s["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	s["title"] = d.Title
	out, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		panic(err) // it holds only maps, slices, texts and numbers
	}
	return append(out, '\n')
}

func (d Document) mapping(t reflect.Type) map[string]any {
	properties, required, exclusions := map[string]any{}, []string{}, []any{}
	fields := Fields(t)
	for i, k := range fields {
		properties[k.Name] = d.key(k)
		if k.Required {
			required = append(required, k.Name)
		}
		for _, other := range fields[i+1:] {
			if k.group != "" && k.group == other.group {
				exclusions = append(exclusions, map[string]any{"not": map[string]any{"required": []string{k.Name, other.Name}}})
			}
		}
	}
	s := map[string]any{"type": "object", "additionalProperties": false, "properties": properties}
	if len(required) > 0 {
		s["required"] = required
	}
	if len(exclusions) > 0 {
		s["allOf"] = exclusions
	}
	return s
}

// key returns the schema of a key, from its type and its tags.
func (d Document) key(k Field) map[string]any {
	_, s := d.describe(k.Type, k.Enum)
	s["description"], _ = d.Text(k)
	if k.Default != "" {
		s["default"] = literal(k.Default)
	}
	for _, e := range k.Examples {
		examples, _ := s["examples"].([]any)
		s["examples"] = append(examples, literal(e))
	}
	for word, text := range map[string]string{"minimum": k.min, "maximum": k.max, "exclusiveMinimum": k.above} {
		switch {
		case text == "":
		case s["type"] == "integer" || s["type"] == "number":
			s[word] = literal(text)
		case s["type"] == "array":
			s[map[string]string{"minimum": "minItems", "maximum": "maxItems"}[word]] = literal(text)
		}
	}
	return s
}

// describe returns the name of a type in the reference, and its schema.
func (d Document) describe(t reflect.Type, enum []string) (kind string, schema map[string]any) {
	if own, ok := d.kinds[t]; ok {
		return own.Name, maps.Clone(own.Schema)
	}
	if _, ok := asScalar(reflect.New(t).Interface()); ok {
		panic("no kind describes " + t.String()) // a mistake of this program, which every test of a reference finds
	}
	switch t.Kind() {
	case reflect.Pointer:
		return d.describe(t.Elem(), enum)
	case reflect.Struct:
		if short, ok := shortForm(t); ok {
			kind, scalar := d.describe(short.Type, short.Enum)
			return kind + " or mapping", map[string]any{"oneOf": []any{scalar, d.mapping(t)}}
		}
		return "mapping", d.mapping(t)
	case reflect.Slice:
		kind, items := d.describe(t.Elem(), enum)
		return "list of " + strings.Replace(kind, "mapping", "mappings", 1), map[string]any{"type": "array", "items": items}
	case reflect.Map:
		if t.Elem().Kind() == reflect.String {
			return "mapping of text", map[string]any{"type": "object", "additionalProperties": map[string]any{"type": "string", "minLength": 1}}
		}
		return "mapping of anything", map[string]any{"type": "object"}
	case reflect.Bool:
		return "boolean", map[string]any{"type": "boolean"}
	case reflect.Float64:
		return "number", map[string]any{"type": "number"}
	case reflect.String:
		if len(enum) > 0 {
			return "one of " + code(strings.Join(enum, "`, `")), map[string]any{"enum": enum}
		}
		return "text", map[string]any{"type": "string", "minLength": 1}
	case reflect.Uint64:
		return "integer", map[string]any{"type": "integer", "minimum": 0}
	}
	return "integer", map[string]any{"type": "integer"}
}

// literal returns the value of a struct tag for JSON.
func literal(text string) any {
	var v any
	if text == Everything || yaml.Unmarshal([]byte(text), &v) != nil {
		return text
	}
	return v
}

// Reference returns the documentation of every key as Markdown.
func (d Document) Reference() []byte {
	out := strings.Builder{}
	out.WriteString(d.Intro)
	d.list(&out, "", d.File, map[reflect.Type]string{})
	return []byte(out.String())
}

// list documents the keys of the mapping at path, of type t, and of the mappings inside it. documented maps
// the types so far to their first path, for references from later mappings.
func (d Document) list(out *strings.Builder, path string, t reflect.Type, documented map[reflect.Type]string) {
	title := "Top level"
	if path != "" {
		title = code(path)
	}
	fmt.Fprintf(out, "\n## %s\n\n", title)
	if first, ok := documented[t]; ok {
		fmt.Fprintf(out, "The keys of %s.\n", code(first))
		return
	}
	documented[t] = path
	fields := Fields(t)
	for _, k := range fields {
		kind, _ := d.describe(k.Type, k.Enum)
		text, absent := d.Text(k)
		switch {
		case k.Required:
			absent = "**required**"
		case k.Default != "":
			absent = code(k.Default)
		}
		text += k.limits()
		if len(k.Examples) > 0 {
			text += " Example: " + code(k.Examples[0])
		}
		fmt.Fprintf(out, "- **`%s`** (%s; %s): %s\n", k.Name, kind, absent, text)
	}
	for _, k := range fields {
		if at, inner := k.Inner(path); inner != nil && !slices.Contains(d.Elsewhere, at) {
			d.list(out, at, inner, documented)
		}
	}
}

// limits describes the bounds of a number or a duration.
func (k Field) limits() string {
	switch {
	case k.Type.Kind() == reflect.Slice && k.max != "":
		return fmt.Sprintf(" At most %s items.", k.max)
	case k.Type.Kind() == reflect.Slice:
	case k.above != "" && k.max != "":
		return fmt.Sprintf(" Above %s, at most %s.", k.above, k.max)
	case k.min != "" && k.max != "":
		return fmt.Sprintf(" From %s to %s.", k.min, k.max)
	case k.min != "":
		return fmt.Sprintf(" At least %s.", k.min)
	}
	return ""
}

func code(s string) string { return "`" + s + "`" }
