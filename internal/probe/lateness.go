package probe

import (
	"cmp"
	"slices"
	"time"

	"synthetic/internal/probe/lag"
)

// These constants decide whether the prober's own lateness explains a failure. A missed deadline
// is explained if, before the peer had the request, the prober did not run for 1/lateShare of the
// time, and at least lateMin. With less, the peer had nearly as much time as from any other client.
// A peer that gave up is explained by one interruption of lateAtOnce before it had the request:
// servers wait at least that long for a request.
const (
	lateAtOnce = time.Second
	lateShare  = 10
	lateMin    = 100 * time.Millisecond
)

// endTimedOut ends a turn that missed a deadline. If the kernel proves that only the peer could
// continue, only lateness before that counts. Without this proof, the prober must have looked on
// time.
func (a *attempt) endTimedOut(o Outcome, at time.Time, text string) {
	from, to := a.lateSpan(o, at)
	span := to.Sub(from)
	asked := a.trace.Asked
	if a.leftUnread() {
		asked = time.Time{}
	}
	if asked.IsZero() && time.Since(to) < lateMin {
		asked = a.trace.LastWrite
	}
	if isEarlier(asked, to) {
		to = asked
	}
	_, lost := a.lag.Between(from, to)
	a.silent = true
	a.finishOrBlameProber(o, at, text, tooLate(lost-a.trace.Extended, span))
}

// lateBefore returns the time that the prober lost before the peer was asked. The peer gets that much
// longer for its first token, so that its silence proves something.
func (a *attempt) lateBefore(asked time.Time) time.Duration {
	if _, o := a.deadlines.next(time.Time{}); o != TimeoutFirstToken || a.answering.Load() {
		return 0
	}
	if _, lost := a.lag.Between(a.seen.sent, asked); lost >= lateMin {
		return lost
	}
	return 0
}

// endAbandoned ends a turn that the peer gave up. A peer that had begun its answer had the request.
func (a *attempt) endAbandoned(o Outcome, at time.Time, text string) {
	to := cmp.Or(a.trace.Asked, a.trace.LastWrite, at)
	switch {
	case a.leftUnread():
		to = at
	case a.status/100 == 2:
		a.finish(o, at, text)
		return
	}
	longest, _ := a.lag.Between(a.seen.sent, to)
	a.finishOrBlameProber(o, at, text, longest >= lateAtOnce)
}

// leftUnread reports whether the prober left so much data unread for so long that the kernel's buffer
// may have been full. Then the kernel stopped the sender.
func (a *attempt) leftUnread() bool {
	return a.seen.readLagMax >= lag.MaxTolerance && a.body != nil && a.body.Received() >= leastBuffer
}

// leastBuffer is less than what the receive buffer of a connection holds: Linux begins with 128 KiB.
const leastBuffer = 32 << 10

// tooLate reports whether the prober lost too large a part of a span.
func tooLate(lost, span time.Duration) bool { return lost >= lateMin && lost*lateShare >= span }

// finishOrBlameProber finishes the turn. If the prober was late, the turn says nothing about the
// peer.
func (a *attempt) finishOrBlameProber(o Outcome, at time.Time, text string, proberLate bool) {
	switch {
	case !proberLate:
	case a.status == 0 && a.trace.FirstWrite.IsZero():
		o, text = NotSent, "nothing was sent, because the prober itself was late: "+text
	default:
		o, text = ProberLate, "the prober itself was late: "+text
	}
	a.finish(o, at, text)
}

// lateSpan returns the time in which the prober's lateness can have caused an outcome. It ends
// at the deadline.
func (a *attempt) lateSpan(o Outcome, at time.Time) (from, to time.Time) {
	from, to = a.seen.sent, at
	if o == Stall {
		from = a.seen.lastToken
	}
	if deadline, _ := a.deadlines.next(a.seen.lastToken); !deadline.IsZero() && deadline.Before(to) {
		to = deadline
	}
	return from, to
}

// fillLag sets the maximum that the prober itself may have added to the latencies of the turn.
//
// Until the request was written, that is the time of this turn in which the prober did not run, or the
// time that no step explains. Afterwards it is the longest interruption, but only if that can have changed a timestamp. The kernel stamps each segment on arrival. Segments
// that wait together may all get the last one's time, and several events share one stamp.
//
// Data that stays unread for lag.MaxTolerance may have stopped the sender, so it always counts.
func (a *attempt) fillLag(r *Result) {
	written := a.trace.LastWrite
	if written.IsZero() {
		written = r.End
	}
	_, r.Lag = a.lag.Between(r.Sent, written)
	if first := a.trace.FirstWrite; !first.IsZero() {
		r.Lag = max(r.Lag, first.Sub(r.Sent)-a.trace.DNS-a.trace.Connect-a.trace.TLS)
	}
	if r.Events > 0 && (!r.Kernel || r.Coalesced > 0) {
		untilFirst, _ := a.lag.Between(r.Sent, a.seen.firstToken)
		untilEnd, _ := a.lag.Between(r.Sent, r.End)
		r.Lag, r.StreamLag = max(r.Lag, untilFirst), untilEnd
	}
	if r.ReadLagMax >= lag.MaxTolerance {
		r.Lag, r.StreamLag = max(r.Lag, r.ReadLagMax), max(r.StreamLag, r.ReadLagMax)
	}
}

const (
	// minBufferedEvents is the minimum number of events of a buffered answer, because a short
	// answer may fit into one segment.
	minBufferedEvents = 16
	// togetherShare is the share of the events of a longer answer that arrive together. It is not
	// reached by a server that sends the tokens of one step as separate events, or a kernel that
	// joins a few: that takes ten events at a time.
	togetherShare = 0.9
	// maxTogetherGap is the longest gap between events that arrive together. maxTogetherTime is
	// the maximum share of the turn that these gaps take in total: even in the turns of a
	// deployment with such small gaps, decoding takes more.
	maxTogetherGap  = 200 * time.Microsecond
	maxTogetherTime = 0.02
)

// dropFalseGaps removes the times between tokens if the events arrived together: they do not
// describe the server. If the answer is long and the prober read it on time, something buffered it.
func dropFalseGaps(r *Result) {
	if !arrivedTogether(r.Gaps, r.End.Sub(r.Sent)) {
		return
	}
	r.Buffered = len(r.Gaps)+1 >= minBufferedEvents && max(r.StreamLag, r.ReadLagMax) <= lag.Tolerance(0)
	r.TPOT, r.Gaps = Opt[time.Duration]{}, nil
}

func arrivedTogether(gaps []time.Duration, turn time.Duration) bool {
	if len(gaps) == 0 {
		return false
	}
	needed := len(gaps)
	if len(gaps)+1 >= minBufferedEvents {
		needed = int(togetherShare*float64(len(gaps)) + 0.5)
	}
	short := 0
	for _, gap := range gaps {
		if gap <= maxTogetherGap {
			short++
		}
	}
	if short < needed { // as in almost every turn; to sort the gaps would take longer
		return false
	}
	sum := time.Duration(0)
	for _, gap := range slices.Sorted(slices.Values(gaps))[:needed] {
		sum += gap
	}
	return float64(sum) <= maxTogetherTime*float64(turn)
}
