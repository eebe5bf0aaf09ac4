package baseline

import (
	"math"
	"sort"
	"time"

	"synthetic/internal/sidecar/sink"
)

// limits are the thresholds of the log ratio, by window, and of the share of slow turns.
type limits struct {
	spans [spans]float64
	// least are the configured minimums; chance is the share of the variance of a window's mean
	// that comes from single turns.
	least, chance [spans]float64
	tail          float64
	// usual share of slow turns
	usualTail float64
	// usual turns per minute, 0 if unknown
	turns float64
}

// visibleShare returns the share of a rise that a full window shows, because the means of few
// turns are reduced.
func (l *limits) visibleShare(w span) float64 {
	if l.turns == 0 {
		return 1
	}
	n := l.turns * float64(w.minutes)
	return n / (n + doubt)
}

const (
	// twice is the ratio at which a level pages without PageFor. nearlyAll is the share of a
	// limit that is enough: under a fault of the limit's size the mean fluctuates around the
	// limit. nearlyTwice is that share of twice the baseline, as a log ratio.
	twice, nearlyAll = 2.0, 0.93
	nearlyTwice      = nearlyAll * math.Ln2
	// tailPage and tailTicket are the smallest rises of the share of slow turns, leastTail the
	// smallest number of slow turns.
	tailPage, tailTicket, leastTail = 0.06, 0.05, 8
	// ticketsFor is the accepted number of false tickets of a job in 30 days.
	ticketsFor = 8
	// youngPage and youngTicket are the smallest ratios before the target's own movement is
	// known.
	youngPage, youngTicket = 2.3, 1.6
	// youngTail is the same for the share of slow turns.
	youngTail = 0.3
)

// always returns the log ratio of a mean over some minutes that pages whatever the past was:
// frequent faults in the past do not excuse the next one.
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

// outlying is the number of standard deviations of the mean that chance may explain.
const outlying = 5

const blocksPer30Days = 30 * 24 * 60 / blockMinutes

// A job in a fleet has a small share of the accepted false pages. Limits that keep it would be blind,
// so below leastFalsePages in 30 days a level must last longer instead.
const leastFalsePages = 0.5

// hold returns how long a level below twice the baseline must last to page: PageFor at the default
// number of false pages, longer for fewer and shorter for more.
func hold(p sink.Policy) time.Duration {
	factor := 1 + math.Log10(sink.DefaultPolicy().FalsePages/p.FalsePages)
	return time.Duration(float64(p.PageFor) * min(max(factor, shortestHold), longestHold)).Round(time.Minute)
}

// shortestHold and longestHold bound hold, as multiples of PageFor.
const shortestHold, longestHold = 0.4, 3

// chanceFor returns the probability per block at which all signals of a job together have a
// rate per 30 days.
func chanceFor(per30Days float64) float64 {
	return per30Days / float64(kinds*signals) / blocksPer30Days / independent
}

// pageLimits returns the limits of pages. usual is the baseline in seconds; wide is how many
// times more than usual the level moves at this time of day.
func (s *series) pageLimits(usual, wide float64) limits {
	l := limits{turns: s.past.turns}
	p := s.policy
	difference := math.Log1p(sink.LeastDifference()[s.signal].Seconds() / usual)
	chance := chanceFor(max(p.FalsePages, leastFalsePages))
	for i, w := range spanTable() {
		least := p.PageRatio
		if time.Duration(w.minutes)*time.Minute < p.PageFor {
			least = max(least, twice)
		}
		floor := max(nearlyAll*math.Log(least), difference)
		l.least[i], l.chance[i] = floor, s.past.ofTurns(i, s.baseline.spreadOr(), chance)
		if s.past.known {
			l.spans[i] = max(floor, min(s.past.limit(i, chance, wide), l.visibleShare(w)*s.alwaysPages(w, wide)))
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

// alwaysPages returns the limit above which a window pages whatever the past was. It is higher
// for few turns, which are noisy, and where days differ much.
func (s *series) alwaysPages(w span, wide float64) float64 {
	ratio := always(w.minutes)
	if !w.step {
		ratio *= max(1, wide/2)
	}
	return math.Hypot(ratio, outlying*s.past.noise(w, s.baseline.spreadOr()))
}

// mostTail is the share of slow turns that always pages.
const mostTail = 0.5

func (s *series) ticketLimits(wide float64) limits {
	var l limits
	p := s.policy
	chance := chanceFor(ticketsFor * independent) // independent windows may each use the full rate, because tickets wake nobody
	floor := nearlyAll * math.Log(p.TicketRatio)
	for i, w := range spanTable() {
		switch {
		case w.minutes < 5: // a rise this short needs no ticket
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

// finding is the result of a scan: the score relative to the limits (1 or more exceeds them),
// the reason, and whether it may page at once.
type finding struct {
	score  float64
	reason reason
	atOnce bool
}

// reportedLevel is a level that was already reported: its log ratio to the baseline, and the
// share of slow turns.
type reportedLevel struct {
	Level float64 `json:"level,omitzero"`
	Tail  float64 `json:"tail,omitzero"`
}

// find compares a scan with limits. Only the part above an already reported level counts, and above
// an expected one. If levels is false, only steps count.
func (l *limits) find(s *scan, above reportedLevel, expected float64, levels bool) finding {
	var f finding
	for i, w := range spanTable() {
		if !levels && !w.step {
			continue
		}
		r := s.read(w)
		limit := l.eased(i, s.confidence(0, w.minutes))
		if !levels && math.IsInf(r.rise, -1) { // no turns before it, as after a restart
			r, limit = s.read(span{minutes: w.minutes}), max(limit, math.Log(youngPage))
		}
		if !w.step {
			r = reading{r.rise - above.Level, r.reference + above.Level}
		}
		r = reading{r.rise - expected, r.reference + expected}
		v := r.rise / limit
		if v > f.score {
			f.score, f.reason = v, reason{Limit: limit, Over: r.reference}
		}
		f.atOnce = f.atOnce || v >= 1 && min(l.spans[i], max(limit, r.rise)) >= nearlyTwice
	}
	share, n := s.tailShare()
	if share -= above.Tail; n >= leastTail && share/l.tail > f.score {
		f = finding{share / l.tail, reason{Limit: l.tail - l.usualTail, Over: l.usualTail, Tail: true}, f.atOnce || share >= l.tail}
	}
	return f
}

// eased returns a lower limit for a window with confidence times as many turns as in the
// calibrated past, since single turns then move its mean less.
func (l *limits) eased(window int, confidence float64) float64 {
	left := 1 - l.chance[window]*(1-1/max(1, confidence))
	return max(min(l.least[window], l.spans[window]), l.spans[window]*math.Sqrt(left))
}

// delay returns the minutes after which a sudden rise pages in half of the cases, +Inf if
// never. A level below twice the baseline pages after held minutes.
func (l *limits) delay(rise, held float64) float64 {
	soon, atOnce := math.Inf(1), math.Inf(1)
	for i, w := range spanTable() {
		shown := rise * l.visibleShare(w)
		if l.spans[i] > shown {
			continue
		}
		// The mean of a window rises until the rise fills the window.
		filled := float64(w.minutes) * l.spans[i] / shown
		soon = min(soon, filled)
		if l.spans[i] >= nearlyTwice {
			atOnce = min(atOnce, filled)
		}
	}
	// A minute is evaluated when it has ended, on average half a minute later.
	return min(max(soon, held), max(soon, atOnce)) + 0.5
}

// detectable returns the smallest ratio that pages within a number of minutes in half of the
// cases, +Inf if none does.
func (l *limits) detectable(held, minutes float64) float64 {
	const finest, steps = 0.005, clip / 0.005
	// A larger rise never takes longer.
	n := 1 + sort.Search(steps-1, func(i int) bool { return l.delay(finest*float64(i+1), held) <= minutes })
	if n == steps {
		return math.Inf(1)
	}
	return math.Exp(finest * float64(n))
}

// expected returns the expected number of false pages in 30 days.
func (l *limits) expected(c *calibration) float64 {
	sum := 0.0
	for i := range l.spans {
		sum += c.spans[i].chance(l.spans[i])
	}
	return (sum*independent/spans + c.tail.chance(l.tail)) * blocksPer30Days
}
