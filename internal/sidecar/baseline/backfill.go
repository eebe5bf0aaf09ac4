package baseline

import (
	"time"

	"synthetic/internal/probe"
)

// Minute is the measurement of a signal in one minute.
type Minute struct {
	At time.Time
	// Turns is the number of values, Mean the mean of the natural logarithm of their seconds.
	Turns, Mean float64
}

// Backfill gives a new job minutes that were measured earlier, of one kind of turn and one signal, in
// order of time. It does nothing for an unknown job.
func (t *Tracker) Backfill(key probe.Key, kind, signal int, minutes []Minute) {
	if j := t.lock(key); j != nil {
		defer j.mu.Unlock()
		j.series[kind][signal].backfill(minutes)
	}
}

func (s *series) backfill(minutes []Minute) {
	s.baseline, s.replaying = &baseline{zone: s.zone}, true
	for _, m := range minutes {
		s.replay(m)
	}
	s.replaying, s.limited, s.calibrated = false, 0, 0
	s.refill()
}

// replay replays a minute with its verdicts, so that a regression is not learned.
func (s *series) replay(m Minute) {
	turns := min(m.Turns, mostPacked)
	s.pass(m.At)
	if s.baseline.roll(m.At, s.usual) {
		s.move(m.At)
	}
	if reference, ok := s.reference(m.At); ok {
		x := min(max(m.Mean-reference, -clip), clip)
		s.turns, s.total, s.absolute = turns, turns*x, turns*(reference+x)
	}
	b := &s.baseline.block
	b.weigh(turns, m.Mean, 0)
	b.minutes++
	b.regressed = b.regressed || s.regressed()
}
