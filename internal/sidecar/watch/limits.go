package watch

import (
	"math"
	"slices"
	"time"

	"synthetic/internal/fleet"
)

const (
	// beyond is how much larger than the largest move of four weeks a rise must be.
	beyond = 1.25
	// risen is the least rise that means something, 1.2 times as a log ratio. Where the mean of lastingMinutes exceeds it,
	// the past had a fault: it is left out.
	risen, lastingMinutes = 0.18, 45
	// What is within so many deviations, standard deviations or errors, may be chance.
	deviations = 3
	// mostOf is the part of the days whose largest moves are below that of a ticket, and of the half hours of a level that
	// lasts.
	mostOf = 0.75
	// nearlyAll is the part of a configured ratio that is enough: the mean of a rise of that size fluctuates around it.
	nearlyAll = 0.93
	// young is the ratio that is reported before the moves are known.
	young = 2.3
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
	dropFaults(h.First, turns, ratios)
	var m minutes
	var days [windowCount][]float64
	last := int64(-1)
	for i := range turns {
		if turns[i] == 0 {
			continue
		}
		minute := h.First + int64(i)
		m.put(minute, turns[i], ratios[i], 0)
		if day := minute / dayMinutes; day != last {
			last = day
			for k := range days {
				days[k] = append(days[k], 0)
			}
		}
		for k, w := range windows() {
			v := m.read(w)
			move := v.mirrored().rise()
			if w.minutes <= halfHourMinutes {
				move = max(move, v.rise())
			}
			largest := &days[k][len(days[k])-1]
			*largest = max(*largest, move)
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

// dropFaults leaves out long rises of the minutes from one on, and 45 minutes around them.
func dropFaults(first int64, turns, ratios []float64) {
	var m minutes
	var high []int
	for i := range turns {
		m.put(first+int64(i), turns[i], ratios[i], 0)
		if n, sum := m.sum(0, lastingMinutes); n >= 3 && sum >= risen*n {
			high = append(high, i)
		}
	}
	for _, i := range high {
		clear(turns[max(0, i-lastingMinutes+1):min(len(turns), i+lastingMinutes+1)])
	}
}

// limits are those of the half hour of, with the moves of the past until the day MovesOf.
type limits struct {
	Moves        moves
	MovesOf      int32
	page, ticket [windowCount]limit
	of           int32
}

// limit is the log ratio that a window must reach, Value, with its sources: Least is configured. Move is the largest move
// of the last Days days. Expected is the rise that came at this time before. A rise of Always pages after any past.
type limit struct {
	Value    float64 `json:"value"`
	Least    float64 `json:"least"`
	Move     float64 `json:"move"`
	Days     int     `json:"days,omitzero"`
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
	expected := s.Usual.expected(number)
	difference := math.Log1p(fleet.LeastDifference()[s.index].Seconds() / s.seconds(startOf(number)))
	for i, w := range windows() {
		ratio := s.policy.PageRatio
		if time.Duration(w.minutes)*time.Minute < s.policy.PageFor {
			ratio = max(ratio, twice)
		}
		page := limit{
			Least: max(nearlyAll*math.Log(ratio), difference), Expected: expected,
			Move: l.Moves.Page[i], Always: math.Log(w.always),
		}
		ticket := limit{
			Least: nearlyAll * math.Log(s.policy.TicketRatio),
			Move:  l.Moves.Ticket[i], Always: clip,
		}
		l.page[i], l.ticket[i] = page.after(l.Moves.Days), ticket.after(l.Moves.Days)
		if w.minutes < 5 { // the shortest windows need no ticket
			l.ticket[i].Value = math.Inf(1)
		}
	}
}

// after returns the limit after a past of some days.
func (l limit) after(days int) limit {
	l.Days, l.Value = days, math.Log(young)
	if days > 0 {
		l.Value = min(beyond*l.Move, l.Always)
	}
	l.Value = max(l.Value, l.Least+l.Expected)
	return l
}
