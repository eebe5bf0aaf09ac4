package metrics

import (
	"time"

	"synthetic/internal/probe"
)

const (
	// lasting is how long a fault must last to page. lastingTurns is the number of its turns.
	lasting, lastingTurns = 40 * time.Second, 3
	// enoughGood is the number of good turns after which an objective is no longer missed.
	enoughGood = 7
	// calmTurns consecutive good turns in calm or more end a fault.
	calmTurns, calm = 30, 90 * time.Second
)

// missing follows whether turns keep missing an objective. Its times are the starts of turns: turns that start during a
// stall end together when it is over.
type missing struct {
	misses span
	// failed are the consecutive failed turns up to now. Longer ones are an outage, which has a page of its own.
	failed span
	// began is the first miss of the fault, zero without one. good turns have come since the last miss, at lastBad.
	began, lastBad time.Time
	good           int
}

// span is a series of turns. good is the number of good turns since the last of them.
type span struct {
	first, last time.Time
	turns, good int
}

func (s *span) add(turns int, times ...time.Time) {
	for _, at := range times {
		if s.last.IsZero() || at.Before(s.first) {
			s.first = at
		}
		if at.After(s.last) {
			s.last = at
		}
	}
	s.turns, s.good = s.turns+turns, 0
}

func (s *span) lasts() bool { return s.turns >= lastingTurns && s.last.Sub(s.first) >= lasting }

func (m *missing) add(r *probe.Result, bad bool) {
	at := r.Sent
	if at.IsZero() {
		at = r.End
	}
	if m.good++; bad {
		m.good, m.lastBad = 0, at
	} else if m.good >= calmTurns && at.Sub(m.lastBad) >= calm {
		m.began = time.Time{}
	}
	if bad && r.Outcome.Failed() && !r.Outcome.WrongAnswer() && !r.Outcome.Busy() {
		m.failed.add(1, at)
		return
	}
	if f := m.failed; !r.Outcome.Busy() { // which does not end an outage
		if m.failed = (span{}); f.turns > 0 && !f.lasts() {
			m.misses.add(f.turns, f.first, f.last)
		}
	}
	if bad {
		m.misses.add(1, at)
	} else if at.After(m.misses.last) {
		if m.misses.good++; m.misses.good >= enoughGood && at.Sub(m.misses.last) >= lasting {
			m.misses = span{}
		}
	}
	if m.began.IsZero() && m.misses.lasts() {
		m.began = m.misses.first
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
