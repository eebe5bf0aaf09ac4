package baseline

import (
	"math"
	"time"
)

// A scan looks at the mean log ratio to the usual over several windows at once: a
// short one sees a large jump within minutes, a long one a small rise within an
// hour. Each window has a limit of its own, which calibrate chooses. Some compare
// with the usual (level), others with what was measured just before the window
// (step): a deployment wanders slowly, and a fault comes at once.

// span is one window of a scan, in minutes.
type span struct {
	minutes int
	// step says that the window is compared with the quarter of an hour before
	// it, and not with the usual alone.
	step bool
}

const (
	// before is how many minutes in front of a step's window it is compared with.
	before = 15
	// leastTurns are evidence of a level.
	leastTurns = 3
	// doubt is how many turns as usual a mean takes for granted: what few turns
	// show is as likely their own noise, and less the fewer they are.
	doubt = 3
	// below is how far below the usual what came before a step may count: coming
	// back from a good hour is no fault.
	below = 0.25
	// still is the part of its mean that the end of a window must show.
	still = 0.7
	// scanned is how many minutes a scan remembers: more than the longest window,
	// and than one with what comes before it.
	scanned = 256
	spans   = 15
)

// spanTable lists the windows.
func spanTable() [spans]span {
	return [spans]span{
		{3, false}, {5, false}, {8, false}, {12, false}, {20, false}, {30, false}, {60, false}, {120, false}, {240, false},
		{3, true}, {5, true}, {8, true}, {12, true}, {20, true}, {30, true},
	}
}

// scan holds running sums by minute, so that the mean of any window is one
// subtraction.
type scan struct {
	// last is the minute of the newest sums, 0 before the first.
	last               int64
	turns, total, tail [scanned]float64
	// noise is the sum of weight²/turns of the minutes: turns beyond a minute's
	// weight make its mean surer, and weigh nothing.
	noise [scanned]float64
}

// slot is where the sums of a minute are.
func slot(minute int64) uint64 { return uint64(minute) % scanned }

// push adds a minute: how many turns it had, the sum of their log ratios and how
// many were in the tail. Minutes without turns need not be pushed.
func (s *scan) push(minute int64, turns, total, tail float64) {
	s.weigh(minute, turns, 1, total, tail)
}

// weigh adds a minute of a weight, whose mean stands on so many times as many turns;
// total and tail are of the weight.
func (s *scan) weigh(minute int64, weight, surer, total, tail float64) {
	if s.last == 0 || minute < s.last || minute-s.last >= scanned { // before it: the clock was set
		*s = scan{last: minute - 1}
	}
	s.to(minute)
	i := slot(minute)
	s.turns[i] += weight
	s.noise[i] += weight / surer
	s.total[i] += total
	s.tail[i] += tail
}

// to moves the scan on to a minute that had no turns so far.
func (s *scan) to(minute int64) {
	if s.last == 0 || minute <= s.last {
		return
	}
	if minute-s.last >= scanned {
		*s = scan{last: minute}
		return
	}
	for from := slot(s.last); s.last < minute; {
		s.last++
		i := slot(s.last)
		s.turns[i], s.total[i], s.tail[i], s.noise[i] = s.turns[from], s.total[from], s.tail[from], s.noise[from]
	}
}

// sums are those of the minutes (last − from − length, last − from]; 0 before the
// first.
func (s *scan) sums(from, length int64) (turns, total, tail float64) {
	if s.last <= scanned {
		return 0, 0, 0
	}
	end, start := slot(s.last-from), slot(s.last-from-length)
	return s.turns[end] - s.turns[start], s.total[end] - s.total[start], s.tail[end] - s.tail[start]
}

// mean is that of the last minutes; NaN without evidence.
func (s *scan) mean(minutes int) float64 {
	turns, total, _ := s.sums(0, int64(minutes))
	if turns < leastTurns-0.5 {
		return math.NaN()
	}
	return total / turns
}

// shown is the mean of so many minutes, drawn to the usual by doubt, which is less
// where more turns stand behind it; NaN without turns.
func (s *scan) shown(from, minutes int) float64 {
	turns, total, _ := s.sums(int64(from), int64(minutes))
	if turns < 0.5 {
		return math.NaN()
	}
	return total / (turns + doubt/s.surer(from, minutes))
}

// surer is how many times as many turns a window of minutes stands on as weigh in
// it, so many minutes ago.
func (s *scan) surer(from, minutes int) float64 {
	turns, _, _ := s.sums(int64(from), int64(minutes))
	noise := s.noise[slot(s.last-int64(from))] - s.noise[slot(s.last-int64(from+minutes))]
	if s.last <= scanned || turns < 0.5 || noise <= 0 {
		return 1
	}
	return turns / noise
}

// latest is the mean of the last two minutes, or of as many more as have evidence,
// or of what there is.
func (s *scan) latest() float64 {
	const most = 12
	for minutes := 2; minutes < most; minutes++ {
		if m := s.mean(minutes); !math.IsNaN(m) {
			return m
		}
	}
	return s.shown(0, most)
}

// covers says that there were turns in the older half of a window, too, unless it is
// a short one: a few turns after a gap are no mean over all of it.
func (s *scan) covers(minutes int) bool {
	older := minutes / 2
	turns, _, _ := s.sums(int64(older), int64(minutes-older))
	return minutes < 5 || turns > 0
}

// reading is what a window shows: how far the mean lies above what it is compared
// with, and what that is, as log ratio to the usual.
type reading struct{ rise, over float64 }

// read reads a window. Its end must show nearly as much: a window that is still
// full of a fault that is over says little.
func (s *scan) read(w span) reading {
	if !s.covers(w.minutes) {
		return reading{math.Inf(-1), 0}
	}
	mean, over := s.shown(0, w.minutes), 0.0
	if w.step {
		over = max(s.shown(w.minutes, before), -below)
	}
	now := s.shown(0, max(2, w.minutes/4))
	if math.IsNaN(now) {
		now = mean
	}
	rise := min(mean-over, (now-over)/still)
	if math.IsNaN(rise) {
		return reading{math.Inf(-1), over}
	}
	return reading{rise, over}
}

// forgive takes the minutes since one for usual ones: what they were has been told,
// and is over.
func (s *scan) forgive(since int64) {
	from := max(since, s.last-scanned+1)
	if from > s.last {
		return
	}
	before := slot(from - 1)
	total, tail := s.total[before], s.tail[before]
	for m := from; m <= s.last; m++ {
		s.total[slot(m)], s.tail[slot(m)] = total, tail
	}
}

// A growing tail is seen in tailMinutes, and must be in their older half and in the
// latest, tailNow, as well: a burst of some minutes is in one of them.
const tailMinutes, tailOlder, tailNow = 20, 10, 7

// tailShare is the share of turns in the tail, over the window or, if that is less,
// twice that of its older half or of its end; and how many they are.
func (s *scan) tailShare() (share, turns float64) {
	n, _, tail := s.sums(0, tailMinutes)
	older, _, olderTail := s.sums(tailMinutes-tailOlder, tailOlder)
	recent, _, recentTail := s.sums(0, tailNow)
	if older == 0 || recent == 0 {
		return 0, 0
	}
	return min(tail/n, 2*olderTail/older, 2*recentTail/recent), tail
}

// minuteOf numbers minutes.
func minuteOf(at time.Time) int64 { return at.Unix() / 60 }
