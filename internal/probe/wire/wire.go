// Package wire is how every probe speaks HTTP: net/http over connections that
// stamp what arrives with the kernel's receive time, and count how much of a body
// net/http holds, which is read no further. A request is sent once, and its
// bounds are deadlines of its connection: bytes that arrived before one are in
// time, however late this process looks.
//
// It leaves out on purpose what would blur a measurement, unless the
// configuration asks for it: proxies (the figures would be the proxy's) and
// HTTP/2 (one read carries the bytes of many streams). It follows no redirect
// (a turn is one request; http.Client does if one insists), and asks for no
// compression (gzip is decoded if a server sends it unasked).
package wire

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

// Trace is filled while a request runs. A zero duration or time means that the
// step did not happen (yet). It is written by the goroutine of RoundTrip and
// may be read once RoundTrip returned.
type Trace struct {
	// HeaderDeadline is an input: it bounds everything up to the response
	// headers, dialing included. The zero time is no bound.
	HeaderDeadline time.Time
	// MaxBytes is an input: it bounds the bytes of the answer, all of them (see
	// Body.Received). The answer that exceeds it ends with an *UnfitError. 0 is
	// no bound.
	MaxBytes int64

	// DNS, Connect and TLS are how long each step took; all zero on a reused
	// connection.
	DNS, Connect, TLS time.Duration
	// Reused says that the request went over a kept connection.
	Reused bool
	// FirstWrite and LastWrite are when the system had taken the first and the
	// last part of the request that it took. Where connections are not exact they
	// are when net/http had written the headers and the whole.
	FirstWrite, LastWrite time.Time
	// Headers is when the last byte of the response headers arrived.
	Headers time.Time
}

// traceKey is the context key of a *Trace.
type traceKey struct{}

// WithTrace returns a context whose request fills t. One request at a time may
// use it.
func WithTrace(ctx context.Context, t *Trace) context.Context {
	return context.WithValue(ctx, traceKey{}, t)
}

// traceOf returns the trace of ctx, or one that nobody looks at.
func traceOf(ctx context.Context) *Trace {
	if t, ok := ctx.Value(traceKey{}).(*Trace); ok {
		return t
	}
	return &Trace{}
}

// Step names what a request was doing when it failed.
type Step string

const (
	StepDNS     Step = "dns"
	StepConnect Step = "connect"
	StepTLS     Step = "tls"
	StepWrite   Step = "write"
	StepHeaders Step = "headers"
	StepBody    Step = "body"
)

// Error is the only error type of this package: what failed, at which step.
// A deadline wraps os.ErrDeadlineExceeded, a canceled context its cause.
type Error struct {
	Step Step
	Err  error
}

func (e *Error) Error() string { return string(e.Step) + ": " + e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// Timeout reports whether a deadline passed, as net.Error has it.
func (e *Error) Timeout() bool { return errors.Is(e.Err, os.ErrDeadlineExceeded) }

// failure makes the *Error of a step. What the caller did to the request
// explains a failure better than what the connection then said.
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
