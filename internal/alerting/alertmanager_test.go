package alerting

import (
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	promconfig "github.com/prometheus/common/config"
)

// TestClient sends to servers with various settings.
func TestClient(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	secret := write("secret", "hunter2\n")
	for _, tc := range []struct {
		name      string
		configure func(*Alertmanager, *httptest.Server)
		tls       bool
		accept    func(*http.Request) int
		want      string // part of the error, "" for none
	}{
		{"plain", nil, false, nil, ""},
		{"basic", func(a *Alertmanager, _ *httptest.Server) {
			a.HTTP.BasicAuth = &promconfig.BasicAuth{Username: "pager", PasswordFile: secret}
		}, false, func(r *http.Request) int {
			if user, password, _ := r.BasicAuth(); user != "pager" || password != "hunter2" {
				return http.StatusUnauthorized
			}
			return 0
		}, ""},
		{"bearer", func(a *Alertmanager, _ *httptest.Server) {
			a.HTTP.Authorization = &promconfig.Authorization{Type: "Bearer", CredentialsFile: secret}
		}, false, func(r *http.Request) int {
			if r.Header.Get("Authorization") != "Bearer hunter2" {
				return http.StatusUnauthorized
			}
			return 0
		}, ""},
		{"unauthorized", nil, false, func(*http.Request) int { return http.StatusUnauthorized }, "401"},
		{"redirect is no success", nil, false, func(*http.Request) int { return http.StatusFound }, "302"},
		{"authority", func(a *Alertmanager, s *httptest.Server) {
			a.HTTP.TLSConfig.CAFile = write("ca.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})))
		}, true, nil, ""},
		{"unknown authority", nil, true, nil, "certificate"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := newReceiver()
			if tc.accept != nil {
				r.failing(func(req *http.Request, _ []posted) int { return tc.accept(req) })
			}
			s := httptest.NewUnstartedServer(r)
			if tc.tls {
				s.StartTLS()
			} else {
				s.Start()
			}
			defer s.Close()
			a := Alertmanager{URL: s.URL + "/prefix"}
			if tc.configure != nil {
				tc.configure(&a, s)
			}
			err := newPoster(t, a)()
			switch {
			case tc.want == "" && err != nil:
				t.Errorf("got %v", err)
			case tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)):
				t.Errorf("got %v, want %q in it", err, tc.want)
			case err != nil && strings.Contains(err.Error(), "hunter2"):
				t.Errorf("the error shows a secret: %v", err)
			}
		})
	}
}

// TestTokenIsNotShown: an Alertmanager that repeats an OAuth 2 token in an answer that is not HTTP.
func TestTokenIsNotShown(t *testing.T) {
	const token = "a-token-of-the-endpoint-0123456789"
	mux := http.NewServeMux()
	mux.HandleFunc("POST /token", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"access_token":"`+token+`","token_type":"bearer","expires_in":3600}`)
	})
	mux.HandleFunc("POST /api/v2/alerts", func(w http.ResponseWriter, r *http.Request) {
		c, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Close()
		_, _ = io.WriteString(c, "HTTP/1.1 "+strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")+"\r\n\r\n")
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	if err := newPoster(t, Alertmanager{URL: server.URL, HTTP: promconfig.HTTPClientConfig{OAuth2: &promconfig.OAuth2{ClientID: "id", TokenURL: server.URL + "/token"}}})(); err == nil || !strings.Contains(err.Error(), "malformed") || strings.Contains(err.Error(), token[:12]) {
		t.Errorf("got %v", err)
	}
}
