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
	"github.com/prometheus/common/version"
	"golang.org/x/net/http/httpguts"
	"golang.org/x/oauth2"

	"synthetic/internal/probe/dialect"
)

const tokenTimeout = 10 * time.Second

// grantJWT is the grant type that authenticates with a private key.
const grantJWT = "urn:ietf:params:oauth:grant-type:jwt-bearer"

// Authorizer creates the headers of requests. It is safe for concurrent use.
type Authorizer struct {
	target Target
	// probe is the value of ProbeHeader, or "" for no header.
	probe string
	// httpConfig adds the headers of the HTTP client configuration.
	httpConfig http.RoundTripper
	// fetchSlot allows one call of httpConfig at a time. The library fetches tokens without
	// regard to the caller's context.
	fetchSlot chan struct{}
	fetching  sync.WaitGroup
}

// NewAuthorizer returns the Authorizer for the requests of a workload. An empty workload means
// requests that are not probes. The caller must Close it.
func NewAuthorizer(t Target, workload string) *Authorizer {
	a := &Authorizer{target: t, httpConfig: headerTransport(t.HTTP, echoTransport{}), fetchSlot: make(chan struct{}, 1)}
	if workload != "" {
		a.probe = probeHeaderValue(t.Name, workload)
	}
	return a
}

// Header returns the headers of one request: the key, the target's headers and those of its HTTP
// client configuration. It reads the key each time. Call it before the request is timed, because
// it may fetch a token. It passes the secrets to package redact. Errors name files and variables, never
// their content.
func (a *Authorizer) Header(ctx context.Context) (http.Header, error) {
	h := http.Header{"User-Agent": {UserAgent()}}
	if a.probe != "" {
		h.Set(ProbeHeader, a.probe)
	}
	key, err := a.target.Key.Read()
	if err != nil {
		return nil, err
	}
	api := dialect.Of(a.target.API)
	switch {
	case key == "":
	case api.KeyHeader == "Authorization":
		h.Set(api.KeyHeader, "Bearer "+key)
	default:
		h.Set(api.KeyHeader, key)
	}
	if api.VersionHeader != "" {
		h.Set(api.VersionHeader, cmp.Or(a.target.APIVersion, api.Version))
	}
	for name, value := range a.target.Headers {
		h.Set(name, value)
	}
	h, err = a.addConfigured(ctx, h)
	var tokenError *oauth2.RetrieveError
	switch {
	case errors.As(err, &tokenError): // its text contains the server's whole answer
		return nil, fmt.Errorf("fetching an OAuth 2 token: status %d", tokenError.Response.StatusCode)
	case err != nil:
		RememberSecrets(a.target.HTTP) // the token endpoint may have repeated the client's secret
		return nil, err
	}
	a.remember(h)
	return h, checkLines(h)
}

// checkLines rejects values that cannot be sent, such as a file of two lines. Otherwise the target would be
// blamed for a request that it never got.
func checkLines(h http.Header) error {
	for name, values := range h {
		if slices.ContainsFunc(values, func(v string) bool { return !httpguts.ValidHeaderFieldValue(v) }) {
			return fmt.Errorf("the value of the header %q has a line break or a control character: it must be one line", name)
		}
	}
	return nil
}

// addConfigured adds the headers of the HTTP client configuration. It gives up when ctx is done
// or no token comes in time.
func (a *Authorizer) addConfigured(ctx context.Context, h http.Header) (http.Header, error) {
	if a.target.HTTP.OAuth2 == nil {
		return addHeaders(ctx, a.httpConfig, h)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, tokenTimeout, errNoToken)
	defer cancel()
	select {
	case a.fetchSlot <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	var header http.Header
	var err error
	done := make(chan struct{})
	a.fetching.Go(func() {
		defer func() { <-a.fetchSlot }()
		defer close(done)
		header, err = addHeaders(ctx, a.httpConfig, h)
	})
	select {
	case <-done:
		return header, err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

var errNoToken = fmt.Errorf("fetching an OAuth 2 token: none came within %v", tokenTimeout)

func addHeaders(ctx context.Context, rt http.RoundTripper, h http.Header) (http.Header, error) {
	resp, err := rt.RoundTrip((&http.Request{Header: h}).WithContext(ctx))
	if err != nil {
		return nil, err
	}
	return resp.Header, nil
}

// Close waits for a running token request, which has its own timeout, and closes connections.
func (a *Authorizer) Close() {
	a.fetching.Wait()
	if c, ok := a.httpConfig.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// echoTransport answers a request with its own headers.
type echoTransport struct{}

func (echoTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: r.Header, Body: http.NoBody, Request: r}, nil
}

// headerTransport adds the headers of an HTTP client configuration to requests.
func headerTransport(c promconfig.HTTPClientConfig, rt http.RoundTripper) http.RoundTripper {
	if a := c.Authorization; a != nil {
		rt = promconfig.NewAuthorizationCredentialsRoundTripper(a.Type, secretReader(a.Credentials, a.CredentialsFile), rt)
	}
	if b := c.BasicAuth; b != nil {
		user := secretReader(promconfig.Secret(b.Username), b.UsernameFile)
		rt = promconfig.NewBasicAuthRoundTripper(user, secretReader(b.Password, b.PasswordFile), rt)
	}
	if o := c.OAuth2; o != nil {
		own := *o // the library modifies it
		credential := secretReader(o.ClientSecret, o.ClientSecretFile)
		if o.GrantType == grantJWT {
			credential = secretReader(o.ClientCertificateKey, o.ClientCertificateKeyFile)
		}
		rt = promconfig.NewOAuth2RoundTripper(credential, &own, rt,
			promconfig.WithDialContextFunc(dialWithTimeout), promconfig.WithKeepAlivesDisabled())
	}
	if c.HTTPHeaders != nil {
		rt = ownHeaders{c.HTTPHeaders.Headers, rt}
	}
	return rt
}

// dialWithTimeout connects for one exchange that may take tokenTimeout in total.
func dialWithTimeout(ctx context.Context, network, addr string) (net.Conn, error) {
	d := net.Dialer{Timeout: tokenTimeout}
	c, err := d.DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	return c, c.SetDeadline(time.Now().Add(tokenTimeout))
}

// ownHeaders adds the headers that a configuration lists.
type ownHeaders struct {
	headers map[string]promconfig.Header
	next    http.RoundTripper
}

func (o ownHeaders) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for name, from := range o.headers {
		for _, v := range from.Values {
			r.Header.Add(name, v)
		}
		for _, v := range from.Secrets {
			r.Header.Add(name, string(v))
		}
		for _, file := range from.Files {
			v, err := readSecret(file)
			if err != nil {
				return nil, fmt.Errorf("header %q: %w", name, err)
			}
			r.Header.Add(name, v)
		}
	}
	return o.next.RoundTrip(r)
}

func (o ownHeaders) CloseIdleConnections() {
	if c, ok := o.next.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// secretReader reads a text, or the file if one is set.
func secretReader(text promconfig.Secret, file string) promconfig.SecretReader {
	if file != "" {
		return fileSecret(file)
	}
	return promconfig.NewInlineSecret(string(text))
}

// ProbeHeader marks a request as a probe. Its value is "target/workload", for the deployment
// and for anything that counts requests.
const ProbeHeader = "X-Synthetic-Probe"

// maxProbeHeader is the maximum length of its value in bytes.
const maxProbeHeader = 200

// UserAgent is the User-Agent header of all requests.
func UserAgent() string { return "synthetic/" + cmp.Or(version.Version, "dev") }

// probeHeaderValue replaces characters that are not visible ASCII by underscores.
func probeHeaderValue(target, workload string) string {
	name := strings.Map(func(r rune) rune {
		if r <= ' ' || r > '~' {
			return '_'
		}
		return r
	}, target+"/"+workload)
	return name[:min(len(name), maxProbeHeader)]
}
