package wire

import (
	"context"
	"crypto/tls"
	"fmt"
	"math"
	"net"
	"net/http"
	"time"

	promconfig "github.com/prometheus/common/config"

	"synthetic/internal/bound"
)

const (
	// idleTimeout is how long an unused connection is kept.
	idleTimeout = 30 * time.Second
	// maxHeaderBytes bounds the response headers and interim responses, each.
	maxHeaderBytes = 64 << 10
	// Thousands of streams wait with a buffer each for several usual events, and
	// one for what they will not send.
	readBuffer, writeBuffer = 2 << 10, 512
)

// Options of a Client; the zero value is usable.
type Options struct {
	// HTTP says which proxy to use and how TLS is spoken, and may allow HTTP/2.
	// Files are read for each new connection, so that rotated certificates are
	// picked up. What it says of authentication is not for this package.
	HTTP promconfig.HTTPClientConfig
	// Dial connects to addr, which is "host:port"; nil dials TCP.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
	// Connections is the budget of open connections; nil is without bound.
	Connections *bound.Budget
	// Pacer holds the peer to its share of the CPU; nil does not.
	Pacer *Pacer
	// DisableReuse closes each connection after its response.
	DisableReuse bool
}

// Exact reports whether arrivals are those of a connection's own reads. A proxy
// and HTTP/2 stand between: then they are when a read of the body returned.
func Exact(c promconfig.HTTPClientConfig) bool { return !c.EnableHTTP2 && c.Proxy() == nil }

// roundTripper is a transport that keeps connections.
type roundTripper interface {
	http.RoundTripper
	CloseIdleConnections()
}

// Client sends requests by net/http. Use one per target, or one per
// conversation that shall have connections of its own. It is safe for
// concurrent use.
type Client struct {
	options   Options
	transport roundTripper
}

// New returns a Client.
func New(o Options) *Client {
	c := &Client{options: o}
	if o.HTTP.Proxy() != nil {
		c.transport = &onDemand{make: c.newProxied}
		return c
	}
	t := c.newTransport()
	t.DialTLSContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
		return c.dial(ctx, network, addr, true)
	}
	c.transport = t
	return c
}

// newTransport returns what all transports have in common: nothing that would
// be another request than the one asked for.
func (c *Client) newTransport() *http.Transport {
	return &http.Transport{
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			return c.dial(ctx, network, addr, false)
		},
		ForceAttemptHTTP2:      c.options.HTTP.EnableHTTP2,
		DisableCompression:     true,
		DisableKeepAlives:      c.options.DisableReuse,
		MaxIdleConnsPerHost:    math.MaxInt,
		IdleConnTimeout:        idleTimeout,
		MaxResponseHeaderBytes: maxHeaderBytes,
		ReadBufferSize:         readBuffer,
		WriteBufferSize:        writeBuffer,
	}
}

// CloseIdleConnections closes the connections that no request uses. The Client
// stays usable.
func (c *Client) CloseIdleConnections() { c.transport.CloseIdleConnections() }

// RoundTrip sends r once, over a kept connection if a live one is there, and
// returns when the response headers are in. The response's body is a *Body.
// The error is an *Error. The context of r, which may carry a *Trace, covers
// the reading of the body too.
func (c *Client) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Host == "" || r.URL.Scheme != "http" && r.URL.Scheme != "https" {
		closeBody(r)
		return nil, &Error{StepConnect, fmt.Errorf("cannot reach %q: want http:// or https:// and a host", r.URL.Redacted())}
	}
	for {
		x := newExchange(r.Context(), Exact(c.options.HTTP), c.options.Pacer)
		resp, err := c.transport.RoundTrip(r.WithContext(x.context()))
		if err == nil {
			x.answered()
			resp.Request = r
			resp.Body = newBody(x, resp, !resp.Close && !r.Close && !c.options.DisableReuse)
			return resp, nil
		}
		failed, again := x.failed(err), x.keptWasDead() && r.GetBody != nil
		x.close()
		if !again {
			return nil, failed
		}
		// net/http repeats some such requests by itself, and not all.
		body, err := r.GetBody()
		if err != nil {
			return nil, &Error{StepWrite, err}
		}
		r = r.WithContext(r.Context())
		r.Body = body
	}
}

// newProxied returns a transport over the proxies of the configuration. There
// TLS is net/http's, and the files of its settings are looked at for each
// request.
func (c *Client) newProxied() (roundTripper, error) {
	proxies := c.options.HTTP.ProxyConfig
	make := func(config *tls.Config) (http.RoundTripper, error) {
		t := c.newTransport()
		t.Proxy, t.ProxyConnectHeader = proxies.Proxy(), proxies.GetProxyConnectHeader()
		t.TLSClientConfig = config
		return t, nil
	}
	files := c.options.HTTP.TLSConfig
	config, err := promconfig.NewTLSConfig(&files)
	if err != nil {
		return nil, &Error{StepTLS, fmt.Errorf("%w: %w", errSettings, err)}
	}
	settings := promconfig.TLSRoundTripperSettings{
		CA: fileSecret(files.CAFile), Cert: fileSecret(files.CertFile), Key: fileSecret(files.KeyFile),
	}
	rt, err := promconfig.NewTLSRoundTripper(config, settings, make)
	if err != nil {
		return nil, &Error{StepTLS, fmt.Errorf("%w: %w", errSettings, err)}
	}
	return rt.(roundTripper), nil
}

// fileSecret is a file that may be rotated, nil for none.
func fileSecret(name string) promconfig.SecretReader {
	if name == "" {
		return nil
	}
	return promconfig.NewFileSecret(name)
}
