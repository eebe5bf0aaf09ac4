package baseline

import (
	"math"
	"slices"
)

// A regression slows most turns. A batch of long prompts of other users slows some of them, by a
// larger factor: the mean rises as much, and the fastest quarter of the turns hardly changes.
// majority therefore bounds the rise of a minute by that of the lower quartile.
type majority struct {
	// recent is a ring of the newest turns.
	recent [recentTurns]recentTurn
	next   int
	// usual is the usual lower quartile, a mean over quiet minutes.
	usual, quiet float64
}

type recentTurn struct {
	minute int64
	// x is the log ratio to the baseline.
	x float32
}

const (
	recentTurns = 64
	// quartileTurns is the number of turns that a quartile needs.
	quartileTurns = 8
	// quartilePart is how much larger than the rise of the quartile that of the mean may be.
	quartilePart = 1.3
	// The usual quartile is known after leastQuiet minutes, and then changes within mostQuiet.
	leastQuiet, mostQuiet = 60, 24 * 60
)

func (m *majority) add(minute int64, x float64) {
	m.recent[m.next] = recentTurn{minute, float32(x)}
	m.next = (m.next + 1) % recentTurns
}

// learn adds a quiet minute to the usual quartile.
func (m *majority) learn() {
	if q, n := m.quartile(func(t recentTurn) bool { return t.minute > 0 }); n == recentTurns {
		m.quiet = min(m.quiet+1, mostQuiet)
		m.usual += (q - m.usual) / m.quiet
	}
}

// bound returns the highest mean log ratio of a minute that fits the quartile, +Inf if it is not known.
// Turns of up to two minutes before count, but none from before since, the start of a rise.
func (m *majority) bound(minute, since int64) float64 {
	if since == 0 {
		since = minute
	}
	from := max(minute-2, since)
	q, n := m.quartile(func(t recentTurn) bool { return t.minute >= from && t.minute <= minute })
	if m.quiet < leastQuiet || n < quartileTurns {
		return math.Inf(1)
	}
	return quartilePart * max(0, q-m.usual)
}

// quartile returns the lower quartile of some turns and their number.
func (m *majority) quartile(of func(recentTurn) bool) (q float64, n int) {
	var values [recentTurns]float32
	for _, t := range m.recent {
		if of(t) {
			values[n] = t.x
			n++
		}
	}
	if n == 0 {
		return 0, 0
	}
	slices.Sort(values[:n])
	return float64(values[n/4]), n
}
