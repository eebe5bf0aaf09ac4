package wire

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
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
	ctx   context.Context // the caller's
	trace *Trace
	// expire ends what no deadline of a connection bounds, with expired; both
	// are nil where connections do.
	expire  *time.Timer
	expired context.CancelCauseFunc

	mu       sync.Mutex
	got      bool // a connection
	conn     *conn
	interims int
	noTLS    bool // the handshake failed

	// at is the arrival of what was read last, and ahead how much of the body
	// net/http has and has not given away. The connection's lock guards both
	// until the headers are in.
	at    stream.Arrival
	ahead int
}

// exchangeKey is the context key of an *exchange.
type exchangeKey struct{}

// exchangeOf returns the request that net/http dials for.
func exchangeOf(ctx context.Context) *exchange { return ctx.Value(exchangeKey{}).(*exchange) }

// context returns the context to send the request with.
func (x *exchange) context() context.Context {
	ctx := context.WithValue(x.ctx, exchangeKey{}, x)
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn:          x.gotConn,
		Got1xxResponse:   x.gotInterim,
		TLSHandshakeDone: x.shookHands,
	})
}

// bounded is context with an end at the header deadline, for connections that
// know no deadlines of ours.
func (x *exchange) bounded() context.Context {
	x.ctx, x.expired = context.WithCancelCause(x.ctx)
	x.expireAt(x.trace.HeaderDeadline)
	return x.context()
}

// dialed takes the timings of a connection that was made for the request,
// unless it went over another one meanwhile.
func (x *exchange) dialed(t timings) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.got {
		x.trace.DNS, x.trace.Connect, x.trace.TLS = t.dns, t.connect, t.tls
	}
}

func (x *exchange) gotConn(info httptrace.GotConnInfo) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.release() // of a dead one, for which net/http found another by itself
	x.got = true
	x.trace.Reused, x.trace.RemoteAddr = info.Reused, info.Conn.RemoteAddr().String()
	if info.Reused {
		x.trace.DNS, x.trace.Connect, x.trace.TLS = 0, 0, 0
	}
	if c, exact := info.Conn.(*conn); exact {
		x.stopTimer()
		x.conn = c
		c.claim(x, info.Reused || info.WasIdle)
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

func (x *exchange) shookHands(_ tls.ConnectionState, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.noTLS = err != nil
}

func (x *exchange) stopTimer() {
	if x.expire != nil {
		x.expire.Stop()
	}
}

// answered takes what the connection knows once the headers are in.
func (x *exchange) answered() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.got = true
	c := x.conn
	if c == nil {
		x.stopTimer()
		x.trace.Headers = time.Now()
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	x.trace.Headers = x.at.At
	if c.writeErr == nil && c.owner == x {
		x.trace.Wrote = c.wroteAt
	}
}

// expireAt moves the end of what no deadline of a connection bounds.
func (x *exchange) expireAt(t time.Time) {
	switch {
	case t.IsZero():
		x.stopTimer()
	case x.expire == nil:
		x.expire = time.AfterFunc(time.Until(t), func() { x.expired(os.ErrDeadlineExceeded) })
	default:
		x.expire.Reset(time.Until(t))
	}
}

// broke returns why a body ended, where net/http says something else.
func (x *exchange) broke(err error) error {
	switch {
	case x.conn != nil:
		x.conn.mu.Lock()
		defer x.conn.mu.Unlock()
		if read := x.conn.readErr; read != nil && !errors.Is(read, io.EOF) {
			return read
		}
	case x.expired != nil && errors.Is(context.Cause(x.ctx), os.ErrDeadlineExceeded):
		return os.ErrDeadlineExceeded
	}
	return err
}

// release gives the connection to whoever comes next.
func (x *exchange) release() {
	if x.conn != nil {
		x.conn.release(x)
	}
}

// close frees what a request holds besides its connection.
func (x *exchange) close() {
	x.stopTimer()
	if x.expired != nil {
		x.expired(nil)
	}
}

// arrival is that of what the body read last.
func (x *exchange) arrival() stream.Arrival {
	x.conn.mu.Lock()
	defer x.conn.mu.Unlock()
	return x.at
}

// unsent reports whether a kept connection failed before anything of the
// request went out: another one may carry it.
func (x *exchange) unsent() bool {
	c := x.conn
	if c == nil || x.ctx.Err() != nil || !x.trace.Reused {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.wrote == 0 && !errors.Is(c.readErr, os.ErrDeadlineExceeded)
}

// explain makes the *Error of a request that got no response. What the
// connection said tells more than what net/http made of it.
func (x *exchange) explain(caller context.Context, body *requestBody, err error) *Error {
	x.mu.Lock()
	defer x.mu.Unlock()
	got := x.got
	x.got = true // a dial that goes on writes no timings any more
	var known *Error
	switch {
	case errors.As(err, &known):
		return failure(caller, known.Step, known.Err)
	case body != nil && body.err != nil:
		return failure(caller, StepWrite, body.err)
	case x.conn != nil:
		step, err := x.conn.explain(err)
		return failure(caller, step, err)
	case x.noTLS:
		return failure(caller, StepTLS, err)
	case !got:
		return failure(caller, StepConnect, err)
	}
	return failure(caller, StepHeaders, x.broke(err))
}

// explain says at which step the owner's request failed, and of what.
func (c *conn) explain(err error) (Step, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	read := c.readErr
	switch {
	case refusedTLS(read):
		return StepTLS, read
	case c.writeErr != nil && errors.Is(read, os.ErrDeadlineExceeded):
		return StepWrite, read
	case c.writeErr != nil && !errors.Is(c.writeErr, net.ErrClosed):
		return StepWrite, c.writeErr
	case errors.Is(read, io.EOF) && c.head == 0:
		return StepHeaders, fmt.Errorf("the server closed the connection without a response: %w", io.ErrUnexpectedEOF)
	case errors.Is(read, io.EOF):
		return StepHeaders, fmt.Errorf("the server closed the connection amid the response headers: %w", io.ErrUnexpectedEOF)
	case read != nil && c.writeErr != nil:
		return StepWrite, read
	case read != nil:
		return StepHeaders, read
	}
	if inner := errors.Unwrap(err); inner != nil && strings.HasPrefix(err.Error(), "net/http: ") {
		err = inner // "transport connection broken", where the server's words are what is broken
	}
	return StepHeaders, err
}

// refusedTLS reports whether err is the peer's TLS alert. In TLS 1.3 a server
// refuses a client certificate, or its absence, when the client believes that
// the handshake is over.
func refusedTLS(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "remote error"
}

// requestBody is the body of a request that net/http cannot take for one that
// may be sent again. It remembers why it could not be read.
type requestBody struct {
	io.ReadCloser
	err error
}

func (b *requestBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && err != io.EOF {
		b.err = err
	}
	return n, err
}

// once returns r in a form that net/http sends at most once. A POST without a
// body is that already.
func once(r *http.Request, ctx context.Context) (*http.Request, *requestBody) {
	r = r.WithContext(ctx)
	r.GetBody = nil
	body := &requestBody{ReadCloser: r.Body}
	if r.Body == nil || r.Body == http.NoBody {
		if r.Method == http.MethodPost {
			return r, nil
		}
		body.ReadCloser = http.NoBody
	}
	r.Body = body
	return r, body
}
