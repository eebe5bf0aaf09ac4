package yamlform

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Document is what people read about a file.
type Document struct {
	// File is the struct of the file.
	File reflect.Type
	// Title heads the schema, Intro the reference.
	Title, Intro string
	// Elsewhere are paths whose keys another section documents.
	Elsewhere []string
	// Texts say what each key means, by the names of its struct type and of the
	// key: "fileTarget.name". What an absent key means follows after "Absent: ",
	// where that is not its default.
	Texts map[string]string
}

// NewDocument describes files of the form T. texts has a heading "## TYPE" for
// each struct type, and below it an item "- KEY: TEXT" for each of its keys. What
// is indented goes on with a text. The reference leaves out what is elsewhere.
func NewDocument[T any](title, intro, texts string, elsewhere ...string) Document {
	return Document{reflect.TypeFor[T](), title, intro, elsewhere, textsOf(texts)}
}

func textsOf(list string) map[string]string {
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

// Text is what a key means, and what its absence does where that is no default.
func (d Document) Text(k Field) (text, absent string) {
	text, absent, _ = strings.Cut(d.Texts[k.owner+"."+k.Name], " Absent: ")
	return text, absent
}

// Schema returns the JSON Schema (draft 2020-12) of the file. It knows the shape
// of each key; what concerns several keys at once is checked by the reader
// alone.
func (d Document) Schema() []byte {
	s := d.mapping(d.File)
	s["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	s["title"] = d.Title
	out, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		panic(err) // only maps, slices, texts and numbers are in it
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
			// No two keys of a group stand together.
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

// key adds to the schema of a key's type what its tags say.
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
			s["minItems"] = literal(text)
		}
	}
	return s
}

// describe names a type for readers of the reference, and gives its schema.
func (d Document) describe(t reflect.Type, enum []string) (kind string, schema map[string]any) {
	if own, ok := as[described](reflect.New(t).Interface()); ok {
		return own.Describe()
	}
	switch t.Kind() {
	case reflect.Pointer:
		return d.describe(t.Elem(), enum)
	case reflect.Struct:
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

// literal is a value of a tag as JSON has it.
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

// list documents the keys of the mapping at path, of type t, and those of the
// mappings inside it. What a type has is said where it is first, which listed knows.
func (d Document) list(out *strings.Builder, path string, t reflect.Type, listed map[reflect.Type]string) {
	title := "Top level"
	if path != "" {
		title = code(path)
	}
	fmt.Fprintf(out, "\n## %s\n\n", title)
	if first, ok := listed[t]; ok {
		fmt.Fprintf(out, "The keys of %s.\n", code(first))
		return
	}
	listed[t] = path
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
			d.list(out, at, inner, listed)
		}
	}
}

// limits says the bounds of a number or a duration.
func (k Field) limits() string {
	switch {
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
