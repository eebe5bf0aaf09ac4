package wire

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http/httptrace"
	"os"
	"time"

	promconfig "github.com/prometheus/common/config"
)

// errNotNeeded ends a dial whose request has been sent over another connection. Without a request
// the new connection would have no deadline.
var errNotNeeded = errors.New("the request has another connection")

// dial makes a connection for net/http. The dial ends with the request that needs it.
func (c *Client) dial(ctx context.Context, network, addr string, secure bool) (net.Conn, error) {
	x := ctx.Value(exchangeKey{}).(*exchange)
	ctx, cancel := context.WithDeadline(ctx, cmp.Or(x.trace.HeaderDeadline, time.Now().Add(math.MaxInt64)))
	defer cancel()
	defer context.AfterFunc(x.ctx, cancel)()
	var t Trace
	conn, err := c.connect(ctx, network, addr, secure, &t)
	if !x.dialed(t) && err == nil {
		conn.Close()
		return nil, errNotNeeded
	}
	return conn, err
}

// connect makes a connection, and does the TLS handshake if secure is set.
func (c *Client) connect(ctx context.Context, network, addr string, secure bool, t *Trace) (net.Conn, error) {
	paced, err := c.dialPaced(ctx, network, addr, t)
	switch {
	case err != nil:
		return nil, err
	case c.options.HTTP.Proxy() != nil:
		return paced, nil
	case !secure:
		return newConn(paced, paced), nil
	}
	c.options.Pacer.spend(handshakeCost)
	start := time.Now()
	overTLS, err := c.handshake(ctx, paced, addr)
	t.TLS = time.Since(start)
	switch {
	case err != nil:
		paced.Close()
		return nil, dialError(ctx, StepTLS, err)
	case overTLS.ConnectionState().NegotiatedProtocol == "h2":
		return overTLS, nil
	}
	return newConn(overTLS, paced), nil
}

// dialError marks errors after a deadline. A dialer reads the clock itself, so it can notice a
// deadline before the context does.
func dialError(ctx context.Context, step Step, err error) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) || errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("%w: %w", os.ErrDeadlineExceeded, err)
	}
	return &Error{step, err}
}

// filesPerDial is how many descriptors a dial can use at once: two addresses that are tried
// concurrently, and a DNS query.
const filesPerDial = 3

// dialPaced dials within the limits of connections and CPU time.
func (c *Client) dialPaced(ctx context.Context, network, addr string, t *Trace) (*pacedConn, error) {
	budget, pacer := c.options.Connections, c.options.Pacer
	if !budget.Take(filesPerDial) {
		return nil, &Error{StepConnect, ErrNoRoom}
	}
	deadline, _ := ctx.Deadline()
	pacer.wait(ctx.Done(), deadline)
	pacer.spend(dialCost)
	raw, err := c.dialTimed(ctx, network, addr, t)
	if err != nil {
		budget.Return(filesPerDial)
		return nil, err
	}
	budget.Return(filesPerDial - 1)
	timed := timedConn(&readTimed{Conn: raw})
	if c.options.HTTP.Proxy() == nil { // the connection to a proxy does not measure arrivals
		timed = newTimedConn(raw)
	}
	return newPacedConn(timed, pacer, func() { budget.Return(1) }), nil
}

// dialTimed dials and measures the DNS lookup and the connecting separately.
func (c *Client) dialTimed(ctx context.Context, network, addr string, t *Trace) (net.Conn, error) {
	dial := c.options.Dial
	if dial == nil {
		dial = (&net.Dialer{}).DialContext
	}
	start := time.Now()
	resolved := start
	conn, err := dial(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		DNSDone: func(httptrace.DNSDoneInfo) { resolved = time.Now() },
	}), network, addr)
	t.DNS, t.Connect = resolved.Sub(start), time.Since(resolved)
	var dns *net.DNSError
	switch {
	case errors.As(err, &dns):
		t.Connect = 0
		return nil, dialError(ctx, StepDNS, withErrno(dns))
	case err != nil:
		return nil, dialError(ctx, StepConnect, err)
	}
	return conn, nil
}

func (c *Client) handshake(ctx context.Context, raw net.Conn, addr string) (*tls.Conn, error) {
	config, err := promconfig.NewTLSConfig(&c.options.HTTP.TLSConfig)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errSettings, err)
	}
	if config.ServerName == "" {
		config.ServerName, _, _ = net.SplitHostPort(addr)
	}
	config.NextProtos = []string{"http/1.1"}
	if c.options.HTTP.EnableHTTP2 {
		config.NextProtos = []string{"h2", "http/1.1"}
	}
	secure := tls.Client(raw, config)
	return secure, secure.HandshakeContext(ctx)
}
