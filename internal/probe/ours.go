package probe

import (
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"time"

	"synthetic/internal/probe/lag"
)

// What proves that the prober itself was too late. For a bound of its own: it did
// not run for a part, 1 in lateShare, of the time that there was, at least
// lateLeast in all. Less than that, the peer had all but the same time as from
// any other client. For a peer that gave up: that, or that it did not run for
// lateAtOnce in one piece, which no default of a server's or a resolver's patience
// is far above, within lateBefore.
const (
	lateAtOnce = time.Second
	lateBefore = 10 * time.Second
	lateShare  = 10
	lateLeast  = 100 * time.Millisecond
)

// lapse ends a turn of which a bound passed. Who looks at it in time, and finds
// nothing, knows that nothing had come: only until the request was written can
// lateness have cost the peer any time.
func (a *attempt) lapse(o Outcome, at time.Time, text string) {
	from, to := a.span(o, at)
	limit := to.Sub(from)
	if written := a.trace.LastWrite; !written.IsZero() && written.Before(to) && time.Since(to) < lateLeast {
		to = written
	}
	_, lost := a.lag.Between(from, to)
	a.blame(o, at, text, much(lost, limit))
}

// forsaken ends a turn that the peer gave up.
func (a *attempt) forsaken(o Outcome, at time.Time, text string) {
	from, to := a.span(o, at)
	_, lost := a.lag.Between(from, to)
	if recent := to.Add(-lateBefore); recent.After(from) {
		from = recent
	}
	longest, _ := a.lag.Between(from, to)
	a.blame(o, at, text, longest >= lateAtOnce || much(lost, to.Sub(a.seen.sent)))
}

// much reports whether enough of a time was lost.
func much(lost, of time.Duration) bool { return lost >= lateLeast && lost*lateShare >= of }

// blame ends a turn as finish does, unless the prober itself was provably late
// until then: such a turn says nothing of the peer.
func (a *attempt) blame(o Outcome, at time.Time, text string, ours bool) {
	switch {
	case !ours:
	case a.status == 0 && a.trace.FirstWrite.IsZero():
		o, text = NotSent, "nothing was sent, for the prober itself was late: "+text
	default:
		o, text = ProberLate, "the prober itself was late: "+text
	}
	a.finish(o, at, text)
}

// span is the time in which lateness explains an outcome: none that came after
// the bound does.
func (a *attempt) span(o Outcome, at time.Time) (from, to time.Time) {
	from, to = a.seen.sent, at
	if o == Stall {
		from = a.seen.lastToken
	}
	if bound, _ := a.limits.next(a.seen.lastToken); !bound.IsZero() && bound.Before(to) {
		to = bound
	}
	return from, to
}

// lateness fills what the prober itself may have added to the latencies of the
// turn, at most: until the request was written all the time that it did not run,
// and what no step explains; afterwards the longest such time, or wait for the
// pacer, where it can have moved a stamp. The kernel's are of the segments' own
// arrival, unless they wait together: then they may all get the last one's, and
// several events have one. What lies unread for as long as no latency of a
// dialogue is may have stopped the sender, and counts in any case.
func (a *attempt) lateness(r *Result) {
	written := a.trace.LastWrite
	if written.IsZero() {
		written = r.End
	}
	_, lost := a.lag.Between(r.Sent, written)
	r.Lag = max(lost, a.lag.Lag())
	if first := a.trace.FirstWrite; !first.IsZero() {
		r.Lag = max(r.Lag, first.Sub(r.Sent)-a.trace.DNS-a.trace.Connect-a.trace.TLS)
	}
	if r.Events > 0 && (!r.Kernel || r.Coalesced > 0) {
		first, _ := a.lag.Between(r.Sent, a.seen.firstToken)
		any, _ := a.lag.Between(r.Sent, r.End)
		r.Lag, r.StreamLag = max(r.Lag, first, a.paced), max(any, a.paced)
	}
	if r.ReadLagMax >= lag.MaxTolerance {
		r.Lag, r.StreamLag = max(r.Lag, r.ReadLagMax), max(r.StreamLag, r.ReadLagMax)
	}
}

// expired reports whether a bound of ours, and no word of the peer or the
// network, is why a step failed.
func expired(err error) bool {
	var dns *net.DNSError
	return errors.Is(err, os.ErrDeadlineExceeded) || errors.As(err, &dns) && dns.IsTimeout
}

// hungUp reports whether the peer ended a connection without a word of why.
func hungUp(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET)
}

// unreached ends a turn that got no connection. A peer that refuses one, or
// cannot be found, would have done so at any time.
func (a *attempt) unreached(o Outcome, now time.Time, err error) {
	switch {
	case expired(err):
		a.lapse(o, now, err.Error())
	case hungUp(err):
		a.forsaken(o, now, err.Error())
	default:
		a.finish(o, now, err.Error())
	}
}
