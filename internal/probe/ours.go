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
// is far above.
const (
	lateAtOnce = time.Second
	lateShare  = 10
	lateLeast  = 100 * time.Millisecond
)

// lapse ends a turn of which a bound passed.
func (a *attempt) lapse(o Outcome, at time.Time, text string) {
	_, share := a.late(o, at)
	a.blame(o, at, text, share)
}

// forsaken ends a turn that the peer gave up.
func (a *attempt) forsaken(o Outcome, at time.Time, text string) {
	atOnce, share := a.late(o, at)
	a.blame(o, at, text, atOnce || share)
}

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

// late reports which of the two proofs there are.
func (a *attempt) late(o Outcome, at time.Time) (atOnce, share bool) {
	from, to := a.span(o, at)
	longest, lost := a.lag.Between(from, to)
	return longest >= lateAtOnce, lost >= lateLeast && lost*lateShare >= to.Sub(from)
}

// lateness is what the prober itself may have added to a latency of the turn, at
// most: until the request was written all the time that it did not run, and what
// no step explains; afterwards the longest such time, unless nothing came or the
// kernel stamped it. What the kernel holds unread for as long as no latency of a
// dialogue is may have stopped the sender, and counts in any case.
func (a *attempt) lateness(r *Result) time.Duration {
	written := a.trace.LastWrite
	if written.IsZero() {
		written = r.End
	}
	_, lost := a.lag.Between(r.Sent, written)
	bound := max(lost, a.lag.Lag())
	if first := a.trace.FirstWrite; !first.IsZero() {
		bound = max(bound, first.Sub(r.Sent)-a.trace.DNS-a.trace.Connect-a.trace.TLS)
	}
	if r.Events > 0 && !r.Kernel {
		longest, _ := a.lag.Between(r.Sent, r.End)
		bound = max(bound, longest)
	}
	if r.ReadLagMax >= lag.MaxTolerance {
		bound = max(bound, r.ReadLagMax)
	}
	return bound
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
