package watch

import (
	"cmp"
	"math"
	"time"

	"synthetic/internal/fleet"
)

// clip bounds the log ratio of one turn: an outlier or a deadline counts as e² times the usual at most.
const clip = 2.0

// signal is one timing of a job.
type signal struct {
	// configured: the index of fleet.Signals, and what the strictest objective of each kind of turn wants
	index     int
	policy    fleet.Policy
	objective [kinds]objective

	usual   usual
	classes classes
	history history
	minutes minutes
	most    most
	breach  breach

	// the minute in progress: its turns, those of bursts, and the sum of all log ratios; late and lateSum are those of turns that
	// timed out, from which the past learns nothing
	minute                           int64
	turns, extra, sum, late, lateSum float64

	moves        moves
	page, ticket [windowCount]limit
	// movesOf is the day of the moves, limitsOf the half hour of the limits.
	movesOf, limitsOf int32
	rise              rise
	paging, ticketing verdict
	told              told
	// restored is the minute in which an earlier process was continued.
	restored int64
}

// turn is a turn with a value of a timing: its natural logarithm in seconds.
type turn struct {
	ln             float64
	kind, class    int
	failed, change bool
	// burst turns come when the level is high, so they give their minute no weight.
	burst bool
}

func (s *signal) regressed() bool { return s.paging.Up || s.ticketing.Up }
func (s *signal) quiet() bool     { return !s.regressed() && s.rise.Since == 0 && s.told.Level == 0 }

// observe adds a turn.
func (s *signal) observe(t turn, at time.Time) {
	if s.usual.roll(at, s.learns) {
		s.acceptLasting(at)
	}
	bad := s.objective[t.kind].misses(t.ln)
	s.breach.add(minuteOf(at), bad)
	level := 0.0
	if s.usual.started() {
		level = s.usual.at(at)
	}
	mean, known := s.classes.mean(t.class)
	x := t.ln - mean
	if known && s.usual.started() && !t.change {
		ratio := min(max(x-level, -clip), clip)
		s.most.add(minuteOf(at), ratio)
		s.turns++
		s.sum += ratio
		if t.failed {
			s.late++
			s.lateSum += ratio
		}
		if t.burst {
			s.extra++
		}
	}
	if t.burst {
		return
	}
	b := &s.usual.block
	switch {
	case t.failed:
		b.failed++
	case known:
		b.add(x, bad)
	}
	b.unfit, b.paged = b.unfit || t.change, b.paged || s.paging.Up
	if !t.failed && !t.change && s.quiet() {
		if recent := s.minutes.raw(30); s.usual.started() && !math.IsNaN(recent) {
			level += recent // a class learns how it differs from the others, not how they all moved
		}
		s.classes.learn(t.class, t.ln-level)
	}
}

// fail adds a failed turn without a value. A half hour with many failures is not learned from those that survived.
func (s *signal) fail(at time.Time) {
	if numberOf(at) == s.usual.block.number {
		s.usual.block.failed++
	}
}

// pass closes the minutes before at.
func (s *signal) pass(at time.Time) {
	minute := minuteOf(at)
	if minute <= s.minute {
		return // the same minute, or the clock was set back
	}
	if s.minute > 0 {
		s.close()
		for s.minute++; s.minute < minute; s.minute++ {
			if s.quiet() {
				s.minute = minute - 1
			} else {
				s.judge()
			}
		}
	}
	s.minute = minute
}

// close evaluates the minute in progress.
func (s *signal) close() {
	if weight := s.turns - s.extra; weight > 0 {
		bound := s.most.bound(s.minute, boundMinutes, cmp.Or(s.rise.Began, s.minute))
		x := min(s.sum/s.turns, bound)
		s.minutes.put(s.minute, sampleOf(weight, x, s.sum/s.turns, s.told.Level))
		good := (s.sum - s.lateSum) / max(1, s.turns-s.late)
		s.history.put(s.minute, weight*(s.turns-s.late)/s.turns, min(good, bound)+s.usual.at(middleOf(s.minute)))
	}
	if s.turns > 0 && s.quiet() {
		s.most.learn()
	}
	s.turns, s.extra, s.sum, s.late, s.lateSum = 0, 0, 0, 0, 0
	s.limit(numberAt(s.minute))
	s.judge()
}

// limit computes the moves once a day, and the limits each half hour.
func (s *signal) limit(number int32) {
	if number == s.limitsOf {
		return
	}
	s.limitsOf = number
	if day := (number + s.usual.apart) / slots; day != s.movesOf {
		s.movesOf = day
		s.moves = learnMoves(&s.history, s.usual.path())
	}
	s.page, s.ticket = s.pageLimits(number), s.ticketLimits()
}

// learns says whether a half hour is learned: if nothing paged in it and it was near the usual level, or if it was so on
// days before.
func (s *signal) learns(e *entry, paged bool) bool {
	if len(s.usual.Entries) < week {
		return !paged || s.usual.mature() // peaks are unknown in the first week, and medians tolerate a fault
	}
	middle := startOf(e.Number).Add(halfHour / 2)
	return !paged && float64(e.Mean)-s.usual.at(middle) <= s.learnedAtOnce() || s.repeats(e)
}

// learnNoise is how many times its noise a half hour may lie above the usual level to be learned at once.
const learnNoise = 2.5

// learnedAtOnce returns how far above the usual level a half hour is learned at once.
func (s *signal) learnedAtOnce() float64 {
	return max(math.Log(s.policy.TicketRatio), learnNoise*s.usual.noise)
}

// seconds returns the usual value of a turn, the geometric mean over the kinds.
func (s *signal) seconds(at time.Time) float64 {
	sum, n := 0.0, 0.0
	for k := range kinds {
		if m, ok := s.classes.of(k); ok {
			sum, n = sum+m, n+1
		}
	}
	return math.Exp(sum/max(1, n) + s.usual.at(at))
}

// Levels open tickets once each time of day is known twice, and page once each part of a week is. Before that only
// steps do: the rise of a usual morning is no regression.
const levelTickets, levelPages = 2 * slots, 7 * slots

// covers reports whether there are half hours over a period of n, at least half of which were measured.
func (s *signal) covers(n int32) bool {
	e := s.usual.Entries
	return s.usual.mature() && e[len(e)-1].Number-e[0].Number >= n-1 && int32(len(e)) >= n/2
}

// restart forgets the newest minutes and what they caused, because the usual level is another one.
func (s *signal) restart() {
	s.minutes, s.rise, s.paging, s.ticketing, s.told = minutes{}, rise{}, verdict{}, verdict{}, told{}
	s.turns, s.extra, s.sum, s.late, s.lateSum, s.limitsOf = 0, 0, 0, 0, 0, 0
}
