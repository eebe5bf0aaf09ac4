package sketch

import (
	"math"
	"time"
)

// A Window has one cell for each step of time. A cell is dropped as a whole.
const (
	cells = 6
	// Step is the time that one cell covers.
	Step = 10 * time.Second
	// Span is the length of the window. Because whole cells are dropped, the window covers
	// between Span − Step and Span.
	Span = cells * Step
)

// Window is a sketch of the last minute. The zero value is an empty window. It is not safe for concurrent
// use.
type Window struct {
	cells [cells]Sketch
	// steps holds the step number of each cell.
	steps [cells]int64
	// origin is the first time seen. Steps count from it, so that a change of the wall clock
	// does not affect times with a monotonic reading.
	origin time.Time
}

func (w *Window) Add(now time.Time, v float64) {
	step := w.stepOf(now)
	i := ((step % cells) + cells) % cells
	if w.steps[i] != step {
		w.cells[i].Reset()
		w.steps[i] = step
	}
	w.cells[i].Add(v)
}

// Collect sets into to the values of the window that ends now. It frees the cells that are too
// old, so that an idle window needs no memory.
func (w *Window) Collect(now time.Time, into *Sketch) {
	into.Reset()
	step := w.stepOf(now)
	for i := range w.cells {
		if w.steps[i] <= step-cells || w.steps[i] > step { // step is lower if time went back
			w.cells[i] = Sketch{}
			continue
		}
		into.Merge(&w.cells[i])
	}
}

// stepOf returns the step number of now. The first one is cells, so that no cell of an empty
// window matches.
func (w *Window) stepOf(now time.Time) int64 {
	if w.origin.IsZero() {
		w.origin = now
	}
	return cells + int64(math.Floor(float64(now.Sub(w.origin))/float64(Step)))
}
