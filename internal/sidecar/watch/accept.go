package watch

import (
	"math"
	"time"

	"synthetic/internal/fleet"
)

// A level that lasts for days without missing an objective becomes the usual one by itself, for example after a new model.
// Until then it is not learned, or a regression would hide itself.

func acceptDays(p fleet.Policy) int { return int(max(1, p.AcceptAfter/(24*time.Hour))) }

// repeats reports whether the half hour was as high on the days before, or in the two weeks before, and missed no
// objective. These are then learned, too.
func (s *signal) repeats(own *entry) bool {
	return !s.objectives.missedIn(own) && (s.same(own, 1, acceptDays(s.policy)) || s.same(own, 7, 2))
}

// same compares a half hour with those a number of days earlier and multiples of that.
func (s *signal) same(own *entry, days, times int) bool {
	var before []*entry
	local := startOf(own.Number)
	if s.Usual.zone != nil {
		local = local.In(s.Usual.zone)
	}
	for back := 1; back <= times; back++ {
		e := s.Usual.entryOf(numberOf(local.AddDate(0, 0, -back*days)))
		if e == nil || float64(own.Mean-e.Mean) > s.learnedAtOnce() || s.objectives.missedIn(e) {
			return false
		}
		before = append(before, e)
	}
	for _, e := range before {
		e.Learned = true
	}
	return true
}

// acceptLasting makes a level that has lasted the usual one: most half hours were measured, and above the usual level.
func (s *signal) acceptLasting(at time.Time) {
	all := int32(acceptDays(s.policy) * slots)
	now := numberOf(at) - 1
	var measured, high, bad, turns float64
	startsHigh := false
	for i := s.Usual.search(now - all + 1); i < len(s.Usual.Entries) && s.Usual.Entries[i].Number <= now; i++ {
		e := &s.Usual.Entries[i]
		startsHigh = startsHigh || measured == 0 && !e.Learned
		measured++
		turns += float64(e.Turns)
		bad += float64(e.Bad) * float64(e.Turns)
		if !e.Learned {
			high++
		}
	}
	lasts := startsHigh && measured >= mostOf*float64(all) && high >= mostOf*measured
	if lasts && !s.objectives.miss(bad, turns) && s.accept(startOf(now-all+1), at) {
		s.Usual.Moved = at
	}
}

// accept makes the level since a time the usual one and restarts the evaluation. It returns false if no level is known.
func (s *signal) accept(since, at time.Time) bool {
	n, sum := 0.0, 0.0
	for minute, v := range s.History.since(minuteOf(since)) {
		n += v.turns
		sum += v.turns * (v.mean - s.Usual.at(middleOf(minute)))
	}
	if !s.Usual.started() || n == 0 || math.IsNaN(sum) {
		return false
	}
	s.Usual.accept(max(1, numberOf(since)), numberOf(at), sum/n)
	s.restart()
	s.Limits.MovesOf = 0
	return true
}

// accept learns the half hours since one, and leaves earlier ones out of the level. rise is the difference of the levels.
// The shape stays.
func (u *usual) accept(since, now int32, rise float64) {
	u.Since, u.Accepted = since, u.level+rise
	for i := u.search(since); i < len(u.Entries); i++ {
		u.Entries[i].Learned, u.Entries[i].Level = true, float32(u.Accepted)
	}
	if e := u.entryOf(since); e != nil {
		e.Level = 0 // the level rose within that half hour
	}
	u.derive(now)
}
