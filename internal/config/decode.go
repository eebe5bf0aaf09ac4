package config

import (
	"cmp"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// decoder fills tagged structs from YAML nodes, strictly. It collects mistakes
// and remembers where each key stood and which keys were wrong, for the checks
// that follow.
type decoder struct {
	name string
	// shape is the type of the whole file, nil for a part of one.
	shape    reflect.Type
	problems Errors
	places   map[string]*yaml.Node
	wrong    map[string]bool
}

// report adds a mistake in the key at path, which stands at node, and marks
// the key as wrong.
func (d *decoder) report(node *yaml.Node, path string, m mistake) {
	d.wrong[path] = true
	d.note(node, path, m)
}

// note adds a mistake without marking a key as wrong.
func (d *decoder) note(node *yaml.Node, path string, m mistake) {
	d.problems = append(d.problems, Problem{
		File: d.name, Line: node.Line, Column: node.Column,
		Field: path, Value: m.value, Message: m.message, Remedy: m.remedy,
	})
}

// value decodes node into v, which already holds the value of an absent key
// and keeps it when node is wrong. f describes the key that node belongs to.
func (d *decoder) value(node *yaml.Node, path string, v reflect.Value, f field) {
	d.places[path] = node
	if m := unusable(node); m != nil {
		m.remedy = cmp.Or(m.remedy, f.example(), "write a value or remove the key")
		d.report(node, path, *m)
		return
	}
	_, custom := v.Addr().Interface().(scalar)
	switch kind := v.Kind(); {
	case custom:
		d.scalar(node, path, v, f)
	case kind == reflect.Struct:
		d.structure(node, path, v)
	case kind == reflect.Slice:
		d.list(node, path, v, f)
	case kind == reflect.Map:
		d.table(node, path, v, f)
	case kind == reflect.Pointer:
		elem := reflect.New(v.Type().Elem())
		if d.value(node, path, elem.Elem(), f); !d.wrong[path] {
			v.Set(elem)
		}
	default:
		d.scalar(node, path, v, f)
	}
}

// unusable refuses what no key accepts: aliases, which make a line's meaning
// depend on distant ones, and keys without a value.
func unusable(node *yaml.Node) *mistake {
	switch {
	case node.Kind == yaml.AliasNode:
		return &mistake{"", "is an alias, which is not supported", "write the value out"}
	case node.Kind == yaml.ScalarNode && node.ShortTag() == "!!null":
		return &mistake{"", "has no value", ""}
	case !strings.HasPrefix(node.ShortTag(), "!!"):
		return &mistake{"", "has a YAML tag, which is not supported", "remove what begins with !"}
	}
	return nil
}

// scalar decodes a single value and checks its range.
func (d *decoder) scalar(node *yaml.Node, path string, v reflect.Value, f field) {
	m := mistakeOfKind(node)
	if m == nil {
		m = setScalar(v, node.ShortTag(), node.Value)
	}
	if m == nil {
		m = outOfRange(v, node.Value, f)
	}
	if m == nil {
		return
	}
	m.remedy = cmp.Or(m.remedy, f.example())
	if f.secret {
		m.value = ""
	}
	setDefault(v, f)
	d.report(node, path, *m)
}

// mistakeOfKind refuses a list or a mapping in the place of a single value.
func mistakeOfKind(node *yaml.Node) *mistake {
	switch node.Kind {
	case yaml.SequenceNode:
		return &mistake{"", "is a list, not a single value", ""}
	case yaml.MappingNode:
		return &mistake{"", "is a mapping, not a single value", ""}
	}
	return nil
}

// list decodes a sequence. A selection may also be "*", which is all.
func (d *decoder) list(node *yaml.Node, path string, v reflect.Value, f field) {
	all := v.Type() == reflect.TypeFor[selection]()
	if node.Kind == yaml.ScalarNode && all && node.Value == everything {
		return
	}
	if node.Kind != yaml.SequenceNode {
		m := mistake{"", "is not a list", f.example()}
		if node.Kind == yaml.ScalarNode && !f.secret {
			m.value = shown(node.Value)
		}
		d.report(node, path, m)
		return
	}
	if len(node.Content) == 0 && (f.min != "" || all) {
		d.report(node, path, mistake{"", "is an empty list", cmp.Or(f.example(), "remove the key")})
		return
	}
	items := reflect.MakeSlice(v.Type(), len(node.Content), len(node.Content))
	item := field{name: f.name, enum: f.enum, examples: f.examples, secret: f.secret}
	for i, n := range node.Content {
		d.value(n, fmt.Sprintf("%s[%d]", path, i), items.Index(i), item)
	}
	v.Set(items)
}

// structure decodes a mapping whose keys are the fields of v. A nil node is an
// absent key and gives every field its default.
func (d *decoder) structure(node *yaml.Node, path string, v reflect.Value) {
	fields := fieldsOf(v.Type())
	if node != nil && node.Kind != yaml.MappingNode {
		m := mistake{"", "is not a mapping", "write keys and values; the keys are " + sequence(names(fields))}
		if node.Kind == yaml.ScalarNode {
			m.value = shown(node.Value)
		}
		d.report(node, path, m)
		node = nil
	}
	present := d.members(node, path, fields)
	taken := map[string]string{}
	for _, f := range fields {
		at, member := join(path, f.name), v.FieldByIndex(f.index)
		setDefault(member, f)
		n := present[f.name]
		switch {
		case n != nil:
			d.value(n, at, member, f)
			d.exclusive(n, at, f, taken)
		case f.required && node != nil && !d.wrong[at] && !d.wrong[path]:
			d.report(node, at, mistake{"", "is missing", f.example()})
		case member.Kind() == reflect.Struct:
			d.structure(nil, at, member)
		}
	}
}

// members finds the known keys of a mapping and reports the others.
func (d *decoder) members(node *yaml.Node, path string, fields []field) map[string]*yaml.Node {
	present := map[string]*yaml.Node{}
	var meant []string
	for key, n := range d.entries(node, path) {
		if slices.Contains(names(fields), key.Value) {
			present[key.Value] = n
			continue
		}
		d.note(key, join(path, shownKey(key.Value)), d.unknownKey(key.Value, fields))
		meant = append(meant, nearest(key.Value, names(fields)))
	}
	for _, name := range meant {
		// A misspelt key is wrong, not missing.
		if name != "" && present[name] == nil {
			d.wrong[join(path, name)] = true
		}
	}
	return present
}

// exclusive reports a key that stands beside another one of its group.
func (d *decoder) exclusive(node *yaml.Node, path string, f field, taken map[string]string) {
	if f.group == "" {
		return
	}
	if first := taken[f.group]; first != "" {
		d.report(node, path, mistake{"", "stands beside " + first + ", which it excludes", "keep one of the two"})
		return
	}
	taken[f.group] = f.name
}

// entries yields the keys and values of a mapping. Keys that are not plain
// text or that were there before are reported and left out.
func (d *decoder) entries(node *yaml.Node, path string) iter.Seq2[*yaml.Node, *yaml.Node] {
	return func(yield func(key, value *yaml.Node) bool) {
		if node == nil {
			return
		}
		seen := map[string]int{}
		for i := 0; i+1 < len(node.Content); i += 2 {
			key, value := node.Content[i], node.Content[i+1]
			if m := badKey(key, seen); m != nil {
				d.note(key, path, *m)
				// What was merged may hold any key: none is missing.
				d.wrong[path] = d.wrong[path] || key.ShortTag() == "!!merge"
				continue
			}
			seen[key.Value] = key.Line
			if !yield(key, value) {
				return
			}
		}
	}
}

// badKey says what is wrong with a key itself; seen has the lines of those
// before it.
func badKey(key *yaml.Node, seen map[string]int) *mistake {
	switch {
	case key.Kind == yaml.ScalarNode && key.ShortTag() == "!!merge":
		return &mistake{"", "merges a mapping with <<, which is not supported", "write the keys out"}
	case key.Kind != yaml.ScalarNode || key.ShortTag() != "!!str":
		return &mistake{"", "has a key that is not text", "put the key in quotes, or remove it"}
	case seen[key.Value] > 0:
		return &mistake{"", fmt.Sprintf("has the key %q twice", shownKey(key.Value)), fmt.Sprintf("keep this one or that of line %d", seen[key.Value])}
	}
	return nil
}

// join appends a key to a path.
func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}
