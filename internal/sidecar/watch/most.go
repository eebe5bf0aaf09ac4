package watch

import (
	"math"
	"slices"
)

// most bounds a rise by what most turns show. A regression slows most turns; a batch of long prompts of others slows some
// of them by a larger factor: the mean rises as much, and the fastest third of the turns hardly changes.
type most struct {
	// recent is a ring of the newest turns.
	recent [recentTurns]recentTurn
	next   int
	// Usual is the usual lower third, a mean over quiet Minutes: known after an hour, and of a day at most.
	Usual   float64 `json:"third"`
	Minutes float64 `json:"minutes"`
}

type recentTurn struct {
	minute int32
	x      float32 // log ratio to the usual
}

const (
	recentTurns = 128
	// lowerPart is the part of the turns whose rise counts, and mostOver how much larger the rise of the mean may be.
	lowerPart, mostOver = 1. / 3, 1.3
	// boundMinutes are the longest period in which turns are looked for.
	boundMinutes = 6
)

func (m *most) add(minute int64, x float64) {
	m.recent[m.next] = recentTurn{int32(minute), float32(x)}
	m.next = (m.next + 1) % recentTurns
}

// learn adds a quiet minute to the usual third.
func (m *most) learn() {
	if q, n := m.third(1); n == recentTurns {
		m.Minutes = min(m.Minutes+1, dayMinutes)
		m.Usual += (q - m.Usual) / m.Minutes
	}
}

// bound returns the highest mean log ratio that fits the fastest third of the last minutes of a window, +Inf if that is
// not known. They are fewer than the window has, because its first may be from before a rise, and more until there are
// enough turns.
func (m *most) bound(minute int64, window int) float64 {
	q, n := 0.0, 0
	for from := minute - int64(min(window, boundMinutes)) + 2; n < few && from > minute-boundMinutes; from-- {
		q, n = m.third(from)
	}
	if m.Minutes < hour || n < few {
		return math.Inf(1)
	}
	return mostOver * max(0, q-m.Usual)
}

// third returns the value below which a third of the turns since a minute are, and their number.
func (m *most) third(from int64) (q float64, n int) {
	var values [recentTurns]float32
	for _, t := range m.recent {
		if int64(t.minute) >= from {
			values[n] = t.x
			n++
		}
	}
	if n == 0 {
		return 0, 0
	}
	slices.Sort(values[:n])
	return float64(values[int(float64(n)*lowerPart)]), n
}
