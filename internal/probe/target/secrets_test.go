package target

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	promconfig "github.com/prometheus/common/config"

	"synthetic/internal/redact"
)

// TestSecretsOfRequests checks which headers of a request count as secrets.
func TestSecretsOfRequests(t *testing.T) {
	write := func(name, text string) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, tt := range []struct {
		secret string
		target Target
	}{
		{"sk-first-0123456789", Target{Key: Credential{File: write("key", "sk-first-0123456789")}}},
		{"sk-second-0123456789", Target{API: "azure", Key: Credential{File: write("key", "sk-second-0123456789")}}},
		{"a-tenant-of-requests", Target{Headers: map[string]string{"x-tenant": "a-tenant-of-requests"}}},
		{"a-password-in-a-file", Target{HTTP: promconfig.HTTPClientConfig{BasicAuth: &promconfig.BasicAuth{Username: "u", PasswordFile: write("p", "a-password-in-a-file")}}}},
		{"a-header-from-a-file", Target{HTTP: promconfig.HTTPClientConfig{HTTPHeaders: &promconfig.Headers{Headers: map[string]promconfig.Header{"x-own": {Files: []string{write("h", "a-header-from-a-file")}}}}}}},
	} {
		a := NewAuthorizer(tt.target, "chat")
		defer a.Close()
		if _, err := a.Header(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := redact.Text("it is " + tt.secret); got != "it is "+redact.Mark {
			t.Errorf("%q is shown", got)
		}
	}
	routed := NewAuthorizer(Target{Name: "llama-3-70b-instruct", Model: "meta/llama-3-70b", Headers: map[string]string{"x-route": "llama-3-70b-instruct", "x-model": "meta/llama-3-70b"}}, "chat")
	defer routed.Close()
	if _, err := routed.Header(t.Context()); err != nil {
		t.Fatal(err)
	}
	if text := "llama-3-70b-instruct meta/llama-3-70b " + UserAgent() + " chat"; redact.Text(text) != text {
		t.Errorf("names of the target are hidden: %q", redact.Text(text))
	}
}

// TestSecretsOfFiles checks the secrets of a client that the prober does not authorize itself.
func TestSecretsOfFiles(t *testing.T) {
	file := filepath.Join(t.TempDir(), "secret")
	for name, c := range map[string]promconfig.HTTPClientConfig{
		"credentials-of-files": {Authorization: &promconfig.Authorization{CredentialsFile: file}},
		"password-of-files":    {BasicAuth: &promconfig.BasicAuth{PasswordFile: file}},
		"client-secret-file":   {OAuth2: &promconfig.OAuth2{ClientSecretFile: file}},
		"own-header-of-files":  {HTTPHeaders: &promconfig.Headers{Headers: map[string]promconfig.Header{"x": {Files: []string{file}}}}},
	} {
		if err := os.WriteFile(file, []byte(name+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		RememberSecrets(c)
		if got := redact.Text(name); got != redact.Mark {
			t.Errorf("%q is shown", got)
		}
	}
}

// TestSecretsOfProxies checks the passwords of proxies that the environment names: as they are, and as
// the client sends them.
func TestSecretsOfProxies(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://probe:the-first-proxys-password@127.0.0.1:3128")
	t.Setenv("HTTPS_PROXY", "probe:second-proxys-password@127.0.0.1:3128")
	t.Setenv("NO_PROXY", "*")
	c := promconfig.HTTPClientConfig{ProxyConfig: promconfig.ProxyConfig{ProxyFromEnvironment: true}}
	a := NewAuthorizer(Target{HTTP: c}, "chat")
	defer a.Close()
	if _, err := a.Header(t.Context()); err != nil {
		t.Fatal(err)
	}
	RememberSecrets(c)
	for _, password := range []string{"the-first-proxys-password", "second-proxys-password"} {
		if got := redact.Text("407 " + password); got != "407 "+redact.Mark {
			t.Errorf("%q is shown", got)
		}
		sent := base64.StdEncoding.EncodeToString([]byte("probe:" + password))
		if got := redact.Text(sent); !strings.Contains(got, redact.Mark) || strings.Contains(got, sent[10:20]) {
			t.Errorf("%q became %q", sent, got)
		}
	}
}
