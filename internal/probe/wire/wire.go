// Package wire sends the HTTP requests of all probes. It uses net/http over connections that take
// the kernel's receive time of the bytes that arrive. A request is sent once. Its time limits are
// deadlines of the connection: bytes that arrived before a deadline are in time, even if this
// process reads them later.
//
// It uses neither proxies (they would be measured instead of the server) nor HTTP/2 (one read returns
// bytes of many streams), unless the configuration asks for them. It follows no redirects, because a turn
// is one request. It does not ask for compression, but decodes gzip if a server sends it.
package wire

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

// Trace describes one request. RoundTrip fills it in; read it after RoundTrip has returned. A zero
// duration or time means that the step did not happen (yet).
type Trace struct {
	// HeaderDeadline is an input: the deadline of the response headers, which includes dialing.
	// The zero time means none.
	HeaderDeadline time.Time
	// Late is an input: how much of the request's time this process itself has lost until a time.
	// The deadlines of a peer that was asked then are later by that; nil means never. They do not
	// move with a proxy or HTTP/2.
	Late func(asked time.Time) time.Duration
	// MaxBytes is an input: the limit of Body.Received. A longer answer ends with an *UnfitError.
	// 0 means no limit.
	MaxBytes int64

	// DNS, Connect and TLS are the durations of the steps. They are 0 on a reused connection.
	DNS, Connect, TLS time.Duration
	Reused            bool
	// FirstWrite and LastWrite are when the kernel had taken the first and the last part of the
	// request. Without exact timestamps (see Exact), they are when net/http had written the
	// headers and the whole request.
	FirstWrite, LastWrite time.Time
	// Asked is since when only the peer could continue: it had the first packet of the connection, a
	// message of the TLS handshake or the whole request, and until the deadline the kernel received
	// nothing more from it. It is zero without this proof, and after the connection was made through
	// a proxy or for HTTP/2.
	Asked time.Time
	// Extended is by how much the last deadline moved for Late.
	Extended time.Duration
	// Headers is when the last byte of the response headers arrived.
	Headers time.Time
}

// Sent reports whether a part of the request was sent. An answer can be read before its write returns.
func (t *Trace) Sent() bool { return !t.FirstWrite.IsZero() || !t.Headers.IsZero() }

// extend moves the deadline of a peer that was asked at a time.
func (t *Trace) extend(deadline, asked time.Time) time.Time {
	if t.Late == nil || deadline.IsZero() || asked.IsZero() {
		return deadline
	}
	t.Extended = t.Late(asked)
	return deadline.Add(t.Extended)
}

type traceKey struct{}

// WithTrace returns a context for one request that fills t.
func WithTrace(ctx context.Context, t *Trace) context.Context {
	return context.WithValue(ctx, traceKey{}, t)
}

// traceOf returns the trace of ctx, or an unused one.
func traceOf(ctx context.Context) *Trace {
	if t, ok := ctx.Value(traceKey{}).(*Trace); ok {
		return t
	}
	return &Trace{}
}

// Step is what a request was doing when it failed.
type Step string

const (
	StepDNS     Step = "dns"
	StepConnect Step = "connect"
	StepTLS     Step = "tls"
	StepWrite   Step = "write"
	StepHeaders Step = "headers"
	StepBody    Step = "body"
)

// Error is the type of all errors of this package. After a deadline it wraps
// os.ErrDeadlineExceeded, after a cancellation the cause of the context.
type Error struct {
	Step Step
	Err  error
}

func (e *Error) Error() string { return string(e.Step) + ": " + e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// Timeout implements net.Error.
func (e *Error) Timeout() bool { return errors.Is(e.Err, os.ErrDeadlineExceeded) }

// failure returns an *Error. If ctx has ended, its cause replaces err, which is only a consequence.
func failure(ctx context.Context, step Step, err error) *Error {
	if ctx.Err() == nil {
		return &Error{Step: step, Err: err}
	}
	cause := context.Cause(ctx)
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		cause = fmt.Errorf("%w: %w", os.ErrDeadlineExceeded, cause)
	}
	return &Error{Step: step, Err: cause}
}
