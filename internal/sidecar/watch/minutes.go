package watch

import "math"

const (
	// ringMinutes are kept: the longest window, and the minutes before a step.
	ringMinutes = 144
	// quarterHour are the minutes before a step, and the most that decide about the end of a rise. doubt are the turns
	// at the usual level that each mean has in addition: a mean of few turns is as likely their own noise.
	quarterHour, doubt = 15, 3
	// below is how far below the usual level the minutes before a step may count: the return from a good hour is no
	// rise.
	below = 0.25
	// still is the part of the rise that the end of a window must show.
	still = 0.7
)

// window is a period of whole minutes until now. The mean of a level is compared with the usual level, that of a step
// with the minutes before it: levels wander slowly, and faults come at once.
type window struct {
	minutes int
	step    bool
	// always is the ratio that pages whatever the past was.
	always float64
}

// windows returns all windows.
func windows() [windowCount]window {
	return [windowCount]window{
		{3, false, 2.75}, {8, false, 2.1}, {30, false, twice}, {120, false, twice},
		{3, true, 2.75}, {8, true, 2.1}, {30, true, twice},
	}
}

const windowCount = 7

// minutes holds the newest minutes, each with the totals until its end: those of a period are a difference.
type minutes struct {
	Told told  `json:"told,omitzero"`
	last int64 // the newest, 0 before the first
	ring [ringMinutes + 1]totals
}

// totals are the number of turns, the sum of their log ratios to what is usual, and how many missed the objective.
type totals struct{ turns, sum, bad float64 }

func (m *minutes) at(minute int64) *totals { return &m.ring[uint64(minute)%uint64(len(m.ring))] }

// period returns the totals of a number of minutes until now.
func (m *minutes) period(length int) totals {
	now, before := m.at(m.last), m.at(m.last-int64(length))
	return totals{now.turns - before.turns, now.sum - before.sum, now.bad - before.bad}
}

// advance adds empty minutes up to one.
func (m *minutes) advance(to int64) {
	if m.last == 0 || to < m.last || to-m.last >= ringMinutes { // the clock was set back, or a long silence
		*m = minutes{Told: m.Told, last: to}
		return
	}
	for ; m.last < to; m.last++ {
		*m.at(m.last + 1) = *m.at(m.last)
	}
}

// put adds a minute of turns with a mean log ratio, some of which missed the objective.
func (m *minutes) put(at int64, turns, mean, bad float64) {
	m.advance(at)
	before := m.at(at - 1)
	*m.at(at) = totals{before.turns + turns, before.sum + turns*mean, before.bad + bad}
}

// sum returns the turns of the minutes (last − ago − length, last − ago], and the sum of their log ratios to what is
// usual or was told.
func (m *minutes) sum(ago, length int) (turns, sum float64) {
	to := m.last - int64(ago)
	from := to - int64(length)
	turns = m.at(to).turns - m.at(from).turns
	if from = max(from, m.Told.Cleared); from < to {
		sum = m.at(to).sum - m.at(from).sum - m.Told.Rise*(m.at(to).turns-m.at(from).turns)
	}
	return turns, sum
}

// mean returns the mean of a period with doubt, NaN without turns.
func (m *minutes) mean(ago, length int) float64 {
	turns, sum := m.sum(ago, length)
	if turns < 0.5 {
		return math.NaN()
	}
	return sum / (turns + doubt)
}

// plain returns the mean of the last minutes without doubt, NaN with fewer than three turns.
func (m *minutes) plain(length int) float64 {
	turns, sum := m.sum(0, length)
	if turns < 3 {
		return math.NaN()
	}
	return sum / turns
}

// toUsual returns the mean log ratio of the last minutes to the usual level. Reported minutes count, too. It returns NaN
// with fewer than three turns.
func (m *minutes) toUsual(length int) float64 {
	if v := m.period(length); v.turns >= 3 {
		return v.sum / v.turns
	}
	return math.NaN()
}

// began returns since when the mean of a few minutes has been above half of a limit, less up to three of them: a rise at
// its limit needs half of them for that. Minutes without a turn do not end it.
func (m *minutes) began(limit float64) int64 {
	began := m.last
	_, n := m.now()
	for ago := range ringMinutes - n {
		switch turns, sum := m.sum(ago, n); {
		case turns == 0:
		case sum < limit/2*turns:
			return began
		default:
			began = m.last - int64(ago+min(n/2, 3))
		}
	}
	return began
}

// means are those of a window, of its end and of the minutes before a step.
type means struct{ whole, end, base float64 }

// read returns the means of a window; NaN if it has no turns, or none in its older half.
func (m *minutes) read(w window) means {
	if older := w.minutes / 2; w.minutes > 3 {
		if turns, _ := m.sum(older, w.minutes-older); turns == 0 {
			return means{whole: math.NaN()}
		}
	}
	v := means{whole: m.mean(0, w.minutes), end: m.mean(0, max(2, w.minutes/4))}
	if math.IsNaN(v.end) {
		v.end = v.whole
	}
	if w.step {
		v.base = m.mean(w.minutes, quarterHour)
	}
	return v
}

// mirrored returns the means of the same minutes upside down.
func (v means) mirrored() means { return means{-v.whole, -v.end, -v.base} }

// rise returns how far a window is above its reference, −Inf if it is not known. Its end must show it, too: a window
// that still contains a finished rise says little.
func (v means) rise() float64 {
	reference := max(v.base, -below)
	rise := min(v.whole-reference, (v.end-reference)/still)
	if math.IsNaN(rise) {
		return math.Inf(-1)
	}
	return rise
}
