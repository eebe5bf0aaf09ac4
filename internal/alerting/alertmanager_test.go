package alerting

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	promconfig "github.com/prometheus/common/config"
)

// TestRefused: what an Alertmanager or its certificate refuses is an error. TestRotation sends with credentials.
func TestRefused(t *testing.T) {
	for want, code := range map[string]int{"401": http.StatusUnauthorized, "302": http.StatusFound, "certificate": 0} {
		r := newReceiver()
		r.fail = code
		s := httptest.NewUnstartedServer(r)
		if code == 0 {
			s.StartTLS()
		} else {
			s.Start()
		}
		if err := newPoster(t, Alertmanager{URL: s.URL + "/prefix"})(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q in it", err, want)
		}
		s.Close()
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
