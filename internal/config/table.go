package config

import (
	"math"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"
)

// table decodes a mapping with free keys: of text values, or of anything that
// JSON can say.
func (d *decoder) table(node *yaml.Node, path string, v reflect.Value, f field) {
	if node.Kind != yaml.MappingNode {
		d.report(node, path, mistake{"", "is not a mapping", f.example()})
		return
	}
	out := reflect.MakeMap(v.Type())
	for key, n := range d.entries(node, path) {
		at := join(path, shownKey(key.Value))
		d.places[at] = key
		elem := reflect.New(v.Type().Elem()).Elem()
		if elem.Kind() == reflect.String {
			d.value(n, at, elem, field{secret: f.secret})
		} else if x := d.free(n, at); x != nil {
			elem.Set(reflect.ValueOf(x))
		}
		out.SetMapIndex(reflect.ValueOf(key.Value), elem)
	}
	v.Set(out)
}

// free decodes what JSON can say: nil, bool, int, float64, string, []any and
// map[string]any.
func (d *decoder) free(node *yaml.Node, path string) any {
	if node.Kind == yaml.AliasNode || !strings.HasPrefix(node.ShortTag(), "!!") {
		d.report(node, path, *unusable(node))
		return nil
	}
	switch node.Kind {
	case yaml.SequenceNode:
		items := make([]any, len(node.Content))
		for i, n := range node.Content {
			items[i] = d.free(n, path)
		}
		return items
	case yaml.MappingNode:
		table := map[string]any{}
		for key, n := range d.entries(node, path) {
			table[key.Value] = d.free(n, join(path, shownKey(key.Value)))
		}
		return table
	case yaml.ScalarNode:
		return d.freeScalar(node, path)
	}
	return nil
}

func (d *decoder) freeScalar(node *yaml.Node, path string) any {
	switch node.ShortTag() {
	case "!!null":
		return nil
	case "!!bool", "!!int", "!!float":
		var x any
		err := node.Decode(&x)
		f, isFloat := x.(float64)
		if err != nil || (isFloat && (math.IsNaN(f) || math.IsInf(f, 0))) {
			d.report(node, path, mistake{"", "is not a number that JSON knows", "write a plain number, or text in quotes"})
			return nil
		}
		return x
	case "!!str", "!!timestamp":
		return node.Value
	}
	d.report(node, path, mistake{"", "has a YAML tag, which is not supported", "remove what begins with !"})
	return nil
}
