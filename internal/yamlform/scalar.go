package yamlform

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// Scalar is a type with its own way to be written.
type Scalar interface {
	described
	// Parse sets the value from the short YAML tag and the text of a node.
	Parse(tag, text string) *Mistake
}

// described types say themselves what the documentation calls them, and what
// their JSON Schema is.
type described interface {
	Describe() (kind string, schema map[string]any)
}

// as looks for an interface of a pointer to a value. A time.Duration, which has
// no methods of ours, goes as one that has.
func as[T any](pointer any) (T, bool) {
	if d, ok := pointer.(*time.Duration); ok {
		pointer = (*duration)(d)
	}
	t, ok := pointer.(T)
	return t, ok
}

// setScalar parses text into v. tag is the short YAML tag that the text
// resolved to.
func setScalar(v reflect.Value, tag, text string) *Mistake {
	if s, ok := as[Scalar](v.Addr().Interface()); ok {
		return s.Parse(tag, text)
	}
	switch v.Kind() {
	case reflect.String:
		if tag != "!!str" {
			return Bad(text, "is not text", "put it in quotes")
		}
		if text == "" {
			return Bad("", "is empty", "write a value or remove the key")
		}
		v.SetString(text)
	case reflect.Bool:
		if tag != "!!bool" {
			return Bad(text, "is neither true nor false", "write true or false, without quotes")
		}
		v.SetBool(strings.EqualFold(text, "true"))
	default:
		return setNumber(v, tag, text)
	}
	return nil
}

func setNumber(v reflect.Value, tag, text string) *Mistake {
	kind, tags := "a whole number", []string{"!!int"}
	if v.Kind() == reflect.Float64 {
		kind, tags = "a number", []string{"!!int", "!!float"}
	}
	node := yaml.Node{Kind: yaml.ScalarNode, Value: text}
	if slices.Contains(tags, tag) && node.Decode(v.Addr().Interface()) == nil {
		if n, _ := number(v); !math.IsNaN(n) && !math.IsInf(n, 0) {
			return nil
		}
	}
	if bare := node.ShortTag(); tag == "!!str" && (bare == "!!int" || bare == "!!float") {
		return Bad(text, "is text, not "+kind, "write it without quotes")
	}
	return Bad(text, "is not "+kind, "")
}

// setTag parses a text of a tag into v.
func setTag(v reflect.Value, text string) {
	node := yaml.Node{Kind: yaml.ScalarNode, Value: text}
	setScalar(v, node.ShortTag(), text)
}

// setDefault gives v the value of an absent key: the default of its tag, or
// the zero value.
func setDefault(v reflect.Value, key Field) {
	v.SetZero()
	if key.Default != "" && key.Default != Everything {
		setTag(v, key.Default)
	}
}

// outOfRange checks v against the enum and the bounds of its key. text is what
// was written.
func outOfRange(v reflect.Value, text string, key Field) *Mistake {
	if len(key.Enum) > 0 {
		if slices.Contains(key.Enum, text) {
			return nil
		}
		return Bad(text, "is not one of the allowed values", Suggest(text, key.Enum, "values"))
	}
	n, ok := number(v)
	switch {
	case !ok:
	case key.above != "" && n <= bound(v, key.above):
		return Bad(text, "is not above "+key.above, "")
	case key.min != "" && n < bound(v, key.min):
		return Bad(text, "is below "+key.min, "write "+key.min+" or more")
	case key.max != "" && n > bound(v, key.max):
		return Bad(text, "is above "+key.max, "write "+key.max+" or less")
	}
	return nil
}

// number reads v, if it has a size, in a unit that its bounds share.
func number(v reflect.Value) (float64, bool) {
	switch v.Kind() {
	case reflect.Int, reflect.Int64:
		return float64(v.Int()), true
	case reflect.Uint64:
		return float64(v.Uint()), true
	case reflect.Float64:
		return v.Float(), true
	}
	return 0, false
}

// bound reads a bound of a tag in the unit of v.
func bound(v reflect.Value, text string) float64 {
	limit := reflect.New(v.Type()).Elem()
	setTag(limit, text)
	n, _ := number(limit)
	return n
}
