package regression

import (
	"math"
	"time"
)

// Backfill takes over minutes of a kind of turn and signal, by index and in order
// of time, that an earlier process measured. A job that has learned of its own
// keeps that.
func (j *Job) Backfill(kind, signal int, minutes []Minute) {
	s := &j.series[kind][signal]
	if s.baseline.mature() || len(minutes) == 0 {
		return
	}
	fresh := series{signal: s.signal, policy: s.policy, threshold: s.threshold, budget: s.budget, benchmark: s.benchmark, baseline: &baseline{}}
	for _, m := range minutes {
		fresh.relive(m)
	}
	s.baseline, s.history, s.limited, s.calibrated = fresh.baseline, fresh.history, 0, 0
	s.page, s.ticket, s.onset, s.known = fresh.page, fresh.ticket, fresh.onset, fresh.known
	s.refill()
}

// relive takes a minute of the past as it was, its verdicts included: what was a
// regression then is not learned now.
func (s *series) relive(m Minute) {
	if !(m.Turns >= 1) || math.IsNaN(m.Mean) || math.Abs(m.Mean) > mostLog {
		return
	}
	s.pass(m.At)
	if s.baseline.roll(m.At, s.usual) {
		s.move(m.At)
	}
	reference, ok := s.reference(m.At)
	if !math.IsNaN(m.Baseline) && math.Abs(m.Baseline) <= mostLog && !ok {
		reference, ok = m.Baseline, true
	}
	if ok {
		s.turns, s.total = m.Turns, m.Turns*min(max(m.Mean-reference, -clip), clip)
	}
	b := &s.baseline.block
	for range int(min(m.Turns, mostPacked)) {
		b.add(m.Mean, s.threshold > 0 && m.Mean > logSeconds(s.threshold))
	}
	b.unsuitable = b.unsuitable || s.regressed()
}

// Accept takes what was measured since a time for the usual level.
func (j *Job) Accept(since, now time.Time) {
	at := j.wall(now)
	for k := range j.series {
		for i := range j.series[k] {
			j.series[k][i].accept(numberOf(since), at)
		}
	}
}
