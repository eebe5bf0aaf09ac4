package config

import (
	"errors"
	"reflect"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/common/model"

	"synthetic/internal/config/yamlform"
	"synthetic/internal/probe/workload"
	"synthetic/internal/slo"
)

// pattern is a valid regular expression.
type pattern string

func (p *pattern) Parse(tag, text string) *yamlform.Mistake {
	if tag != "!!str" || text == "" {
		return yamlform.Bad(text, "is not a regular expression", "write RE2 syntax, in quotes")
	}
	if _, err := syntax.Parse(text, syntax.Perl); err != nil {
		reason := err.Error()
		if se, ok := errors.AsType[*syntax.Error](err); ok {
			reason = se.Code.String()
		}
		return yamlform.Bad(text, "is not a regular expression ("+reason+")", "write RE2 syntax")
	}
	*p = pattern(text)
	return nil
}

// moment is a time with its zone: 2026-12-01T10:00:00Z.
type moment struct{ time.Time }

func (m *moment) Parse(_, text string) *yamlform.Mistake {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return yamlform.Bad(text, "is not a time with its zone", "write for example 2026-12-01T10:00:00Z for UTC, or 2026-12-01T10:00:00+01:00")
	}
	m.Time = at.UTC()
	return nil
}

// zone is a time zone by its IANA name; the zero value means that the key is absent.
type zone struct{ *time.Location }

func (z *zone) Parse(_, text string) *yamlform.Mistake {
	location, err := time.LoadLocation(text)
	if err != nil || text == "" || text == "Local" { // Go reads the last two as UTC and as the machine's zone
		return yamlform.Bad(text, "is not the name of a time zone", "write a name of the IANA database, for example Europe/Berlin, America/Los_Angeles or UTC")
	}
	z.Location = location
	return nil
}

// weekly is a window of every week: sunday 02:00 2h. start counts from the begin of Monday.
type weekly struct{ start, length time.Duration }

func (w *weekly) Parse(_, text string) *yamlform.Mistake {
	const remedy = "write a weekday, a time of day and a length, for example sunday 02:00 2h"
	fields := strings.Fields(text)
	if len(fields) != 3 {
		return yamlform.Bad(text, "is not a window of the week", remedy)
	}
	weekday := slices.Index(weekdays(), fields[0])
	start, startErr := time.Parse("15:04", fields[1])
	length, lengthErr := model.ParseDuration(fields[2])
	switch {
	case weekday < 0:
		return yamlform.Bad(fields[0], "is not a weekday", yamlform.Suggest(weekdays(), "weekdays"))
	case startErr != nil:
		return yamlform.Bad(fields[1], "is not a time of day", "write hours and minutes from 00:00 to 23:59, for example 02:30")
	case lengthErr != nil:
		return yamlform.Bad(fields[2], "is not a duration", remedy)
	case time.Duration(length) < time.Minute || time.Duration(length) > maxWeekly:
		return yamlform.Bad(fields[2], "is not between 1m and 6d", "write a length in this range")
	}
	*w = weekly{time.Duration(weekday)*day + start.Sub(start.Truncate(day)), time.Duration(length)}
	return nil
}

// tokenBudget is a number of tokens in a time: 5000000/1d.
type tokenBudget workload.TokenBudget

func (t *tokenBudget) Parse(_, text string) *yamlform.Mistake {
	number, window, _ := strings.Cut(text, "/")
	tokens, err := strconv.Atoi(strings.ReplaceAll(strings.TrimSpace(number), "_", ""))
	length, badWindow := model.ParseDuration(strings.TrimSpace(window))
	per := time.Duration(length)
	if err != nil || badWindow != nil || tokens < 1 || per < time.Minute || per > 31*day {
		return yamlform.Bad(text, "is not a budget of tokens", "write tokens and a time from 1m to 31d, for example 5000000/1d")
	}
	*t = tokenBudget{Tokens: tokens, Per: per}
	return nil
}

// tokenClass is a class of turns by their uncached prompt tokens: "<4k", 4k-32k or ">=32k".
type tokenClass slo.Tokens

var classPattern = regexp.MustCompile(`^ *((<|>=) *([0-9]+k?)|([0-9]+k?) *- *([0-9]+k?)) *$`)

func (c *tokenClass) Parse(_, text string) *yamlform.Mistake {
	parts := classPattern.FindStringSubmatch(text)
	ok := parts != nil
	if ok && parts[2] != "<" {
		c.From, ok = parseTokens(parts[3] + parts[4])
	}
	if ok && parts[2] != ">=" {
		c.Below, ok = parseTokens(parts[3] + parts[5])
	}
	if !ok || c.Below > 0 && c.From >= c.Below {
		return yamlform.Bad(text, "is not a class of uncached tokens", `write "<4k", 4k-32k or ">=32k"; k means 1000`)
	}
	return nil
}

// parseTokens reads a number of tokens from 1 to 1,000,000,000: 4096 or 4k.
func parseTokens(text string) (n int, ok bool) {
	number, thousands := strings.CutSuffix(text, "k")
	n, err := strconv.Atoi(number)
	if thousands {
		n *= 1000
	}
	return n, err == nil && n > 0 && n <= 1_000_000_000
}

// freeBody holds fields of a request body. A null leaves the field out.
type freeBody map[string]any

// kinds returns the types of this package for the references and the schemas.
func kinds() map[reflect.Type]yamlform.Kind {
	const url = `^https?://[^/?#@\s]+(/[^?#@\s]*)?$`
	weekday := "(" + strings.Join(weekdays(), "|") + ")"
	null := map[string]any{}
	for name := range ownFields() {
		null[name] = map[string]any{"type": "null"}
	}
	return map[reflect.Type]yamlform.Kind{
		reflect.TypeFor[address]():     yamlform.TextKind("URL", "pattern", url),
		reflect.TypeFor[webURL]():      yamlform.TextKind("URL", "pattern", url),
		reflect.TypeFor[planAddress](): yamlform.TextKind("URL or preset", "pattern", `^preset:[a-z0-9-]+$|`+url),
		reflect.TypeFor[pattern]():     yamlform.TextKind("regular expression", "minLength", 1),
		reflect.TypeFor[moment]():      yamlform.TextKind("time", "format", "date-time"),
		reflect.TypeFor[zone]():        yamlform.TextKind("time zone", "minLength", 1),
		reflect.TypeFor[weekly]():      yamlform.TextKind("window of the week", "pattern", `^`+weekday+` +([01][0-9]|2[0-3]):[0-5][0-9] +([0-9]+(w|d|h|m|s|ms))+$`),
		reflect.TypeFor[tokenBudget](): yamlform.TextKind("tokens per time", "pattern", `^[0-9._]+ */ *([0-9]+(y|w|d|h|m|s|ms))+$`),
		reflect.TypeFor[tokenClass]():  yamlform.TextKind("class of tokens", "pattern", classPattern.String()),
		reflect.TypeFor[freeBody]():    {Name: "mapping of anything", Schema: map[string]any{"type": "object", "properties": null}},
	}
}
