package config

import (
	"net/url"
	"strings"
)

// webURL is the address of a page or a service, without a trailing slash.
type webURL string

func (a *webURL) parse(_, text string) *mistake {
	const remedy = "write an address such as https://host.example.com/path"
	// The same order as for a base_url: what may hold a secret is never shown.
	if strings.Contains(text, "@") {
		return &mistake{"", "contains user information (not shown)", "leave out what stands before the @; passwords belong in files"}
	}
	if strings.ContainsAny(text, "?#") {
		return &mistake{"", "has a query or a fragment (not shown)", "leave out the ? or # and what follows"}
	}
	u, err := url.Parse(text)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" || !validPort(u.Port()) || strings.ContainsAny(text, " \t") {
		return &mistake{shownAddress(text), "is not an http or https address", remedy}
	}
	u.Path, u.RawPath = strings.TrimRight(u.Path, "/"), ""
	*a = webURL(u.String())
	return nil
}

func (*webURL) schema() map[string]any { return (*address)(nil).schema() }

func (*webURL) kind() string { return "URL" }
