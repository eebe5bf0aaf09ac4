package wire

import (
	"bufio"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"syscall"
	"time"
)

const (
	defaultIdleTimeout    = 30 * time.Second
	defaultMaxHeaderBytes = 64 << 10
	// maxInterim is how many 1xx responses may precede the real one.
	maxInterim = 5
)

// Options of a Client; the zero value is usable.
type Options struct {
	// Dial connects to addr, which is "ip:port", or "host:port" if Resolve is
	// nil and Dial is not; nil dials TCP.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
	// Resolve looks up the addresses of a host name, which are tried in turn;
	// nil asks the system's resolver, or leaves the name to Dial if that is set.
	Resolve func(ctx context.Context, host string) ([]netip.Addr, error)
	// TLSConfig is called for each new TLS connection, so that rotated
	// certificates are picked up; nil is the default configuration. The server
	// name defaults to the URL's host, and only HTTP/1.1 is offered.
	TLSConfig func() (*tls.Config, error)
	// DisableReuse closes each connection after its response.
	DisableReuse bool
	// IdleTimeout is how long an unused connection is kept; 0 means 30 s.
	IdleTimeout time.Duration
	// MaxIdle bounds the unused connections that are kept; 0 is no bound.
	MaxIdle int
	// MaxHeaderBytes bounds the response headers, interim responses and
	// trailers, each; 0 means 64 KiB.
	MaxHeaderBytes int
}

// Client sends requests over HTTP/1.1. Use one per target, or one per
// conversation that shall have connections of its own. It is safe for
// concurrent use.
type Client struct {
	options Options
	idle    pool
	readers sync.Pool // of *bufio.Reader, for headers
	writers sync.Pool // of *bufio.Writer, for requests
}

// New returns a Client.
func New(o Options) *Client {
	o.IdleTimeout = cmp.Or(o.IdleTimeout, defaultIdleTimeout)
	o.MaxHeaderBytes = cmp.Or(o.MaxHeaderBytes, defaultMaxHeaderBytes)
	c := &Client{options: o, idle: pool{timeout: o.IdleTimeout, max: o.MaxIdle}}
	c.readers.New = func() any { return bufio.NewReader(nil) }
	c.writers.New = func() any { return bufio.NewWriter(nil) }
	return c
}

// CloseIdle closes the connections that no request uses. The Client stays
// usable.
func (c *Client) CloseIdle() { c.idle.closeAll() }

// CloseIdleConnections is CloseIdle under the name that http.Client calls.
func (c *Client) CloseIdleConnections() { c.CloseIdle() }

// RoundTrip sends r once, over a kept connection if a live one is there, and
// returns when the response headers are in. The response's body is a *Body.
// The error is an *Error. The context of r, which may carry a *Trace, covers
// the reading of the body too.
func (c *Client) RoundTrip(r *http.Request) (*http.Response, error) {
	trace := traceOf(r.Context())
	conn, err := c.connect(r, trace)
	if err != nil {
		closeBody(r)
		return nil, err
	}
	resp, err := c.exchange(conn, r, trace)
	if err != nil {
		conn.release()
		conn.abort()
		return nil, err
	}
	return resp, nil
}

func closeBody(r *http.Request) {
	if r.Body != nil {
		r.Body.Close()
	}
}

// connect returns a connection for r that answers to r's context.
func (c *Client) connect(r *http.Request, trace *Trace) (*conn, error) {
	ctx := r.Context()
	if r.URL.Host == "" || r.URL.Scheme != "http" && r.URL.Scheme != "https" {
		return nil, &Error{StepConnect, fmt.Errorf("cannot reach %q: want http:// or https:// and a host", r.URL.Redacted())}
	}
	if ctx.Err() != nil {
		return nil, failure(ctx, StepConnect, nil)
	}
	key := r.URL.Scheme + "://" + r.URL.Host
	conn := c.idle.get(key)
	if conn == nil {
		var err error
		if conn, err = c.dial(ctx, r.URL, trace); err != nil {
			return nil, err
		}
		conn.key = key
	} else {
		trace.Reused = true
	}
	trace.RemoteAddr = conn.RemoteAddr().String()
	conn.watch(ctx)
	return conn, nil
}

// exchange writes the request and reads the response headers.
func (c *Client) exchange(conn *conn, r *http.Request, trace *Trace) (*http.Response, error) {
	ctx := r.Context()
	conn.setDeadline(trace.HeaderDeadline)
	unwritten := c.write(conn, r)
	if unwritten == nil {
		trace.Wrote = time.Now()
	} else if !hungUp(unwritten) {
		return nil, failure(ctx, StepWrite, unwritten)
	}
	// A server that hangs up before it has read the whole request may have
	// said why: its answer tells more than the failed write.
	resp, rest, err := c.readHeaders(conn, r, trace.HeaderDeadline)
	switch {
	case err != nil && refusedTLS(err):
		return nil, failure(ctx, StepTLS, err)
	case err != nil && unwritten != nil:
		return nil, failure(ctx, StepWrite, unwritten)
	case err != nil:
		return nil, failure(ctx, StepHeaders, err)
	}
	arrival := conn.stamps.arrival()
	trace.Headers = arrival.At
	conn.setDeadline(time.Time{})
	reusable := unwritten == nil && !resp.Close && !r.Close && !c.options.DisableReuse
	resp.Body = newBody(c, conn, r, resp, rest, arrival, reusable)
	return resp, nil
}

// hungUp reports whether a write failed because the peer had closed.
func hungUp(err error) bool {
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET)
}

// refusedTLS reports whether err is the peer's TLS alert. In TLS 1.3 a server
// refuses a client certificate, or its absence, when the client believes that
// the handshake is over.
func refusedTLS(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "remote error"
}

// write sends the request and closes its body.
func (c *Client) write(conn *conn, r *http.Request) error {
	w := c.writers.Get().(*bufio.Writer)
	defer c.writers.Put(w)
	to := &remembering{Writer: conn}
	w.Reset(to)
	defer w.Reset(nil)
	err := r.Write(w)
	if err == nil {
		err = w.Flush()
	}
	return cmp.Or(to.err, err)
}

// remembering keeps the error of its Writer, which Request.Write hides where it
// comes amid the body.
type remembering struct {
	io.Writer
	err error
}

func (r *remembering) Write(p []byte) (int, error) {
	n, err := r.Writer.Write(p)
	r.err = cmp.Or(r.err, err)
	return n, err
}
