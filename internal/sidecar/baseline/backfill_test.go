package baseline

import (
	"math"
	"testing"
	"time"
)

// minutesOf returns the minutes that a Prometheus would have recorded of a feed.
func minutesOf(f *feed, d time.Duration) (out []Minute) {
	last := f.view().Moments
	for end := f.now.Add(d); f.now.Before(end); {
		v := f.run(time.Minute).view()
		turns := v.Turns - last.Turns
		out = append(out, Minute{
			At: f.now.Add(-30 * time.Second), Turns: turns,
			Mean: (v.Log2-last.Log2)/turns*math.Ln2 - math.Log(1e6),
		})
		last = v.Moments
	}
	return out
}

// TestBackfill checks that a job that was backfilled with the minutes of another job has the
// same limits.
func TestBackfill(t *testing.T) {
	f := newFeed(options{})
	f.wander, f.spread = 0.05, 0.5
	f.shape = func(at time.Time) float64 { return 0.3 * math.Sin(2*math.Pi*at.Sub(monday).Hours()/24) }
	minutes := minutesOf(f, 8*day)
	next := newFeed(options{})
	next.now, next.rng, next.wander, next.shape, next.level, next.spread = f.now, f.rng, f.wander, f.shape, f.level, f.spread
	next.series[0][0].backfill(minutes)
	a, b := f.view(), next.view()
	if b.Young || pages(b) || tickets(b) {
		t.Errorf("after it: %+v", b)
	}
	near(t, "baseline", b.Baseline.V/a.Baseline.V, 1, 0.03)
	near(t, "noise", b.Noise.V/a.Noise.V, 1, 0.2)
	near(t, "tail limit", b.UsualTail.V/a.UsualTail.V, 1, 0.2)
	next.run(10 * time.Minute)
	f.run(10 * time.Minute)
	for i := range 2 {
		near(t, "detectable", next.view().Detectable[i].V/f.view().Detectable[i].V, 1, 0.1)
	}
	if n := next.pagesIn(12 * time.Hour); n != 0 {
		t.Errorf("%d pages in the half day after it", n)
	}
	next.ratio = 3
	if took := next.until(time.Hour, pages); took > 5*time.Minute {
		t.Errorf("×3 paged after %v", took)
	}
}

// TestBackfillLearnsNoFault checks that a regression that lasts to the end of the backfilled
// minutes is up at the start.
func TestBackfillLearnsNoFault(t *testing.T) {
	f := newFeed(options{})
	minutes := minutesOf(f, 4*day)
	f.ratio = 3
	minutes = append(minutes, minutesOf(f, 6*time.Hour)...)
	next := newFeed(options{})
	next.series[0][0].backfill(minutes)
	next.now = f.now
	near(t, "baseline", next.view().Baseline.V, 0.2, 0.01)
	if next.at(3, 5*time.Minute); !pages(next.view()) {
		t.Errorf("six hours at ×3 are no page: %+v", next.view())
	}
}
