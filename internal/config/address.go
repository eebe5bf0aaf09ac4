package config

import (
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"synthetic/internal/config/yamlform"
	"synthetic/internal/probe/dialect"
)

// address is the base URL of an API, without a trailing slash. If it has no path, the API's usual path
// applies.
type address string

const exampleAddress = "http://127.0.0.1:8000/v1"

func (a *address) Parse(_, text string) *yamlform.Mistake {
	if !strings.ContainsAny(text, "@?#") && !strings.Contains(text, ":/") {
		return yamlform.Bad(shownAddress(text), "has no scheme", "write "+withScheme(text))
	}
	u, m := parseURL(text, exampleAddress)
	if m != nil {
		return m
	}
	for _, operation := range []string{"/chat/completions", "/completions", "/responses", "/messages", "/models"} {
		if base, ok := strings.CutSuffix(u.Path, operation); ok {
			u.Path = base
			return yamlform.Bad(text, "includes the operation, which is appended", "write "+yamlform.Shown(u.String()))
		}
	}
	*a = address(u.String())
	return nil
}

// ParseAddress checks the base URL of an API that a flag gives, and returns it without a trailing slash and
// without a default path. Errors say what to write, and do not show what may be secret.
func ParseAddress(text string) (string, error) {
	var a address
	if m := a.Parse("", text); m != nil {
		return "", yamlform.Problem{Mistake: *m}
	}
	return string(a), nil
}

// base returns the root URL of an API.
func (a address) base(api dialect.Name) string {
	if strings.Count(string(a), "/") > len("//") { // it has a path
		return string(a)
	}
	return string(a) + dialect.Of(api).Root
}

// parseURL reads an http or https address without a trailing slash. Its first check rejects parts that may be secret,
// without repeating them.
func parseURL(text, example string) (*url.URL, *yamlform.Mistake) {
	const instead = "; keys and passwords belong in files"
	switch {
	case strings.Contains(text, "@"):
		return nil, yamlform.Bad("", "contains user information (not shown)", "remove the part before the @"+instead)
	case strings.ContainsAny(text, "?#"):
		return nil, yamlform.Bad("", "has a query or a fragment (not shown)", "remove the ? or # and what follows"+instead)
	}
	u, err := url.Parse(text)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" || !validPort(u.Port()) || strings.ContainsAny(text, " \t") {
		return nil, yamlform.Bad(shownAddress(text), "is not an http or https address", "write an address such as "+example)
	}
	u.Path, u.RawPath = strings.TrimRight(u.Path, "/"), ""
	return u, nil
}

// shownAddress returns a malformed address for a message, or "". A text after a colon that is not a
// port may be a password.
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
	if err != nil || u.Hostname() == "" || strings.ContainsAny(text, " \t") {
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

// name returns the host and port as a label value.
func (a address) name() string {
	u, err := url.Parse(string(a))
	if err != nil {
		return ""
	}
	return yamlform.LabelSafe(u.Host)
}

// metrics returns the usual address of the server's metrics, or nothing for an invalid address.
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
	u, m := parseURL(text, "https://host.example.com/path")
	if m == nil {
		*a = webURL(u.String())
	}
	return m
}

// planAddress is an address, or "preset:NAME" for a simulated deployment.
type planAddress string

// A preset is reached under the host NAME.preset.invalid, which no resolver knows.
const (
	presetScheme = "preset:"
	presetHost   = ".preset.invalid"
)

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

// resolve returns the address and the preset's name, which is "" for a real deployment.
func (a planAddress) resolve() (to address, preset string) {
	if name, ok := strings.CutPrefix(string(a), presetScheme); ok {
		return address("http://" + name + presetHost + "/v1"), name
	}
	return address(a), ""
}
