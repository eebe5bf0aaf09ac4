package wire

import (
	"context"
	"crypto/tls"
	"fmt"
	"math"
	"net"
	"net/http"
	"sync"
	"time"

	promconfig "github.com/prometheus/common/config"

	"synthetic/internal/bound"
)

const (
	// idleTimeout is how long an unused connection is kept.
	idleTimeout = 30 * time.Second
	// maxHeaderBytes bounds the response headers, and each interim response.
	maxHeaderBytes = 64 << 10
	// The buffers are small because thousands of waiting streams have them. The read buffer holds
	// several usual events.
	readBuffer, writeBuffer = 2 << 10, 512
)

// Options of a Client; the zero value is usable.
type Options struct {
	// HTTP has the proxy and TLS settings, and can allow HTTP/2. Its files are read for each new
	// connection, so that rotated certificates take effect. This package ignores the
	// authentication settings.
	HTTP promconfig.HTTPClientConfig
	// Dial connects to addr, which is "host:port"; nil dials TCP.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
	// Connections limits the open connections; nil means no limit.
	Connections *bound.Budget
	// DisableReuse closes each connection after its response.
	DisableReuse bool
}

// Exact reports whether the connection itself measures arrivals. Over HTTP/2, an arrival is
// the time of the last bytes on the connection, of any stream. Over a proxy, it is the time when a read of the body returned.
func Exact(c promconfig.HTTPClientConfig) bool { return !c.EnableHTTP2 && c.Proxy() == nil }

// Client sends requests and keeps connections. Use one per target, or one per conversation that
// needs connections of its own. It is safe for concurrent use.
type Client struct {
	options Options

	mu        sync.Mutex
	transport roundTripper // nil until the first request through a proxy
}

type roundTripper interface {
	http.RoundTripper
	CloseIdleConnections()
}

// New returns a Client. It dials when a request needs a connection.
func New(o Options) *Client {
	c := &Client{options: o}
	if o.HTTP.Proxy() == nil {
		transport := c.newTransport()
		transport.DialTLSContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
			return c.dial(ctx, network, addr, true)
		}
		c.transport = transport
	}
	return c
}

// newTransport returns a transport that sends a request exactly as it is.
func (c *Client) newTransport() *transport {
	t := &transport{Transport: &http.Transport{
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			return c.dial(ctx, network, addr, false)
		},
		DisableCompression:     true,
		MaxIdleConnsPerHost:    math.MaxInt,
		IdleConnTimeout:        idleTimeout,
		MaxResponseHeaderBytes: maxHeaderBytes,
		ReadBufferSize:         readBuffer,
		WriteBufferSize:        writeBuffer,
	}}
	if c.options.HTTP.EnableHTTP2 {
		t.TLSNextProto = map[string]func(string, *tls.Conn) http.RoundTripper{"h2": t.addHTTP2}
	}
	return t
}

// CloseIdleConnections closes the connections that no request uses. The Client stays usable.
func (c *Client) CloseIdleConnections() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.transport != nil {
		c.transport.CloseIdleConnections()
	}
}

// RoundTrip sends r once, over a kept connection if a live one exists. It returns when the response
// headers have arrived. The response's body is a *Body, the error an *Error. The context of r can
// have a *Trace; it also covers the reading of the body.
func (c *Client) RoundTrip(r *http.Request) (*http.Response, error) {
	transport, err := c.prepare(r)
	if err != nil {
		if r.Body != nil {
			r.Body.Close()
		}
		return nil, err
	}
	for {
		x := newExchange(r.Context(), Exact(c.options.HTTP))
		sent := r.WithContext(x.context())
		sent.Close = r.Close || c.options.DisableReuse
		resp, err := transport.RoundTrip(sent)
		if err == nil {
			x.gotHeaders()
			resp.Request = r
			resp.Body = newBody(x, resp, !resp.Close && !sent.Close)
			return resp, nil
		}
		failed, retry := x.fail(err), x.canRetry() && r.GetBody != nil
		x.close()
		if !retry {
			return nil, failed
		}
		// net/http itself repeats only some of these requests.
		body, err := r.GetBody()
		if err != nil {
			return nil, &Error{StepWrite, err}
		}
		r = r.WithContext(r.Context())
		r.Body = body
	}
}

// prepare returns the transport for r. A transport for a proxy is created by the first request that
// succeeds in it: at an earlier one a certificate may have been half-written.
func (c *Client) prepare(r *http.Request) (_ roundTripper, err error) {
	if r.URL.Host == "" || r.URL.Scheme != "http" && r.URL.Scheme != "https" {
		return nil, &Error{StepConnect, fmt.Errorf("cannot reach %q: want http:// or https:// and a host", r.URL.Redacted())}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.transport == nil {
		if c.transport, err = c.newProxied(); err != nil {
			return nil, &Error{StepTLS, fmt.Errorf("%w: %w", errSettings, err)}
		}
	}
	return c.transport, nil
}

// newProxied returns a transport through the configured proxy. There net/http itself does TLS, and
// the certificate files are read again for each request.
func (c *Client) newProxied() (roundTripper, error) {
	withTLS := func(config *tls.Config) (http.RoundTripper, error) {
		t := c.newTransport()
		t.Proxy, t.ProxyConnectHeader = c.options.HTTP.Proxy(), c.options.HTTP.GetProxyConnectHeader()
		t.TLSClientConfig = config
		if t.TLSNextProto != nil {
			config.NextProtos = []string{"h2", "http/1.1"}
		}
		return t, nil
	}
	files := c.options.HTTP.TLSConfig
	config, err := promconfig.NewTLSConfig(&files)
	if err != nil {
		return nil, err
	}
	settings := promconfig.TLSRoundTripperSettings{
		CA: fileSecret(files.CAFile), Cert: fileSecret(files.CertFile), Key: fileSecret(files.KeyFile),
	}
	transport, err := promconfig.NewTLSRoundTripper(config, settings, withTLS)
	if err != nil {
		return nil, err
	}
	return transport.(roundTripper), nil
}

func fileSecret(name string) promconfig.SecretReader {
	if name == "" {
		return nil
	}
	return promconfig.NewFileSecret(name)
}
