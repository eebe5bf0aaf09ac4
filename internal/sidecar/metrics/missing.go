package metrics

import (
	"time"

	"synthetic/internal/probe"
)

// lasting is how long a fault must last to page. lastingTurns is the number of its turns.
const (
	lasting      = 40 * time.Second
	lastingTurns = 3
)

// enoughGood is the number of good turns after which an objective is no longer missed.
const enoughGood = 7

// missing follows whether turns keep missing an objective. Times are the starts of turns: turns that start during a
// stall end together when it is over.
type missing struct {
	misses span
	// failed are the consecutive failed turns up to now. Longer ones are an outage, which has a page of its own.
	failed span
}

// span is a series of turns; the zero value has none.
type span struct {
	first, last time.Time
	turns, good int // good is the number of good turns since the last turn
}

func (s *span) add(at time.Time) {
	if s.turns == 0 || at.Before(s.first) {
		s.first = at
	}
	if at.After(s.last) {
		s.last = at
	}
	s.turns, s.good = s.turns+1, 0
}

func (s span) lasts() bool { return s.turns >= lastingTurns && s.last.Sub(s.first) >= lasting }

func (m *missing) add(r *probe.Result, bad bool) {
	at := r.Sent
	if at.IsZero() {
		at = r.End
	}
	switch o := r.Outcome; {
	case o.Busy():
		m.misses.add(at)
	case bad && o.Failed() && !o.WrongAnswer():
		m.failed.add(at)
	default:
		if f := m.failed; f.turns > 0 && !f.lasts() {
			m.misses.add(f.first)
			m.misses.add(f.last)
			m.misses.turns += f.turns - 2
		}
		m.failed = span{}
		m.answered(at, bad)
	}
}

func (m *missing) answered(at time.Time, bad bool) {
	if bad {
		m.misses.add(at)
	} else if at.After(m.misses.last) {
		m.misses.good++
		if m.misses.good >= enoughGood && at.Sub(m.misses.last) >= lasting {
			m.misses = span{}
		}
	}
}

// value returns 1 while turns keep missing the objective. It returns 0.5 if they have for less than 40 s, or if
// consecutive turns fail, otherwise 0.
func (m *missing) value() float64 {
	switch {
	case m.misses.lasts():
		return 1
	case m.misses.turns >= lastingTurns || m.failed.turns > 1:
		return 0.5
	}
	return 0
}
