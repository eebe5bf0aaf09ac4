package config

import (
	"bytes"
	_ "embed" // the frame of the reference
	"fmt"
	"reflect"
	"slices"
	"strings"
	"text/template"
)

//go:embed reference.md.tmpl
var referenceText string

// Reference returns the documentation of every key as Markdown.
func Reference() []byte {
	return referenceOf(referenceText, reflect.TypeFor[file](), "alerting.alertmanagers[].tls")
}

// referenceOf puts the sections of a file's type into a frame, but for those at
// and below the paths that another section documents.
func referenceOf(frame string, file reflect.Type, elsewhere ...string) []byte {
	t := template.Must(template.New("reference").Parse(frame))
	sections := slices.DeleteFunc(sectionsOf("", file), func(s section) bool {
		return slices.ContainsFunc(elsewhere, func(path string) bool {
			return s.Path == path || strings.HasPrefix(s.Path, path+".")
		})
	})
	var out bytes.Buffer
	if err := t.Execute(&out, sections); err != nil {
		panic(err) // the template is part of the program
	}
	return out.Bytes()
}

// section documents the keys of one mapping.
type section struct {
	Path string
	Rows []row
}

// row documents one key.
type row struct {
	Key, Type, Default, Doc string
}

// sectionsOf lists the mapping at path, of type t, and those inside it.
func sectionsOf(path string, t reflect.Type) []section {
	sections := []section{{Path: path}}
	for _, f := range fieldsOf(t) {
		sections[0].Rows = append(sections[0].Rows, f.row())
		if at, inner := f.inner(path); inner != nil {
			sections = append(sections, sectionsOf(at, inner)...)
		}
	}
	return sections
}

func (f field) row() row {
	r := row{Key: f.name, Type: kindOf(f.typ), Doc: f.doc, Default: f.absent}
	switch {
	case f.required:
		r.Default = "**required**"
	case f.fallback != "":
		r.Default = code(f.fallback)
	}
	if len(f.enum) > 0 {
		r.Type = strings.ReplaceAll(r.Type, "text", "one of "+code(strings.Join(f.enum, "`, `")))
	}
	r.Doc += f.limits()
	if len(f.examples) > 0 {
		r.Doc += " Example: " + code(f.examples[0])
	}
	r.Doc = strings.ReplaceAll(r.Doc, "|", `\|`)
	return r
}

// limits says the bounds of a number or a duration.
func (f field) limits() string {
	if f.typ.Kind() == reflect.Slice {
		return ""
	}
	switch {
	case f.above != "" && f.max != "":
		return fmt.Sprintf(" Above %s, at most %s.", f.above, f.max)
	case f.min != "" && f.max != "":
		return fmt.Sprintf(" From %s to %s.", f.min, f.max)
	case f.min != "":
		return fmt.Sprintf(" At least %s.", f.min)
	}
	return ""
}

// kindOf names a type for readers of the documentation.
func kindOf(t reflect.Type) string {
	if s, ok := reflect.New(t).Interface().(scalar); ok {
		return s.kind()
	}
	switch t.Kind() {
	case reflect.Pointer:
		return kindOf(t.Elem())
	case reflect.Struct:
		return "mapping"
	case reflect.Slice:
		if t == reflect.TypeFor[selection]() {
			return "`\"*\"` or list of names"
		}
		return "list of " + strings.Replace(kindOf(t.Elem()), "mapping", "mappings", 1)
	case reflect.Map:
		if t.Elem().Kind() == reflect.String {
			return "mapping of text"
		}
		return "mapping of anything"
	case reflect.Bool:
		return "boolean"
	case reflect.Float64:
		return "number"
	case reflect.String:
		return "text"
	}
	return "integer"
}

func code(s string) string { return "`" + s + "`" }
