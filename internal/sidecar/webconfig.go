package sidecar

import (
	"net/http"
	"os"

	"go.yaml.in/yaml/v3"
)

// webConfig is the part of --web.config.file that tells clients apart.
type webConfig struct {
	Users map[string]string `yaml:"basic_auth_users"`
}

// readWebConfig reads the file at each use, as the server does. The server answers 500 while it cannot be
// read; here it then has no users.
func readWebConfig(file string) (c webConfig) {
	if text, err := os.ReadFile(file); err == nil {
		_ = yaml.Unmarshal(text, &c)
	}
	return c
}

// authenticated reports whether the client has shown a certificate, which TLS has verified, or a
// password, which the server has checked if the file has users.
func (p *port) authenticated(r *http.Request) bool {
	if r.TLS != nil && len(r.TLS.VerifiedChains) > 0 {
		return true
	}
	user, _, ok := r.BasicAuth()
	_, known := readWebConfig(p.options.Web.ConfigFile).Users[user]
	return ok && known
}
