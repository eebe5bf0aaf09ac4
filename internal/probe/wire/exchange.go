package wire

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http/httptrace"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// exchange is one request and its response, while net/http works on it.
type exchange struct {
	// Each read of the body needs the first fields. They lie together, so that they take few lines of the CPU's cache.
	received atomic.Int64 // see Body.Received
	limit    int64        // Trace.MaxBytes
	// arrival is that of the last read. The lock of conn guards it until the headers have arrived. After that only
	// the reader of the body uses it.
	arrival Arrival

	ctx   context.Context
	trace *Trace
	// timer replaces the deadlines of the connection where the connection is not this exchange's
	// alone; it cancels ctx. Otherwise it is nil.
	timer  *time.Timer
	cancel context.CancelCauseFunc

	mu   sync.Mutex
	step Step  // what net/http is doing
	conn *conn // nil with a proxy or HTTP/2
	// http2 is the connection of a request over HTTP/2.
	http2 *http2Conn
}

var errNoResponse = fmt.Errorf("the server closed the connection without a response: %w", io.ErrUnexpectedEOF)

// exchangeKey is the context key of an *exchange. Dials need it.
type exchangeKey struct{}

func newExchange(ctx context.Context, exact bool) *exchange {
	x := &exchange{ctx: ctx, trace: traceOf(ctx)}
	x.limit = x.trace.MaxBytes
	if !exact {
		x.ctx, x.cancel = context.WithCancelCause(ctx)
		x.timer = time.AfterFunc(math.MaxInt64, func() { x.cancel(os.ErrDeadlineExceeded) })
		x.setTimer(x.trace.HeaderDeadline)
	}
	return x
}

func (x *exchange) context() context.Context {
	ctx := context.WithValue(x.ctx, exchangeKey{}, x)
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn:           func(string) { x.setStep("", StepConnect) },
		TLSHandshakeStart: func() { x.setStep(StepConnect, StepTLS) },
		GotConn:           x.gotConn,
		WroteHeaders:      x.noteWrite,
		WroteRequest: func(w httptrace.WroteRequestInfo) {
			if w.Err != nil {
				x.setStep(StepHeaders, StepWrite)
				return
			}
			x.noteWrite()
		},
	})
}

// setStep changes the step, if it is from; "" means any. A dial or a write can end after the request
// has reached a later step.
func (x *exchange) setStep(from, to Step) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if from == "" || from == x.step {
		x.step = to
	}
}

// noteWrite sets the write times if no conn measures them.
func (x *exchange) noteWrite() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.conn == nil && x.step != StepBody {
		x.trace.LastWrite = time.Now()
		x.trace.FirstWrite = cmp.Or(x.trace.FirstWrite, x.trace.LastWrite)
	}
}

// dialed records the durations of a dial. It returns false if the request needs no connection any
// more. After a connection that turned out to be closed, two dials can be in progress, and net/http
// reports StepTLS when the first ends.
func (x *exchange) dialed(t Trace) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	waits := x.step == StepConnect || x.step == StepTLS
	if !waits && (x.conn == nil || !x.conn.unsent()) {
		return false
	}
	x.trace.DNS, x.trace.Connect, x.trace.TLS = t.DNS, t.Connect, t.TLS
	x.trace.Asked, x.trace.Extended = t.Asked, t.Extended
	return true
}

// canRetry reports whether a kept connection ended before a byte of the request was written.
// Another connection can then carry the request.
func (x *exchange) canRetry() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	late := !x.trace.HeaderDeadline.IsZero() && !time.Now().Before(x.trace.HeaderDeadline)
	return x.conn != nil && x.trace.Reused && x.conn.unsent() && !late && x.ctx.Err() == nil
}

func (x *exchange) gotConn(info httptrace.GotConnInfo) {
	x.mu.Lock()
	defer x.mu.Unlock()
	overProxy := x.conn == nil && !x.trace.FirstWrite.IsZero()
	if overProxy || x.conn != nil && !x.conn.unassign() {
		info.Conn.Close() // net/http wants to send a request again that it considers safe
		if overProxy {
			x.step = StepHeaders
			x.cancel(errNoResponse)
		}
		return
	}
	x.step = StepHeaders
	x.trace.Reused = info.Reused
	x.trace.Asked, x.trace.Extended = time.Time{}, 0
	if info.Reused {
		x.trace.DNS, x.trace.Connect, x.trace.TLS = 0, 0, 0
	}
	if c, exact := info.Conn.(*conn); exact {
		x.setTimer(time.Time{})
		x.conn = c
		c.assign(x, info.Reused)
	}
}

// gotHTTP2 is gotConn for a connection of HTTP/2, which net/http does not report.
func (x *exchange) gotHTTP2(c *http2Conn, reused bool) {
	x.gotConn(httptrace.GotConnInfo{Reused: reused})
	x.mu.Lock()
	defer x.mu.Unlock()
	x.http2 = c
}

// unsent reports whether nothing of a request over HTTP/2 was sent, and it can still be.
func (x *exchange) unsent() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.trace.FirstWrite.IsZero() && x.ctx.Err() == nil
}

func (x *exchange) gotHeaders() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.step = StepBody
	if x.conn == nil {
		x.setTimer(time.Time{})
		x.arriveNow()
	} else {
		x.conn.traceWrites(x.trace)
	}
	x.trace.Headers = x.arrival.At
}

// arriveNow sets the arrival if no conn measures it. Over HTTP/2 the bytes came at the latest with the last read of the
// connection; the goroutine that reads the body can be much later.
func (x *exchange) arriveNow() {
	var at time.Time
	if x.http2 != nil && x.http2.raw != nil {
		at = x.http2.raw.lastArrival()
	}
	now := time.Now() // after that, or the connection could receive bytes of another stream in between
	x.arrival = Arrival{At: cmp.Or(at, now), Seen: now}
}

// setTimer moves the deadline of the timer, if the exchange has one. The zero time means none.
func (x *exchange) setTimer(deadline time.Time) {
	switch {
	case x.timer == nil:
	case deadline.IsZero():
		x.timer.Stop()
	default:
		x.timer.Reset(time.Until(deadline))
	}
}

// count adds n received bytes. It returns an *UnfitError above the limit.
func (x *exchange) count(n int) error {
	sum := x.received.Add(int64(n))
	if x.limit > 0 && sum > x.limit {
		return &UnfitError{fmt.Sprintf("the server sent more than %d bytes, framing and comments included", x.limit)}
	}
	return nil
}

// close frees everything but the connection.
func (x *exchange) close() {
	if x.timer != nil {
		x.timer.Stop()
		x.cancel(nil)
	}
}

// fail ends the exchange and returns the *Error for err.
func (x *exchange) fail(err error) *Error {
	x.mu.Lock()
	defer x.mu.Unlock()
	step := x.step
	x.step = StepBody // from now on, an unfinished dial does not change the trace
	var dialing *Error
	switch {
	case errors.As(err, &dialing):
		step, err = dialing.Step, dialing.Err
	case x.http2 != nil:
		err = x.http2.explain(err)
	case x.conn != nil:
		step, err = x.conn.explain(step, err)
		x.conn.traceWrites(x.trace)
		x.conn.raw.setExtend(nil) // net/http may still read, and the trace is the caller's again
	}
	return failure(x.ctx, step, err)
}

// explain returns the step and the cause of a failed request. The errors of the connection itself
// say more than the error that net/http makes of them.
func (c *conn) explain(step Step, err error) (Step, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	read, write := c.readErr, c.writeErr
	atEnd, closed := errors.Is(read, io.EOF), errors.Is(read, net.ErrClosed) // closed by net/http
	switch {
	case step == StepBody && (read == nil || atEnd):
		return step, err
	case step == StepBody:
		return step, read
	case isTLSAlert(read):
		return StepTLS, read
	case write != nil && errors.Is(read, os.ErrDeadlineExceeded):
		return StepWrite, read
	case write != nil && !errors.Is(write, net.ErrClosed):
		return StepWrite, write
	case atEnd && c.head == 0:
		return StepHeaders, errNoResponse
	case atEnd:
		return StepHeaders, fmt.Errorf("the server closed the connection during the response headers: %w", io.ErrUnexpectedEOF)
	case c.head >= maxHeaderBytes:
		return StepHeaders, fmt.Errorf("the response headers are longer than %d bytes", maxHeaderBytes)
	case read != nil && !closed:
		return StepHeaders, read
	case write != nil: // net/http closed the connection during the request
		step = StepHeaders
	}
	if inner := errors.Unwrap(err); inner != nil && strings.HasPrefix(err.Error(), "net/http: ") {
		err = inner // net/http says "transport connection broken" where the response is invalid
	}
	return step, err
}

// isTLSAlert reports whether err is a TLS alert of the peer. In TLS 1.3 a server refuses a client
// certificate, or a missing one, after the client has finished the handshake.
func isTLSAlert(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "remote error"
}
