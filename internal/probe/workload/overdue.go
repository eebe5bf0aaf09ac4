package workload

import (
	"sync"
	"time"
)

const (
	// A turn in flight is overdue if it is older than overdueFactor times the longest recent turn, and than a
	// third of the timeout for the first token. Before minAges turns have succeeded, none is.
	overdueFactor = 2
	overduePart   = 3
	minAges       = 20
	// ageDecay shrinks the longest duration with each successful turn: half of it is left after 700 turns, which
	// is an hour and a half at two conversations a minute.
	ageDecay = 0.999
)

// Ages keeps the ages of a job's turns in flight and the longest duration of its recent successful turns. A
// deployment that hangs shows in them long before the first turn times out. It is safe for concurrent use.
type Ages struct {
	leastOverdue time.Duration

	mu      sync.Mutex
	started map[int]time.Time
	turns   int
	ended   int // successful turns, up to minAges
	longest time.Duration
}

// NewAges returns the ages of a job with these timeouts.
func NewAges(t Timeouts) *Ages {
	return &Ages{leastOverdue: t.FirstToken / overduePart, started: map[int]time.Time{}}
}

// Begin adds a turn in flight. The caller must call end once, when the turn ends.
func (a *Ages) Begin(at time.Time) (end func(at time.Time, succeeded bool)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.turns++
	id := a.turns
	a.started[id] = at
	return func(ended time.Time, succeeded bool) {
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.started, id)
		if succeeded {
			a.ended = min(a.ended+1, minAges)
			a.longest = max(ended.Sub(at), time.Duration(ageDecay*float64(a.longest)))
		}
	}
}

// Overdue reports whether a turn is in flight for much longer than the turns of the job take.
func (a *Ages) Overdue(now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ended < minAges {
		return false
	}
	limit := max(a.leastOverdue, overdueFactor*a.longest)
	for _, at := range a.started {
		if now.Sub(at) > limit {
			return true
		}
	}
	return false
}
