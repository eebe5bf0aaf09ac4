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

	"synthetic/internal/probe/stream"
)

// exchange is one request while net/http carries it.
type exchange struct {
	ctx   context.Context
	trace *Trace
	pacer *Pacer
	// received counts the bytes of the answer.
	received atomic.Int64
	// expire cancels ctx where connections may know no deadlines of ours, else
	// it is nil.
	expire *time.Timer
	cancel context.CancelCauseFunc

	mu   sync.Mutex
	step Step // that net/http is at
	conn *conn

	// at is the arrival of what was read last, and avail how much of the body
	// net/http has and has not given away. The connection's lock guards both
	// until the headers are in; then they are the body's reader's.
	at    stream.Arrival
	avail int
}

// exchangeKey is the context key of the *exchange that net/http dials for.
type exchangeKey struct{}

func newExchange(ctx context.Context, exact bool, pacer *Pacer) *exchange {
	x := &exchange{ctx: ctx, trace: traceOf(ctx), pacer: pacer}
	if !exact {
		x.ctx, x.cancel = context.WithCancelCause(ctx)
		x.expire = time.AfterFunc(math.MaxInt64, func() { x.cancel(os.ErrDeadlineExceeded) })
		x.expireAt(x.trace.HeaderDeadline)
	}
	return x
}

// context returns the context to send the request with.
func (x *exchange) context() context.Context {
	ctx := context.WithValue(x.ctx, exchangeKey{}, x)
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn:           func(string) { x.move("", StepConnect) },
		TLSHandshakeStart: func() { x.move(StepConnect, StepTLS) },
		GotConn:           x.gotConn,
		WroteHeaders:      x.wrote,
		WroteRequest: func(w httptrace.WroteRequestInfo) {
			if w.Err != nil {
				x.move(StepHeaders, StepWrite)
				return
			}
			x.wrote()
		},
	})
}

// move notes a step after another, or after any. A dial and a write may go on
// when the request is beyond them.
func (x *exchange) move(from, to Step) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if from == "" || from == x.step {
		x.step = to
	}
}

// wrote notes that net/http has written the headers, or the whole, where no
// connection of ours knows it better.
func (x *exchange) wrote() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.conn == nil && x.step != StepBody {
		x.trace.LastWrite = time.Now()
		x.trace.FirstWrite = cmp.Or(x.trace.FirstWrite, x.trace.LastWrite)
	}
}

// dialed takes the timings of a connection made for the request. It reports
// whether the request still waits for one.
func (x *exchange) dialed(t Trace) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.step != StepConnect && (x.conn == nil || !x.conn.unsent()) {
		return false
	}
	x.trace.DNS, x.trace.Connect, x.trace.TLS = t.DNS, t.Connect, t.TLS
	return true
}

// keptWasDead reports whether a kept connection ended before anything of the
// request went out, so that another may carry it.
func (x *exchange) keptWasDead() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	late := !x.trace.HeaderDeadline.IsZero() && !time.Now().Before(x.trace.HeaderDeadline)
	return x.conn != nil && x.trace.Reused && x.conn.unsent() && !late && x.ctx.Err() == nil
}

func (x *exchange) gotConn(info httptrace.GotConnInfo) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.conn != nil && !x.conn.forsake() {
		info.Conn.Close() // net/http would send again what it deems safe
		return
	}
	x.step = StepHeaders
	x.trace.Reused = info.Reused
	if info.Reused {
		x.trace.DNS, x.trace.Connect, x.trace.TLS = 0, 0, 0
	}
	if c, exact := info.Conn.(*conn); exact {
		x.expireAt(time.Time{})
		x.conn = c
		c.claim(x, info.Reused)
	}
}

// answered takes what is known once the headers are in.
func (x *exchange) answered() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.step = StepBody
	if x.conn == nil {
		x.expireAt(time.Time{})
		x.readNow()
	} else {
		x.trace.FirstWrite, x.trace.LastWrite = x.conn.writes()
	}
	x.trace.Headers = x.at.At
}

// readNow dates what was read where no connection does.
func (x *exchange) readNow() {
	now := time.Now()
	x.at = stream.Arrival{At: now, Seen: now}
}

// expireAt moves the end of what no deadline of a connection bounds; the zero
// time is none.
func (x *exchange) expireAt(t time.Time) {
	switch {
	case x.expire == nil:
	case t.IsZero():
		x.expire.Stop()
	default:
		x.expire.Reset(time.Until(t))
	}
}

// close frees what a request holds besides its connection.
func (x *exchange) close() {
	if x.expire != nil {
		x.expire.Stop()
		x.cancel(nil)
	}
}

// failed makes the *Error of a request that err ended.
func (x *exchange) failed(err error) *Error {
	x.mu.Lock()
	defer x.mu.Unlock()
	step := x.step
	x.step = StepBody // a dial that goes on writes no timings any more
	var dialing *Error
	switch {
	case errors.As(err, &dialing):
		step, err = dialing.Step, dialing.Err
	case x.conn != nil:
		step, err = x.conn.explain(step, err)
		x.trace.FirstWrite, x.trace.LastWrite = x.conn.writes()
	}
	return failure(x.ctx, step, err)
}

// explain says at which step a request failed, and of what. What the connection
// said tells more than what net/http made of it.
func (c *conn) explain(step Step, err error) (Step, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	read, write := c.readErr, c.writeErr
	atEnd, closed := errors.Is(read, io.EOF), errors.Is(read, net.ErrClosed) // by net/http
	switch {
	case step == StepBody && (read == nil || atEnd):
		return step, err
	case step == StepBody:
		return step, read
	case refusedTLS(read):
		return StepTLS, read
	case write != nil && errors.Is(read, os.ErrDeadlineExceeded):
		return StepWrite, read
	case write != nil && !errors.Is(write, net.ErrClosed):
		return StepWrite, write
	case atEnd && c.head == 0:
		return StepHeaders, fmt.Errorf("the server closed the connection without a response: %w", io.ErrUnexpectedEOF)
	case atEnd:
		return StepHeaders, fmt.Errorf("the server closed the connection amid the response headers: %w", io.ErrUnexpectedEOF)
	case c.head >= maxHeaderBytes:
		return StepHeaders, fmt.Errorf("the response headers are over %d bytes", maxHeaderBytes)
	case read != nil && !closed:
		return StepHeaders, read
	case write != nil: // it was net/http that closed amid the request
		step = StepHeaders
	}
	if inner := errors.Unwrap(err); inner != nil && strings.HasPrefix(err.Error(), "net/http: ") {
		err = inner // "transport connection broken", where the server's words are what is broken
	}
	return step, err
}

// refusedTLS reports whether err is the peer's TLS alert. In TLS 1.3 a server
// refuses a client certificate, or its absence, when the client believes that
// the handshake is over.
func refusedTLS(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "remote error"
}
