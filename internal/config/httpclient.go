package config

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	promconfig "github.com/prometheus/common/config"

	"synthetic/internal/config/yamlform"
)

// libraryDetail matches the parts of a YAML library's message that do not help the user: values, lines
// of a text that is not the user's, and Go types.
var libraryDetail = regexp.MustCompile("`[^`]*`|\"(\\\\.|[^\"\\\\])*\"|yaml: (unmarshal errors:)?|line [0-9]+: |!!| (in type|into) [a-zA-Z.]+")

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
	var c promconfig.HTTPClientConfig
	if len(in) == 0 || !r.Valid(at) {
		return c
	}
	err := redecode(in, &c)
	if err == nil {
		r.NoEffect(at, "because redirects are never followed", "remove it", "follow_redirects")
		resolveClient(r, at, in)
		c = promconfig.HTTPClientConfig{}
		err = redecode(in, &c)
	}
	switch {
	case err != nil:
		r.Mistake(at, "", "is not an HTTP client configuration ("+err.Error()+")", "write it as Prometheus' <http_config>, for example proxy_url: http://proxy:3128")
	case !r.Valid(at):
	case c.Authorization != nil && c.Authorization.CredentialsFile == "":
		r.Mistake(at+".authorization.credentials_file", "", "is missing", "write it, or remove authorization")
	case c.TLSConfig != (promconfig.TLSConfig{}) && strings.HasPrefix(url, "http://") && r.Valid(path+"."+urlKey):
		r.Mistake(at+".tls_config", "", "has no effect on an http address", "write https:// in "+urlKey+", or remove it")
	}
	c.FollowRedirects = false
	c.EnableHTTP2 = in["enable_http2"] == true
	return c
}

// inConfiguration is the mistake of a secret.
const inConfiguration = "carries a key, which is never written in the configuration (value not shown)"

// secretKeys matches the keys that hold a secret itself.
var secretKeys = regexp.MustCompile(`^(password|credentials|client_secret|client_certificate_key|bearer_token|key)$`)

// resolveClient makes the paths in the block of an HTTP client relative to the configuration file. It reports what
// such a block must not have: secrets, references to a secret manager, headers that the client sets itself, and files
// that cannot be read. No message repeats a value.
func resolveClient(r *reader, at string, block map[string]any) {
	for _, key := range slices.Sorted(maps.Keys(block)) {
		here := yamlform.Join(at, key)
		inner, _ := block[key].(map[string]any)
		text, _ := block[key].(string)
		reference, isReference := strings.CutSuffix(key, "_ref")
		switch {
		case secretKeys.MatchString(key):
			r.Mistake(here, "", inConfiguration, "put the key in a file and write "+key+"_file")
		case isReference:
			r.Mistake(here, "", "refers to a secret manager, and there is none", "put the key in a file and write "+reference+"_file")
		case strings.HasSuffix(key, "url") && strings.Contains(text, "@"):
			r.Mistake(here, "", "has a user or a password, which is never written in the configuration (value not shown)", "remove the part before the @, and write passwords in files")
		case strings.HasSuffix(key, "_file") && text != "":
			block[key] = r.file(here, text, "") // it may be the key itself
		case key == "http_headers" || key == "proxy_connect_header":
			for _, name := range slices.Sorted(maps.Keys(inner)) {
				resolveHeader(r, yamlform.Join(here, name), name, inner[name])
			}
		default:
			resolveClient(r, here, inner)
		}
	}
}

// resolveHeader is resolveClient for a header.
func resolveHeader(r *reader, at, name string, value any) {
	from, _ := value.(map[string]any)
	files, _ := from["files"].([]any)
	switch carriesKey, own := headerKind(name); {
	case own:
		r.Mistake(at, "", "is set by the client itself", "remove it")
	case from["secrets"] != nil, carriesKey && (len(from) != 1 || files == nil):
		r.Mistake(at, "", inConfiguration, "put the key in a file and write the header's files")
	}
	for i, file := range files {
		if file, ok := file.(string); ok {
			files[i] = r.file(yamlform.Index(at+".files", i), file, "")
		}
	}
}
