package baseline

import (
	"math"
	"time"
)

// reason is the evidence for a verdict.
type reason struct {
	// Limit is the exceeded limit, Over the reported level it was compared with, both as log
	// ratios, or as shares of slow turns if Tail is true.
	Limit float64 `json:"limit"`
	Over  float64 `json:"over"`
	Tail  bool    `json:"tail,omitzero"`
}

// verdict is the state of a page or a ticket of one signal.
type verdict struct {
	Up bool `json:"up"`
	// Began is the minute at which the verdict came up, Seen the last minute that showed its
	// cause.
	Began int64 `json:"began,omitzero"`
	Seen  int64 `json:"seen,omitzero"`
	reason
	// last score while it is not up
	score float64
}

const (
	// overPart is the share of the limit below which the last overMinutes end a verdict, belowPart
	// the share below which the last belowMinutes do: a milder level is another one.
	overPart, overMinutes   = 0.5, 4
	belowPart, belowMinutes = 2. / 3, 10
	// overTurns is the number of turns needed to end a verdict, overMost the longest wait for
	// them in minutes.
	overTurns, overMost = 24, 12
	// silentMinutes is how long a verdict stays up without turns.
	silentMinutes = 15
)

func (v *verdict) take(minute int64, f finding, lasted bool) {
	v.score = f.score
	if !v.Up && f.score >= 1 && (lasted || f.atOnce) {
		v.Up, v.Began, v.Seen, v.reason = true, minute, minute, f.reason
	}
}

// end ends the verdict if the last minutes no longer show its cause. It reports whether it did.
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
		v.Up = minute-v.Seen < silentMinutes
	case now < overPart*v.Limit || !v.Tail && v.score < 1 && s.mean(belowMinutes)-v.Over < belowPart*v.Limit && minute-v.Began >= belowMinutes:
		// Minutes from before the verdict do not count.
		v.Up = minute-v.Began < int64(minutes)
	default:
		v.Seen = minute
	}
	return !v.Up
}

// overFor returns the number of minutes that decide whether a level has ended.
func overFor(s *scan) int {
	minutes := overMinutes
	for ; minutes < overMost; minutes++ {
		if turns, _, _ := s.sums(0, int64(minutes)); turns >= overTurns {
			break
		}
	}
	return minutes
}

// value returns the exported score: at least 1 while the verdict is up, below 1 otherwise.
func (v *verdict) value() float64 {
	if v.Up {
		return max(1, v.score)
	}
	return max(0, min(v.score, 1-1e-9))
}

// onset follows a rise.
type onset struct {
	// Since is the minute before the one that showed the rise, 0 without one. Began is the first minute with
	// slower turns.
	Since int64 `json:"since,omitzero"`
	Began int64 `json:"began,omitzero"`
	// Seen is the last minute with a mean, Height the highest mean of up to five minutes.
	Seen   int64   `json:"seen,omitzero"`
	Height float64 `json:"height,omitzero"`
	// Confirmed is true if the rise violated an objective.
	Confirmed bool `json:"confirmed,omitzero"`
}

const (
	// A rise begins at the log ratio risen and ends below fallen.
	risen, fallen = 0.15, 0.08
)

// take follows the rise up to a minute. It returns the rise if it is over.
func (o *onset) take(s *scan, minute int64) (over rise) {
	last := s.latest()
	if o.Since == 0 {
		if last >= risen {
			*o = onset{Since: minute - 1, Began: minute - s.slowFor(last), Seen: minute}
		}
		return over
	}
	if !math.IsNaN(last) {
		o.Seen = minute
	}
	if s.mean(overFor(s)) < fallen || minute-o.Seen >= silentMinutes {
		over = rise{From: o.Since, To: o.Seen, Height: o.Height, Confirmed: o.Confirmed}
		*o = onset{}
		return over
	}
	if age := minute - o.Since; age >= leastRise {
		if mean := s.visibleMean(0, int(min(5, age))); mean > o.Height {
			o.Height = mean
		}
	}
	return over
}

// leastRise is the length in minutes from which a rise has a height.
const leastRise = 3

// lasted reports whether the level has been up for d and still is.
func (o *onset) lasted(s *scan, minute int64, d time.Duration) bool {
	return o.Since != 0 && minute-o.Since+1 >= int64(d/time.Minute) && !(s.latest() < risen)
}
