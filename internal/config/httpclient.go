package config

import (
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"synthetic/internal/config/yamlform"

	promconfig "github.com/prometheus/common/config"
)

// ofYAML matches what a YAML library says and a user need not know: a value,
// its line in a text that is not the user's, a type of Go.
var ofYAML = regexp.MustCompile("`[^`]*`|\"[^\"]*\"|yaml: (unmarshal errors:)?|line [0-9]+: |!!| (in type|into) [a-zA-Z.]+")

// httpClient resolves how requests to an endpoint travel: http_client in the
// words of Prometheus, and the endpoint's own keys over it.
func (b *builder) httpClient(path string, e fileEndpoint) promconfig.HTTPClientConfig {
	at := path + ".http_client"
	var c promconfig.HTTPClientConfig
	if len(e.HTTPClient) > 0 && b.Fine(at) {
		c = b.promClient(at, e.HTTPClient)
		b.authOnce(path, c)
	}
	tls := b.tls(path, "base_url", string(e.BaseURL), e.TLS).Config()
	if c.TLSConfig == (promconfig.TLSConfig{}) {
		c.TLSConfig = tls
	} else if b.Has(path + ".tls") {
		b.Mistake(at, "", "has tls_config beside tls, which it excludes", "keep one of the two")
	}
	c.FollowRedirects, c.EnableHTTP2 = false, e.HTTP2
	return c
}

// promClient reads the block. No message repeats a value: any may be secret.
func (b *builder) promClient(at string, in map[string]any) promconfig.HTTPClientConfig {
	var c promconfig.HTTPClientConfig
	err := redecode(in, &c)
	_, redirects := in["follow_redirects"]
	_, http2 := in["enable_http2"]
	what, remedy := forbidden(in)
	switch {
	case err != nil:
		b.Mistake(at, "", "is no HTTP client configuration ("+err.Error()+")", "write it as Prometheus' <http_config>, for example proxy_url: http://proxy:3128")
	case redirects || http2:
		b.Mistake(at, "", "has follow_redirects or enable_http2", "remove it: a turn is one request; http2 is a key of its own")
	case what != "":
		b.Mistake(at, "", what, remedy)
	case c.Authorization != nil && c.Authorization.CredentialsFile == "":
		b.Mistake(at, "", "has an authorization without credentials_file", "write credentials_file, or remove authorization")
	default:
		c.SetDirectory(b.dir)
		if o := c.OAuth2; o != nil { // which the library leaves out
			o.ClientCertificateKeyFile = promconfig.JoinDir(b.dir, o.ClientCertificateKeyFile)
		}
		b.filesOf(at, c)
	}
	return c
}

// authOnce refuses two keys for one request.
func (b *builder) authOnce(path string, c promconfig.HTTPClientConfig) {
	if c.Authorization == nil && c.BasicAuth == nil && c.OAuth2 == nil {
		return
	}
	for _, key := range []string{".api_key_file", ".api_key_env"} {
		if b.Has(path + key) {
			b.Mistake(path+".http_client", "", "has a key beside "+key[1:]+", which excludes it", "keep one of the two")
		}
	}
}

// forbidden finds what may not stand in a client configuration, at any depth: a
// secret itself, one of a secret manager, and headers that are the client's own.
func forbidden(block map[string]any) (what, remedy string) {
	const notHere = ", which is never written in the configuration (value not shown)"
	for _, key := range slices.Sorted(maps.Keys(block)) {
		value := block[key]
		inner, _ := value.(map[string]any)
		text, _ := value.(string)
		switch key {
		case "password", "credentials", "client_secret", "client_certificate_key", "bearer_token", "key", "secrets":
			return "carries a key" + notHere, "put the key in a file and write the key's ..._file"
		case "proxy_url":
			if u, err := url.Parse(text); err == nil && u.User != nil {
				return "has a proxy_url with a user or a password" + notHere, "use a proxy that needs none"
			}
		case "http_headers", "proxy_connect_header":
			for name, h := range inner {
				from, _ := h.(map[string]any)
				switch carriesKey, own := headerKind(name); {
				case own:
					return "sets " + name + ", which the client sets itself", "remove it"
				case from["secrets"] != nil, carriesKey && (len(from) != 1 || from["files"] == nil):
					return "carries a key" + notHere, "put the key in a file and write the header's files"
				}
			}
			continue // below it are names
		}
		if strings.HasSuffix(key, "_ref") {
			return "names a secret of a manager by " + key + ", and there is none", "write the key's ..._file"
		}
		if what, remedy = forbidden(inner); what != "" {
			return what, remedy
		}
	}
	return "", ""
}

// filesOf checks that the files of a client are there.
func (b *builder) filesOf(at string, c promconfig.HTTPClientConfig) {
	files := []string{c.TLSConfig.CAFile, c.TLSConfig.CertFile, c.TLSConfig.KeyFile}
	if a := c.Authorization; a != nil {
		files = append(files, a.CredentialsFile)
	}
	if a := c.BasicAuth; a != nil {
		files = append(files, a.UsernameFile, a.PasswordFile)
	}
	if a := c.OAuth2; a != nil {
		files = append(files, a.ClientSecretFile, a.ClientCertificateKeyFile, a.TLSConfig.CAFile, a.TLSConfig.CertFile, a.TLSConfig.KeyFile)
	}
	if c.HTTPHeaders != nil {
		for _, h := range c.HTTPHeaders.Headers {
			files = append(files, h.Files...)
		}
	}
	for _, f := range files {
		if f == "" {
			continue
		}
		if err := readable(f); err != nil {
			b.Mistake(at, "", "names a file that cannot be read ("+yamlform.ReasonOf(err)+")", "name readable files, relative to the configuration file")
			return
		}
	}
}
