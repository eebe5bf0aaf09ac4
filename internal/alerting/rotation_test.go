package alerting

import (
	"net/http"
	"net/http/httptest"
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
			c, err := newClient(a, "", nil)
			if err != nil {
				t.Fatal(err)
			}
			defer c.close()
			tlstest.Rotation(t, server, files, now, func() error { return c.send(t.Context(), []message{{}}) })
		})
	}
}

// TestAnswersDoNotRepeatCredentials: an error contains the answer without the password.
func TestAnswersDoNotRepeatCredentials(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, password, _ := r.BasicAuth()
		http.Error(w, "no such password: "+password, http.StatusForbidden)
	}))
	defer server.Close()
	c, err := newClient(Alertmanager{URL: server.URL, HTTP: promconfig.HTTPClientConfig{BasicAuth: &promconfig.BasicAuth{Username: "pager", Password: "hunter2"}}}, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	if err := c.send(t.Context(), []message{{}}); err == nil || err.Error() != "it answers 403 Forbidden: no such password: <redacted>" {
		t.Errorf("got %v", err)
	}
}
