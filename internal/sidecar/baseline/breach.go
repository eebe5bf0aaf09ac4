package baseline

import "math"

// breach counts the turns of the last half hour that violated the objective.
type breach [breachMinutes]struct {
	minute     int64
	bad, turns uint32
}

const breachMinutes = 30

func (b *breach) add(minute int64, bad bool) {
	m := &b[minute%breachMinutes]
	if m.minute != minute {
		m.minute, m.bad, m.turns = minute, 0, 0
	}
	m.turns++
	if bad {
		m.bad++
	}
}

// sums returns the bad turns and all turns of the last minutes.
func (b *breach) sums(now, minutes int64) (bad, turns float64) {
	for _, m := range b {
		if m.minute > now-minutes {
			bad, turns = bad+float64(m.bad), turns+float64(m.turns)
		}
	}
	return bad, turns
}

// violatesObjective reports whether the objective is violated in the last ten minutes or the last half hour.
func (s *series) violatesObjective() bool {
	return s.violatesBudget(s.breach.sums(s.minute, 10)) || s.violatesBudget(s.breach.sums(s.minute, breachMinutes))
}

// violatesBudget reports whether the bad ones of some turns violate the objective, beyond what chance
// explains: by more than two standard deviations, and by more than one turn.
func (s *series) violatesBudget(bad, turns float64) bool {
	allowed := s.budget * turns
	return s.threshold > 0 && bad > allowed+2*math.Sqrt(allowed)+1
}

// violated is violatesBudget of a half hour.
func (s *series) violated(e *entry) bool {
	n := float64(e.n())
	return s.violatesBudget(float64(e.bad)*n, n)
}
