package config

import (
	"reflect"
	"strconv"
	"strings"
)

// field is one key of a mapping, as the tags of a struct describe it.
type field struct {
	name, doc, fallback, absent string
	min, max, above, group      string
	enum, examples              []string
	required, secret            bool
	typ                         reflect.Type
	index                       []int
}

// fieldsOf lists the keys of a struct type in order, those of embedded structs
// included.
func fieldsOf(t reflect.Type) []field {
	var fields []field
	for _, sf := range reflect.VisibleFields(t) {
		name := sf.Tag.Get("yaml")
		if name == "" {
			continue
		}
		required, _ := strconv.ParseBool(sf.Tag.Get("required"))
		secret, _ := strconv.ParseBool(sf.Tag.Get("secret"))
		fields = append(fields, field{
			name:     name,
			doc:      strings.ReplaceAll(sf.Tag.Get("doc"), "~", "`"),
			fallback: sf.Tag.Get("default"),
			absent:   strings.ReplaceAll(sf.Tag.Get("absent"), "~", "`"),
			min:      sf.Tag.Get("min"),
			max:      sf.Tag.Get("max"),
			above:    sf.Tag.Get("above"),
			group:    sf.Tag.Get("group"),
			enum:     split(sf.Tag.Get("enum"), ","),
			examples: split(sf.Tag.Get("examples"), " | "),
			required: required,
			secret:   secret,
			typ:      sf.Type,
			index:    sf.Index,
		})
	}
	return fields
}

// split is strings.Split, except that nothing has no parts.
func split(s, sep string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, sep)
}

// example says how a value may be written, for a remedy.
func (f field) example() string {
	switch {
	case len(f.enum) > 0:
		return "write one of " + strings.Join(f.enum, ", ")
	case len(f.examples) > 0:
		return "write for example " + f.name + ": " + f.examples[0]
	case f.fallback != "":
		return "write for example " + f.name + ": " + f.fallback
	}
	return ""
}

// inner returns the path and the type of the mappings that the field holds; nil
// when it holds none. The keys of a pointer are those of another mapping and
// do not count.
func (f field) inner(path string) (string, reflect.Type) {
	t, at := f.typ, join(path, f.name)
	if t.Kind() == reflect.Slice {
		t, at = t.Elem(), at+"[]"
	}
	if _, single := reflect.New(t).Interface().(scalar); single || t.Kind() != reflect.Struct {
		return at, nil
	}
	return at, t
}

// names lists the keys of fields.
func names(fields []field) []string {
	out := make([]string, len(fields))
	for i, f := range fields {
		out[i] = f.name
	}
	return out
}
