package baseline

import (
	"math"
	"time"
)

// A scan holds the mean log ratio to the baseline over several windows at once: a short window
// shows a large jump within minutes, a long one a small rise within an hour. calibrate chooses a
// limit for each window. A level window is compared with the baseline, a step window with the
// minutes just before it: a deployment wanders slowly, and a fault comes at once.

// span is one window of a scan.
type span struct {
	minutes int
	// step windows are compared with the quarter of an hour before them.
	step bool
}

const (
	// before is the length in minutes of the period immediately before a step window, with which the
	// window is compared.
	before = 15
	// leastTurns is the number of turns that are evidence of a level.
	leastTurns = 3
	// doubt is the number of turns at the baseline that a visible mean assumes in addition: the
	// mean of few turns is as likely their own noise.
	doubt = 3
	// below bounds how far below the baseline the reference of a step may be: the return from a
	// good hour is no fault.
	below = 0.25
	// still is the share of a window's mean that its end must reach.
	still = 0.7
	// scanned is the number of minutes that a scan keeps: more than the longest window, and more
	// than a step window with the minutes before it.
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

// scan holds running sums by minute, so that the mean of any window is one subtraction. Copies share the
// sums. They are separate allocations, because a process has four scans per job and many never need both.
type scan struct {
	// last is the minute of the newest sums, 0 before the first.
	last int64
	by   *sumsByMinute // nil before the first turn
	// noise is the sum of weight²/turns of the minutes. Burst turns make the mean of a minute more
	// certain, but add no weight. Without any, noise is nil and equal to the turns.
	noise *sumOfMinutes
}

type sumsByMinute struct{ turns, total, tail sumOfMinutes }

// sumOfMinutes are the sums up to each minute. They have single precision, because they take a large part of the memory of
// a job, and are rebased, so that they stay small and therefore exact enough.
type sumOfMinutes [scanned]float32

// between returns the sum of the minutes after one slot up to another.
func (s *sumOfMinutes) between(start, end uint64) float64 { return float64(s[end]) - float64(s[start]) }

// rebase lets the sums begin after a slot. Their differences stay.
func (s *sumOfMinutes) rebase(slot uint64) {
	base := s[slot]
	for i := range s {
		s[i] -= base
	}
}

// slot returns the index of the sums of a minute.
func slot(minute int64) uint64 { return uint64(minute) % scanned }

// push adds a minute with its turns, the sum of their log ratios and the number of slow turns.
// Minutes without turns need not be pushed.
func (s *scan) push(minute int64, turns, total, tail float64) {
	s.weigh(minute, turns, 1, total, tail)
}

// weigh adds a minute whose mean comes from confidence times as many turns as its weight. total
// and tail are scaled to the weight.
func (s *scan) weigh(minute int64, weight, confidence, total, tail float64) {
	if s.last == 0 || minute < s.last || minute-s.last >= scanned { // an earlier minute: the clock was set back
		s.restart(minute - 1)
	}
	if s.by == nil {
		s.by = &sumsByMinute{}
	}
	s.advanceTo(minute)
	if confidence != 1 && s.noise == nil {
		noise := s.by.turns
		s.noise = &noise
	}
	i := slot(minute)
	s.by.turns[i] += float32(weight)
	s.by.total[i] += float32(total)
	s.by.tail[i] += float32(tail)
	if s.noise != nil {
		s.noise[i] += float32(weight / confidence)
	}
}

// restart forgets all sums.
func (s *scan) restart(last int64) {
	s.last, s.noise = last, nil
	if s.by != nil {
		*s.by = sumsByMinute{}
	}
}

// advanceTo adds minutes without turns.
func (s *scan) advanceTo(minute int64) {
	if s.last == 0 || minute <= s.last {
		return
	}
	if minute-s.last >= scanned {
		s.restart(minute)
		return
	}
	from, next := slot(s.last), s.last+1
	s.last = minute
	for ; s.by != nil && next <= minute; next++ {
		i := slot(next)
		s.by.turns[i], s.by.total[i], s.by.tail[i] = s.by.turns[from], s.by.total[from], s.by.tail[from]
		if s.noise != nil {
			s.noise[i] = s.noise[from]
		}
		if i == 0 {
			s.rebase(1)
		}
	}
}

// rebase lets all sums begin after a slot, that of the oldest minute.
func (s *scan) rebase(slot uint64) {
	s.by.turns.rebase(slot)
	s.by.total.rebase(slot)
	s.by.tail.rebase(slot)
	if s.noise != nil {
		s.noise.rebase(slot)
	}
}

// sums returns the sums of the minutes (last − from − length, last − from].
func (s *scan) sums(from, length int64) (turns, total, tail float64) {
	if s.last <= scanned || s.by == nil {
		return 0, 0, 0
	}
	end, start := slot(s.last-from), slot(s.last-from-length)
	return s.by.turns.between(start, end), s.by.total.between(start, end), s.by.tail.between(start, end)
}

// mean returns the mean of the last minutes, NaN with fewer than leastTurns.
func (s *scan) mean(minutes int) float64 {
	turns, total, _ := s.sums(0, int64(minutes))
	if turns < leastTurns-0.5 {
		return math.NaN()
	}
	return total / turns
}

// visibleMean returns the mean of a window that ended some minutes ago, with doubt: it is closer
// to the baseline the fewer turns the window has. It is NaN without turns.
func (s *scan) visibleMean(ago, minutes int) float64 {
	turns, total, _ := s.sums(int64(ago), int64(minutes))
	if turns < 0.5 {
		return math.NaN()
	}
	return total / (turns + doubt/s.confidence(ago, minutes))
}

// confidence returns how many turns a window has for each turn of its weight.
func (s *scan) confidence(ago, minutes int) float64 {
	turns, _, _ := s.sums(int64(ago), int64(minutes))
	if turns < 0.5 || s.noise == nil {
		return 1
	}
	noise := s.noise.between(slot(s.last-int64(ago+minutes)), slot(s.last-int64(ago)))
	if noise <= 0 {
		return 1
	}
	return turns / noise
}

// latest returns the mean of the last two minutes, or of up to 12 minutes until there are enough
// turns.
func (s *scan) latest() float64 {
	const longest = 12
	for minutes := 2; minutes < longest; minutes++ {
		if m := s.mean(minutes); !math.IsNaN(m) {
			return m
		}
	}
	return s.visibleMean(0, longest)
}

// slowFor returns for how many minutes before the last one the turns were as slow as those of a rise. Minutes
// without a turn do not end it.
func (s *scan) slowFor(rise float64) (minutes int64) {
	const longest = 4
	for ago := range int64(longest + 1) {
		turns, total, _ := s.sums(ago, 1)
		switch {
		case turns < 0.5:
		case total/turns >= max(risen, rise/2):
			minutes = ago
		case ago > 0:
			return minutes
		}
	}
	return minutes
}

// covers reports whether the older half of a window has turns, too: a few turns after a gap are
// no mean over all of it. Short windows need none there.
func (s *scan) covers(minutes int) bool {
	older := minutes / 2
	turns, _, _ := s.sums(int64(older), int64(minutes-older))
	return minutes < 5 || turns > 0
}

// reading is the result of one window: how far its mean is above its reference, and that
// reference as log ratio to the baseline.
type reading struct{ rise, reference float64 }

func (s *scan) read(w span) reading { return s.measure(w).reading() }

// windowMeans are the mean log ratios of a window, of its end, and of the minutes before a step.
type windowMeans struct{ whole, end, before float64 }

// measure returns the means of a window; NaN if it has too few turns.
func (s *scan) measure(w span) windowMeans {
	if !s.covers(w.minutes) {
		return windowMeans{whole: math.NaN()}
	}
	m := windowMeans{whole: s.visibleMean(0, w.minutes), end: s.visibleMean(0, max(2, w.minutes/4))}
	if math.IsNaN(m.end) {
		m.end = m.whole
	}
	if w.step {
		m.before = s.visibleMean(w.minutes, before)
	}
	return m
}

// mirrored returns the means of the same minutes upside down.
func (m windowMeans) mirrored() windowMeans { return windowMeans{-m.whole, -m.end, -m.before} }

// reading reads a window. Its end must show nearly the same rise: a window that still contains a
// finished fault says little.
func (m windowMeans) reading() reading {
	reference := max(m.before, -below)
	rise := min(m.whole-reference, (m.end-reference)/still)
	if math.IsNaN(rise) {
		return reading{math.Inf(-1), reference}
	}
	return reading{rise, reference}
}

// ignoreSince makes the minutes from one on equal to the baseline, because they were reported
// and are over.
func (s *scan) ignoreSince(since int64) {
	from := max(since, s.last-scanned+1)
	if from > s.last || s.by == nil {
		return
	}
	before := slot(from - 1)
	total, tail := s.by.total[before], s.by.tail[before]
	for m := from; m <= s.last; m++ {
		s.by.total[slot(m)], s.by.tail[slot(m)] = total, tail
	}
}

// The share of slow turns is measured over tailMinutes. The older half and the latest tailNow
// minutes must show it, too: a burst of a few minutes is in only one of them.
const tailMinutes, tailOlder, tailNow = 20, 10, 7

// tailShare returns the share of slow turns, which is at most twice the share of the older half
// and of the end of the window, and the number of slow turns.
func (s *scan) tailShare() (share, turns float64) {
	n, _, tail := s.sums(0, tailMinutes)
	older, _, olderTail := s.sums(tailMinutes-tailOlder, tailOlder)
	recent, _, recentTail := s.sums(0, tailNow)
	if older == 0 || recent == 0 {
		return 0, 0
	}
	return min(tail/n, 2*olderTail/older, 2*recentTail/recent), tail
}

// minuteOf numbers minutes since 1970.
func minuteOf(at time.Time) int64 { return at.Unix() / 60 }
