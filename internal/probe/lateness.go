package probe

import (
	"cmp"
	"slices"
	"time"

	"synthetic/internal/probe/lag"
)

// lateAtOnce is the interruption of the prober that excuses a peer which gave up or timed out: servers wait at
// least that long for a request. lateMin is the shortest loss of time that moves a deadline.
const (
	lateAtOnce = time.Second
	lateMin    = 100 * time.Millisecond
)

// lateBefore returns the time that the prober lost before the peer was asked. The peer gets that much
// longer for its first token, so that its silence proves something.
func (a *attempt) lateBefore(asked time.Time) time.Duration {
	if _, o := a.deadlines.next(time.Time{}); o != TimeoutFirstToken || a.answering.Load() {
		return 0
	}
	if _, lost := a.lag.Between(a.turn.Sent, asked); lost >= lateMin {
		return lost
	}
	return 0
}

// endTimedOut ends a turn that missed a deadline. If the kernel proves that only the peer could
// continue, only lateness before that counts, and only if it did not move the deadline.
func (a *attempt) endTimedOut(o Outcome, at time.Time, text string) {
	a.silent = true
	asked := a.trace.Asked
	if a.trace.Extended > 0 || !asked.IsZero() && a.turn.Events > 0 {
		a.finish(o, at, text)
		return
	}
	a.finishOrBlameProber(o, at, text, cmp.Or(asked, at))
}

// endAbandoned ends a turn that the peer gave up. A peer that had begun its answer had the request.
func (a *attempt) endAbandoned(o Outcome, at time.Time, text string) {
	if a.turn.Events > 0 {
		a.finish(o, at, text)
		return
	}
	a.finishOrBlameProber(o, at, text, cmp.Or(a.trace.Asked, a.trace.LastWrite, at))
}

// finishOrBlameProber finishes the turn. If the prober was interrupted between the last token, or else the
// begin, and a time, the turn says nothing about the peer.
func (a *attempt) finishOrBlameProber(o Outcome, at time.Time, text string, to time.Time) {
	longest, _ := a.lag.Between(cmp.Or(a.seen.lastToken, a.turn.Sent), to)
	switch {
	case longest < lateAtOnce:
	case a.turn.Status == 0 && a.trace.FirstWrite.IsZero():
		o, text = NotSent, "nothing was sent, because the prober itself was late: "+text
	default:
		o, text = ProberLate, "the prober itself was late: "+text
	}
	a.finish(o, at, text)
}

// fillLag sets the maximum that the prober itself may have added to the latencies of the turn.
//
// Until the request was written, that is the time of this turn in which the prober did not run, or the
// time that no step explains. Afterwards it is the longest interruption, but only if that can have changed a
// timestamp. The kernel stamps each segment on arrival. Segments that wait together may all get the last one's
// time, and several events share one stamp.
//
// Data that stays unread for lag.MaxTolerance may have stopped the sender, so it always counts.
func (a *attempt) fillLag() {
	r := a.turn
	written := a.trace.LastWrite
	if written.IsZero() {
		written = r.End
	}
	_, r.Lag = a.lag.Between(r.Sent, written)
	if first := a.trace.FirstWrite; !first.IsZero() {
		r.Lag = max(r.Lag, first.Sub(r.Sent)-a.trace.DNS-a.trace.Connect-a.trace.TLS)
	}
	if r.Events > 0 && (!r.Kernel || r.Coalesced > 0) {
		untilFirst, _ := a.lag.Between(r.Sent, r.Sent.Add(r.TTFT.V))
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
