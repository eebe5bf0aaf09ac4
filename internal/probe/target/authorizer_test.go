package target

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	promconfig "github.com/prometheus/common/config"
)

// secretFile writes a secret to a file, and returns its path and a function that changes the
// secret.
func secretFile(t *testing.T, text string) (path string, rotate func(string)) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "secret")
	rotate = func(text string) {
		if err := os.WriteFile(path, []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	rotate(text)
	return path, rotate
}

func header(t *testing.T, a *Authorizer) http.Header {
	t.Helper()
	h, err := a.Header(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// TestHeader checks that files are read for each request.
func TestHeader(t *testing.T) {
	path, rotate := secretFile(t, "hunter2")
	defer rotate("hunter2")
	for name, tc := range map[string]struct {
		target     Target
		header     string
		old, young string
	}{
		"key":           {Target{Key: Credential{File: path}}, "Authorization", "Bearer hunter2", "Bearer hunter3"},
		"authorization": {Target{HTTP: promconfig.HTTPClientConfig{Authorization: &promconfig.Authorization{Type: "Token", CredentialsFile: path}}}, "Authorization", "Token hunter2", "Token hunter3"},
		"basic":         {Target{HTTP: promconfig.HTTPClientConfig{BasicAuth: &promconfig.BasicAuth{Username: "u", PasswordFile: path}}}, "Authorization", "Basic dTpodW50ZXIy", "Basic dTpodW50ZXIz"},
		"headers": {Target{HTTP: promconfig.HTTPClientConfig{HTTPHeaders: &promconfig.Headers{Headers: map[string]promconfig.Header{
			"X-Token": {Files: []string{path}},
		}}}}, "X-Token", "hunter2", "hunter3"},
	} {
		t.Run(name, func(t *testing.T) {
			a := NewAuthorizer(tc.target, "")
			defer a.Close()
			rotate("hunter2")
			if got := header(t, a).Get(tc.header); got != tc.old {
				t.Errorf("got %q, want %q", got, tc.old)
			}
			rotate("hunter3")
			if got := header(t, a).Get(tc.header); got != tc.young {
				t.Errorf("after the rotation: %q, want %q", got, tc.young)
			}
			if dump := fmt.Sprintf("%+v", tc.target); strings.Contains(dump, "hunter") {
				t.Errorf("a secret is in %s", dump)
			}
		})
	}
}

// TestOAuth2 checks that one token serves all requests, and that an error does not repeat the
// server's answer, which may contain the secret.
func TestOAuth2(t *testing.T) {
	path, _ := secretFile(t, "hunter2")
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		if r.URL.Path == "/refuses" {
			http.Error(w, "hunter2 is wrong", http.StatusUnauthorized)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"access_token":"fresh","token_type":"bearer","expires_in":3600}`)
	}))
	defer server.Close()
	target := func(path, at string) Target {
		return Target{HTTP: promconfig.HTTPClientConfig{OAuth2: &promconfig.OAuth2{
			ClientID: "id", ClientSecretFile: path, TokenURL: server.URL + at,
		}}}
	}
	a := NewAuthorizer(target(path, "/"), "")
	defer a.Close()
	for range 2 {
		if got := header(t, a).Get("Authorization"); got != "Bearer fresh" {
			t.Errorf("got %q", got)
		}
	}
	if asked != 1 {
		t.Errorf("asked %d times", asked)
	}
	b := NewAuthorizer(target(path, "/refuses"), "")
	defer b.Close()
	if _, err := b.Header(t.Context()); err == nil || strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), "401") {
		t.Errorf("refused: %v", err)
	}
}

// TestSilentTokenEndpoint checks that a token endpoint that never answers does not block
// callers whose context ends, and that the configuration is not modified.
func TestSilentTokenEndpoint(t *testing.T) {
	silent := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-silent:
		case <-r.Context().Done():
		}
	}))
	oauth := promconfig.OAuth2{ClientID: "id", TokenURL: server.URL}
	before := oauth
	a := NewAuthorizer(Target{HTTP: promconfig.HTTPClientConfig{OAuth2: &oauth}}, "")
	for range 3 { // later calls wait for the first one
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		if _, err := a.Header(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want the end of the context", err)
		}
		cancel()
	}
	if !reflect.DeepEqual(oauth, before) {
		t.Error("asking for a token changed the configuration: a reload would begin anew")
	}
	close(silent)
	server.Close()
	a.Close()
}

// TestEndlessToken checks that the answer of a token endpoint is bounded, and that a truncated
// one is an error.
func TestEndlessToken(t *testing.T) {
	wrote := make(chan int64, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprint(w, `{"junk":"`)
		sum := int64(0)
		for block := make([]byte, 64<<10); ; sum += int64(len(block)) {
			if _, err := w.Write(block); err != nil {
				wrote <- sum
				return
			}
		}
	}))
	defer server.Close()
	a := NewAuthorizer(Target{HTTP: promconfig.HTTPClientConfig{OAuth2: &promconfig.OAuth2{ClientID: "id", TokenURL: server.URL}}}, "")
	defer a.Close()
	if _, err := a.Header(t.Context()); err == nil {
		t.Error("junk without end is a token")
	}
	if n := <-wrote; n > 32<<20 { // includes the buffers of the system
		t.Errorf("%d bytes were taken", n)
	}
}
