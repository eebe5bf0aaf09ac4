package sketch

import (
	"math"
	"time"
)

// A Window is made of cells, each of which holds the values of one step of
// time and is dropped as a whole.
const (
	cells = 6
	// Step is the life of one cell.
	Step = 10 * time.Second
	// Span is the length of the window. Its oldest part leaves in steps: the
	// window reaches back between Span − Step and Span.
	Span = cells * Step
)

// Window is a sketch of the last minute. The zero value is an empty window. It
// is not safe for concurrent use.
type Window struct {
	cells [cells]Sketch
	// steps says which step of time each cell holds.
	steps [cells]int64
	// origin is the first time that was seen. Steps are counted from it, so that
	// times with a monotonic reading go on when the wall clock is set.
	origin time.Time
}

// Add adds a value at the time now.
func (w *Window) Add(now time.Time, v float64) {
	step := w.stepOf(now)
	i := ((step % cells) + cells) % cells
	if w.steps[i] != step {
		w.cells[i].Reset()
		w.steps[i] = step
	}
	w.cells[i].Add(v)
}

// Collect empties into, fills it with the values of the window that ends now,
// and frees the cells that time has passed, so that an idle window holds no
// memory once it was looked at.
func (w *Window) Collect(now time.Time, into *Sketch) {
	into.Reset()
	step := w.stepOf(now)
	for i := range w.cells {
		if w.steps[i] <= step-cells || w.steps[i] > step { // the latter if time itself went back
			w.cells[i] = Sketch{}
			continue
		}
		into.Merge(&w.cells[i])
	}
}

// stepOf numbers the steps so that no cell of an empty window is in use.
func (w *Window) stepOf(now time.Time) int64 {
	if w.origin.IsZero() {
		w.origin = now
	}
	return cells + int64(math.Floor(float64(now.Sub(w.origin))/float64(Step)))
}
