package target

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	promconfig "github.com/prometheus/common/config"
	"golang.org/x/oauth2"
)

// tokenPatience bounds the wait for an OAuth 2 token.
const tokenPatience = 10 * time.Second

// anthropicVersion is the only version that its API has had for years.
const anthropicVersion = "2023-06-01"

// grantJWT is the grant type whose credential is a private key.
const grantJWT = "urn:ietf:params:oauth:grant-type:jwt-bearer"

// Authorizer makes the headers that a deployment wants to see of its caller. It
// is safe for concurrent use.
type Authorizer struct {
	target Target
	// probe is the value of ProbeHeader, "" for none.
	probe string
	// rest adds what the HTTP client configuration says.
	rest http.RoundTripper
	// asking has room for the one question to rest that may be under way: the
	// library fetches tokens without regard to the context of who asks.
	asking   chan struct{}
	fetching sync.WaitGroup
}

// NewAuthorizer returns the Authorizer of a target for the requests of a workload,
// "" for those that are no probes; Close it after use.
func NewAuthorizer(t Target, workload string) *Authorizer {
	a := &Authorizer{target: t, rest: headersOf(t.HTTP), asking: make(chan struct{}, 1)}
	if workload != "" && !t.NoProbeHeader {
		a.probe = probeOf(t.Name, workload)
	}
	return a
}

// Header returns the headers of one request: the key, read anew, the target's
// headers and what its HTTP client configuration adds. It is asked before a
// request is timed, since a token may have to be fetched. The errors name files
// and variables and never their content.
func (a *Authorizer) Header(ctx context.Context) (http.Header, error) {
	h := http.Header{"User-Agent": {UserAgent()}}
	if a.probe != "" {
		h.Set(ProbeHeader, a.probe)
	}
	key, err := a.target.Key.Read()
	if err != nil {
		return nil, err
	}
	switch name := a.target.keyHeader(); {
	case key == "":
	case name == "" || strings.EqualFold(name, "Authorization"):
		h.Set("Authorization", "Bearer "+key)
	default:
		h.Set(name, key)
	}
	if a.target.API == Messages {
		h.Set("Anthropic-Version", cmp.Or(a.target.APIVersion, anthropicVersion))
	}
	for name, value := range a.target.Headers {
		h.Set(name, value)
	}
	h, err = a.complete(ctx, h)
	var refused *oauth2.RetrieveError
	switch {
	case errors.As(err, &refused): // its text has what the server answered
		return nil, fmt.Errorf("fetching an OAuth 2 token: status %d", refused.Response.StatusCode)
	case err != nil:
		return nil, err
	}
	return h, a.filled(h)
}

// filled refuses headers whose files are empty: the target would be blamed for
// turning away a caller without a key.
func (a *Authorizer) filled(h http.Header) error {
	if a.target.HTTP.HTTPHeaders == nil {
		return nil
	}
	for name, from := range a.target.HTTP.HTTPHeaders.Headers {
		if len(from.Files) > 0 && slices.Contains(h.Values(name), "") {
			return fmt.Errorf("a file of the header %q is empty", name)
		}
	}
	return nil
}

// complete adds what the HTTP client configuration says, or gives up when ctx
// ends or a token does not come.
func (a *Authorizer) complete(ctx context.Context, h http.Header) (http.Header, error) {
	if a.target.HTTP.OAuth2 == nil {
		return added(ctx, a.rest, h)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, tokenPatience, errNoToken)
	defer cancel()
	select {
	case a.asking <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	type answer struct {
		header http.Header
		err    error
	}
	got := make(chan answer, 1)
	a.fetching.Go(func() {
		defer func() { <-a.asking }()
		header, err := added(ctx, a.rest, h)
		got <- answer{header, err}
	})
	select {
	case it := <-got:
		return it.header, it.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

var errNoToken = fmt.Errorf("fetching an OAuth 2 token: none came within %v", tokenPatience)

// added returns h with what rt adds.
func added(ctx context.Context, rt http.RoundTripper, h http.Header) (http.Header, error) {
	resp, err := rt.RoundTrip((&http.Request{Header: h}).WithContext(ctx))
	if err != nil {
		return nil, err
	}
	return resp.Header, nil
}

// Close waits for a token that is being fetched, which has bounds of its own, and
// frees the connections.
func (a *Authorizer) Close() {
	a.fetching.Wait()
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
		own := *o // the library writes into it
		credential := secret(o.ClientSecret, o.ClientSecretFile)
		if o.GrantType == grantJWT {
			credential = secret(o.ClientCertificateKey, o.ClientCertificateKeyFile)
		}
		rt = promconfig.NewOAuth2RoundTripper(credential, &own, rt, promconfig.WithDialContextFunc(dialBriefly), promconfig.WithKeepAlivesDisabled())
	}
	if c.HTTPHeaders != nil {
		rt = promconfig.NewHeadersRoundTripper(c.HTTPHeaders, rt)
	}
	return rt
}

// dialBriefly connects for one exchange, which has tokenPatience in all.
func dialBriefly(ctx context.Context, network, addr string) (net.Conn, error) {
	d := net.Dialer{Timeout: tokenPatience}
	c, err := d.DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	return c, c.SetDeadline(time.Now().Add(tokenPatience))
}

// secret is a text, or the content of a file.
func secret(text promconfig.Secret, file string) promconfig.SecretReader {
	if file != "" {
		return fullFile{promconfig.NewFileSecret(file), file}
	}
	return promconfig.NewInlineSecret(string(text))
}

// fullFile is a file with a secret in it. Without one nothing is sent, as with a
// file that is not there.
type fullFile struct {
	promconfig.SecretReader
	name string
}

func (f fullFile) Fetch(ctx context.Context) (string, error) {
	s, err := f.SecretReader.Fetch(ctx)
	if err == nil && s == "" {
		err = fmt.Errorf("the file %q is empty", f.name)
	}
	return s, err
}
