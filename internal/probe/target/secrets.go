package target

import (
	"context"
	"encoding/base64"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"net/url"
	"strings"

	promconfig "github.com/prometheus/common/config"
	"golang.org/x/net/http/httpproxy"

	"synthetic/internal/redact"
)

// CarriesKey reports whether a header usually carries a key.
func CarriesKey(header string) bool {
	switch textproto.CanonicalMIMEHeaderKey(header) {
	case "Authorization", "Proxy-Authorization", "Cookie", "Api-Key", "X-Api-Key",
		"X-Auth-Token", "X-Goog-Api-Key", "Ocp-Apim-Subscription-Key":
		return true
	}
	return false
}

// remember tells package redact the secrets in the headers of a request, and the password of a proxy.
func (a *Authorizer) remember(h http.Header) {
	rememberProxies(a.target.HTTP)
	for name, values := range h {
		switch name {
		case "User-Agent", "Anthropic-Version", ProbeHeader:
			continue
		}
		for _, v := range values {
			switch {
			case CarriesKey(name) || a.isFromFile(name):
				rememberKey(v)
			case !a.target.IsPublic(v):
				redact.Value(v)
			}
		}
	}
}

// isFromFile reports whether the value of a header is from a file.
func (a *Authorizer) isFromFile(name string) bool {
	if a.target.HTTP.HTTPHeaders == nil {
		return false
	}
	for configured, from := range a.target.HTTP.HTTPHeaders.Headers {
		if textproto.CanonicalMIMEHeaderKey(configured) == name {
			return len(from.Files) > 0
		}
	}
	return false
}

// IsPublic reports whether metrics and pages show a value anyway. A routing header often has the name
// of the target or of its model.
func (t *Target) IsPublic(value string) bool {
	for _, label := range t.Labels {
		if value == label {
			return true
		}
	}
	return value == t.Name || value == t.Model || value == t.Service
}

// RememberingSent returns a context whose HTTP requests tell package redact the keys in their headers, also
// tokens that are in no file, before the answer is read.
func RememberingSent(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaderField: func(name string, values []string) {
		rememberHeaders(http.Header{name: values})
	}})
}

// rememberHeaders tells package redact the keys in the headers of a request that is sent.
func rememberHeaders(h http.Header) {
	for name, values := range h {
		for _, v := range values {
			if CarriesKey(name) {
				rememberKey(v)
			}
		}
	}
}

// rememberKey takes a key as a header has it, such as "Bearer abc" or "Basic abc".
func rememberKey(value string) {
	scheme, token, found := strings.Cut(value, " ")
	if !found {
		token = value
	}
	redact.Key(token)
	if text, err := base64.StdEncoding.DecodeString(token); err == nil && scheme == "Basic" {
		_, password, _ := strings.Cut(string(text), ":")
		redact.Key(password)
	}
}

// rememberProxies tells package redact the passwords of the proxies of the environment, if a client uses
// these.
func rememberProxies(c promconfig.HTTPClientConfig) {
	if !c.ProxyFromEnvironment && (c.OAuth2 == nil || !c.OAuth2.ProxyFromEnvironment) {
		return
	}
	proxies := httpproxy.FromEnvironment()
	proxies.NoProxy = ""
	for _, scheme := range []string{"http", "https"} {
		proxy, err := proxies.ProxyFunc()(&url.URL{Scheme: scheme, Host: "any.example.com"})
		if err == nil && proxy != nil {
			password, _ := proxy.User.Password()
			redact.Key(password)
		}
	}
}

// RememberSecrets tells package redact the secrets in the files of an HTTP client's configuration, and the
// passwords of its proxies. It omits files that cannot be read: the client cannot send their content.
func RememberSecrets(c promconfig.HTTPClientConfig) {
	rememberProxies(c)
	var files []string
	if c.Authorization != nil {
		files = append(files, c.Authorization.CredentialsFile, c.Authorization.CredentialsRef)
	}
	if c.BasicAuth != nil {
		files = append(files, c.BasicAuth.PasswordFile, c.BasicAuth.PasswordRef)
	}
	if c.OAuth2 != nil {
		files = append(files, c.OAuth2.ClientSecretFile, c.OAuth2.ClientSecretRef)
	}
	if c.HTTPHeaders != nil {
		for _, from := range c.HTTPHeaders.Headers {
			files = append(files, from.Files...)
		}
	}
	for _, file := range files {
		if secret, err := readSecret(file); err == nil {
			redact.Key(secret)
		}
	}
}
