package wire

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"time"

	promconfig "github.com/prometheus/common/config"
)

const (
	// idleTimeout is how long an unused connection is kept.
	idleTimeout = 30 * time.Second
	// maxHeaderBytes bounds the response headers and interim responses, each.
	maxHeaderBytes = 64 << 10
	// httpBuffer is the size of net/http's own buffers: thousands of streams wait
	// with two each. It bounds the size line of a chunk and the trailers.
	httpBuffer = 512
)

// Options of a Client; the zero value is usable.
type Options struct {
	// HTTP says which proxy to use and how TLS is spoken, and may allow HTTP/2.
	// Files are read for each new connection, so that rotated certificates are
	// picked up. What it says of authentication is not for this package.
	HTTP promconfig.HTTPClientConfig
	// Dial connects to addr, which is "host:port"; nil dials TCP.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
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
	proxied   bool
	transport roundTripper
	// unusable is why there is no transport.
	unusable error
}

// New returns a Client.
func New(o Options) *Client {
	c := &Client{options: o, proxied: o.HTTP.Proxy() != nil}
	if c.proxied {
		c.transport, c.unusable = c.newProxied()
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
		MaxResponseHeaderBytes: maxHeaderBytes + httpBuffer,
		ReadBufferSize:         httpBuffer,
		WriteBufferSize:        httpBuffer,
	}
}

// CloseIdleConnections closes the connections that no request uses. The Client
// stays usable.
func (c *Client) CloseIdleConnections() {
	if c.transport != nil {
		c.transport.CloseIdleConnections()
	}
}

// RoundTrip sends r once, over a kept connection if a live one is there, and
// returns when the response headers are in. The response's body is a *Body.
// The error is an *Error. The context of r, which may carry a *Trace, covers
// the reading of the body too.
func (c *Client) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx := r.Context()
	err := c.unusable
	switch {
	case r.URL.Host == "" || r.URL.Scheme != "http" && r.URL.Scheme != "https":
		err = &Error{StepConnect, fmt.Errorf("cannot reach %q: want http:// or https:// and a host", r.URL.Redacted())}
	case ctx.Err() != nil:
		err = failure(ctx, StepConnect, nil)
	}
	if err != nil {
		if r.Body != nil {
			r.Body.Close()
		}
		return nil, err
	}
	for {
		resp, err := c.send(r)
		if !errors.Is(err, errUnsent) {
			return resp, err
		}
		if r.Body != nil && r.Body != http.NoBody {
			body, bodyErr := r.GetBody()
			if bodyErr != nil {
				return nil, &Error{StepWrite, bodyErr}
			}
			r = r.WithContext(ctx)
			r.Body = body
		}
	}
}

// errUnsent says that a kept connection was dead before the request went out.
var errUnsent = errors.New("the kept connection was closed")

// send hands the request to net/http.
func (c *Client) send(r *http.Request) (*http.Response, error) {
	caller := r.Context()
	x := &exchange{ctx: caller, trace: traceOf(caller)}
	ctx := x.context
	if !Exact(c.options.HTTP) {
		ctx = x.bounded
	}
	req, body := once(r, ctx())
	resp, err := c.transport.RoundTrip(req)
	if err != nil {
		x.stopTimer()
		if x.unsent() && (r.GetBody != nil || r.Body == nil || r.Body == http.NoBody) {
			return nil, errUnsent
		}
		failed := x.explain(caller, body, err)
		x.close()
		return nil, failed
	}
	x.answered()
	resp.Request = r
	reusable := !resp.Close && !r.Close && !c.options.DisableReuse
	resp.Body = newBody(caller, x, resp, reusable)
	return resp, nil
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
		return nil, &Error{StepTLS, err}
	}
	settings := promconfig.TLSRoundTripperSettings{
		CA: fileSecret(files.CAFile), Cert: fileSecret(files.CertFile), Key: fileSecret(files.KeyFile),
	}
	rt, err := promconfig.NewTLSRoundTripper(config, settings, make)
	if err != nil {
		return nil, &Error{StepTLS, err}
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
