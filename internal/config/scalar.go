package config

import (
	"errors"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/common/model"
)

// scalar is a type with its own way to be written.
type scalar interface {
	// parse sets the value from the short YAML tag and the text of a node.
	parse(tag, text string) *mistake
	// schema is its JSON Schema.
	schema() map[string]any
	// kind is its name in the documentation.
	kind() string
}

// duration is written as Prometheus writes it: 30d, 1h30m, 250ms.
type duration time.Duration

func (d *duration) parse(tag, text string) *mistake {
	v, err := model.ParseDuration(text)
	if err == nil && text != "0" {
		*d = duration(v)
		return nil
	}
	if tag == "!!int" || tag == "!!float" {
		return &mistake{shown(text), "has no unit", "write " + text + "s for seconds or " + text + "ms for milliseconds"}
	}
	if std, err := time.ParseDuration(text); err == nil && std > 0 && std%time.Millisecond == 0 {
		return &mistake{shown(text), "is not a duration of whole units", "write " + model.Duration(std).String()}
	}
	return &mistake{shown(text), "is not a duration", "write whole numbers with units, as in 250ms, 30s, 1h30m or 30d"}
}

func (*duration) schema() map[string]any {
	return map[string]any{
		"type":    "string",
		"pattern": `^([0-9]+(y|w|d|h|m|s|ms))+$`,
	}
}

func (*duration) kind() string { return "duration" }

func (d duration) String() string { return model.Duration(d).String() }

// share is a part of a whole, strictly between 0 and 1: 99.5% or 0.995.
type share float64

func (s *share) parse(_, text string) *mistake {
	number, percent := strings.CutSuffix(text, "%")
	number = strings.TrimSpace(number)
	v, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return &mistake{shown(text), "is not a share", "write a percentage such as 99.5%, or 0.995"}
	}
	if percent {
		// Shifting the decimal point in the text keeps 99.9 % at the double
		// nearest to 0.999; a division would round twice.
		v, err = strconv.ParseFloat(number+"e-2", 64)
	}
	switch {
	case err == nil && v > 0 && v < 1:
		*s = share(v)
		return nil
	case err == nil && !percent && v > 1 && v < 100:
		return &mistake{shown(text), "is not between 0 and 1", "write " + number + "% or " + fraction(number)}
	}
	return &mistake{shown(text), "is not between 0 % and 100 %, both excluded", "write a percentage such as 99.5%, or 0.995"}
}

// fraction writes a percentage as a fraction, without the noise of a division.
func fraction(percent string) string {
	v, _ := strconv.ParseFloat(percent+"e-2", 64)
	return strconv.FormatFloat(v, 'g', -1, 64)
}

func (*share) schema() map[string]any {
	return map[string]any{"oneOf": []any{
		map[string]any{"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
		map[string]any{"type": "string", "pattern": `^[0-9]*\.?[0-9]+ ?%$`},
	}}
}

func (*share) kind() string { return "share" }

// pattern is a regular expression that compiles.
type pattern string

func (p *pattern) parse(tag, text string) *mistake {
	if tag != "!!str" || text == "" {
		return &mistake{shown(text), "is not a regular expression", "write RE2 syntax, in quotes"}
	}
	if _, err := regexp.Compile(text); err != nil {
		reason := err.Error()
		if se, ok := errors.AsType[*syntax.Error](err); ok {
			reason = se.Code.String()
		}
		return &mistake{shown(text), "is not a regular expression (" + reason + ")", "write RE2 syntax"}
	}
	*p = pattern(text)
	return nil
}

func (*pattern) schema() map[string]any {
	return map[string]any{"type": "string", "minLength": 1}
}

func (*pattern) kind() string { return "regular expression" }
