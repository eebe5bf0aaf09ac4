// Package yamlform reads YAML files that people write: into tagged structs,
// strictly, with every mistake of a file found at once. It knows nothing of what
// the files are about.
//
// [Decode] fills the struct of a file and returns a [Form]: where each key
// stands, which keys were wrong, and the mistakes so far. The caller then checks
// what concerns several keys at once, leaves alone the keys that are not
// [Form.Fine], reports with [Form.Mistake] and ends with [Form.Err]. Each
// mistake has its place, the path of the key, what was written unless that could
// be a secret, what is wrong with it and what to write instead.
//
// A field of the struct is a key if it has a yaml tag, or else a json tag: the
// name before the comma. Other tags say what may be written:
//
//	default   the value of an absent key, as it would be written
//	required  the key must be there
//	enum      the allowed values, separated by commas
//	examples  values to show, separated by " | "; the first serves as remedy
//	min, max  inclusive bounds of a number, duration or length of a list
//	above     exclusive lower bound
//	group     keys of one group exclude each other
//	secret    values are never repeated in messages
//
// The kinds of value are structs, lists, maps with text keys, pointers, text,
// booleans, numbers, [time.Duration] as Prometheus writes it, [Selection] and
// whatever else is a [Scalar]. Unknown keys, keys that are there twice, keys
// without a value, aliases, merge keys, YAML tags and second documents are
// mistakes. A struct that has a method UnknownKey(key string) *Mistake may say
// more of an unknown key. The struct of the whole file may have a method
// RemovedKeys() map[string]string: paths of keys of earlier versions, such as
// "targets[].tls", and what to write instead.
//
// The same tags, with the texts of a [Document], make the JSON Schema and the
// reference of a file.
package yamlform

import (
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Form is a file that was decoded.
type Form struct {
	name string
	// shape is the type of the whole file.
	shape reflect.Type
	// removed has the remedy for each key of earlier versions, by its path.
	removed  map[string]string
	problems Errors
	// more counts the mistakes beyond mostProblems.
	more   int
	places map[string]*yaml.Node
	wrong  wrongs
}

// Decode fills the struct that v points to from the text of a file. name stands
// for it in messages; least is the remedy of a file that holds nothing. An error
// is of type Errors: the text is not even YAML. What else is wrong with it the
// Form knows.
func Decode(name string, data []byte, least string, v any) (*Form, error) {
	root, err := parse(name, data, least)
	if err != nil {
		return nil, err
	}
	to := reflect.ValueOf(v).Elem()
	f := &Form{name: name, shape: to.Type(), places: map[string]*yaml.Node{"": root}, wrong: newWrongs()}
	if old, ok := v.(interface{ RemovedKeys() map[string]string }); ok {
		f.removed = old.RemovedKeys()
	}
	f.structure(root, "", to)
	return f, nil
}

// Defaults returns a struct as an empty mapping would give it.
func Defaults[T any]() (v T) {
	new(Form).structure(nil, "", reflect.ValueOf(&v).Elem())
	return v
}

// Mistake reports a wrong key. A key that is absent stands where the nearest
// mapping around it begins.
func (f *Form) Mistake(path, value, message, remedy string) {
	f.report(f.place(path), path, Bad(value, message, remedy))
}

func (f *Form) place(path string) *yaml.Node {
	for f.places[path] == nil {
		path = path[:max(strings.LastIndexAny(path, ".["), 0)]
	}
	return f.places[path]
}

// report adds a mistake in the key at path, which stands at node, and marks the
// key as wrong.
func (f *Form) report(node *yaml.Node, path string, m *Mistake) {
	f.wrong.add(path)
	f.note(node, path, m)
}

// note adds a mistake without marking a key as wrong.
func (f *Form) note(node *yaml.Node, path string, m *Mistake) {
	if f.enough() {
		f.more++
		return
	}
	f.problems = append(f.problems, Problem{f.name, node.Line, node.Column, path, *m})
}

// enough says that further mistakes are only counted.
func (f *Form) enough() bool { return len(f.problems) >= mostProblems }

// Has reports whether the key at path was written.
func (f *Form) Has(path string) bool { return f.places[path] != nil }

// Wrong reports whether the key at path itself was found wrong.
func (f *Form) Wrong(path string) bool { return f.wrong.at[path] }

// Fine reports whether none of the keys, nor what is in them or around them, was
// found wrong, so that a check of them makes sense.
func (f *Form) Fine(paths ...string) bool {
	return !slices.ContainsFunc(paths, f.wrong.touch)
}

// Useless reports those of the keys in the mapping at path that were written
// although they have no effect, and why.
func (f *Form) Useless(path, why, remedy string, keys ...string) {
	for _, key := range keys {
		if at := Join(path, key); f.Has(at) && f.Fine(at) {
			f.Mistake(at, "", "has no effect "+why, remedy)
		}
	}
}

// Keys lists the keys of the mapping at path in the order of the file.
func (f *Form) Keys(path string) (keys []string) {
	for key := range f.entries(f.places[path], path) {
		keys = append(keys, key.Value)
	}
	return keys
}

// labelName is what names must match: they become label values, parts of file
// names and parts of URLs.
var labelName = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$`)

// notLabel matches what a label cannot hold.
var notLabel = regexp.MustCompile(`[^A-Za-z0-9_.-]+`)

// LabelSafe makes a valid name out of a text, or "".
func LabelSafe(s string) string {
	s = notLabel.ReplaceAllString(s, "-")
	return strings.Trim(s[:min(len(s), 63)], "-_.")
}

// Name checks the name of the item at path, if it has any, and that no other of
// its kind has it. taken has the paths of those before it. kind is "target" and
// the like. A bad name still names its item, so it is not marked as wrong and
// references to it count.
func (f *Form) Name(path, name, kind string, taken map[string]string) {
	at := path + ".name"
	switch first := taken[name]; {
	case name == "" || !f.Fine(at):
	case !labelName.MatchString(name):
		remedy := "use up to 63 letters, digits, -, _ and ."
		if safe := LabelSafe(name); safe != "" && !LooksSecret(safe) {
			remedy = "write " + safe
		}
		f.note(f.place(at), at, Bad(name, "is not a valid name", remedy))
	case first != "":
		f.note(f.place(at), at, Bad(name, "is also the name of "+first, "give each "+kind+" its own name"))
	default:
		taken[name] = path
	}
}

// Index writes the path of a list's item.
func Index(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }

// Join appends a key to a path.
func Join(path, key string) string {
	if path == "" {
		return shownKey(key)
	}
	return path + "." + shownKey(key)
}

// Inherit gives the keys of the mapping at path that were not written, or are
// wrong, the values that they have in base. v points to the struct that was
// filled from the mapping.
func Inherit[T any](f *Form, path string, v *T, base T) {
	to, from := reflect.ValueOf(v).Elem(), reflect.ValueOf(base)
	for _, key := range Fields(to.Type()) {
		if at := Join(path, key.Name); !f.Has(at) || !f.Fine(at) {
			to.FieldByIndex(key.index).Set(from.FieldByIndex(key.index))
		}
	}
}
