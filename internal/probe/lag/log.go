package lag

import (
	"cmp"
	"slices"
	"time"
)

const (
	// keptSeconds is how many seconds are remembered. Turns are usually shorter.
	keptSeconds = 1024
	// lagSeconds is the span that lag considers. lagShare is the part of it, 1 in so many, that gaps take.
	lagSeconds = 60
	lagShare   = 20
	// minGap is the shortest gap that counts.
	minGap = 10 * time.Millisecond
)

// log is the memory of a monitor. All times are since its epoch. It does not read the clock.
type log struct {
	// due is when the monitor wants to run next; 0 while it does not run.
	due     time.Duration
	seconds [keptSeconds]second
	// newest is the newest second that was cleared for use.
	newest int
}

// second describes the gaps in one second.
type second struct {
	// lost is the time of the second that belongs to gaps.
	lost time.Duration
	// longest is the longest gap that overlaps the second.
	longest gap
}

// gap is a time while the monitor was due but did not run.
type gap struct{ from, to time.Duration }

func (g gap) length() time.Duration { return g.to - g.from }

// overlap returns the length of the overlap of two gaps.
func (g gap) overlap(o gap) time.Duration {
	return max(0, min(g.to, o.to)-max(g.from, o.from))
}

// wake records that the monitor runs now, and will sleep.
func (l *log) wake(now time.Duration) {
	l.advance(now)
	if g := l.currentGap(now); g.length() > 0 {
		l.add(g)
	}
	l.due = now + interval
}

// currentGap returns the gap that lasts until now, or an empty one.
func (l *log) currentGap(now time.Duration) gap {
	if l.due == 0 || now-l.due < minGap {
		return gap{}
	}
	return gap{l.due, now}
}

// advance clears the seconds up to the current one.
func (l *log) advance(now time.Duration) {
	current := int(now / time.Second)
	for s := max(l.newest+1, current-keptSeconds+1); s <= current; s++ {
		l.seconds[s%keptSeconds] = second{}
	}
	l.newest = max(l.newest, current)
}

func (l *log) add(g gap) {
	last := int(g.to / time.Second)
	for s := max(int(g.from/time.Second), last-keptSeconds+1, 0); s <= last; s++ {
		sec := &l.seconds[s%keptSeconds]
		sec.lost += g.overlap(spanOf(s))
		if g.length() > sec.longest.length() {
			sec.longest = g
		}
	}
}

func spanOf(s int) gap { return gap{time.Duration(s) * time.Second, time.Duration(s+1) * time.Second} }

// between returns the longest part of a gap between two times, and the sum of all parts.
// Forgotten seconds have no gaps.
func (l *log) between(from, to, now time.Duration) (longest, lost time.Duration) {
	span := gap{max(from, 0), to}
	longest = l.currentGap(now).overlap(span)
	lost = longest
	for s := max(int(span.from/time.Second), l.newest-keptSeconds+1); s <= min(int(to/time.Second), l.newest); s++ {
		sec := l.seconds[s%keptSeconds]
		longest = max(longest, sec.longest.overlap(span))
		lost += min(sec.lost, spanOf(s).overlap(span))
	}
	return longest, lost
}

// lag returns the longest duration for which gaps at least so long took more than 1 in lagShare of the last
// minute.
func (l *log) lag(now time.Duration) time.Duration {
	l.advance(now)
	current := l.currentGap(now)
	recent := []second{{lost: current.length(), longest: current}}
	for s := max(l.newest-lagSeconds+1, 0); s <= l.newest; s++ {
		recent = append(recent, l.seconds[s%keptSeconds])
	}
	slices.SortFunc(recent, func(a, b second) int { return cmp.Compare(b.longest.length(), a.longest.length()) })
	total := time.Duration(0)
	for _, s := range recent {
		if total += s.lost; total > lagSeconds*time.Second/lagShare {
			return s.longest.length()
		}
	}
	return 0
}
