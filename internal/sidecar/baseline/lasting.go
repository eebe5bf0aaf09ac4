package baseline

import (
	"math"
	"time"
)

// What lasts for days and misses no objective is the usual, whether anybody says
// so or not: a new model, another GPU, a nightly job. Until then it is not learned,
// or a regression would hide itself.

const (
	// most of the half hours of a time must have been measured, and higher than
	// usual, for its level to be a new one.
	most = 0.75
	// weekDays is how far back days of the same kind are looked for.
	weekDays = 7
)

// minded says that an objective was missed in a half hour.
func (s *series) minded(bad float64) bool { return s.threshold > 0 && bad > s.budget }

// acceptDays is how many days a level must have lasted.
func (s *series) acceptDays() int32 { return int32(max(1, s.policy.AcceptAfter/(24*time.Hour))) }

// habit says that the same half hour was as high on days of the kind before it,
// and that no objective minded. Those are usual then, too.
func (s *series) habit(b *block) bool {
	own := b.entry()
	if s.minded(float64(own.bad)) {
		return false
	}
	var alike []*entry
	kind := weekend(dayOf(own.number))
	for back := int32(1); back <= s.acceptDays()+weekDays && int32(len(alike)) < s.acceptDays(); back++ {
		number := own.number - back*slots
		if weekend(dayOf(number)) != kind {
			continue
		}
		e := s.baseline.entryOf(number)
		if e == nil || float64(own.mean-e.mean) > s.gate(b.start) || s.minded(float64(e.bad)) {
			return false
		}
		alike = append(alike, e)
	}
	if int32(len(alike)) < s.acceptDays() {
		return false
	}
	for _, e := range alike {
		e.admit()
	}
	return true
}

// move takes a level for the usual that has lasted.
func (s *series) move(at time.Time) {
	now := numberOf(at) - 1
	since := now - s.acceptDays()*slots + 1
	var measured, high, bad float64
	began := false
	s.baseline.each(since-1, now, func(e *entry) {
		began = began || measured == 0 && !e.usual()
		measured++
		bad += float64(e.bad)
		if !e.usual() {
			high++
		}
	})
	if began && measured >= most*float64(s.acceptDays()*slots) && high >= most*measured && !s.minded(bad/measured) && s.accept(startOf(since), at) {
		s.baseline.moved = at
	}
}

// accept takes what was measured since a time for the usual, and begins to judge
// anew. A benchmark is what its user compares with, whatever is measured. It reports
// whether there was anything to accept.
func (s *series) accept(since, at time.Time) bool {
	rise := s.riseSince(minuteOf(since))
	if s.benchmark.Typical > 0 || !s.baseline.started() || math.IsNaN(rise) {
		return false
	}
	s.baseline.accept(max(0, numberOf(since)), numberOf(at), rise)
	s.judgeAnew()
	return true
}

// riseSince is how far the minutes since one lie above what is usual now; NaN of
// none.
func (s *series) riseSince(from int64) float64 {
	n, sum := 0.0, 0.0
	s.history.since(from, func(minute int64, turns, mean, _ float64) {
		n += turns
		sum += turns * (mean - s.baseline.at(time.Unix(minute*60+30, 0)))
	})
	return sum / n
}
