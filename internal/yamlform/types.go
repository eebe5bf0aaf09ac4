package yamlform

import (
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/common/model"
)

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
