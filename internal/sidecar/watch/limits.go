package watch

import (
	"math"
	"slices"
	"time"

	"synthetic/internal/fleet"
	"synthetic/internal/probe"
)

const (
	// beyond is how much larger than the largest move of four weeks a rise must be.
	beyond = 1.25
	// Where the mean of lastingMinutes exceeds lasting, a log ratio, the past had a fault: it is left out.
	lastingMinutes, lasting = 45, 0.17
	// A half hour may differ by so many deviations, the standard deviations of half hours.
	deviations = 2.5
	// mostOf is the part of the days whose largest moves are below that of a ticket, and of the half hours of a level that
	// lasts.
	mostOf = 0.75
	// nearlyAll is the part of a configured ratio that is enough: the mean of a rise of that size fluctuates around it.
	nearlyAll = 0.93
	// youngPage and youngTicket are the ratios before the moves are known.
	youngPage, youngTicket = 2.3, 1.6
	// twice the usual pages without waiting, and is the least ratio of windows that are shorter than the wait.
	twice = 2.0
)

// moves are the largest moves of each window in four weeks, as log ratios, and those that most of the days had.
type moves struct {
	// Days is the number of days of the past, 0 while it is too short.
	Days         int
	Page, Ticket [windowCount]float64
}

// learnMoves finds the moves in the past. Rises come from faults, so falls show how much the level moves by itself, and
// in short windows also rises that did not last.
func learnMoves(h *history, u *usual) (out moves) {
	turns, ratios := make([]float64, len(h.Turns)), make([]float64, len(h.Turns))
	for minute, v := range h.since(h.First) {
		if move := u.move(minute, v.mean); !math.IsNaN(move) {
			turns[minute-h.First], ratios[minute-h.First] = v.turns, move
		}
	}
	dropFaults(turns, ratios)
	until := running(turns, ratios)
	var days [windowCount][]float64
	last := int64(-1)
	for i := range turns {
		if turns[i] == 0 {
			continue
		}
		if day := (h.First + int64(i)) / dayMinutes; day != last {
			last = day
			for k := range days {
				days[k] = append(days[k], 0)
			}
		}
		extra := u.extra(numberAt(h.First + int64(i)))
		for k, w := range windows() {
			v := until(i).read(w)
			move := v.mirrored().rise()
			if w.minutes <= halfHourMinutes {
				move = max(move, v.rise())
			}
			largest := &days[k][len(days[k])-1]
			*largest = max(*largest, move-extra)
		}
	}
	n := len(days[0])
	if n <= leastDays {
		return out
	}
	out.Days = n
	for k := range days {
		slices.Sort(days[k])
		out.Page[k], out.Ticket[k] = days[k][n-1], days[k][max(0, int(mostOf*float64(n))-1)]
	}
	return out
}

// running returns the sums until a minute, each of which is a subtraction.
func running(turns, ratios []float64) func(i int) sums {
	n, sum := make([]float64, len(turns)+1), make([]float64, len(turns)+1)
	for i := range turns {
		n[i+1], sum[i+1] = n[i]+turns[i], sum[i]+turns[i]*ratios[i]
	}
	return func(i int) sums {
		return func(ago, length int) (float64, float64) {
			to := max(0, i+1-ago)
			from := max(0, to-length)
			return n[to] - n[from], sum[to] - sum[from]
		}
	}
}

// dropFaults leaves out long rises and 45 minutes around them.
func dropFaults(turns, ratios []float64) {
	until, dropped := running(turns, ratios), 0
	for i := range turns {
		if n, sum := until(i)(0, lastingMinutes); n >= 3 && sum >= lasting*n {
			to := min(len(turns), i+lastingMinutes+1)
			clear(turns[max(dropped, i-lastingMinutes+1):to])
			dropped = to
		}
	}
}

// limits are those of the half hour of, with the moves of the past until the day MovesOf.
type limits struct {
	Moves        moves
	MovesOf      int32
	page, ticket [windowCount]limit
	of           int32
}

// limit is what a window must reach, as log ratios: Value, and what it follows from. Least is configured, Move the
// largest move of Days days, Extra what half hours like this one differ more, Expected what came at this time before,
// and Always pages whatever the past was.
type limit struct {
	Value    float64 `json:"value"`
	Least    float64 `json:"least"`
	Move     float64 `json:"move"`
	Days     int     `json:"days,omitzero"`
	Extra    float64 `json:"extra,omitzero"`
	Expected float64 `json:"expected,omitzero"`
	Always   float64 `json:"always,omitzero"`
}

// know computes the moves once a day, and the limits each half hour.
func (s *signal) know(number int32) {
	l := &s.Limits
	if number == l.of {
		return
	}
	l.of = number
	if day := (number + s.Usual.apart) / slots; day != l.MovesOf {
		l.MovesOf, l.Moves = day, learnMoves(&s.History, &s.Usual)
	}
	expected, extra := s.Usual.expected(number), s.Usual.extra(number)
	difference := math.Log1p(fleet.LeastDifference()[s.index].Seconds() / s.seconds(startOf(number)))
	for i, w := range windows() {
		ratio := s.policy.PageRatio
		if time.Duration(w.minutes)*time.Minute < s.policy.PageFor {
			ratio = max(ratio, twice)
		}
		page := limit{
			Least: max(nearlyAll*math.Log(ratio), difference), Expected: expected,
			Move: l.Moves.Page[i], Extra: deviations * extra, Always: math.Log(w.always) + extra,
		}
		ticket := limit{
			Least: nearlyAll * math.Log(s.policy.TicketRatio),
			Move:  l.Moves.Ticket[i], Extra: extra, Always: clip,
		}
		l.page[i], l.ticket[i] = page.after(l.Moves.Days, youngPage), ticket.after(l.Moves.Days, youngTicket)
		if w.minutes < 5 { // the shortest windows need no ticket
			l.ticket[i].Value = math.Inf(1)
		}
	}
}

// after returns the limit after a past of some days; young is the ratio before it is known.
func (l limit) after(days int, young float64) limit {
	l.Days, l.Value = days, math.Log(young)
	if days > 0 {
		l.Value = min(beyond*(l.Move+l.Extra), l.Always)
	}
	l.Value = max(l.Value, l.Least+l.Expected)
	return l
}

// detectable returns the smallest ratio that pages within an hour, unknown without turns in half an hour, as in an outage.
func (s *signal) detectable() (out probe.Opt[float64]) {
	turns, _ := s.Minutes.sum(0, halfHourMinutes)
	if turns == 0 {
		return out
	}
	return probe.Some(math.Exp(s.Limits.least(60, s.Usual.covers(week))*(turns+doubt)/turns + s.Minutes.Told.Rise))
}

// least returns the lowest limit of a page of the windows up to a length, those of steps alone if levels is false.
func (l *limits) least(minutes int, levels bool) float64 {
	least := math.Inf(1)
	for i, w := range windows() {
		if w.minutes <= minutes && (w.step || levels) {
			least = min(least, l.page[i].Value)
		}
	}
	return least
}
