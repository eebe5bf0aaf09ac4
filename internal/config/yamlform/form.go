// Package yamlform reads YAML files that people write into tagged structs. It is strict, and it
// reports every mistake of a file at once.
//
// [Decode] fills the struct and returns a [Form], which holds the place and the mistakes of each key. The caller
// then compares keys that are [Form.Valid], adds mistakes with [Form.Mistake], and calls [Form.Err] at the end.
//
// A field of the struct is a key if it has a yaml tag, or else a json tag, whose text before the
// comma is the name. These tags describe the values:
//
//	default   the value of an absent key, as YAML text
//	required  true if the key must be present
//	enum      the allowed values, separated by commas; a type can list them with Values() []string
//	examples  values for the documentation, separated by " | "; the first is also a remedy
//	min, max  inclusive bounds of a number, a duration or the length of a list
//	above     exclusive lower bound
//	group     at most one key of a group may be present
//	secret    true if no message may repeat the value
//
// Fields are texts, bools, ints, uint64s, float64s, durations, structs, pointers, slices,
// map[string]string, map[string]any, a [Selection], or any [Scalar]. Unknown or repeated keys, keys
// without a value, aliases and tags are mistakes.
package yamlform

import (
	"cmp"
	"iter"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Form is a decoded file.
type Form struct {
	name     string
	data     []byte
	problems Errors
	places   map[string]place
	// wrong holds the paths of keys with mistakes, aroundWrong the paths of what contains them. A
	// file may have a mistake in every line, and each check asks for both.
	wrong, aroundWrong map[string]bool
}

// place is where a key is. A Form does not keep the YAML nodes, which need 50 MB for a large file.
type place struct{ line, column int32 }

func placeOf(n *yaml.Node) place { return place{int32(n.Line), int32(n.Column)} }

// Decode fills the struct that v points to. Messages contain the name of the file. emptyRemedy is the remedy for
// an empty file. Decode returns Errors only for a text that is not YAML; the Form holds all other mistakes.
func Decode(name string, data []byte, emptyRemedy string, v any) (*Form, error) {
	to := reflect.ValueOf(v).Elem()
	f := &Form{
		name: name, data: data, places: map[string]place{},
		wrong: map[string]bool{}, aroundWrong: map[string]bool{},
	}
	root, err := parse(name, data, emptyRemedy)
	if err != nil {
		return nil, err
	}
	f.prepare(root, "")
	f.structure(root, "", to)
	return f, nil
}

// Defaults returns the struct of an empty mapping.
func Defaults[T any]() T { return defaultsOf(reflect.TypeFor[T]()).Interface().(T) }

// Mistake adds a mistake in the key at path. If the key is absent, the place is the nearest mapping
// around it.
func (f *Form) Mistake(path, value, message, remedy string) {
	f.report(f.place(path), path, Bad(value, message, remedy))
}

func (f *Form) place(path string) place {
	for !f.Has(path) {
		path = path[:max(strings.LastIndexAny(path, ".["), 0)]
	}
	return f.places[path]
}

// report adds a mistake and marks the key as wrong.
func (f *Form) report(at place, path string, m *Mistake) {
	f.mark(path)
	f.note(at, path, m)
}

// mark marks the key at path as wrong.
func (f *Form) mark(path string) {
	f.wrong[path] = true
	for outer := range outerPaths(path) {
		f.aroundWrong[outer] = true
	}
}

// note adds a mistake without marking the key as wrong.
func (f *Form) note(at place, path string, m *Mistake) {
	f.problems = append(f.problems, Problem{f.name, int(at.line), int(at.column), path, *m})
}

// Has reports whether the key at path is present.
func (f *Form) Has(path string) bool {
	_, found := f.places[path]
	return found
}

// Wrong reports whether the key at path itself has a mistake.
func (f *Form) Wrong(path string) bool { return f.wrong[path] }

// Valid reports whether there are no mistakes so far in the keys, inside them and around them. Only then
// does a check of their values make sense.
func (f *Form) Valid(paths ...string) bool {
	return !slices.ContainsFunc(paths, func(path string) bool {
		if f.wrong[path] || f.aroundWrong[path] {
			return true
		}
		for outer := range outerPaths(path) {
			if f.wrong[outer] {
				return true
			}
		}
		return false
	})
}

// outerPaths yields the paths of the mappings and lists that contain a path.
func outerPaths(path string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i, c := range path {
			if (c == '.' || c == '[') && !yield(path[:i]) {
				return
			}
		}
	}
}

// NoEffect reports a mistake for each present key of the mapping at path, with the reason why it has no
// effect.
func (f *Form) NoEffect(path, why, remedy string, keys ...string) {
	for _, key := range keys {
		if at := join(path, key); f.Has(at) && f.Valid(at) {
			f.Mistake(at, "", "has no effect "+why, remedy)
		}
	}
}

// Keys lists the keys of a map[string]string, which was decoded from the mapping at path, in the order of the file.
func (f *Form) Keys(path string, of map[string]string) []string {
	return slices.SortedFunc(maps.Keys(of), func(a, b string) int {
		x, y := f.place(Join(path, a)), f.place(Join(path, b))
		return cmp.Or(cmp.Compare(x.line, y.line), cmp.Compare(x.column, y.column))
	})
}

// labelName matches valid names: they become label values, and parts of file names and URLs.
var labelName = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$`)

var notInLabels = regexp.MustCompile(`[^A-Za-z0-9_.-]+`)

// LabelSafe turns a text into a valid name, or "".
func LabelSafe(s string) string {
	s = notInLabels.ReplaceAllString(s, "-")
	return strings.Trim(s[:min(len(s), 63)], "-_.")
}

// Name checks the name of the item at path, and that no other item of its kind, such as "target", has
// the same name. used maps the names so far to their paths. A bad name does not mark the key as wrong,
// so that references to it are valid.
func (f *Form) Name(path, name, kind string, used map[string]string) {
	at := path + ".name"
	switch first := used[name]; {
	case name == "" || !f.Valid(at):
	case !labelName.MatchString(name):
		remedy := "use up to 63 letters, digits, -, _ and ."
		if safe := LabelSafe(name); safe != "" {
			remedy = "write " + safe
		}
		f.note(f.place(at), at, Bad(name, "is not a valid name", remedy))
	case first != "":
		f.note(f.place(at), at, Bad(name, "is also the name of "+first, "give each "+kind+" its own name"))
	default:
		used[name] = path
	}
}

// Index returns the path of a list item.
func Index(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }

// Join appends a key to a path.
func Join(path, key string) string {
	return join(path, shownKey(key))
}

// join is Join for the key of a struct.
func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// Redact returns the text of the file with note in place of the values of keys. If there are such values, the text is
// formatted anew.
func (f *Form) Redact(note string, keys ...string) string {
	root, err := parse(f.name, f.data, "")
	if err != nil {
		panic(err) // Decode has parsed it
	}
	if !hideValues(root, note, keys) {
		return string(f.data)
	}
	var out strings.Builder
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	if err := encoder.Encode(root); err != nil {
		panic(err) // these nodes came from YAML text
	}
	return out.String()
}

// hideValues replaces the values of keys at and below node, and reports whether there were any.
func hideValues(node *yaml.Node, note string, keys []string) (found bool) {
	for i, n := range node.Content {
		if node.Kind == yaml.MappingNode && i%2 == 1 && slices.Contains(keys, node.Content[i-1].Value) {
			*n = yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: note} // without its comments
			found = true
		}
		found = hideValues(n, note, keys) || found
	}
	return found
}
