package config

import (
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"

	promconfig "github.com/prometheus/common/config"

	"synthetic/internal/config/yamlform"
)

// libraryDetail matches the parts of a YAML library's message that do not help the user: values, lines
// of a text that is not the user's, and Go types.
var libraryDetail = regexp.MustCompile("`[^`]*`|\"[^\"]*\"|yaml: (unmarshal errors:)?|line [0-9]+: |!!| (in type|into) [a-zA-Z.]+")

// client is the http_client key of a service that is not probed.
type client struct {
	HTTPClient map[string]any `yaml:"http_client" secret:"true" examples:"{basic_auth: {username: pager, password_file: /etc/synthetic/password}}"`
	// HTTP is the decoded key.
	HTTP promconfig.HTTPClientConfig
}

// endpointClient resolves the http_client key of the endpoint at path.
func endpointClient(r *reader, path string, to address, a fileAPI) promconfig.HTTPClientConfig {
	c := readHTTPClient(r, path, "base_url", string(to), a.HTTPClient)
	if c.Authorization == nil && c.BasicAuth == nil && c.OAuth2 == nil {
		return c
	}
	for _, key := range []string{"api_key_file", "api_key_env"} {
		if r.Has(path + "." + key) {
			r.Mistake(path+".http_client", "", "has a key, and cannot be combined with "+key, "keep one of the two")
		}
	}
	return c
}

// readHTTPClient resolves the http_client key of the mapping at path, whose key urlKey holds url. HTTP/2 is
// off by default: one read carries many streams, so that arrivals cannot be timed separately.
func readHTTPClient(r *reader, path, urlKey, url string, in map[string]any) promconfig.HTTPClientConfig {
	at := path + ".http_client"
	if len(in) == 0 || !r.Valid(at) {
		return promconfig.HTTPClientConfig{}
	}
	c := promClient(r, at, in)
	if c.TLSConfig != (promconfig.TLSConfig{}) && strings.HasPrefix(url, "http://") && r.Valid(path+"."+urlKey, at) {
		r.Mistake(at+".tls_config", "", "has no effect on an http address", "write https:// in "+urlKey+", or remove it")
	}
	c.FollowRedirects = false
	c.EnableHTTP2 = in["enable_http2"] == true
	return c
}

// promClient decodes an http_client. No message repeats a value, which may be secret.
func promClient(r *reader, at string, in map[string]any) promconfig.HTTPClientConfig {
	var c promconfig.HTTPClientConfig
	err := redecode(in, &c)
	switch {
	case err != nil:
		r.Mistake(at, "", "is not an HTTP client configuration ("+err.Error()+")", "write it as Prometheus' <http_config>, for example proxy_url: http://proxy:3128")
	case !checkAllowed(r, at, in, true):
	case c.Authorization != nil && c.Authorization.CredentialsFile == "":
		r.Mistake(at+".authorization.credentials_file", "", "is missing", "write it, or remove authorization")
	default:
		c.SetDirectory(r.dir)
		if o := c.OAuth2; o != nil { // the library does not set the directory of this path
			o.ClientCertificateKeyFile = promconfig.JoinDir(r.dir, o.ClientCertificateKeyFile)
		}
		checkClientFiles(r, at, in)
	}
	return c
}

// checkAllowed reports a key that the block of an HTTP client must not have.
func checkAllowed(r *reader, at string, block map[string]any, noRedirects bool) bool {
	key, message, remedy := forbidden(block)
	if _, redirects := block["follow_redirects"]; redirects && noRedirects {
		key, message, remedy = "follow_redirects", "has no effect: redirects are never followed", "remove it"
	}
	if key != "" {
		r.Mistake(at+"."+key, "", message, remedy)
	}
	return key == ""
}

// forbidden returns the path of a key that an HTTP client must not have, at any depth: a secret, a
// reference to a secret manager, or a header that the client sets itself. It is "" if there is none.
func forbidden(block map[string]any) (key, message, remedy string) {
	const secret = "carries a key, which is never written in the configuration (value not shown)"
	for _, key := range slices.Sorted(maps.Keys(block)) {
		inner, _ := block[key].(map[string]any)
		text, _ := block[key].(string)
		switch key {
		case "password", "credentials", "client_secret", "client_certificate_key", "bearer_token", "key":
			return key, secret, "put the key in a file and write " + key + "_file"
		case "secrets":
			return key, secret, "put the key in a file and write files"
		case "proxy_url":
			if u, err := url.Parse(text); err == nil && u.User != nil {
				return key, "has a user or a password, which is never written in the configuration (value not shown)", "use a proxy that needs none"
			}
		case "http_headers", "proxy_connect_header":
			if name, message, remedy := forbiddenHeader(inner); name != "" {
				return yamlform.Join(key, name), message, remedy
			}
			continue // the keys of inner are names of headers
		}
		if strings.HasSuffix(key, "_ref") {
			return key, "refers to a secret manager, and there is none", "put the key in a file and write " + strings.TrimSuffix(key, "_ref") + "_file"
		}
		if at, message, remedy := forbidden(inner); at != "" {
			return yamlform.Join(key, at), message, remedy
		}
	}
	return "", "", ""
}

// forbiddenHeader is forbidden for a mapping of headers by name.
func forbiddenHeader(headers map[string]any) (name, message, remedy string) {
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		from, _ := headers[name].(map[string]any)
		switch carriesKey, own := headerKind(name); {
		case own:
			return name, "is set by the client itself", "remove it"
		case from["secrets"] != nil, carriesKey && (len(from) != 1 || from["files"] == nil):
			return name, "carries a key, which is never written in the configuration (value not shown)", "put the key in a file and write the header's files"
		}
	}
	return "", "", ""
}

// checkClientFiles checks that the files of a client are readable.
func checkClientFiles(r *reader, at string, block map[string]any) {
	for _, key := range slices.Sorted(maps.Keys(block)) {
		at := yamlform.Join(at, key)
		files, _ := block[key].([]any)
		inner, _ := block[key].(map[string]any)
		checkClientFiles(r, at, inner)
		if file, ok := block[key].(string); ok && strings.HasSuffix(key, "_file") {
			checkClientFile(r, at, file)
		}
		for i, file := range files {
			if file, ok := file.(string); ok && key == "files" {
				checkClientFile(r, yamlform.Index(at, i), file)
			}
		}
	}
}

func checkClientFile(r *reader, at, file string) {
	if err := readable(r.resolve(file)); err != nil && file != "" {
		r.Mistake(at, "", "cannot be read ("+yamlform.ReasonOf(err)+")", "name a readable file, relative to the configuration file")
	}
}
