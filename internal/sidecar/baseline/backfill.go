package baseline

import (
	"math"
	"time"

	"synthetic/internal/probe"
)

// Minute is the measurement of a signal in one minute.
type Minute struct {
	At time.Time
	// Turns is the number of values. Mean is the mean of the natural logarithm of their
	// seconds, Baseline the same for their baselines.
	Turns, Mean float64
	Baseline    probe.Opt[float64]
}

// backfill adds minutes of one signal that an earlier process measured, in order of time. A
// full baseline that the job has learned itself stays.
func (j *job) backfill(kind, signal int, minutes []Minute) {
	s := &j.series[kind][signal]
	if s.baseline.mature() || len(minutes) == 0 {
		return
	}
	fresh := series{
		replaying: true, signal: s.signal, policy: s.policy, threshold: s.threshold, budget: s.budget,
		zone: s.zone, baseline: &baseline{zone: s.zone},
	}
	for _, m := range minutes {
		fresh.replay(m)
	}
	s.history.each(func(minute int64, turns, mean, tail float64) { // minutes of this process
		fresh.history.put(minute, turns, mean, tail)
	})
	s.baseline, s.history, s.calendar, s.limited, s.calibrated = fresh.baseline, fresh.history, fresh.calendar, 0, 0
	s.page, s.ticket, s.onset, s.ticketLevel, s.pageLevel = fresh.page, fresh.ticket, fresh.onset, fresh.ticketLevel, fresh.pageLevel
	s.refill()
}

// replay replays a minute of an earlier process with its verdicts, so that an old regression is
// not learned.
func (s *series) replay(m Minute) {
	if !(m.Turns >= 1) || !(math.Abs(m.Mean) <= mostLog) || m.At.Unix() < earliest {
		return
	}
	turns := min(m.Turns, mostPacked)
	s.pass(m.At)
	if s.baseline.roll(m.At, s.usual) {
		s.move(m.At)
	}
	reference, ok := s.reference(m.At)
	if m.Baseline.OK && math.Abs(m.Baseline.V) <= mostLog && !ok {
		reference, ok = m.Baseline.V, true
	}
	if ok {
		x := min(max(m.Mean-reference, -clip), clip)
		s.turns, s.total, s.absolute = turns, turns*x, turns*(reference+x)
	}
	b := &s.baseline.block
	b.weigh(turns, m.Mean, s.beyond(m.Mean))
	b.minutes++
	b.regressed = b.regressed || s.regressed()
}

// beyond returns the share of turns that violate the objective if they are normally distributed
// around mean.
func (s *series) beyond(mean float64) float64 {
	if s.threshold <= 0 {
		return 0
	}
	return math.Erfc((logSeconds(s.threshold)-mean)/(math.Sqrt2*s.baseline.spreadOr())) / 2
}
