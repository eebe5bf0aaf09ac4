package yamlform

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// prepare records the places of a node and of the nodes inside it. It reports what no key accepts, and removes it: an
// alias, for example, would make the meaning of a line depend on a distant one.
func (f *Form) prepare(node *yaml.Node, path string) {
	f.places[path] = placeOf(node)
	switch tag := node.ShortTag(); {
	case node.Kind == yaml.AliasNode:
		f.remove(node, path, Bad("", "is an alias, which is not supported", "write the value out"))
	case node.Style&yaml.TaggedStyle != 0:
		f.remove(node, path, Bad("", "has a YAML tag, which is not supported", "remove what begins with !"))
	case tag == "!!float" && strings.ContainsAny(node.Value, "nN"): // .nan and .inf
		f.remove(node, path, Bad("", "is not a finite number", "write a plain number, or text in quotes"))
	case tag == "!!timestamp":
		node.Tag = "!!str"
	case node.Kind == yaml.SequenceNode:
		for i, n := range node.Content {
			f.prepare(n, Index(path, i))
		}
	case node.Kind == yaml.MappingNode:
		f.prepareMapping(node, path)
	}
}

// remove reports a mistake of a node and empties the node.
func (f *Form) remove(node *yaml.Node, path string, m *Mistake) {
	f.report(placeOf(node), path, m)
	*node = yaml.Node{}
}

// prepareMapping is prepare for the keys and values of a mapping.
func (f *Form) prepareMapping(node *yaml.Node, path string) {
	lines := map[string]int{}
	usable := node.Content[:0]
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
		f.prepare(value, Join(path, key.Value))
		usable = append(usable, key, value)
	}
	node.Content = usable
}

// value decodes node into v, which holds the default and keeps it if node is wrong.
func (f *Form) value(node *yaml.Node, path string, v reflect.Value, key Field) {
	switch {
	case node.Kind == 0: // prepare has reported it
		return
	case node.ShortTag() == "!!null":
		f.refuse(node, path, key, Bad("", "has no value", ""))
		return
	}
	if short, ok := shortForm(v.Type()); ok && node.Kind != yaml.MappingNode {
		short.Name, short.Examples = key.Name, key.Examples
		f.value(node, path, v.FieldByIndex(short.index), short)
		return
	}
	kind := v.Kind()
	if _, ok := asScalar(v.Addr().Interface()); ok {
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
	known, present := names(fields), map[string]*yaml.Node{}
	for i := 0; i < len(node.Content); i += 2 {
		key := node.Content[i]
		if present[key.Value] = node.Content[i+1]; !slices.Contains(known, key.Value) {
			f.note(placeOf(key), Join(path, key.Value), Bad("", "unknown key", Suggest(known, "keys here")))
		}
	}
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
	switch {
	case node.Kind != yaml.MappingNode:
		f.refuse(node, path, key, Bad(node.Value, "is not a mapping", ""))
	case v.Type().Elem().Kind() == reflect.String:
		v.Set(reflect.MakeMap(v.Type()))
		for i := 0; i < len(node.Content); i += 2 {
			name, text := node.Content[i].Value, reflect.New(v.Type().Elem()).Elem()
			f.value(node.Content[i+1], Join(path, name), text, Field{secret: key.secret})
			v.SetMapIndex(reflect.ValueOf(name), text)
		}
	default:
		var free map[string]any
		if err := node.Decode(&free); err != nil {
			f.refuse(node, path, key, Bad("", "cannot be decoded", ""))
		}
		v.Set(reflect.ValueOf(free).Convert(v.Type()))
	}
}
