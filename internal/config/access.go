package config

import promconfig "github.com/prometheus/common/config"

// Access is how a service is told who we are, and how it is known.
type Access struct {
	BasicAuth       BasicAuth `yaml:"basic_auth" group:"auth" examples:"{username: pager, password_file: /etc/synthetic/password}"`
	BearerTokenFile string    `yaml:"bearer_token_file" group:"auth" secret:"true" examples:"/etc/synthetic/token"`
	TLS             fileTLS   `yaml:"tls" examples:"{ca_file: ca.pem}"`
}

// BasicAuth is who a service is told that we are.
type BasicAuth struct {
	Username     string `yaml:"username" required:"true" examples:"pager"`
	PasswordFile string `yaml:"password_file" required:"true" secret:"true" examples:"/etc/synthetic/password"`
}

// access resolves that of the service at url, which is the key of that name at
// path.
func (b *builder) access(path, url string, a *Access) {
	a.BasicAuth.PasswordFile = b.file(path+".basic_auth.password_file", a.BasicAuth.PasswordFile, true)
	a.BearerTokenFile = b.file(path+".bearer_token_file", a.BearerTokenFile, true)
	a.TLS = b.tls(path, "url", url, a.TLS)
}

// HTTP is the access as the HTTP client takes it. Files are read at each use.
func (a Access) HTTP() promconfig.HTTPClientConfig {
	client := promconfig.HTTPClientConfig{TLSConfig: a.TLS.Config()}
	if a.BasicAuth.Username != "" || a.BasicAuth.PasswordFile != "" {
		client.BasicAuth = &promconfig.BasicAuth{Username: a.BasicAuth.Username, PasswordFile: a.BasicAuth.PasswordFile}
	}
	if a.BearerTokenFile != "" {
		client.Authorization = &promconfig.Authorization{Type: "Bearer", CredentialsFile: a.BearerTokenFile}
	}
	return client
}
