package discovery

import (
	"slices"
	"strings"
	"time"
)

// Standing is how a group is doing.
type Standing struct {
	Name string
	// Found counts its targets, LeftOut objects that are none, by reason.
	Found   int
	LeftOut map[string]int
	// At is when it was last known what there is, of the source that has answered
	// least lately; zero for never.
	At time.Time
	// Failing is what is wrong now, Since when; "" for nothing.
	Failing string
	Since   time.Time
	// Leased says that its targets are those that are asked for.
	Leased bool
}

// Standings says how each group is doing, by name.
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
