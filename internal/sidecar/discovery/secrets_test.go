package discovery

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	nethttp "net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	promconfig "github.com/prometheus/common/config"
	prom "github.com/prometheus/prometheus/discovery"
	"github.com/prometheus/prometheus/discovery/file"
	"github.com/prometheus/prometheus/discovery/http"

	"synthetic/internal/fleet"
	"synthetic/internal/redact"
)

// TestSourceRepeatsItsSecrets: neither the labels of a source nor its errors have the password or the OAuth 2
// token that it got.
func TestSourceRepeatsItsSecrets(t *testing.T) {
	const password, token = "a-Password-of-a-discovery-4711", "a-Token-of-a-discovery-0815"
	path := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(path, []byte(password+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	failed := make(chan struct{}, 100)
	mux := nethttp.NewServeMux()
	mux.HandleFunc("POST /token", func(w nethttp.ResponseWriter, _ *nethttp.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"access_token": %q, "token_type": "bearer", "expires_in": 3600}`, token)
	})
	said := func(r *nethttp.Request) string {
		_, sent, _ := r.BasicAuth()
		return sent + " " + r.Header.Get("Authorization")
	}
	mux.HandleFunc("GET /labels", func(w nethttp.ResponseWriter, r *nethttp.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `[{"targets": ["http://%s:1"], "labels": {"owner": %q}}]`, r.FormValue("name"), said(r))
	})
	mux.HandleFunc("GET /error", func(w nethttp.ResponseWriter, r *nethttp.Request) {
		w.Header().Set("Content-Type", said(r))
		_, _ = io.WriteString(w, "[]")
		poke(failed)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)

	var sources []*http.SDConfig
	for _, path := range []string{"/labels?name=", "/error?name="} {
		for _, name := range []string{"password", "token"} {
			c := *(&inventory{Server: server}).config()
			c.URL += path + name
			sources = append(sources, &c)
		}
	}
	for i := range sources {
		if i%2 == 0 {
			sources[i].HTTPClientConfig.BasicAuth = &promconfig.BasicAuth{Username: "u", PasswordFile: path}
		} else {
			sources[i].HTTPClientConfig.OAuth2 = &promconfig.OAuth2{ClientID: "id", TokenURL: server.URL + "/token"}
		}
	}
	var log lockedBuffer
	f := New(slog.New(slog.NewTextHandler(redact.Writer(&log), nil)), nil)
	groups := []fleet.Group{group("g", sources[0], sources[1], sources[2], sources[3])}
	f.Follow(groups)
	changes := begin(t, f)
	for len(namesOf(f, groups)) < 2 {
		<-changes
	}
	for range 20 {
		<-failed
	}
	for _, found := range f.Found(groups)["g"] {
		if owner := found.Labels["owner"]; strings.Contains(owner, "discovery") || !strings.Contains(owner, redact.Mark) {
			t.Errorf("the label of %s is %q", found.Name, owner)
		}
	}
	text := log.String()
	if strings.Contains(text, password) || strings.Contains(text, token) || !strings.Contains(text, "unsupported content type") {
		t.Errorf("the log is %s", text)
	}
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// anySource has an HTTP client as the discovery of Kubernetes has one.
type anySource struct {
	prom.Config
	HTTPClientConfig promconfig.HTTPClientConfig
}

// TestSecretsOfEachKindOfSource: Follow remembers the secrets of each source with an HTTP client.
func TestSecretsOfEachKindOfSource(t *testing.T) {
	const key = "a-Key-of-any-source-1234"
	path := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(path, []byte(key), 0o600); err != nil {
		t.Fatal(err)
	}
	New(slog.New(slog.DiscardHandler), nil).Follow([]fleet.Group{group("g", &file.SDConfig{}, &anySource{
		HTTPClientConfig: promconfig.HTTPClientConfig{Authorization: &promconfig.Authorization{CredentialsFile: path}},
	})})
	if got := redact.Text("it says " + key); got != "it says "+redact.Mark {
		t.Errorf("%q", got)
	}
}
