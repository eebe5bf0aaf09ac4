package baseline

import (
	"math"
	"synthetic/internal/sidecar/sink"
	"time"
)

// limits are what readings are compared with: of the logarithm of the ratio, by
// window, and of the share of turns in the tail.
type limits struct {
	spans [spans]float64
	// least are the limits that are configured; chance is the part of the variance
	// of a window's mean that is of single turns.
	least, chance [spans]float64
	tail          float64
	// usualTail is the usual share of turns in the tail.
	usualTail float64
	// turns is how many a minute has as a rule, 0 if that is not known.
	turns float64
}

// shown is the part of a rise that fills a window which its reading shows: few
// turns are doubted.
func (l *limits) shown(w span) float64 {
	if l.turns == 0 {
		return 1
	}
	n := l.turns * float64(w.minutes)
	return n / (n + doubt)
}

const (
	// twice is the ratio from which on a level need not last to page, and
	// nearlyAll the part of a limit that the mean of a fault of that size reaches
	// soon: it wanders around it.
	twice, nearlyAll = 2.0, 0.93
	// tailPage and tailTicket are the least share of turns in the tail, above the
	// usual share; leastTail turns of it are evidence.
	tailPage, tailTicket, leastTail = 0.06, 0.05, 8
	// ticketsFor is how many tickets for nothing a job may bring in 30 days.
	ticketsFor = 8
	// youngPage and youngTicket are the least ratios while nothing is known of what
	// the target does by itself.
	youngPage, youngTicket = 2.5, 1.6
	// youngTail is the same of the share of turns in the tail.
	youngTail = 0.3
)

// always is the ratio that a mean over minutes pages at, whatever the past was
// like: a target that did so often before is no better for it.
func always(minutes int) float64 {
	switch {
	case minutes <= 3:
		return math.Log(2.75)
	case minutes <= 5:
		return math.Log(2.5)
	case minutes <= 8:
		return math.Log(2.1)
	}
	return math.Log(2)
}

// outlying is how many standard deviations of the mean of single turns are left to
// chance.
const outlying = 5

// blocksPer30Days is how many blocks of a calibration a month has.
const blocksPer30Days = 30 * 24 * 60 / blockMinutes

// chanceFor is the chance of a block that keeps a rate for 30 days of a job.
func chanceFor(per30Days float64) float64 {
	return per30Days / float64(kinds*signals) / blocksPer30Days / independent
}

// pageLimits are those of pages, where the level is usual, in seconds, and wanders
// so many times as much as it does as a rule.
func (s *series) pageLimits(usual, wide float64) limits {
	l := limits{turns: s.past.turns}
	p := s.policy
	difference := math.Log1p(p.LeastDifference[s.signal].Seconds() / usual)
	chance := chanceFor(p.FalsePages)
	for i, w := range spanTable() {
		least := p.PageRatio
		if time.Duration(w.minutes)*time.Minute < p.PageFor {
			least = max(least, twice)
		}
		floor := max(nearlyAll*math.Log(least), difference)
		l.least[i], l.chance[i] = floor, s.past.ofTurns(i, s.baseline.spreadOr(), chance)
		if s.past.known {
			l.spans[i] = max(floor, min(s.past.limit(i, chance, wide), l.shown(w)*s.most(w, wide)))
		} else {
			l.spans[i] = max(floor, math.Log(youngPage))
		}
	}
	l.usualTail, l.tail = s.past.usualTail, youngTail
	if s.past.known {
		l.tail = max(s.past.usualTail+tailPage, min(s.past.tail.beyond(chance), mostTail))
	}
	return l
}

// most is what pages whatever the past was like. Few turns are noise, whatever
// their mean, and where days differ by far, being far from the usual says less.
func (s *series) most(w span, wide float64) float64 {
	ratio := always(w.minutes)
	if !w.step {
		ratio *= max(1, wide/2)
	}
	return math.Hypot(ratio, outlying*s.past.noise(w, s.baseline.spreadOr()))
}

// mostTail is the share of turns in the tail that pages, whatever is usual.
const mostTail = 0.5

// ticketLimits are those of tickets.
func (s *series) ticketLimits(wide float64) limits {
	var l limits
	p := s.policy
	chance := chanceFor(ticketsFor * independent) // of some windows more, for nobody is woken
	floor := nearlyAll * math.Log(p.TicketRatio)
	for i, w := range spanTable() {
		switch {
		case w.minutes < 5: // what is over so soon is no work for the day
			l.spans[i] = math.Inf(1)
		case s.past.known:
			l.spans[i] = max(floor, s.past.limit(i, chance, wide))
		default:
			l.spans[i] = max(floor, math.Log(youngTicket))
		}
	}
	l.usualTail = s.past.usualTail
	l.tail = max(s.past.usualTail+tailTicket, s.past.tail.beyond(chance))
	return l
}

// finding is how near a scan comes to its limits, from 1 on beyond them, and by
// what. At once says that it need not last.
type finding struct {
	score  float64
	by     reason
	atOnce bool
}

// heard is what has been told of and is no news: a level, as log ratio to the usual,
// and a share of turns in the tail.
type heard struct {
	Level float64 `json:"level,omitzero"`
	Tail  float64 `json:"tail,omitzero"`
}

// find compares a scan with limits. What is above counts from what was heard on;
// only steps count where levels does not say so.
func (l *limits) find(s *scan, above heard, levels bool) finding {
	var f finding
	for i, w := range spanTable() {
		if !levels && !w.step {
			continue
		}
		r := s.read(w)
		if !w.step {
			r = reading{r.rise - above.Level, r.over + above.Level}
		}
		limit := l.eased(i, s.surer(0, w.minutes))
		v := r.rise / limit
		if v > f.score {
			f.score, f.by = v, reason{Limit: limit, Over: r.over}
		}
		f.atOnce = f.atOnce || v >= 1 && min(l.spans[i], max(limit, r.rise)) >= nearlyAll*math.Log(twice)
	}
	share, n := s.tailShare()
	if share -= above.Tail; n >= leastTail && share/l.tail > f.score {
		f = finding{share / l.tail, reason{Limit: l.tail - l.usualTail, Over: l.usualTail, Tail: true}, f.atOnce || share >= l.tail}
	}
	return f
}

// eased is a limit for a window that stands on so many times as many turns as the
// past did from which it was chosen: single turns then move its mean less.
func (l *limits) eased(window int, surer float64) float64 {
	left := 1 - l.chance[window]*(1-1/max(1, surer))
	return max(min(l.least[window], l.spans[window]), l.spans[window]*math.Sqrt(left))
}

// delay is after how many minutes a rise of a log ratio that comes at once pages, in
// half of the cases; +Inf if it does not.
func (l *limits) delay(rise float64, policy sink.Policy) float64 {
	soon, atOnce := math.Inf(1), math.Inf(1)
	for i, w := range spanTable() {
		shown := rise * l.shown(w)
		if l.spans[i] > shown {
			continue
		}
		// The mean of a window rises until the window is full of it.
		filled := float64(w.minutes) * l.spans[i] / shown
		soon = min(soon, filled)
		if l.spans[i] >= nearlyAll*math.Log(twice) {
			atOnce = min(atOnce, filled)
		}
	}
	// A minute is judged when it is over, which takes half of one.
	return min(max(soon, policy.PageFor.Minutes()), max(soon, atOnce)) + 0.5
}

// detectable is the least ratio that pages within so many minutes, in half of the
// cases; +Inf if none.
func (l *limits) detectable(policy sink.Policy, minutes float64) float64 {
	const finest = 0.005
	for rise := finest; rise < clip; rise += finest {
		if l.delay(rise, policy) <= minutes {
			return math.Exp(rise)
		}
	}
	return math.Inf(1)
}

// expected is how many pages for nothing the limits bring in 30 days.
func (l *limits) expected(c *calibration) float64 {
	sum := 0.0
	for i := range l.spans {
		sum += c.spans[i].chance(l.spans[i])
	}
	return (sum*independent/spans + c.tail.chance(l.tail)) * blocksPer30Days
}
