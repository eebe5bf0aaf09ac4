package yamlform

import (
	"reflect"
	"slices"
	"strings"
	"sync"
)

// Field is one key of a mapping, as the tags of a struct field describe it.
type Field struct {
	Name, Default          string
	Enum, Examples         []string
	Required               bool
	Type                   reflect.Type
	owner                  string // the name of the struct type
	min, max, above, group string
	secret                 bool
	// short marks the key of a mapping that can be written as this key's value alone.
	short bool
	index []int
}

// knownFields holds the results of Fields by type.
var knownFields sync.Map

// Fields lists the keys of a struct type and of its embedded structs, in order. Do not change the result.
func Fields(t reflect.Type) []Field {
	if known, ok := knownFields.Load(t); ok {
		return known.([]Field)
	}
	var fields []Field
	for _, sf := range reflect.VisibleFields(t) {
		name, hasYAML := sf.Tag.Lookup("yaml")
		if !hasYAML {
			name, _, _ = strings.Cut(sf.Tag.Get("json"), ",")
		}
		if name == "" {
			continue
		}
		owner := t
		for _, i := range sf.Index[:len(sf.Index)-1] {
			owner = owner.Field(i).Type
		}
		tag := sf.Tag.Get
		fields = append(fields, Field{
			Name: name, Default: tag("default"), Required: tag("required") == "true",
			Enum: append(split(tag("enum"), ","), valuesOf(sf.Type)...), Examples: split(tag("examples"), " | "),
			Type: sf.Type, owner: owner.Name(), index: sf.Index,
			min: tag("min"), max: tag("max"), above: tag("above"), group: tag("group"), secret: tag("secret") == "true",
			short: tag("short") == "true",
		})
	}
	knownFields.Store(t, fields)
	return fields
}

// valuesOf returns the allowed values of a type that lists them.
func valuesOf(t reflect.Type) []string {
	if lists, ok := reflect.Zero(t).Interface().(interface{ Values() []string }); ok {
		return lists.Values()
	}
	return nil
}

// split is strings.Split, but returns nothing for "".
func split(s, sep string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, sep)
}

// remedy shows how a value may be written, or is "".
func (k Field) remedy() string {
	switch {
	case len(k.Enum) > 0:
		return "write one of " + strings.Join(k.Enum, ", ")
	case len(k.Examples) > 0:
		return "write for example " + k.Name + ": " + k.Examples[0]
	case k.Default != "":
		return "write for example " + k.Name + ": " + k.Default
	}
	return ""
}

// Inner returns the path and the type of the field's mappings; the type is nil for other fields.
func (k Field) Inner(path string) (string, reflect.Type) {
	t, at := k.Type, join(path, k.Name)
	switch t.Kind() {
	case reflect.Slice:
		t, at = t.Elem(), at+"[]"
	case reflect.Pointer:
		t = t.Elem()
	}
	if _, ok := asScalar(reflect.New(t).Interface()); ok || t.Kind() != reflect.Struct {
		return at, nil
	}
	return at, t
}

// shortForm returns the key that can be written in place of the whole mapping.
func shortForm(t reflect.Type) (key Field, ok bool) {
	if t.Kind() != reflect.Struct {
		return Field{}, false
	}
	fields := Fields(t)
	i := slices.IndexFunc(fields, func(f Field) bool { return f.short })
	if i < 0 {
		return Field{}, false
	}
	return fields[i], true
}

func names(fields []Field) []string {
	out := make([]string, len(fields))
	for i, f := range fields {
		out[i] = f.Name
	}
	return out
}
