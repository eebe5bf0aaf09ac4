package watch

import (
	"math"
	"time"
)

// Gate is a condition of a page or a ticket.
type Gate struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Limit float64 `json:"limit"`
	Holds bool    `json:"holds"`
}

// The gates in their order. A page or a ticket comes up if all hold.
const (
	GateRise = "rise"    // the window nearest to its limit, as ratios
	GateFor  = "minutes" // minutes for which the rise is up
)

// Decision is why a page or a ticket came up at the end of a minute, or why not.
type Decision struct {
	// Minute counts minutes since 1970.
	Minute int64  `json:"minute,omitzero"`
	Gates  []Gate `json:"gates,omitempty"`
	// Score is the rise of the deciding window divided by its limit, below 1 if another gate does not hold.
	Score float64 `json:"score,omitzero"`
	// WindowMinutes is the length of the deciding window. Step is true if it is compared with the quarter of an hour
	// before it.
	WindowMinutes int   `json:"window_minutes,omitzero"`
	Step          bool  `json:"step,omitzero"`
	Limit         limit `json:"limit,omitzero"`
	// Began is the first minute of the rise.
	Began int64 `json:"began,omitzero"`
	// Ticket is true if this is about a ticket.
	Ticket bool `json:"ticket,omitzero"`
}

// Holds reports whether all gates hold.
func (d *Decision) Holds() bool {
	for _, g := range d.Gates {
		if !g.Holds {
			return false
		}
	}
	return len(d.Gates) > 0
}

// ticketFor is how long a rise must be up for a ticket: a page of the same rise comes before it.
const ticketFor = 8 * time.Minute

// judge decides at the end of a minute. Levels open tickets once each time of day is known twice, and page once each
// part of a week is. Before that only steps do: the rise of a usual morning is no regression.
func (s *signal) judge() {
	if !s.Usual.started() {
		s.restart()
		return
	}
	s.Minutes.advance(s.minute)
	s.end()
	page := s.Minutes.find(&s.Limits.page, s.Usual.covers(week))
	if page.Limit.Value < nearlyAll*math.Log(twice) {
		page.needMinutes(s.policy.PageFor)
	}
	s.Page.take(page)
	ticket := s.Minutes.find(&s.Limits.ticket, s.Usual.covers(leastDays*slots))
	ticket.Ticket = true
	ticket.needMinutes(ticketFor)
	s.Ticket.take(ticket)
}

// find returns a decision about the window that is nearest to its limit; only steps count if levels is false.
func (m *minutes) find(limits *[windowCount]limit, levels bool) Decision {
	nearest, limit, rise, score := window{}, limit{}, 0.0, math.Inf(-1) // also below the usual, the nearest limit is known
	for i, w := range windows() {
		if !levels && !w.step || math.IsInf(limits[i].Value, 1) {
			continue
		}
		l, v := limits[i], m.read(w).rise()
		if !levels && math.IsInf(v, -1) { // no turns before it, as after a restart or a night without turns
			w.step = false
			v, l.Value = m.read(w).rise(), max(l.Value, math.Log(young))
		}
		if v/l.Value > score {
			nearest, limit, rise, score = w, l, v, v/l.Value
		}
	}
	return m.decide(nearest, limit, rise)
}

// decide begins a decision about a window with the gate of its rise.
func (m *minutes) decide(w window, l limit, rise float64) Decision {
	d := Decision{Minute: m.last, Began: m.last, WindowMinutes: w.minutes, Step: w.step, Limit: l}
	if l.Value > 0 {
		d.Score = max(0, rise/l.Value)
	}
	if d.Score >= 1 {
		d.Began = m.began(l.Value)
	}
	d.Gates = []Gate{{GateRise, math.Exp(rise), math.Exp(l.Value), d.Score >= 1}}
	return d
}

// needMinutes adds the gate of the time for which the rise must be up.
func (d *Decision) needMinutes(wait time.Duration) {
	up := float64(d.Minute - d.Began + 1)
	holds := up >= wait.Minutes()
	d.Gates = append(d.Gates, Gate{GateFor, up, wait.Minutes(), holds})
	if !holds {
		d.Score = min(d.Score, 0.99)
	}
}
