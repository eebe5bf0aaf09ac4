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
	GateRise = "rise"      // the window nearest to its limit, as ratios
	GateFor  = "minutes"   // minutes for which the level is up
	GateMost = "mostTurns" // the ratio that most turns show, if it is known
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
	// Crossed is the minute since which a window has been at its limit, 0 without one.
	Crossed int64 `json:"crossed,omitzero"`
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

// found is the window that is nearest to its limit. AtOnce is true if one pages without waiting.
type found struct {
	Score  float64
	window window
	rise   float64
	limit  limit
	atOnce bool
}

// find compares each window with its limit, only steps if levels is false.
func (s *signal) find(limits *[windowCount]limit, levels bool) (f found) {
	const nearlyTwice = nearlyAll * math.Ln2
	f.Score = math.Inf(-1)
	for i, w := range windows() {
		if !levels && !w.step {
			continue
		}
		l, rise := limits[i], sums(s.minutes.sum).read(w).rise()
		if !levels && math.IsInf(rise, -1) { // no turns before it, as after a restart
			w.step = false
			rise, l.Value = sums(s.minutes.sum).read(window{minutes: w.minutes}).rise(), max(l.Value, math.Log(youngPage))
		}
		if v := rise / l.Value; v > f.Score && !math.IsInf(l.Value, 1) {
			f = found{Score: v, window: w, rise: rise, limit: l, atOnce: f.atOnce}
		}
		f.atOnce = f.atOnce || rise >= l.Value && l.Value >= nearlyTwice
	}
	f.Score = max(f.Score, 0) // also below the usual, the nearest limit is known
	return f
}

// judge decides at the end of a minute.
func (s *signal) judge() {
	if !s.usual.started() {
		s.restart()
		return
	}
	s.minutes.advance(s.minute)
	s.Rise.follow(&s.minutes, s.minute)
	s.end()
	page := s.find(&s.limits.page, s.usual.covers(levelPages))
	wait := s.policy.PageFor
	if page.atOnce {
		wait = 0
	}
	s.Page.take(s.decide(page, wait, s.most.bound(s.minute, pageMinutes, s.Rise.Since)))
	ticket := s.find(&s.limits.ticket, s.usual.covers(levelTickets))
	d := s.decide(ticket, ticketFor, math.Inf(1))
	d.Ticket = true
	s.Ticket.take(d)
}

// ticketFor is how long a level must be up for a ticket.
const ticketFor = 8 * time.Minute

// decide lists the gates. wait is how long the level must be up, bound the rise that most turns show.
func (s *signal) decide(f found, wait time.Duration, bound float64) Decision {
	up := s.Rise.lasted(&s.minutes, s.minute)
	d := Decision{
		Minute: s.minute, Score: f.Score, WindowMinutes: f.window.minutes, Step: f.window.step, Limit: f.limit,
		Gates: []Gate{
			{GateRise, math.Exp(f.rise), math.Exp(f.limit.Value), f.Score >= 1},
			{GateFor, up.Minutes(), wait.Minutes(), up >= wait},
		},
	}
	if !math.IsInf(bound, 1) {
		d.Gates = append(d.Gates, Gate{GateMost, math.Exp(bound / mostOver), math.Exp(f.limit.Value / mostOver), bound >= f.limit.Value})
	}
	if !d.Holds() {
		d.Score = min(d.Score, 0.99)
	}
	return d
}
