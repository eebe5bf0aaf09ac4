package alerting

import (
	"net/http"
	"testing"

	promconfig "github.com/prometheus/common/config"

	"synthetic/tools/testkit/tlstest"
)

// TestRotation: after a rotation, requests use the new certificates and credentials.
func TestRotation(t *testing.T) {
	for name, credentials := range map[string]func(c *promconfig.HTTPClientConfig, file string){
		"basic_auth": func(c *promconfig.HTTPClientConfig, file string) {
			c.BasicAuth = &promconfig.BasicAuth{Username: "pager", PasswordFile: file}
		},
		"bearer_token_file": func(c *promconfig.HTTPClientConfig, file string) {
			c.Authorization = &promconfig.Authorization{Type: "Bearer", CredentialsFile: file}
		},
	} {
		t.Run(name, func(t *testing.T) {
			now := tlstest.NewGeneration(t, "hunter2")
			files := tlstest.NewFiles(t, now)
			server := tlstest.NewServer(t, now, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
			a := Alertmanager{URL: server.URL, HTTP: promconfig.HTTPClientConfig{TLSConfig: files.Client()}}
			credentials(&a.HTTP, files.Path("token"))
			post := newPoster(t, a)
			tlstest.Rotation(t, server, files, now, post)
		})
	}
}
