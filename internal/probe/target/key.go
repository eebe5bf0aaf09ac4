package target

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"

	promconfig "github.com/prometheus/common/config"
	"golang.org/x/net/http/httpguts"
)

// Credential says where to find an API key. It does not hold the key, so printing a Target
// cannot reveal it.
type Credential struct {
	// File is read for each request.
	File string
	// Env is an environment variable. It is used if File is empty.
	Env string
}

// Read returns the key, or "" if no key is configured. A rotated key needs no reload. Errors name
// the file or variable, never its content.
func (k Credential) Read() (key string, err error) {
	var place string
	switch {
	case k.File != "":
		place = fmt.Sprintf("the file %q", k.File)
		key, err = readSecret(k.File)
	case k.Env != "":
		place = fmt.Sprintf("the environment variable %q", k.Env)
		key, err = secretIn(os.Getenv(k.Env), place, "is not set, or empty: set it to the API key")
	}
	if err == nil && !httpguts.ValidHeaderFieldValue(key) {
		return "", fmt.Errorf("%s has a line break or a control character within the key: it must hold the key alone, on one line", place)
	}
	return key, err
}

// readSecret returns the secret in a file.
func readSecret(file string) (string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("reading a key: %w; name a readable file", err)
	}
	return secretIn(string(text), fmt.Sprintf("the file %q", file), "is empty: write the key into it")
}

// secretIn returns the text at a place without a byte order mark and without white space around it.
func secretIn(text, place, empty string) (string, error) {
	secret := strings.TrimSpace(strings.TrimPrefix(text, "\ufeff"))
	if secret == "" {
		return "", fmt.Errorf("%s %s", place, empty)
	}
	return secret, nil
}

// SecretFiles reads secrets for an HTTP client of Prometheus' library, which refers to them by the paths of
// their files.
type SecretFiles struct{}

// Fetch returns the secret in a file.
func (SecretFiles) Fetch(_ context.Context, file string) (string, error) { return readSecret(file) }

// secretFile is a file with a secret, for Prometheus' library.
type fileSecret string

func (f fileSecret) Fetch(context.Context) (string, error) { return readSecret(string(f)) }
func (f fileSecret) Description() string                   { return "file " + string(f) }
func (fileSecret) Immutable() bool                         { return false }

// ByReference replaces the files of a client's keys by references, which SecretFiles reads.
func ByReference(c *promconfig.HTTPClientConfig) {
	if a := c.Authorization; a != nil {
		a.CredentialsRef, a.CredentialsFile = a.CredentialsFile, ""
	}
	if a := c.BasicAuth; a != nil {
		a.UsernameRef, a.UsernameFile = a.UsernameFile, ""
		a.PasswordRef, a.PasswordFile = a.PasswordFile, ""
	}
	if a := c.OAuth2; a != nil {
		a.ClientSecretRef, a.ClientSecretFile = a.ClientSecretFile, ""
		a.ClientCertificateKeyRef, a.ClientCertificateKeyFile = a.ClientCertificateKeyFile, ""
	}
}

// NewClient returns an HTTP client that reads its secrets as probes do.
func NewClient(c promconfig.HTTPClientConfig, name string, options ...promconfig.HTTPClientOption) (*http.Client, error) {
	plain := c
	plain.Authorization, plain.BasicAuth, plain.OAuth2, plain.HTTPHeaders = nil, nil, nil, nil
	client, err := promconfig.NewClientFromConfig(plain, name, options...)
	if err == nil {
		client.Transport = headerTransport(c, client.Transport)
	}
	return client, err
}
