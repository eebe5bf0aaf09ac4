package watch

import (
	"math"
	"time"
)

// objective is the strictest objective of a kind of turn; the zero value is none.
type objective struct {
	threshold time.Duration
	budget    float64
}

// misses reports whether a turn misses the objective.
func (o objective) misses(ln float64) bool { return o.threshold > 0 && ln > logSeconds(o.threshold) }

// violates reports whether the objective is missed in the last ten minutes or the last half hour. In the first half hour of
// a process this is unknown, and counts as missed: a page that an objective keeps up survives a restart.
func (s *signal) violates() bool {
	unknown := s.minute < s.restored+halfHourMinutes && s.objectives.budget() > 0
	last, before := s.Minutes.period(10), s.Minutes.period(halfHourMinutes)
	return unknown || s.objectives.miss(last.bad, last.turns) || s.objectives.miss(before.bad, before.turns)
}

// objectives are those of the kinds of turns.
type objectives [kinds]objective

func (o *objectives) budget() float64 { return max(o[0].budget, o[1].budget) }

// miss reports whether the bad ones of some turns miss the objective beyond what chance explains: by more than two
// standard deviations, and by more than one turn.
func (o *objectives) miss(bad, turns float64) bool {
	allowed := o.budget() * turns
	return o.budget() > 0 && bad > allowed+2*math.Sqrt(allowed)+1
}

// missedIn is miss of a half hour.
func (o *objectives) missedIn(e *entry) bool {
	return o.miss(float64(e.Bad)*float64(e.Turns), float64(e.Turns))
}
