package config

import (
	"math"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"
)

// everything selects all names in a selection.
const everything = "*"

// selection is a list of names; nil means all of them.
type selection []string

// setScalar parses text into v. tag is the short YAML tag that the text
// resolved to.
func setScalar(v reflect.Value, tag, text string) *mistake {
	if s, ok := v.Addr().Interface().(scalar); ok {
		return s.parse(tag, text)
	}
	switch v.Kind() {
	case reflect.String:
		if tag != "!!str" {
			return &mistake{shown(text), "is not text", "put it in quotes"}
		}
		if text == "" {
			return &mistake{"", "is empty", "write a value or remove the key"}
		}
		v.SetString(text)
	case reflect.Bool:
		if tag != "!!bool" {
			return &mistake{shown(text), "is neither true nor false", "write true or false, without quotes"}
		}
		v.SetBool(strings.EqualFold(text, "true"))
	case reflect.Float64:
		return setFloat(v, tag, text)
	default:
		return setWhole(v, tag, text)
	}
	return nil
}

func setFloat(v reflect.Value, tag, text string) *mistake {
	var f float64
	node := yaml.Node{Kind: yaml.ScalarNode, Value: text}
	if (tag != "!!float" && tag != "!!int") || node.Decode(&f) != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		return notNumber(tag, text, "a number")
	}
	v.SetFloat(f)
	return nil
}

func setWhole(v reflect.Value, tag, text string) *mistake {
	node := yaml.Node{Kind: yaml.ScalarNode, Value: text}
	if tag != "!!int" || node.Decode(v.Addr().Interface()) != nil {
		return notNumber(tag, text, "a whole number")
	}
	return nil
}

// notNumber says why a text is not a number of the wanted kind.
func notNumber(tag, text, kind string) *mistake {
	bare := yaml.Node{Kind: yaml.ScalarNode, Value: text}
	if tag == "!!str" && (bare.ShortTag() == "!!int" || bare.ShortTag() == "!!float") {
		return &mistake{shown(text), "is text, not " + kind, "write it without quotes"}
	}
	return &mistake{shown(text), "is not " + kind, ""}
}

// setDefault gives v the value of an absent key: the default of its tag, or
// the zero value.
func setDefault(v reflect.Value, f field) {
	v.SetZero()
	if f.fallback == "" || f.fallback == everything {
		return
	}
	node := yaml.Node{Kind: yaml.ScalarNode, Value: f.fallback}
	setScalar(v, node.ShortTag(), f.fallback)
}

// outOfRange checks v against the enum and the bounds of its field. text is
// what was written.
func outOfRange(v reflect.Value, text string, f field) *mistake {
	if len(f.enum) > 0 {
		return outOfEnum(text, f)
	}
	n, ok := number(v)
	if !ok {
		return nil
	}
	switch {
	case f.above != "" && n <= bound(v, f.above):
		return &mistake{shown(text), "is not above " + f.above, ""}
	case f.min != "" && n < bound(v, f.min):
		return &mistake{shown(text), "is below " + f.min, "write " + f.min + " or more"}
	case f.max != "" && n > bound(v, f.max):
		return &mistake{shown(text), "is above " + f.max, "write " + f.max + " or less"}
	}
	return nil
}

func outOfEnum(text string, f field) *mistake {
	for _, allowed := range f.enum {
		if text == allowed {
			return nil
		}
	}
	return &mistake{shown(text), "is not one of the allowed values", suggest(text, f.enum, "values")}
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
	node := yaml.Node{Kind: yaml.ScalarNode, Value: text}
	setScalar(limit, node.ShortTag(), text)
	n, _ := number(limit)
	return n
}
