// Package wire is the HTTP/1.1 client under every probe: it dials, sends one
// request and reads one response, and stamps what arrives with the kernel's
// receive time. It never retries, never follows redirects and starts no
// goroutine that outlives a request.
package wire

import (
	"time"
)

// Trace is filled while a request runs. A zero duration or time means that the
// step did not happen (yet). It is written by the goroutine of RoundTrip and
// may be read once RoundTrip returned.
type Trace struct {
	// DNS, Connect and TLS are how long each step took; all zero on a reused
	// connection.
	DNS, Connect, TLS time.Duration
	// Reused says that the request went over a kept connection.
	Reused bool
	// Wrote is when the request was handed to the kernel in full.
	Wrote time.Time
	// Headers is when the last byte of the response headers arrived.
	Headers time.Time
	// RemoteAddr is the peer that was spoken to, "ip:port".
	RemoteAddr string
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
