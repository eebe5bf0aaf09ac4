package baseline

import (
	"math"
	"slices"
)

// A regression slows most turns. A batch of long prompts of other users slows some of them, by a
// larger factor: the mean rises as much, and the fastest sixth of the turns hardly changes.
// majority therefore bounds the rise of a minute, and of a page, by that of the lower sixth.
type majority struct {
	// recent is a ring of the newest turns.
	recent [recentTurns]recentTurn
	next   int
	// usual is the usual lower sixth, a mean over quiet minutes.
	usual, quiet float64
}

type recentTurn struct {
	minute int32
	// x is the log ratio to the baseline.
	x float32
}

const (
	recentTurns = 128
	// sixthTurns is the number of turns that a sixth needs.
	sixthTurns = 8
	// sixthPart is how much larger than the rise of the sixth that of the mean may be.
	sixthPart = 1.3
	// boundMinutes and pageMinutes are how many minutes bound a minute and a page.
	boundMinutes, pageMinutes = 3, 5
	// The usual sixth is known after leastQuiet minutes, and then changes within mostQuiet.
	leastQuiet, mostQuiet = 60, 24 * 60
)

func (m *majority) add(minute int64, x float64) {
	m.recent[m.next] = recentTurn{int32(minute), float32(x)}
	m.next = (m.next + 1) % recentTurns
}

// learn adds a quiet minute to the usual sixth.
func (m *majority) learn() {
	if q, n := m.sixth(func(t recentTurn) bool { return t.minute > 0 }); n == recentTurns {
		m.quiet = min(m.quiet+1, mostQuiet)
		m.usual += (q - m.usual) / m.quiet
	}
}

// bound returns the highest mean log ratio that fits the sixth of the last minutes, +Inf if it is not known.
// No turn from before since counts, the start of a rise.
func (m *majority) bound(minute, minutes, since int64) float64 {
	from := max(minute-minutes+1, since)
	q, n := m.sixth(func(t recentTurn) bool { return int64(t.minute) >= from && int64(t.minute) <= minute })
	if m.quiet < leastQuiet || n < sixthTurns {
		return math.Inf(1)
	}
	return sixthPart * max(0, q-m.usual)
}

// sixth returns the value below which a sixth of some turns are, and their number.
func (m *majority) sixth(of func(recentTurn) bool) (q float64, n int) {
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
	return float64(values[n/6]), n
}
