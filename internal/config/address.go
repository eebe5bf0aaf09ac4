package config

import (
	"net/url"
	"strconv"
	"strings"
)

// address is the base URL of an OpenAI-compatible API, normalised: no trailing
// slash, and /v1 where no path was given.
type address string

func (a *address) parse(_, text string) *mistake {
	const example = "http://127.0.0.1:8000/v1"
	// Whatever stands before an @ or after a ? may be a secret, even in an
	// address that is wrong in other ways: these two checks come first and
	// never repeat the value.
	if strings.Contains(text, "@") {
		return &mistake{"", "contains user information (not shown)", "leave out what stands before the @ and use api_key_file or api_key_env"}
	}
	if strings.ContainsAny(text, "?#") {
		return &mistake{"", "has a query or a fragment (not shown)", "leave out the ? or # and what follows; keys belong in api_key_file or api_key_env"}
	}
	scheme, _, found := strings.Cut(text, "://")
	if !found {
		return &mistake{shownAddress(text), "has no scheme", "write " + withScheme(text, example)}
	}
	if scheme != "http" && scheme != "https" {
		return &mistake{shownAddress(text), "is neither an http nor an https address", "write an address such as " + example}
	}
	u, err := url.Parse(text)
	if err != nil || !validPort(u.Port()) || strings.ContainsAny(text, " \t") {
		return &mistake{shownAddress(text), "is not a URL", "write an address such as " + example}
	}
	if u.Hostname() == "" {
		return &mistake{shown(text), "has no host", "write an address such as " + example}
	}
	path := strings.TrimRight(u.Path, "/")
	for _, own := range []string{"/chat/completions", "/models"} {
		if base, ok := strings.CutSuffix(path, own); ok {
			u.Path = base
			return &mistake{shown(text), "names an operation, which is appended by itself", "write " + shown(u.String())}
		}
	}
	if path == "" {
		path = "/v1"
	}
	u.Path, u.RawPath = path, ""
	*a = address(u.String())
	return nil
}

// shownAddress is shown for a text that should be an address. What follows a
// colon and is no port may be a password whose host was forgotten.
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
	return shown(text)
}

// withScheme completes "host:port" and "host:port/path".
func withScheme(text, example string) string {
	u, err := url.Parse("http://" + strings.TrimLeft(text, "/"))
	if err != nil || u.Hostname() == "" || looksSecret(text) || strings.ContainsAny(text, " \t") {
		return example
	}
	if strings.Trim(u.Path, "/") == "" {
		u.Path = "/v1"
	}
	return u.String()
}

func validPort(port string) bool {
	if port == "" {
		return true
	}
	n, err := strconv.Atoi(port)
	return err == nil && n > 0 && n < 65536
}

func (*address) schema() map[string]any {
	return map[string]any{"type": "string", "pattern": `^https?://[^/?#@\s]+(/[^?#@\s]*)?$`}
}

func (*address) kind() string { return "URL" }

// name derives a label from the address: its host and port.
func (a address) name() string {
	u, err := url.Parse(string(a))
	if err != nil {
		return ""
	}
	return labelSafe(u.Host)
}
