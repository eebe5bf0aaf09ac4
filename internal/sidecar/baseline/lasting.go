package baseline

import (
	"math"
	"time"

	"synthetic/internal/probe"
)

// A level that lasts for days without violating an objective becomes the baseline without
// anybody's action, for example after a new model or another GPU. Until then it is not learned,
// or a regression would hide itself.

const (
	// highShare is the share of half hours that must have been measured above the baseline
	// before their level becomes the baseline.
	highShare = 0.75
)

func (s *series) acceptDays() int32 { return int32(max(1, s.policy.AcceptAfter/(24*time.Hour))) }

// habit reports whether the same half hour was as high on the days before or in the weeks
// before, without violating an objective. Such a half hour is learned, with the earlier ones.
func (s *series) habit(b *block) bool {
	own := b.entry()
	return !s.violated(&own) && (s.repeats(own, b.start, 1, s.acceptDays()) || s.repeats(own, b.start, 7, habitWeeks))
}

// habitWeeks is the number of weeks after which a rise of the same weekday is a habit.
const habitWeeks = 2

// repeats reports whether the half hours at the same local time, some days earlier and multiples of that, were as
// high as own, and lets the baseline learn them if they were.
func (s *series) repeats(own entry, start time.Time, days int, times int32) bool {
	var similar []*entry
	local := minuteTime(minuteOf(start), s.zone)
	for back := 1; back <= int(times); back++ {
		e := s.baseline.entryOf(numberOf(local.AddDate(0, 0, -back*days)))
		if e == nil || float64(own.mean-e.mean) > s.gate(start) || s.violated(e) {
			return false
		}
		similar = append(similar, e)
	}
	for _, e := range similar {
		e.admit()
	}
	return true
}

// move makes a lasting level the baseline.
func (s *series) move(at time.Time) {
	now := numberOf(at) - 1
	since := now - s.acceptDays()*slots + 1
	var measured, high, bad, turns float64
	startsHigh := false
	s.baseline.each(since-1, now, func(e *entry) {
		startsHigh = startsHigh || measured == 0 && !e.usual()
		measured++
		turns += float64(e.n())
		bad += float64(e.bad) * float64(e.n())
		if !e.usual() {
			high++
		}
	})
	if startsHigh && measured >= highShare*float64(s.acceptDays()*slots) && high >= highShare*measured && !s.violatesBudget(bad, turns) && s.accept(startOf(since), at) {
		s.baseline.moved = at
	}
}

// accept makes the level since a time the baseline and restarts the evaluation. It returns
// false if no level is known.
func (s *series) accept(since, at time.Time) bool {
	rise := s.riseSince(minuteOf(since))
	if !s.baseline.started() || math.IsNaN(rise) {
		return false
	}
	s.baseline.accept(max(0, numberOf(since)), numberOf(at), rise)
	s.calendar.forgetHabits()
	s.judgeAnew()
	return true
}

// riseSince returns the mean log ratio of the turns since a minute to the current baseline; NaN
// without turns.
func (s *series) riseSince(from int64) float64 {
	n, sum := 0.0, 0.0
	s.history.since(from, func(minute int64, turns, mean, _ float64) {
		n += turns
		sum += turns * (mean - s.baseline.at(time.Unix(minute*60+30, 0)))
	})
	return sum / n
}

// acceptLast is the period whose level Accept uses for a job without a regression.
const acceptLast = 30 * time.Minute

// Accepted describes a job whose current level became its baseline.
type Accepted struct {
	Key   probe.Key
	Since time.Time
	// Ratios compare the level with the previous baseline, by kind of turn and signal.
	Ratios [kinds][signals]probe.Opt[float64]
}

// Accept makes the level since a time the baseline of a target's jobs. An empty workload
// means all of them. A zero time means the start of each job's regression, or the last 30
// minutes for a job without one. It returns the accepted jobs.
func (t *Tracker) Accept(target, workload string, since time.Time) (out []Accepted) {
	now := t.options.Now()
	for _, j := range t.sorted() {
		if j.key.Target == target && (workload == "" || j.key.Workload == workload) {
			j.mu.Lock()
			out = append(out, j.accept(since, now))
			j.mu.Unlock()
		}
	}
	return out
}

func (j *job) accept(since, now time.Time) Accepted {
	a := Accepted{Key: j.key, Since: since}
	first := time.Time{}
	for k, signals := range j.views(now) {
		for i, v := range signals {
			a.Ratios[k][i] = v.Ratio
			if !v.Since.IsZero() && (first.IsZero() || v.Since.Before(first)) {
				first = v.Since
			}
		}
	}
	if a.Since.IsZero() {
		a.Since = first
	}
	if a.Since.IsZero() {
		a.Since = now.Add(-acceptLast)
	}
	at := j.wall(now)
	for s := range j.all() {
		s.accept(a.Since, at)
	}
	return a
}
