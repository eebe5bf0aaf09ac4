package sidecar

import (
	"net/http"
	"os"

	"go.yaml.in/yaml/v3"

	"synthetic/internal/fleet"
)

// webConfig is the part of --web.config.file that tells clients apart.
type webConfig struct {
	Users map[string]string `yaml:"basic_auth_users"`
	TLS   struct {
		ClientAuth string `yaml:"client_auth_type"`
	} `yaml:"tls_server_config"`
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

// warnOfPatterns warns of modules whose targets nobody can lease, because only authenticated clients
// lease the hosts of patterns.
func warnOfPatterns(o Options, groups []fleet.Group) {
	c := readWebConfig(o.Web.ConfigFile)
	if len(c.Users) > 0 || c.TLS.ClientAuth == "RequireAndVerifyClientCert" || c.TLS.ClientAuth == "VerifyClientCertIfGiven" {
		return
	}
	for _, g := range groups {
		if patterns := g.HostPatterns(); g.Lease > 0 && len(patterns) > 0 {
			o.Logger.Warn("/probe refuses the hosts that allowed_hosts matches by a pattern, because nobody can authenticate: "+
				"name the hosts exactly, or set basic_auth_users or client certificates with --web.config.file", "module", g.Name(), "patterns", patterns)
		}
	}
}
