package yamlform

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// value decodes node into v, which holds the default and keeps it if node is wrong.
func (f *Form) value(node *yaml.Node, path string, v reflect.Value, key Field) {
	f.places[path] = placeOf(node)
	if m := unusable(node); m != nil {
		f.refuse(node, path, key, m)
		return
	}
	if short, ok := shortForm(v.Type()); ok && node.Kind != yaml.MappingNode {
		short.Name, short.Examples = key.Name, key.Examples
		f.value(node, path, v.FieldByIndex(short.index), short)
		return
	}
	kind := v.Kind()
	if _, ok := implements[Scalar](v.Addr().Interface()); ok {
		kind = reflect.Invalid
	}
	switch kind {
	case reflect.Struct:
		f.structure(node, path, v)
	case reflect.Slice:
		f.list(node, path, v, key)
	case reflect.Map:
		f.table(node, path, v, key)
	case reflect.Pointer:
		elem := reflect.New(v.Type().Elem())
		if f.value(node, path, elem.Elem(), key); !f.Wrong(path) {
			v.Set(elem)
		}
	default:
		f.scalar(node, path, v, key)
	}
}

// refuse reports a mistake in the value of a key. If it has no remedy, the key's remedy is used.
func (f *Form) refuse(node *yaml.Node, path string, key Field, m *Mistake) {
	m.Remedy = cmp.Or(m.Remedy, key.remedy(), "write another value or remove the key")
	if key.secret {
		m.Value = ""
	}
	f.report(placeOf(node), path, m)
}

// unusable returns the mistake of a node that no key accepts. An alias would make the meaning of a
// line depend on a distant one.
func unusable(node *yaml.Node) *Mistake {
	switch {
	case node.Kind == yaml.AliasNode:
		return Bad("", "is an alias, which is not supported", "write the value out")
	case node.Kind == yaml.ScalarNode && node.ShortTag() == "!!null":
		return Bad("", "has no value", "")
	case !strings.HasPrefix(node.ShortTag(), "!!"):
		return tagged()
	}
	return nil
}

func tagged() *Mistake {
	return Bad("", "has a YAML tag, which is not supported", "remove what begins with !")
}

// scalar decodes a single value and checks its range.
func (f *Form) scalar(node *yaml.Node, path string, v reflect.Value, key Field) {
	var m *Mistake
	switch node.Kind {
	case yaml.SequenceNode:
		m = Bad("", "is a list, not a single value", "")
	case yaml.MappingNode:
		m = Bad("", "is a mapping, not a single value", "")
	default:
		m = cmp.Or(setScalar(v, node.ShortTag(), node.Value), outOfRange(v, node.Value, key))
	}
	if m != nil {
		setDefault(v, key)
		f.refuse(node, path, key, m)
	}
}

// list decodes a list, or the "*" of a selection.
func (f *Form) list(node *yaml.Node, path string, v reflect.Value, key Field) {
	isSelection := v.Type() == reflect.TypeFor[Selection]()
	switch {
	case node.Kind == yaml.ScalarNode && isSelection && node.Value == Everything:
		return
	case node.Kind != yaml.SequenceNode:
		f.refuse(node, path, key, Bad(node.Value, "is not a list", ""))
		return
	case key.max != "" && float64(len(node.Content)) > bound(reflect.ValueOf(0.0), key.max):
		f.report(placeOf(node), path, Bad("", fmt.Sprintf("has %d items", len(node.Content)), "keep "+key.max+" at most"))
		return
	case len(node.Content) == 0 && (key.min != "" || isSelection):
		f.refuse(node, path, key, Bad("", "is an empty list", ""))
		return
	}
	items := reflect.MakeSlice(v.Type(), len(node.Content), len(node.Content))
	item := Field{Name: key.Name, Enum: key.Enum, Examples: key.Examples, secret: key.secret}
	for i, n := range node.Content {
		f.value(n, Index(path, i), items.Index(i), item)
	}
	v.Set(items)
}

// structure decodes a mapping whose keys are the fields of v.
func (f *Form) structure(node *yaml.Node, path string, v reflect.Value) {
	v.Set(defaultsOf(v.Type()))
	fields := Fields(v.Type())
	if node.Kind != yaml.MappingNode {
		f.report(placeOf(node), path, Bad(node.Value, "is not a mapping", "write keys and values; the keys are "+Sequence(names(fields))))
		return
	}
	present := f.members(node, path, fields)
	firstOfGroup := map[string]string{}
	for _, key := range fields {
		n := present[key.Name]
		if n == nil && !key.Required {
			continue
		}
		at := join(path, key.Name)
		switch {
		case n != nil:
			f.value(n, at, v.FieldByIndex(key.index), key)
			if first := firstOfGroup[key.group]; first != "" {
				f.report(placeOf(n), at, Bad("", "cannot be combined with "+first, "keep one of the two"))
			} else if key.group != "" {
				firstOfGroup[key.group] = key.Name
			}
		case !f.Wrong(at) && !f.Wrong(path):
			f.report(placeOf(node), at, Bad("", "is missing", key.remedy()))
		}
	}
}

// members returns the values of the known keys of a mapping and reports unknown keys.
func (f *Form) members(node *yaml.Node, path string, fields []Field) map[string]*yaml.Node {
	present := map[string]*yaml.Node{}
	for key, n := range f.entries(node, path) {
		if slices.ContainsFunc(fields, func(k Field) bool { return k.Name == key.Value }) {
			present[key.Value] = n
			continue
		}
		f.note(placeOf(key), Join(path, key.Value), Bad("", "unknown key", Suggest(names(fields), "keys here")))
	}
	return present
}

// entries yields the keys and values of a mapping. It reports repeated keys and keys that are not
// text.
func (f *Form) entries(node *yaml.Node, path string) iter.Seq2[*yaml.Node, *yaml.Node] {
	return func(yield func(key, value *yaml.Node) bool) {
		lines := map[string]int{}
		for i := 0; i+1 < len(node.Content); i += 2 {
			key, value := node.Content[i], node.Content[i+1]
			if m := badKey(key, lines); m != nil {
				f.note(placeOf(key), path, m)
				if key.ShortTag() == "!!merge" {
					f.mark(path) // a merged mapping may have any key, so none is missing
				}
				continue
			}
			lines[key.Value] = key.Line
			if !yield(key, value) {
				return
			}
		}
	}
}

// badKey returns the mistake of a key, or nil. lines holds the lines of the keys before it.
func badKey(key *yaml.Node, lines map[string]int) *Mistake {
	switch {
	case key.Kind == yaml.ScalarNode && key.ShortTag() == "!!merge":
		return Bad("", "merges a mapping with <<, which is not supported", "write the keys out")
	case key.Kind != yaml.ScalarNode || key.ShortTag() != "!!str":
		return Bad("", "has a key that is not text", "put the key in quotes, or remove it")
	case lines[key.Value] > 0:
		return Bad("", fmt.Sprintf("has the key %q twice", shownKey(key.Value)), fmt.Sprintf("keep this one or that of line %d", lines[key.Value]))
	}
	return nil
}

// table decodes a mapping with free keys: of texts, or of anything that JSON can represent.
func (f *Form) table(node *yaml.Node, path string, v reflect.Value, key Field) {
	if node.Kind != yaml.MappingNode {
		f.refuse(node, path, key, Bad(node.Value, "is not a mapping", ""))
		return
	}
	v.Set(reflect.MakeMap(v.Type()))
	for name, n := range f.entries(node, path) {
		at := Join(path, name.Value)
		f.places[at] = placeOf(name)
		elem := reflect.New(v.Type().Elem()).Elem()
		if elem.Kind() == reflect.String {
			f.value(n, at, elem, Field{secret: key.secret})
		} else if x := f.free(n, at); x != nil {
			elem.Set(reflect.ValueOf(x))
		}
		v.SetMapIndex(reflect.ValueOf(name.Value), elem)
	}
}

// free decodes any JSON value: nil, bool, int, float64, string, []any or map[string]any.
func (f *Form) free(node *yaml.Node, path string) any {
	tag := node.ShortTag()
	m := unusable(node)
	switch {
	case node.Kind == yaml.ScalarNode && tag == "!!null":
		return nil
	case m != nil:
	case node.Kind == yaml.SequenceNode:
		items := make([]any, len(node.Content))
		for i, n := range node.Content {
			items[i] = f.free(n, path)
		}
		return items
	case node.Kind == yaml.MappingNode:
		table := map[string]any{}
		for key, n := range f.entries(node, path) {
			table[key.Value] = f.free(n, Join(path, key.Value))
		}
		return table
	case tag == "!!str" || tag == "!!timestamp":
		return node.Value
	case tag == "!!bool" || tag == "!!int" || tag == "!!float":
		var x any
		err := node.Decode(&x)
		if n, ok := x.(float64); err == nil && !(ok && (math.IsNaN(n) || math.IsInf(n, 0))) {
			return x
		}
		m = Bad("", "is not a number that JSON knows", "write a plain number, or text in quotes")
	default:
		m = tagged()
	}
	f.report(placeOf(node), path, m)
	return nil
}
