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
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(x.ctx, cancel)()
	t := Trace{HeaderDeadline: x.trace.HeaderDeadline, Late: x.trace.Late}
	conn, err := c.connect(ctx, network, addr, secure, &t)
	if !x.dialed(t) && err == nil {
		conn.Close()
		return nil, errNotNeeded
	}
	return conn, err
}

// connect makes a connection, and does the TLS handshake if secure is set.
func (c *Client) connect(ctx context.Context, network, addr string, secure bool, t *Trace) (net.Conn, error) {
	counted, err := c.dialCounted(ctx, network, addr, t)
	switch {
	case err != nil:
		return nil, err
	case c.options.HTTP.Proxy() != nil:
		return counted, nil
	case !secure:
		return newConn(counted, counted), nil
	}
	start := time.Now()
	counted.setExtend(t.extend)
	counted.SetDeadline(t.HeaderDeadline)
	overTLS, err := c.handshake(ctx, counted, addr)
	t.TLS = time.Since(start)
	if err != nil {
		if counted.provesSilence() {
			t.Asked = counted.lastWrite()
		}
		counted.Close()
		return nil, &Error{StepTLS, explainPlain(err)}
	}
	counted.setExtend(nil)
	counted.SetDeadline(time.Time{})
	switch {
	case overTLS.ConnectionState().NegotiatedProtocol == "h2":
		return overTLS, nil
	}
	return newConn(overTLS, counted), nil
}

// explainPlain adds a remedy if the server answers without TLS.
func explainPlain(err error) error {
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return fmt.Errorf("the server answers without TLS; write http:// in its address if it has none: %w", err)
	}
	return err
}

// filesPerDial is how many descriptors a dial can use at once: two addresses that are tried
// concurrently, the duplicates of their sockets, and a DNS query.
const filesPerDial = 5

// dialCounted dials within the limit of connections.
func (c *Client) dialCounted(ctx context.Context, network, addr string, t *Trace) (*countedConn, error) {
	budget := c.options.Connections
	if !budget.Take(filesPerDial) {
		return nil, &Error{StepConnect, ErrNoRoom}
	}
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
	return newCountedConn(timed, func() { budget.Return(1) }), nil
}

// dialTimed dials and measures the DNS lookup and the connecting separately.
func (c *Client) dialTimed(ctx context.Context, network, addr string, t *Trace) (net.Conn, error) {
	start := time.Now()
	ctx, cancel := context.WithDeadline(ctx, cmp.Or(t.extend(t.HeaderDeadline, start), start.Add(math.MaxInt64)))
	defer cancel()
	var sockets dialedSockets
	defer sockets.close()
	dial := c.options.Dial
	if dial == nil {
		dial = (&net.Dialer{ControlContext: sockets.add}).DialContext
	}
	resolved := start
	conn, err := dial(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		DNSDone: func(httptrace.DNSDoneInfo) { resolved = time.Now() },
	}), network, addr)
	t.DNS, t.Connect = resolved.Sub(start), time.Since(resolved)
	if err == nil {
		return conn, nil
	}
	// A dialer reads the clock itself, so it can notice a deadline before the context does.
	expired := errors.Is(ctx.Err(), context.DeadlineExceeded) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded)
	step := StepConnect
	var dns *net.DNSError
	if errors.As(err, &dns) {
		step, err, t.Connect = StepDNS, withErrno(dns), 0
	}
	if expired {
		asked, open := sockets.evidence()
		if open && step == StepConnect {
			return nil, &Error{step, errNotNoticed}
		}
		t.Asked = asked
		err = fmt.Errorf("%w: %w", os.ErrDeadlineExceeded, err)
	}
	return nil, &Error{step, err}
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
