package watch

import (
	"math"
	"time"

	"synthetic/internal/fleet"
)

// clip bounds the log ratio of one turn: an outlier or a deadline counts as e² times the usual at most.
const clip = 2.0

// signal is one timing of a job.
type signal struct {
	// configured: the index of fleet.Signals, and what the strictest objective of each kind of turn wants
	index      int
	policy     fleet.Policy
	objectives objectives

	current
	past

	// the minute in progress, and the one in which an earlier process was continued
	minute, restored int64
	open             tally
}

// current is what the state file keeps of a signal: what changes with each turn.
type current struct {
	Classes classes `json:"classes"`
	Minutes minutes `json:"recent"`
	reports
}

// past is what the history file keeps of a signal: what is large, and changes each half hour. It needs at most 250 kB, and
// a tenth of that compressed.
type past struct {
	Usual   usual
	History history
	Limits  limits
}

// tally sums up the turns of a minute.
type tally struct {
	// bursts are the turns of bursts; late and lateSum belong to turns that timed out, from which the past learns nothing.
	turns, bursts, bad, late, sum, lateSum float64
}

func (m *tally) add(t turn, ratio float64) {
	m.turns++
	m.sum += ratio
	if t.failed {
		m.late++
		m.lateSum += ratio
	}
	if t.burst {
		m.bursts++
	}
	if t.bad {
		m.bad++
	}
}

// turn is a turn with a value of a timing: its natural logarithm in seconds.
type turn struct {
	ln             float64
	kind, class    int
	failed, change bool
	bad            bool // it missed the objective
	// burst turns come when the level is high, so they give their minute no weight.
	burst bool
}

// observe adds a turn.
func (s *signal) observe(t turn, at time.Time) {
	if s.Usual.roll(at, s.learns) {
		s.acceptLasting(at)
	}
	t.bad = s.objectives[t.kind].misses(t.ln)
	level := 0.0
	if s.Usual.started() {
		level = s.Usual.at(at)
	}
	mean, known := s.Classes.mean(t.class)
	x := t.ln - mean
	if known && s.Usual.started() && !t.change {
		s.open.add(t, min(max(x-level, -clip), clip))
	}
	if t.burst {
		return
	}
	b := &s.Usual.block
	switch {
	case t.failed:
		b.failed++
	case known:
		b.add(x, t.bad)
	}
	b.unfit, b.paged = b.unfit || t.change, b.paged || s.Page.Up
	if !t.failed && !t.change && s.quiet() {
		if recent := s.Minutes.toUsual(halfHourMinutes); s.Usual.started() && !math.IsNaN(recent) {
			level += recent // a class learns how it differs from the others, not how they all moved
		}
		s.Classes.learn(t.class, t.ln-level)
	}
}

// fail adds a failed turn without a value. A half hour with many failures is not learned from those that survived.
func (s *signal) fail(at time.Time) {
	if numberOf(at) == s.Usual.block.number {
		s.Usual.block.failed++
	}
}

// quiet reports whether nothing is up, and the last minutes are as usual.
func (s *signal) quiet() bool {
	mean, _ := s.Minutes.now()
	return !s.regressed() && s.Minutes.Told.Rise == 0 && !(mean >= risen)
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
	m := s.open
	if weight := m.turns - m.bursts; weight > 0 {
		s.Minutes.put(s.minute, weight, m.sum/m.turns, weight*m.bad/m.turns)
		good := (m.sum - m.lateSum) / max(1, m.turns-m.late)
		s.History.put(s.minute, weight*(m.turns-m.late)/m.turns, good+s.Usual.at(middleOf(s.minute)))
	}
	s.open = tally{}
	s.know(numberAt(s.minute))
	s.judge()
}

// learns says whether a half hour is learned: if nothing paged in it and it was near the usual level, or if it was so on
// days before.
func (s *signal) learns(e *entry, paged bool) bool {
	if len(s.Usual.Entries) < week {
		return !paged || s.Usual.mature() // peaks are unknown in the first week, and medians tolerate a fault
	}
	middle := startOf(e.Number).Add(halfHour / 2)
	return !paged && float64(e.Mean)-s.Usual.at(middle) <= s.learnedAtOnce() || s.repeats(e)
}

// learnedAtOnce returns how far above the usual level a half hour is learned at once.
func (s *signal) learnedAtOnce() float64 {
	return max(math.Log(s.policy.TicketRatio), deviations*s.Usual.noise)
}

// seconds returns the usual value of a turn, the geometric mean over the kinds.
func (s *signal) seconds(at time.Time) float64 {
	sum, n := 0.0, 0.0
	for k := range kinds {
		if m, ok := s.Classes.of(k); ok {
			sum, n = sum+m, n+1
		}
	}
	return math.Exp(sum/max(1, n) + s.Usual.at(at))
}

// restart forgets the newest minutes and what they caused, because the usual level is another one.
func (s *signal) restart() {
	s.Minutes, s.reports, s.open, s.Limits.of = minutes{}, reports{}, tally{}, 0
}
