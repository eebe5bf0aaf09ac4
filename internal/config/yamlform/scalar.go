package yamlform

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	"go.yaml.in/yaml/v3"
)

// Scalar is a type with its own syntax.
type Scalar interface {
	// Parse sets the value from the short YAML tag and the text of a node.
	Parse(tag, text string) *Mistake
}

// asScalar returns a pointer as a Scalar. A *time.Duration, which cannot have our methods, counts as a *duration.
func asScalar(pointer any) (Scalar, bool) {
	if d, ok := pointer.(*time.Duration); ok {
		return (*duration)(d), true
	}
	s, ok := pointer.(Scalar)
	return s, ok
}

// setScalar parses text into v. tag is the short YAML tag of the text.
func setScalar(v reflect.Value, tag, text string) *Mistake {
	if s, ok := asScalar(v.Addr().Interface()); ok {
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
		return nil
	}
	if bare := node.ShortTag(); tag == "!!str" && (bare == "!!int" || bare == "!!float") {
		return Bad(text, "is text, not "+kind, "write it without quotes")
	}
	return Bad(text, "is not "+kind, "")
}

// setTag parses the text of a struct tag into v.
func setTag(v reflect.Value, text string) {
	node := yaml.Node{Kind: yaml.ScalarNode, Value: text}
	setScalar(v, node.ShortTag(), text)
}

// defaultsOf returns a struct in which every field has its default.
func defaultsOf(t reflect.Type) reflect.Value {
	v := reflect.New(t).Elem()
	for _, key := range Fields(t) {
		member := v.FieldByIndex(key.index)
		setDefault(member, key)
		if _, own := asScalar(member.Addr().Interface()); !own && member.Kind() == reflect.Struct {
			member.Set(defaultsOf(member.Type()))
		}
	}
	return v
}

// setDefault sets v to the default of its key, or to zero.
func setDefault(v reflect.Value, key Field) {
	v.SetZero()
	if key.Default != "" && key.Default != Everything {
		setTag(v, key.Default)
	}
}

// outOfRange checks v against the enum and the bounds of its key. text is its text in the file.
func outOfRange(v reflect.Value, text string, key Field) *Mistake {
	if len(key.Enum) > 0 {
		if slices.Contains(key.Enum, text) {
			return nil
		}
		return Bad(text, "is not one of the allowed values", Suggest(key.Enum, "values"))
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

// number returns a number or a duration in the unit of its bounds.
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

// bound returns the bound of a tag in the unit of v.
func bound(v reflect.Value, text string) float64 {
	limit := reflect.New(v.Type()).Elem()
	setTag(limit, text)
	n, _ := number(limit)
	return n
}

// Everything is the text of a selection of all names.
const Everything = "*"

// Selection is a list of names, or nil for all names.
type Selection []string

// duration is a time.Duration in Prometheus' syntax: 30d, 1h30m, 250ms.
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

// Share is a part of a whole, above 0 and below 1: 99.5% or 0.995.
type Share float64

// Parse reads a percentage or a fraction.
func (s *Share) Parse(_, text string) *Mistake {
	number, percent := strings.CutSuffix(text, "%")
	number = strings.TrimSpace(number)
	v, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return Bad(text, "is not a share", "write a percentage such as 99.5%, or 0.995")
	}
	// Moving the decimal point in the text rounds once, so that 99.9 % is the double nearest to
	// 0.999. A division would round twice.
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
