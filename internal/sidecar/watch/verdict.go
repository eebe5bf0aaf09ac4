package watch

import (
	"cmp"
	"math"
	"time"
)

// reports are what is up and what was told.
type reports struct {
	Rise   rise    `json:"rise,omitzero"`
	Page   verdict `json:"page,omitzero"`
	Ticket verdict `json:"ticket,omitzero"`
	Told   told    `json:"told,omitzero"`
}

func (r *reports) regressed() bool { return r.Page.Up || r.Ticket.Up }
func (r *reports) quiet() bool     { return !r.regressed() && r.Rise.Since == 0 && r.Told.Level == 0 }

// verdict is the state of a page or a ticket.
type verdict struct {
	Up bool `json:"up,omitzero"`
	// Seen is the last minute that showed the rise.
	Seen int64 `json:"seen,omitzero"`
	// Decision is what brought it up, or the newest one.
	Decision Decision `json:"decision,omitzero"`
}

// take takes the decision of a minute.
func (v *verdict) take(d Decision) {
	if v.Up {
		return
	}
	if d.Gates[0].Holds {
		d.Crossed = cmp.Or(v.Decision.Crossed, d.Minute)
	}
	v.Decision = d
	if d.Holds() {
		v.Up, v.Seen = true, d.Minute
	}
}

// score returns the exported score: at least 1 while it is up, below 1 otherwise.
func (v *verdict) score() float64 {
	if v.Up {
		return max(1, v.Decision.Score)
	}
	return max(0, min(v.Decision.Score, 0.99))
}

const (
	// A page or ticket is over when the mean of overMinutes, or of up to overMost minutes until there are overTurns, is
	// below overPart of its limit.
	overPart, overMinutes, overTurns, overMost = 0.5, 4, 48, 15
	// silentMinutes is how long it stays up without turns.
	silentMinutes = 15
)

// over reports whether the last minutes no longer show the rise.
func (v *verdict) over(m *minutes, minute int64) bool {
	n, age := overFor(m), minute-v.Decision.Minute
	now := m.plain(n)
	switch {
	case math.IsNaN(now):
		return minute-v.Seen >= silentMinutes
	case now < overPart*v.Decision.Limit.Value:
		return age >= int64(n)
	}
	v.Seen = minute
	return false
}

// overFor returns the number of minutes that decide whether a level has ended.
func overFor(m *minutes) int {
	n := overMinutes
	for ; n < overMost; n++ {
		if turns, _ := m.sum(0, n); turns >= overTurns {
			break
		}
	}
	return n
}

// told says what a page has reported. The minutes up to Cleared count as usual. Level is a rise that has lasted since the
// minute Since. Only a higher rise is reported again.
type told struct {
	Level   float64 `json:"level,omitzero"`
	Since   int64   `json:"since,omitzero"`
	Cleared int64   `json:"cleared,omitzero"`
}

const (
	// lead minutes before a rise belong to it.
	lead = 20
	// A page or ticket below twice the usual that misses no objective ends after reportMinutes. Its level is forgotten
	// when it is gone for goneMinutes.
	reportMinutes, goneMinutes = 110, 60
)

// end ends what is over. Its minutes then count no more.
func (s *signal) end() {
	began := s.began()
	if s.Page.Up && s.Page.over(&s.minutes, s.minute) {
		s.Page = verdict{}
		s.clear(began - lead)
	}
	if s.Ticket.Up && s.Ticket.over(&s.minutes, s.minute) {
		s.Ticket = verdict{}
	}
	if level := max(0, s.minutes.plain(30)); s.regressed() && s.minute-began >= reportMinutes && !math.IsNaN(level) && !s.urgent() {
		s.Told.Level, s.Told.Since = s.Told.Level+level, s.minute
		s.Page, s.Ticket, s.Rise = verdict{}, verdict{}, rise{}
		s.clear(0)
	}
	if s.Told.Level > 0 && s.minute-s.Told.Since >= goneMinutes && s.minutes.raw(goneMinutes) < s.Told.Level/2 {
		s.Told.Level = 0
		s.clear(0)
	}
}

// clear makes the minutes from one on count no more.
func (s *signal) clear(from int64) {
	s.minutes.clear(from)
	s.Told.Cleared = s.minute
}

// urgent reports whether the signal pages and must not end by itself.
func (s *signal) urgent() bool {
	return s.Page.Up && (s.minutes.raw(30) >= math.Log(twice) || s.violates())
}

// began returns the minute at which the page or the ticket began, 0 without one.
func (r *reports) began() int64 {
	began := int64(0)
	for _, v := range []*verdict{&r.Page, &r.Ticket} {
		if v.Up && (began == 0 || v.Decision.Minute < began) {
			began = v.Decision.Minute
		}
	}
	if began > 0 && r.Rise.Since > 0 {
		began = min(began, r.Rise.Since)
	}
	return began
}

// rise follows a rise. Since is the minute before the one that showed it, Began the first minute with slower turns,
// Seen the last one with turns; all are 0 without a rise.
type rise struct {
	Since int64 `json:"since,omitzero"`
	Began int64 `json:"began,omitzero"`
	Seen  int64 `json:"seen,omitzero"`
}

// A rise begins at the log ratio risen and ends below fallen.
const risen, fallen = 0.15, 0.08

// follow follows the rise up to a minute.
func (r *rise) follow(m *minutes, minute int64) {
	last := m.latest()
	if r.Since == 0 {
		if last >= risen {
			*r = rise{Since: minute - 1, Began: minute - m.slowFor(last), Seen: minute}
		}
		return
	}
	if !math.IsNaN(last) {
		r.Seen = minute
	}
	if m.plain(overFor(m)) < fallen || minute-r.Seen >= silentMinutes {
		*r = rise{}
	}
}

// lasted returns for how long the level has been up, 0 if it is not.
func (r *rise) lasted(m *minutes, minute int64) time.Duration {
	if r.Since == 0 || m.latest() < risen {
		return 0
	}
	return time.Duration(minute-r.Since+1) * time.Minute
}

// latest returns the mean of the last two minutes, or of up to twelve until there are enough turns.
func (m *minutes) latest() float64 {
	const longest = 12
	for n := 2; n < longest; n++ {
		if v := m.plain(n); !math.IsNaN(v) {
			return v
		}
	}
	return sums(m.sum).mean(0, longest)
}

// slowFor returns for how many minutes before the last one the turns were as slow as those of a rise. Minutes without a
// turn do not end it.
func (m *minutes) slowFor(height float64) (n int64) {
	const longest = 4
	for ago := range longest + 1 {
		turns, sum := m.sum(ago, 1)
		switch {
		case turns == 0:
		case sum/turns >= max(risen, height/2):
			n = int64(ago)
		case ago > 0:
			return n
		}
	}
	return n
}
