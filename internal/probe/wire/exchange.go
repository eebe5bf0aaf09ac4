package wire

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http/httptrace"
	"net/textproto"
	"os"
	"strings"
	"sync"
	"time"

	"synthetic/internal/probe/stream"
)

// maxInterim is how many 1xx responses may precede the real one.
const maxInterim = 5

// exchange is one request while net/http carries it.
type exchange struct {
	ctx   context.Context
	trace *Trace
	// expire cancels what no deadline of a connection bounds; both are nil where
	// connections do.
	expire *time.Timer
	cancel context.CancelCauseFunc

	mu       sync.Mutex
	step     Step // that net/http is at
	conn     *conn
	interims int

	// at is the arrival of what was read last, and avail how much of the body
	// net/http has and has not given away. The connection's lock guards both
	// until the headers are in; then they are the body's reader's.
	at    stream.Arrival
	avail int
}

// exchangeKey is the context key of an *exchange.
type exchangeKey struct{}

// exchangeOf returns the request that net/http dials for.
func exchangeOf(ctx context.Context) *exchange { return ctx.Value(exchangeKey{}).(*exchange) }

// newExchange returns that of a request with ctx. One that is not exact may have
// a connection that knows no deadlines of ours.
func newExchange(ctx context.Context, exact bool) *exchange {
	x := &exchange{ctx: ctx, trace: traceOf(ctx)}
	if !exact {
		x.ctx, x.cancel = context.WithCancelCause(ctx)
		x.expireAt(x.trace.HeaderDeadline)
	}
	return x
}

// context returns the context to send the request with.
func (x *exchange) context() context.Context {
	ctx := context.WithValue(x.ctx, exchangeKey{}, x)
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn:           func(string) { x.reach(StepConnect) },
		TLSHandshakeStart: func() { x.reach(StepTLS) },
		TLSHandshakeDone:  x.shookHands,
		GotConn:           x.gotConn,
		WroteRequest:      x.wroteRequest,
		Got1xxResponse:    x.gotInterim,
	})
}

func (x *exchange) reach(s Step) {
	x.mu.Lock()
	defer x.mu.Unlock()
	// A dial goes on when the request has found another connection.
	if s == StepConnect || x.connecting() {
		x.step = s
	}
}

func (x *exchange) connecting() bool { return x.step == StepConnect || x.step == StepTLS }

func (x *exchange) shookHands(_ tls.ConnectionState, err error) {
	if err == nil {
		x.reach(StepConnect)
	}
}

// wroteRequest learns of a request whose own body cannot be read.
func (x *exchange) wroteRequest(w httptrace.WroteRequestInfo) {
	if w.Err != nil {
		x.mu.Lock()
		defer x.mu.Unlock()
		x.step = StepWrite
	}
}

// dialed takes the timings of a connection made for the request. It reports
// whether the request still waits for one.
func (x *exchange) dialed(t timings) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.connecting() {
		return false
	}
	x.trace.DNS, x.trace.Connect, x.trace.TLS = t.dns, t.connect, t.tls
	return true
}

func (x *exchange) gotConn(info httptrace.GotConnInfo) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.conn != nil && !x.conn.forsake() {
		info.Conn.Close() // net/http would send again what it deems safe
		return
	}
	x.step = StepHeaders
	x.trace.Reused, x.trace.RemoteAddr = info.Reused, info.Conn.RemoteAddr().String()
	if info.Reused {
		x.trace.DNS, x.trace.Connect, x.trace.TLS = 0, 0, 0
	}
	if c, exact := info.Conn.(*conn); exact {
		x.stopTimer()
		x.conn = c
		c.claim(x, info.Reused)
	}
}

func (x *exchange) gotInterim(int, textproto.MIMEHeader) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.interims++; x.interims > maxInterim {
		return fmt.Errorf("the server sent more than %d interim (1xx) responses", maxInterim)
	}
	if x.conn != nil {
		x.conn.interim()
	}
	return nil
}

// answered takes what is known once the headers are in.
func (x *exchange) answered() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.step = StepBody
	c := x.conn
	if c == nil {
		x.stopTimer()
		x.trace.Headers = time.Now()
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	x.trace.Headers = x.at.At
	if c.writeErr == nil {
		x.trace.Wrote = c.wroteAt
	}
}

func (x *exchange) stopTimer() {
	if x.expire != nil {
		x.expire.Stop()
	}
}

// expireAt moves the end of what no deadline of a connection bounds.
func (x *exchange) expireAt(t time.Time) {
	switch {
	case t.IsZero():
		x.stopTimer()
	case x.expire == nil:
		x.expire = time.AfterFunc(time.Until(t), func() { x.cancel(os.ErrDeadlineExceeded) })
	default:
		x.expire.Reset(time.Until(t))
	}
}

// close frees what a request holds besides its connection.
func (x *exchange) close() {
	x.stopTimer()
	if x.cancel != nil {
		x.cancel(nil)
	}
}

// refused makes the *Error of a request that got no response.
func (x *exchange) refused(err error) *Error {
	x.mu.Lock()
	defer x.mu.Unlock()
	step := x.step
	x.step = StepHeaders // a dial that goes on writes no timings any more
	var dialing *Error
	switch {
	case errors.As(err, &dialing):
		step, err = dialing.Step, dialing.Err
	case x.conn != nil:
		step, err = x.conn.explain(step, err)
	}
	return failure(x.ctx, step, err)
}

// explain says at which step the request failed, and of what. What the
// connection said tells more than what net/http made of it.
func (c *conn) explain(step Step, err error) (Step, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	read, write := c.readErr, c.writeErr
	if errors.Is(read, net.ErrClosed) {
		read = nil // by net/http, whose reason tells more
	}
	switch {
	case refusedTLS(read):
		return StepTLS, read
	case write != nil && errors.Is(read, os.ErrDeadlineExceeded):
		return StepWrite, read
	case write != nil && !errors.Is(write, net.ErrClosed):
		return StepWrite, write
	case errors.Is(read, io.EOF) && c.head == 0:
		return StepHeaders, fmt.Errorf("the server closed the connection without a response: %w", io.ErrUnexpectedEOF)
	case errors.Is(read, io.EOF):
		return StepHeaders, fmt.Errorf("the server closed the connection amid the response headers: %w", io.ErrUnexpectedEOF)
	case c.head >= maxHeaderBytes:
		return StepHeaders, fmt.Errorf("the response headers are over %d bytes", maxHeaderBytes)
	case write != nil && read != nil:
		return StepWrite, read
	case read != nil:
		return StepHeaders, read
	case write != nil:
		step = StepHeaders
	}
	if inner := errors.Unwrap(err); inner != nil && strings.HasPrefix(err.Error(), "net/http: ") {
		err = inner // "transport connection broken", where the server's words are what is broken
	}
	return step, err
}

// broke returns why a body ended early.
func (c *conn) broke(err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.readErr != nil && !errors.Is(c.readErr, io.EOF) {
		return c.readErr
	}
	return err
}

// refusedTLS reports whether err is the peer's TLS alert. In TLS 1.3 a server
// refuses a client certificate, or its absence, when the client believes that
// the handshake is over.
func refusedTLS(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "remote error"
}
