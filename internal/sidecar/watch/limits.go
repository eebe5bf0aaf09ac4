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
	beyond = 1.2
	// brief is the longest window whose rises count as moves. Where the mean of lastingMinutes exceeds lasting, a log
	// ratio, the past had a fault: it is left out.
	brief                   = 30
	lastingMinutes, lasting = 45, 0.17
	// ticketPart is the part of the days whose largest moves are below that of a ticket.
	ticketPart = 0.75
	// nearlyAll is the part of a configured ratio that is enough: the mean of a rise of that size fluctuates around it.
	nearlyAll = 0.93
	// leastDays of past are needed to know the moves, youngPage and youngTicket are the ratios before.
	leastDays              = 2
	youngPage, youngTicket = 2.3, 1.6
	// twice is the least ratio of windows that are shorter than the policy's.
	twice = 2.0
)

// moves are the largest moves of each window in four weeks, as log ratios, and those that ticketPart of the days had.
type moves struct {
	// Days is the number of days of the past, 0 while it is too short.
	Days         int
	Page, Ticket [windowCount]float64
}

// learnMoves finds the moves in the past. Rises come from faults, so falls show how much the level moves by itself, and
// in short windows also rises that did not last.
func learnMoves(h *history, u *usual) (out moves) {
	var days [windowCount][]float64
	day := int64(-1)
	all := withoutFaults(h, u)
	until := running(all)
	for _, p := range all {
		newest := until(p.minute)
		if d := p.minute / (24 * 60); d != day {
			day = d
			for i := range days {
				days[i] = append(days[i], 0)
			}
		}
		for i, w := range windows() {
			v := newest.read(w)
			move := v.mirrored().rise()
			if w.minutes <= brief {
				move = max(move, v.rise())
			}
			largest := &days[i][len(days[i])-1]
			*largest = max(*largest, move)
		}
	}
	n := len(days[0])
	if n <= leastDays {
		return out
	}
	out.Days = n
	for i := range days {
		slices.Sort(days[i])
		out.Page[i], out.Ticket[i] = days[i][n-1], days[i][max(0, int(ticketPart*float64(n))-1)]
	}
	return out
}

// running returns the sums until a minute of the past, each of which is a subtraction.
func running(all []pastMinute) func(minute int64) sums {
	if len(all) == 0 {
		return nil
	}
	first := all[0].minute
	turns, sum := make([]float64, all[len(all)-1].minute-first+2), make([]float64, all[len(all)-1].minute-first+2)
	for _, p := range all {
		turns[p.minute-first+1], sum[p.minute-first+1] = p.turns, p.turns*p.x
	}
	for i := 1; i < len(turns); i++ {
		turns[i], sum[i] = turns[i]+turns[i-1], sum[i]+sum[i-1]
	}
	return func(minute int64) sums {
		return func(ago, length int) (float64, float64) {
			to := max(0, int(minute-first)+1-ago)
			from := max(0, to-length)
			return turns[to] - turns[from], sum[to] - sum[from]
		}
	}
}

// pastMinute is a minute of the history with the mean log ratio of its turns.
type pastMinute struct {
	minute   int64
	turns, x float64
}

// withoutFaults returns the log ratios of past minutes to the usual. It leaves out long rises and 45 minutes around them.
func withoutFaults(h *history, u *usual) []pastMinute {
	all := make([]pastMinute, 0, len(h.Turns))
	for m, v := range h.since(h.First) {
		if x := u.move(m, v.mean); !math.IsNaN(x) {
			all = append(all, pastMinute{m, v.turns, x})
		}
	}
	var newest minutes
	kept, until := all[:0], int64(0)
	for _, p := range all {
		newest.put(p.minute, p.turns, p.x)
		if newest.plain(lastingMinutes) >= lasting {
			until = p.minute + lastingMinutes
			for len(kept) > 0 && kept[len(kept)-1].minute > p.minute-lastingMinutes {
				kept = kept[:len(kept)-1]
			}
		}
		if p.minute > until {
			kept = append(kept, p)
		}
	}
	return kept
}

// limits are those of the half hour of, with the moves of the past until the day movesOf.
type limits struct {
	moves        moves
	page, ticket [windowCount]limit
	movesOf, of  int32
}

// limit is what a window must reach, as log ratios: Value, and what it follows from. Least is configured, Move the
// largest move of Days days, Expected what came at this time before, and Always pages whatever the past was.
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
	l := &s.limits
	if number == l.of {
		return
	}
	l.of = number
	if day := (number + s.usual.apart) / slots; day != l.movesOf {
		l.movesOf, l.moves = day, learnMoves(&s.history, &s.usual)
	}
	expected := s.usual.expected(number)
	difference := math.Log1p(fleet.LeastDifference()[s.index].Seconds() / s.seconds(startOf(number)))
	for i, w := range windows() {
		ratio := s.policy.PageRatio
		if time.Duration(w.minutes)*time.Minute < s.policy.PageFor {
			ratio = max(ratio, twice)
		}
		page := limit{Least: max(nearlyAll*math.Log(ratio), difference), Move: l.moves.Page[i], Expected: expected, Always: math.Log(w.always)}
		ticket := limit{Least: nearlyAll * math.Log(s.policy.TicketRatio), Move: l.moves.Ticket[i], Always: clip}
		l.page[i], l.ticket[i] = page.after(l.moves.Days, youngPage), ticket.after(l.moves.Days, youngTicket)
		if w.minutes < 5 { // the shortest windows need no ticket
			l.ticket[i].Value = math.Inf(1)
		}
	}
}

// after returns the limit after a past of some days; young is the ratio before it is known.
func (l limit) after(days int, young float64) limit {
	l.Days, l.Value = days, math.Log(young)
	if days > 0 {
		l.Value = min(beyond*l.Move, l.Always)
	}
	l.Value = max(l.Value, l.Least+l.Expected)
	return l
}

// detectable returns the smallest ratio that pages within an hour, unknown without turns in half an hour, as in an outage.
func (s *signal) detectable() (out probe.Opt[float64]) {
	turns, _ := s.minutes.sum(0, 30)
	if turns == 0 {
		return out
	}
	return probe.Some(math.Exp(s.limits.least(60, s.usual.covers(levelPages))*(turns+doubt)/turns + s.minutes.told.Rise))
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
