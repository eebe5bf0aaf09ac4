package lag

import (
	"math"
	"time"
)

const (
	// kept is how many seconds are remembered: longer than turns usually last.
	kept = 1024
	// window is how far back lag looks, and share the part of it, 1 in so many,
	// that must have been as late.
	window = 60
	share  = 20
	// levels of lateness, each √2 times the one before, from least on: up to 28 s.
	levels = 24
	least  = 10 * time.Millisecond
)

// log is what a monitor knows; times are since its epoch. It is pure: the same
// calls give the same answers.
type log struct {
	// due is when the monitor is to run next, 0 while it does not run.
	due     time.Duration
	seconds [kept]second
	// late has, for each of the last seconds, the time that belonged to gaps of
	// each level.
	late [window][levels]time.Duration
	// newest is the second up to which everything is written.
	newest int
}

// second is what happened within one second.
type second struct {
	// lost is the time within it that belonged to gaps; worst is the longest gap
	// that touches it.
	lost  time.Duration
	worst gap
}

// gap is a time in which something was due and did not run.
type gap struct{ from, to time.Duration }

func (g gap) length() time.Duration { return g.to - g.from }

// within is the length of the part of the gap that lies in another.
func (g gap) within(o gap) time.Duration {
	return max(0, min(g.to, o.to)-max(g.from, o.from))
}

// ran says that the monitor runs now.
func (l *log) ran(now time.Duration) {
	l.turn(int(now / time.Second))
	if g := l.open(now); g.length() > 0 {
		l.add(g)
	}
}

// open is the gap that is going on, empty for none: whoever asks runs, and the
// monitor does not yet.
func (l *log) open(now time.Duration) gap {
	if l.due == 0 || now-l.due < least {
		return gap{}
	}
	return gap{l.due, now}
}

// turn clears the seconds up to the present one.
func (l *log) turn(present int) {
	for s := max(l.newest+1, present-kept+1); s <= present; s++ {
		l.seconds[s%kept] = second{}
		l.late[s%window] = [levels]time.Duration{}
	}
	l.newest = max(l.newest, present)
}

// add writes a gap into the seconds that it touches.
func (l *log) add(g gap) {
	level := levelOf(g.length())
	last := int(g.to / time.Second)
	for s := max(int(g.from/time.Second), last-kept+1, 0); s <= last; s++ {
		at := &l.seconds[s%kept]
		part := g.within(whole(s))
		at.lost += part
		if g.length() > at.worst.length() {
			at.worst = g
		}
		if s > last-window {
			l.late[s%window][level] += part
		}
	}
}

func whole(s int) gap { return gap{time.Duration(s) * time.Second, time.Duration(s+1) * time.Second} }

// levelOf is the index of the highest level that a lateness reaches.
func levelOf(d time.Duration) int {
	return min(int(2*math.Log2(float64(d)/float64(least))), levels-1)
}

// between is the longest part of a gap, and the time in all that belonged to
// gaps, between two times. What is no longer known counts as no gap.
func (l *log) between(from, to, now time.Duration) (longest, lost time.Duration) {
	asked := gap{max(from, 0), to}
	longest = l.open(now).within(asked)
	lost = longest
	for s := max(int(asked.from/time.Second), l.newest-kept+1); s <= min(int(to/time.Second), l.newest); s++ {
		at := l.seconds[s%kept]
		longest = max(longest, at.worst.within(asked))
		lost += min(at.lost, whole(s).within(asked))
	}
	return longest, lost
}

// lag is the highest level that more than 1 in share of the last minute's time
// reached.
func (l *log) lag(now time.Duration) time.Duration {
	l.turn(int(now / time.Second))
	total, open := time.Duration(0), l.open(now)
	for level := levels - 1; level >= 0; level-- {
		for s := range l.late {
			total += l.late[s][level]
		}
		if open.length() > 0 && levelOf(open.length()) == level {
			total += min(open.length(), window*time.Second)
		}
		if total > window*time.Second/share {
			return time.Duration(float64(least) * math.Pow(2, float64(level)/2))
		}
	}
	return 0
}
