package config

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/common/model"

	"synthetic/internal/config/yamlform"
	"synthetic/internal/probe/target"
	"synthetic/internal/probe/workload"
)

// pattern is a regular expression that compiles.
type pattern string

func (p *pattern) Parse(tag, text string) *yamlform.Mistake {
	if tag != "!!str" || text == "" {
		return yamlform.Bad(text, "is not a regular expression", "write RE2 syntax, in quotes")
	}
	if _, err := regexp.Compile(text); err != nil {
		reason := err.Error()
		if se, ok := errors.AsType[*syntax.Error](err); ok {
			reason = se.Code.String()
		}
		return yamlform.Bad(text, "is not a regular expression ("+reason+")", "write RE2 syntax")
	}
	*p = pattern(text)
	return nil
}

func (*pattern) Describe() (string, map[string]any) {
	return "regular expression", map[string]any{"type": "string", "minLength": 1}
}

// moment is a point in time with its zone: 2026-12-01T10:00:00Z.
type moment struct{ time.Time }

func (m *moment) Parse(_, text string) *yamlform.Mistake {
	at, err := time.Parse(time.RFC3339, text)
	if err == nil {
		m.Time = at.UTC()
		return nil
	}
	local := strings.Replace(text, " ", "T", 1)
	if _, err := time.Parse("2006-01-02T15:04:05", local); err == nil {
		return yamlform.Bad(text, "has no time zone", "write "+local+"Z for UTC, or an offset such as "+local+"+01:00")
	}
	return yamlform.Bad(text, "is not a time", "write date, time and zone, for example 2026-12-01T10:00:00Z")
}

func (*moment) Describe() (string, map[string]any) {
	return "time", map[string]any{"type": "string", "format": "date-time"}
}

// weekly is a time of the week in UTC and a length: sunday 02:00 2h.
type weekly struct {
	start, length time.Duration // since the start of Monday
}

func (w *weekly) Parse(_, text string) *yamlform.Mistake {
	const remedy = "write a weekday, a time of day and a length, for example sunday 02:00 2h"
	var day, at, length string
	if n, _ := fmt.Sscan(text, &day, &at, &length); n < 3 || len(strings.Fields(text)) > 3 {
		return yamlform.Bad(text, "is not a window of the week", remedy)
	}
	index := slices.Index(weekdays(), day)
	start, startErr := time.Parse("15:04", at)
	lasts, lengthErr := model.ParseDuration(length)
	switch {
	case index < 0:
		return yamlform.Bad(day, "is not a weekday", yamlform.Suggest(day, weekdays(), "weekdays"))
	case startErr != nil:
		return yamlform.Bad(at, "is not a time of day", "write hours and minutes from 00:00 to 23:59, for example 02:30")
	case lengthErr != nil:
		return yamlform.Bad(length, "is not a duration", remedy)
	case time.Duration(lasts) < time.Minute || time.Duration(lasts) > mostWeekly:
		return yamlform.Bad(length, "is not between 1m and 6d", "write a length in this range")
	}
	w.start = time.Duration(index)*day24 + start.Sub(start.Truncate(day24))
	w.length = time.Duration(lasts)
	return nil
}

func (*weekly) Describe() (string, map[string]any) {
	return "window of the week", map[string]any{"type": "string", "pattern": `^(` + strings.Join(weekdays(), "|") + `) +([01][0-9]|2[0-3]):[0-5][0-9] +([0-9]+(w|d|h|m|s|ms))+$`}
}

// tokenBudget is a number of tokens in a time: 5000000/1d.
type tokenBudget workload.TokenBudget

func (t *tokenBudget) Parse(_, text string) *yamlform.Mistake {
	const remedy = "write tokens and a time from 1m to 31d, for example 5000000/1d"
	number, window, _ := strings.Cut(text, "/")
	tokens, err := strconv.Atoi(strings.ReplaceAll(strings.TrimSpace(number), "_", ""))
	per, perErr := model.ParseDuration(strings.TrimSpace(window))
	if err != nil || perErr != nil || tokens < 1 || time.Duration(per) < time.Minute || time.Duration(per) > 31*day24 {
		return yamlform.Bad(text, "is not a budget of tokens", remedy)
	}
	*t = tokenBudget{Tokens: tokens, Per: time.Duration(per)}
	return nil
}

func (*tokenBudget) Describe() (string, map[string]any) {
	return "tokens per time", map[string]any{"type": "string", "pattern": `^[0-9_]+ */ *[0-9]+(w|d|h|m|s|ms)([0-9]+(w|d|h|m|s|ms))*$`}
}

// freeBody are fields of a request's body.
type freeBody map[string]any

func (*freeBody) Describe() (string, map[string]any) {
	return "mapping of anything", map[string]any{"type": "object", "propertyNames": map[string]any{"not": map[string]any{"enum": slices.Sorted(maps.Keys(ownFields()))}}}
}

// address is the base URL of an API, normalised: no trailing slash. One without a
// path stands for the root that the API usually has.
type address string

// exampleAddress is how one may be written.
const exampleAddress = "http://127.0.0.1:8000/v1"

func (a *address) Parse(_, text string) *yamlform.Mistake {
	const remedy = "write an address such as " + exampleAddress
	if m := private(text, " and use api_key_file or api_key_env", "; keys belong in api_key_file or api_key_env"); m != nil {
		return m
	}
	scheme, _, found := strings.Cut(text, "://")
	u, err := url.Parse(text)
	switch {
	case !found:
		return yamlform.Bad(shownAddress(text), "has no scheme", "write "+withScheme(text))
	case scheme != "http" && scheme != "https":
		return yamlform.Bad(shownAddress(text), "is neither an http nor an https address", remedy)
	case err != nil || !validPort(u.Port()) || strings.ContainsAny(text, " \t"):
		return yamlform.Bad(shownAddress(text), "is not a URL", remedy)
	case u.Hostname() == "":
		return yamlform.Bad(text, "has no host", remedy)
	}
	path := strings.TrimRight(u.Path, "/")
	for _, own := range []string{"/chat/completions", "/completions", "/responses", "/messages", "/api/chat", "/embeddings", "/rerank", "/models"} {
		if base, ok := strings.CutSuffix(path, own); ok {
			u.Path = base
			return yamlform.Bad(text, "names an operation, which is appended by itself", "write "+yamlform.Shown(u.String()))
		}
	}
	u.Path, u.RawPath = path, ""
	*a = address(u.String())
	return nil
}

// base is where the paths of an API are appended.
func (a address) base(api target.API) string {
	if strings.Count(string(a), "/") > len("//") { // it has a path
		return string(a)
	}
	return string(a) + api.DefaultPath()
}

// private refuses an address with a part that may be a secret, even one that is
// wrong in other ways: this check comes first and never repeats the value.
func private(text, insteadOfUser, insteadOfQuery string) *yamlform.Mistake {
	switch {
	case strings.Contains(text, "@"):
		return yamlform.Bad("", "contains user information (not shown)", "leave out what stands before the @"+insteadOfUser)
	case strings.ContainsAny(text, "?#"):
		return yamlform.Bad("", "has a query or a fragment (not shown)", "leave out the ? or # and what follows"+insteadOfQuery)
	}
	return nil
}

// shownAddress is what a message repeats of a text that should be an address.
// What follows a colon and is no port may be a password whose host was forgotten.
func shownAddress(text string) string {
	_, rest, found := strings.Cut(text, "://")
	if !found {
		rest = text
	}
	host, _, _ := strings.Cut(rest, "/")
	_, port, _ := strings.Cut(host[strings.LastIndexByte(host, ']')+1:], ":")
	if strings.Trim(port, "0123456789") != "" {
		return ""
	}
	return text
}

// withScheme completes "host:port" and "host:port/path".
func withScheme(text string) string {
	u, err := url.Parse("http://" + strings.TrimLeft(text, "/"))
	if err != nil || u.Hostname() == "" || yamlform.LooksSecret(text) || strings.ContainsAny(text, " \t") {
		return exampleAddress
	}
	if strings.Trim(u.Path, "/") == "" {
		u.Path = "/v1"
	}
	return u.String()
}

func validPort(port string) bool {
	n, err := strconv.Atoi(port)
	return port == "" || err == nil && n > 0 && n < 65536
}

func (*address) Describe() (string, map[string]any) {
	return "URL", map[string]any{"type": "string", "pattern": `^https?://[^/?#@\s]+(/[^?#@\s]*)?$`}
}

// name derives a label from the address: its host and port.
func (a address) name() string {
	u, err := url.Parse(string(a))
	if err != nil {
		return ""
	}
	return yamlform.LabelSafe(u.Host)
}

// metrics is where the deployment usually tells its own metrics; none for an
// address that was wrong.
func (a address) metrics() []string {
	u, err := url.Parse(string(a))
	if err != nil || u.Host == "" {
		return nil
	}
	return []string{u.Scheme + "://" + u.Host + "/metrics"}
}

// webURL is the address of a page or a service, without a trailing slash.
type webURL string

func (a *webURL) Parse(_, text string) *yamlform.Mistake {
	if m := private(text, "; passwords belong in files", ""); m != nil {
		return m
	}
	u, err := url.Parse(text)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" || !validPort(u.Port()) || strings.ContainsAny(text, " \t") {
		return yamlform.Bad(shownAddress(text), "is not an http or https address", "write an address such as https://host.example.com/path")
	}
	u.Path, u.RawPath = strings.TrimRight(u.Path, "/"), ""
	*a = webURL(u.String())
	return nil
}

func (*webURL) Describe() (string, map[string]any) { return (*address)(nil).Describe() }

// planAddress is an address, or a simulated deployment named by presetScheme.
type planAddress string

// presetScheme begins the name of a simulated deployment; presetHost ends the
// host that stands for one, in a domain that no resolver knows.
const (
	presetScheme = "preset:"
	presetHost   = ".preset.invalid"
)

// presetName matches the names that presets can have.
var presetName = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

func (a *planAddress) Parse(tag, text string) *yamlform.Mistake {
	name, ok := strings.CutPrefix(text, presetScheme)
	if !ok {
		return (*address)(a).Parse(tag, text)
	}
	if !presetName.MatchString(name) {
		return yamlform.Bad(text, "is not the name of a preset", "write for example "+presetScheme+"phase0")
	}
	*a = planAddress(text)
	return nil
}

func (*planAddress) Describe() (string, map[string]any) {
	_, s := (*address)(nil).Describe()
	return "URL or preset", map[string]any{"type": "string", "pattern": `^preset:[a-z0-9-]+$|` + s["pattern"].(string)}
}

// resolve is where requests go, and the name of the simulated deployment there,
// "" for a real one.
func (a planAddress) resolve() (to address, preset string) {
	if name, ok := strings.CutPrefix(string(a), presetScheme); ok {
		return address("http://" + name + presetHost + "/v1"), name
	}
	return address(a), ""
}
