package load

import (
	"sync"
	"time"
)

// watch knows what a job's goroutines are waiting for, and until when that is
// plausible. The zero value is ready for use.
type watch struct {
	mu   sync.Mutex
	last uint64
	open map[uint64]expectation
}

// expectation is one thing waited for.
type expectation struct {
	what  string
	until time.Time
}

// expect notes that something should have happened by a time, and returns its
// id for settle, which is never 0.
func (w *watch) expect(what string, until time.Time) uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.open == nil {
		w.open = map[uint64]expectation{}
	}
	w.last++
	w.open[w.last] = expectation{what, until}
	return w.last
}

// settle notes that it happened; an id that is not open is ignored.
func (w *watch) settle(id uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.open, id)
}

// overdue returns what should have happened longest ago and did not, or "".
func (w *watch) overdue(now time.Time) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	oldest, what := now, ""
	for _, e := range w.open {
		if e.until.Before(oldest) {
			oldest, what = e.until, e.what
		}
	}
	return what
}
