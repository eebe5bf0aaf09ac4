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
	// usual is the usual lower third, a mean over quiet minutes.
	usual, quiet float64
}

type recentTurn struct {
	minute int32
	x      float32 // log ratio to the usual
}

const (
	recentTurns = 128
	// lowerPart is the part of the turns whose rise counts, leastPart the turns that it needs, and mostOver how much
	// larger the rise of the mean may be.
	lowerPart, leastPart, mostOver = 1. / 3, 8, 1.3
	// boundMinutes bound a minute, pageMinutes a page.
	boundMinutes, pageMinutes = 3, 5
	// The usual third is known after leastQuiet minutes, and then changes within mostQuiet.
	leastQuiet, mostQuiet = 60, 24 * 60
)

func (m *most) add(minute int64, x float64) {
	m.recent[m.next] = recentTurn{int32(minute), float32(x)}
	m.next = (m.next + 1) % recentTurns
}

// learn adds a quiet minute to the usual third.
func (m *most) learn() {
	if q, n := m.third(1, math.MaxInt32); n == recentTurns {
		m.quiet = min(m.quiet+1, mostQuiet)
		m.usual += (q - m.usual) / m.quiet
	}
}

// bound returns the highest mean log ratio that fits the third of the last minutes, +Inf if it is not known. No turn
// from before since counts, the first minute of a rise; nor does that minute itself if there are enough later turns,
// because it has turns from before.
func (m *most) bound(minute, minutes, since int64) float64 {
	from := max(minute-minutes+1, since)
	q, n := m.third(from+1, minute)
	if from != since || n < leastPart {
		q, n = m.third(from, minute)
	}
	if m.quiet < leastQuiet || n < leastPart {
		return math.Inf(1)
	}
	return mostOver * max(0, q-m.usual)
}

// third returns the value below which a third of the turns between two minutes are, and their number.
func (m *most) third(from, to int64) (q float64, n int) {
	var values [recentTurns]float32
	for _, t := range m.recent {
		if int64(t.minute) >= from && int64(t.minute) <= to {
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
