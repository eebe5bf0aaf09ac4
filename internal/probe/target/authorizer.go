package target

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	promconfig "github.com/prometheus/common/config"
	"golang.org/x/oauth2"
)

// Authorizer makes the headers that a deployment wants to see of its caller. It
// is safe for concurrent use.
type Authorizer struct {
	target Target
	// rest adds what the HTTP client configuration says.
	rest http.RoundTripper
}

// NewAuthorizer returns the Authorizer of a target.
func NewAuthorizer(t Target) *Authorizer { return &Authorizer{t, headersOf(t.HTTP)} }

// Header returns the headers of one request: the key, read anew, the target's
// headers and what its HTTP client configuration adds. It is asked before a
// request is timed, since a token may have to be fetched. The errors name files
// and variables and never their content.
func (a *Authorizer) Header(ctx context.Context) (http.Header, error) {
	h := http.Header{"User-Agent": {"synthetic"}}
	key, err := a.target.Key.Read()
	if err != nil {
		return nil, err
	}
	if key != "" {
		h.Set("Authorization", "Bearer "+key)
	}
	for name, value := range a.target.Headers {
		h.Set(name, value)
	}
	resp, err := a.rest.RoundTrip((&http.Request{Header: h}).WithContext(ctx))
	var refused *oauth2.RetrieveError
	switch {
	case errors.As(err, &refused): // its text has what the server answered
		return nil, fmt.Errorf("fetching an OAuth 2 token: status %s", refused.Response.Status)
	case err != nil:
		return nil, err
	}
	return resp.Header, nil
}

// Close frees the connections over which tokens were fetched.
func (a *Authorizer) Close() {
	if c, ok := a.rest.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// mirror answers with the headers it was asked with.
type mirror struct{}

func (mirror) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: r.Header, Body: http.NoBody, Request: r}, nil
}

// headersOf chains what a configuration adds to the headers of a request.
func headersOf(c promconfig.HTTPClientConfig) http.RoundTripper {
	var rt http.RoundTripper = mirror{}
	if a := c.Authorization; a != nil {
		rt = promconfig.NewAuthorizationCredentialsRoundTripper(a.Type, secret(a.Credentials, a.CredentialsFile), rt)
	}
	if b := c.BasicAuth; b != nil {
		rt = promconfig.NewBasicAuthRoundTripper(secret(promconfig.Secret(b.Username), b.UsernameFile), secret(b.Password, b.PasswordFile), rt)
	}
	if o := c.OAuth2; o != nil {
		rt = promconfig.NewOAuth2RoundTripper(secret(o.ClientSecret, o.ClientSecretFile), o, rt)
	}
	if c.HTTPHeaders != nil {
		rt = promconfig.NewHeadersRoundTripper(c.HTTPHeaders, rt)
	}
	return rt
}

// secret is a text, or the content of a file.
func secret(text promconfig.Secret, file string) promconfig.SecretReader {
	if file != "" {
		return promconfig.NewFileSecret(file)
	}
	return promconfig.NewInlineSecret(string(text))
}
