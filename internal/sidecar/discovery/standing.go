package discovery

import (
	"slices"
	"strings"
	"time"
)

// Standing is the state of a group.
type Standing struct {
	Name string
	// Found is the number of targets, LeftOut the numbers of other objects by reason.
	Found   int
	LeftOut map[string]int
	// At is the time of the last complete answer: the oldest of its sources; zero for never.
	At time.Time
	// Failing is the current error, "" without one, and Since its beginning.
	Failing string
	Since   time.Time
	// Leased is true for a group with leases.
	Leased bool
}

// Standings returns the state of each group, by name.
func (f *Follower) Standings() []Standing {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []Standing
	for name, one := range f.groups {
		s := Standing{Name: name, Found: len(one.found), LeftOut: map[string]int{}, At: time.Now(), Failing: one.few, Since: one.lacking, Leased: one.group.Lease > 0}
		if one.few != "" {
			s.At = one.lacking
		}
		for _, l := range one.left {
			s.LeftOut[l.Reason]++
		}
		for _, src := range one.sources {
			at, why, since := src.standing()
			if at.Before(s.At) {
				s.At = at
			}
			if why != "" && (s.Failing == "" || since.Before(s.Since)) {
				s.Failing, s.Since = why, since
			}
		}
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b Standing) int { return strings.Compare(a.Name, b.Name) })
	return out
}
