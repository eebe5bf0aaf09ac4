package config

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"synthetic/internal/config/yamlform"
	"synthetic/internal/probe"
	"synthetic/internal/probe/target"
	"synthetic/internal/slo"
)

// maxTag is the maximum length of a tag. Longer texts belong in keys.txt.
const maxTag = 150

// TestKeys checks that every key is documented with the meaning of its absence, that keys.txt has no text of
// an unknown key, and that tags are short.
func TestKeys(t *testing.T) {
	seen := map[string]bool{}
	for _, d := range []yamlform.Document{Documentation(), PlanDocumentation()} {
		eachKey(d.File, "", func(at string, owner reflect.Type, k yamlform.Field) {
			text, absent := d.Text(k)
			if !strings.HasSuffix(text, ".") {
				t.Errorf("%s: the text %q is no sentence", at, text)
			}
			if said := count(k.Required, k.Default != "", absent != ""); said != 1 {
				t.Errorf("%s: %d of required, default and absent are set, want one", at, said)
			}
			if k.Default == "" && k.Enum == nil && k.Examples == nil {
				t.Errorf("%s: nothing shows how to write it", at)
			}
			field, path := definition(owner, k.Name)
			if seen[path] = true; len(field.Tag) > maxTag {
				t.Errorf("%s: its tag has %d characters, more than %d", at, len(field.Tag), maxTag)
			}
		})
	}
	for path := range Documentation().Texts {
		if !seen[path] {
			t.Errorf("keys.txt has a text of %s, which is no key", path)
		}
	}
}

// TestExamples checks that every default and every example is valid.
func TestExamples(t *testing.T) {
	for _, file := range []reflect.Type{reflect.TypeFor[file](), reflect.TypeFor[filePlan]()} {
		eachKey(file, "", func(at string, owner reflect.Type, k yamlform.Field) {
			field, _ := definition(owner, k.Name)
			alone := reflect.StructOf([]reflect.StructField{{Name: field.Name, Type: field.Type, Tag: field.Tag}})
			for _, value := range append(k.Examples, k.Default) {
				switch value {
				case "":
					continue
				case yamlform.Everything:
					value = `"*"`
				}
				form, err := yamlform.Decode(at, []byte(k.Name+": "+value), "", reflect.New(alone).Interface())
				if err == nil {
					err = form.Err()
				}
				if err == nil {
					continue
				}
				// Short examples of lists and mappings need not be complete.
				for _, p := range err.(yamlform.Errors) {
					if p.Message != "is missing" {
						t.Errorf("%s: %q: %v", at, value, p)
					}
				}
			}
		})
	}
}

// eachKey visits the keys of the mapping at path, of type t, and of the mappings inside it, with the struct
// type of each key.
func eachKey(t reflect.Type, path string, visit func(at string, owner reflect.Type, k yamlform.Field)) {
	for _, k := range yamlform.Fields(t) {
		at, inner := k.Inner(path)
		if visit(at, t, k); inner != nil {
			eachKey(inner, at, visit)
		}
	}
}

// definition finds the field of a key, and its path in keys.txt.
func definition(owner reflect.Type, key string) (field reflect.StructField, path string) {
	for _, sf := range reflect.VisibleFields(owner) {
		if sf.Tag.Get("yaml") == key {
			for _, i := range sf.Index[:len(sf.Index)-1] {
				owner = owner.Field(i).Type
			}
			return sf, owner.Name() + "." + key
		}
	}
	return field, ""
}

func count(conditions ...bool) int {
	n := 0
	for _, c := range conditions {
		if c {
			n++
		}
	}
	return n
}

// TestEnums checks that the allowed values are the values of the packages that use them.
func TestEnums(t *testing.T) {
	want := map[string][]string{
		"sli":        texts(slo.TTFT, slo.AnswerTTFT, slo.TPOT, slo.ITL, slo.TurnDuration, slo.Availability, slo.Correct),
		"turns":      texts(probe.TurnKinds()...),
		"connection": texts(target.Reuse, target.PerConversation),
	}
	for _, file := range []reflect.Type{reflect.TypeFor[file](), reflect.TypeFor[filePlan]()} {
		eachKey(file, "", func(at string, _ reflect.Type, k yamlform.Field) {
			if values := want[k.Name]; k.Enum != nil && values != nil && !slices.Equal(k.Enum, values) {
				t.Errorf("%s: the values are %v, want %v", at, k.Enum, values)
			}
		})
	}
}

func texts[T ~string](values ...T) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = string(v)
	}
	return out
}
