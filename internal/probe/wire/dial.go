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

// errElsewhere ends a dial whose request has gone out over another connection.
// A connection without a request would be watched by nobody.
var errElsewhere = errors.New("the request has another connection")

// dial makes a connection for net/http and times its steps. It ends with the
// request that wanted it.
func (c *Client) dial(ctx context.Context, network, addr string, secure bool) (net.Conn, error) {
	x := ctx.Value(exchangeKey{}).(*exchange)
	ctx, cancel := context.WithDeadline(ctx, cmp.Or(x.trace.HeaderDeadline, time.Now().Add(math.MaxInt64)))
	defer cancel()
	defer context.AfterFunc(x.ctx, cancel)()
	var t Trace
	conn, err := c.connect(ctx, network, addr, secure, &t)
	if !x.dialed(t) && err == nil {
		conn.Close()
		return nil, errElsewhere
	}
	return conn, err
}

// connect makes a connection, with TLS where it is due.
func (c *Client) connect(ctx context.Context, network, addr string, secure bool, t *Trace) (net.Conn, error) {
	stamps, err := c.admit(ctx, network, addr, t)
	switch {
	case err != nil:
		return nil, err
	case c.options.HTTP.Proxy() != nil:
		return stamps, nil
	case !secure:
		return newConn(stamps, stamps), nil
	}
	c.options.Pacer.spend(handshakeCost)
	start := time.Now()
	over, err := c.handshake(ctx, stamps, addr)
	t.TLS = time.Since(start)
	switch {
	case err != nil:
		stamps.Close()
		return nil, dialFailure(ctx, StepTLS, err)
	case over.ConnectionState().NegotiatedProtocol == "h2":
		return over, nil
	}
	return newConn(over, stamps), nil
}

// dialFailure says where a deadline was why a step failed. A dialer looks at the
// clock itself, and may know before the context does.
func dialFailure(ctx context.Context, step Step, err error) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) || errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("%w: %w", os.ErrDeadlineExceeded, err)
	}
	return &Error{step, err}
}

// dialing is how many descriptors a dial may use at once: two addresses that it
// tries at a time, and a question for the name.
const dialing = 3

// admit dials within the budget of connections.
func (c *Client) admit(ctx context.Context, network, addr string, t *Trace) (*guarded, error) {
	budget, pacer := c.options.Connections, c.options.Pacer
	if !budget.Take(dialing) {
		return nil, &Error{StepConnect, ErrNoRoom}
	}
	deadline, _ := ctx.Deadline()
	pacer.wait(ctx.Done(), deadline)
	pacer.spend(dialCost)
	raw, err := c.reach(ctx, network, addr, t)
	if err != nil {
		budget.Return(dialing)
		return nil, err
	}
	budget.Return(dialing - 1)
	timed := stamped(&readTimed{Conn: raw})
	if c.options.HTTP.Proxy() == nil { // what comes over a proxy is not timed here
		timed = stamp(raw)
	}
	return guard(timed, pacer, func() { budget.Return(1) }), nil
}

// reach looks up the name and dials its addresses. A name that has no address is
// told from an address that gives no connection.
func (c *Client) reach(ctx context.Context, network, addr string, t *Trace) (net.Conn, error) {
	dial := c.options.Dial
	if dial == nil {
		dial = (&net.Dialer{}).DialContext
	}
	start := time.Now()
	found := start
	conn, err := dial(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		DNSDone: func(httptrace.DNSDoneInfo) { found = time.Now() },
	}), network, addr)
	t.DNS, t.Connect = found.Sub(start), time.Since(found)
	var dns *net.DNSError
	switch {
	case errors.As(err, &dns):
		t.Connect = 0
		return nil, dialFailure(ctx, StepDNS, lookupFailure(dns))
	case err != nil:
		return nil, dialFailure(ctx, StepConnect, err)
	}
	return conn, nil
}

// handshake makes a TLS connection over raw.
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
