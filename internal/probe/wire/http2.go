package wire

//lint:file-ignore SA1019 http2.Transport makes a client of a connection that TLS has negotiated already; http.Transport.NewClientConn, its replacement, dials itself.

import (
	"cmp"
	"crypto/tls"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/net/http2"
)

// ResetError means that the server ended an HTTP/2 request with RST_STREAM or GOAWAY. Code is the
// error code of RFC 9113, such as "REFUSED_STREAM".
type ResetError struct{ what, Code string }

func (e *ResetError) Error() string { return "the server " + e.what + " (" + e.Code + ")" }

// errNoStream means that a new connection ended, or permits no stream, before its first request.
var errNoStream = &ResetError{"accepted no request on a new connection", "NO_ERROR"}

// transport is an http.Transport with HTTP/2 connections of its own. Those of net/http would send a
// request again, up to seven times, if the server refused it.
type transport struct {
	*http.Transport

	mu    sync.Mutex
	conns []*http2Conn
}

// http2Conn is one HTTP/2 connection. net/http uses it as the round tripper of a connection that it
// dialed.
type http2Conn struct {
	*http2.ClientConn
	owner *transport
	raw   *countedConn // nil over a proxy with TLS
	// goAway is the error code of a GOAWAY, if it is not NO_ERROR.
	goAway atomic.Value

	// The lock of owner guards these fields. active counts requests. A retired connection takes no
	// further request.
	used, retired bool
	active        int
}

// CloseIdleConnections closes the connections that no request uses, and over HTTP/2 each other one
// after its last request.
func (t *transport) CloseIdleConnections() {
	t.Transport.CloseIdleConnections()
	for _, c := range t.retire() {
		c.Close()
	}
}

// retire returns the connections that no request uses.
func (t *transport) retire() []*http2Conn {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range t.conns {
		c.retired = true
	}
	idle := slices.DeleteFunc(t.conns, func(c *http2Conn) bool { return c.active > 0 })
	t.conns = nil
	return idle
}

// addHTTP2 is called by net/http after a TLS handshake that chose HTTP/2.
func (t *transport) addHTTP2(_ string, conn *tls.Conn) http.RoundTripper {
	c := &http2Conn{owner: t}
	if c.raw, _ = conn.NetConn().(*countedConn); c.raw != nil {
		c.raw.shared = true
	}
	settings := &http2.Transport{
		DisableCompression: true,
		IdleConnTimeout:    idleTimeout,
		MaxHeaderListSize:  maxHeaderBytes,
		CountError: func(name string) {
			if code, found := strings.CutPrefix(name, "recv_goaway_"); found {
				c.goAway.Store(code)
			}
		},
	}
	var err error
	if c.ClientConn, err = settings.NewClientConn(conn); err != nil {
		return failedConn{err}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	ended := func(c *http2Conn) bool { return c.active == 0 && !c.CanTakeNewRequest() }
	t.conns = append(slices.DeleteFunc(t.conns, ended), c)
	return c
}

// failedConn tells net/http that a connection failed after its TLS handshake.
type failedConn struct{ err error }

func (f failedConn) RoundTripErr() error                             { return f.err }
func (f failedConn) RoundTrip(*http.Request) (*http.Response, error) { return nil, f.err }

// RoundTrip sends a request once, over c or another connection. After http2.ErrNoCachedConn net/http
// dials, and calls RoundTrip of the new connection.
func (c *http2Conn) RoundTrip(r *http.Request) (*http.Response, error) {
	conn, reused := c.reserve()
	if conn == nil {
		return nil, http2.ErrNoCachedConn
	}
	x := r.Context().Value(exchangeKey{}).(*exchange)
	x.gotHTTP2(conn, reused)
	resp, err := conn.ClientConn.RoundTrip(r)
	switch {
	case err == nil:
		resp.Body = http2Body{resp.Body, conn}
		return resp, nil
	case !x.unsent():
	case reused: // the connection ended before the request
		err = http2.ErrNoCachedConn
	default: // dialing again could go on for ever
		err = errNoStream
	}
	conn.release()
	return nil, err
}

// http2Body releases the connection when the body is closed.
type http2Body struct {
	io.ReadCloser
	conn *http2Conn
}

func (b http2Body) Close() error {
	defer b.conn.release()
	return b.ReadCloser.Close()
}

// reserve returns a connection for a request, or nil. reused is false for the first request of a
// connection.
func (c *http2Conn) reserve() (conn *http2Conn, reused bool) {
	t := c.owner
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, conn := range append(t.conns, c) {
		if reused := conn.used; conn.takes() {
			conn.used = true
			conn.active++
			return conn, reused
		}
	}
	return nil, false
}

// takes reports whether the connection takes a request. The first one must be sent, or fail. Before the
// server's settings arrive, a connection takes 100, the least that RFC 9113 recommends.
func (c *http2Conn) takes() bool {
	stale := c.active == 0 && c.raw != nil && !c.raw.quiet()
	if c.used && (stale || c.retired) {
		return false
	}
	return c.ReserveNewRequest() || !c.used
}

// release ends a request.
func (c *http2Conn) release() {
	c.owner.mu.Lock()
	c.active--
	unused := c.retired && c.active == 0
	c.owner.mu.Unlock()
	if unused {
		c.Close()
	}
}

// explain returns a *ResetError if the server ended the request.
func (c *http2Conn) explain(err error) error {
	goAway, _ := c.goAway.Load().(string)
	var reset http2.StreamError
	switch {
	case err == errNoStream && goAway == "":
		return err
	case err == errNoStream, strings.Contains(err.Error(), "GOAWAY"): // most of these errors have no type
		return &ResetError{"closed the connection with GOAWAY", cmp.Or(goAway, "NO_ERROR")}
	case !errors.As(err, &reset) || reset.Cause == nil || reset.Cause.Error() != "received from peer":
		return err
	case reset.Code == http2.ErrCodeRefusedStream:
		return &ResetError{"refused the stream", reset.Code.String()}
	}
	return &ResetError{"reset the stream", reset.Code.String()}
}
