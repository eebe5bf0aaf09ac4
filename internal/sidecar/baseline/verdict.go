package baseline

import (
	"math"
	"time"
)

// reason is what made a verdict.
type reason struct {
	// Limit is what was reached, Over the level that it was compared with, both as
	// log ratios; of the share of turns in the tail if Tail says so.
	Limit float64 `json:"limit"`
	Over  float64 `json:"over"`
	Tail  bool    `json:"tail,omitzero"`
}

// verdict says whether a signal is a page, or a ticket.
type verdict struct {
	Up bool `json:"up"`
	// Began is the minute at which it came up, seen the last minute with turns.
	Began int64 `json:"began,omitzero"`
	Seen  int64 `json:"seen,omitzero"`
	reason
	// score is the last one, of what was not up.
	score float64
}

const (
	// over is the part of its limit below which the last minutes end a verdict,
	// overMinutes how many those are.
	overPart, overMinutes = 0.5, 4
	// overTurns are as many as it takes to tell, and overMost the minutes that are
	// waited for them.
	overTurns, overMost = 24, 12
	// unheard is for how long a verdict holds while no turn says anything.
	unheard = 15
)

// take moves a verdict on by a minute.
func (v *verdict) take(minute int64, f finding, lasted bool) {
	v.score = f.score
	if !v.Up && f.score >= 1 && (lasted || f.atOnce) {
		v.Up, v.Began, v.Seen, v.reason = true, minute, minute, f.by
	}
}

// end ends a verdict when the last minutes show what it was about no more.
// It reports whether it did.
func (v *verdict) end(s *scan, minute int64) bool {
	if !v.Up {
		return false
	}
	minutes := overFor(s)
	now := s.mean(minutes) - v.Over
	if v.Tail {
		n, _, tail := s.sums(0, 2*overMinutes)
		now = tail/n - v.Over // NaN without turns
	}
	switch {
	case math.IsNaN(now):
		v.Up = minute-v.Seen < unheard
	case now < overPart*v.Limit:
		// Not of minutes from before it came up.
		v.Up = minute-v.Began < int64(minutes)
	default:
		v.Seen = minute
	}
	return !v.Up
}

// overFor is how many minutes tell whether a level is over.
func overFor(s *scan) int {
	minutes := overMinutes
	for ; minutes < overMost; minutes++ {
		if turns, _, _ := s.sums(0, int64(minutes)); turns >= overTurns {
			break
		}
	}
	return minutes
}

// value is what is exported: at least 1 while it is up, below before.
func (v *verdict) value() float64 {
	if v.Up {
		return max(1, v.score)
	}
	return max(0, min(v.score, 1-1e-9))
}

// onset finds since when a level has been up.
type onset struct {
	// Since is the minute, 0 while it is not up.
	Since int64 `json:"since,omitzero"`
}

const (
	// risen is the log ratio from which on a level counts as up, fallen that below
	// which it is over.
	risen, fallen = 0.15, 0.08
)

func (o *onset) take(s *scan, minute int64) {
	last := s.latest()
	switch {
	case o.Since == 0 && last >= risen:
		o.Since = minute - 1
	case o.Since != 0 && s.mean(overFor(s)) < fallen:
		o.Since = 0
	}
}

// lasted says that the level has been up for so long, and still is.
func (o *onset) lasted(s *scan, minute int64, d time.Duration) bool {
	return o.Since != 0 && minute-o.Since+1 >= int64(d/time.Minute) && !(s.latest() < risen)
}
