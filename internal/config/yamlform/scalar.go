package yamlform

import (
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/common/model"
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

// Everything selects all names in a selection.
const Everything = "*"

// Selection is a list of names; nil means all of them.
type Selection []string

// Describe is that of the documentation.
func (*Selection) Describe() (string, map[string]any) {
	names := map[string]any{"type": "array", "items": map[string]any{"type": "string", "minLength": 1}, "minItems": 1}
	return "`\"*\"` or list of names", map[string]any{"oneOf": []any{map[string]any{"const": Everything}, names}}
}

// duration is a time.Duration as Prometheus writes it: 30d, 1h30m, 250ms.
type duration time.Duration

func (d *duration) Parse(tag, text string) *Mistake {
	v, err := model.ParseDuration(text)
	if err == nil && text != "0" {
		*d = duration(v)
		return nil
	}
	if tag == "!!int" || tag == "!!float" {
		return Bad(text, "has no unit", "write "+text+"s for seconds or "+text+"ms for milliseconds")
	}
	if std, err := time.ParseDuration(text); err == nil && std > 0 && std%time.Millisecond == 0 {
		return Bad(text, "is not a duration of whole units", "write "+model.Duration(std).String())
	}
	return Bad(text, "is not a duration", "write whole numbers with units, as in 250ms, 30s, 1h30m or 30d")
}

func (*duration) Describe() (string, map[string]any) {
	return "duration", map[string]any{"type": "string", "pattern": `^([0-9]+(y|w|d|h|m|s|ms))+$`}
}

// Share is a part of a whole, strictly between 0 and 1: 99.5% or 0.995.
type Share float64

// Parse reads a percentage or a fraction.
func (s *Share) Parse(_, text string) *Mistake {
	number, percent := strings.CutSuffix(text, "%")
	number = strings.TrimSpace(number)
	v, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return Bad(text, "is not a share", "write a percentage such as 99.5%, or 0.995")
	}
	// Shifting the decimal point in the text keeps 99.9 % at the double nearest
	// to 0.999; a division would round twice.
	hundredth, err := strconv.ParseFloat(number+"e-2", 64)
	switch {
	case percent && err == nil && hundredth > 0 && hundredth < 1:
		*s = Share(hundredth)
	case !percent && v > 0 && v < 1:
		*s = Share(v)
	case !percent && v > 1 && v < 100:
		return Bad(text, "is not between 0 and 1", "write "+number+"% or "+strconv.FormatFloat(hundredth, 'g', -1, 64))
	default:
		return Bad(text, "is not between 0 % and 100 %, both excluded", "write a percentage such as 99.5%, or 0.995")
	}
	return nil
}

// Describe is that of the documentation.
func (*Share) Describe() (string, map[string]any) {
	return "share", map[string]any{"oneOf": []any{
		map[string]any{"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
		map[string]any{"type": "string", "pattern": `^[0-9]*\.?[0-9]+ ?%$`},
	}}
}
