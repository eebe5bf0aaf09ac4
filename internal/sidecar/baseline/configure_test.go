package baseline

import (
	"synthetic/internal/probe"
	"synthetic/internal/sidecar/sink"
	"testing"
	"time"
)

// TestReloadEndsWhatItTookAway checks that removing a benchmark ends a regression that was
// measured against it, and that the level is then learned.
func TestReloadEndsWhatItTookAway(t *testing.T) {
	f := newFeed(options{Benchmarks: sink.Figures{{{Typical: probe.Some(200 * time.Millisecond), Samples: probe.Some(300)}}}})
	f.run(30 * time.Minute)
	if v := f.at(3, time.Hour).view(); !pages(v) {
		t.Fatalf("no regression to begin with: %+v", v)
	}
	f.configure(options{})
	if v := f.run(time.Minute).view(); v.Page != 0 || v.Ticket != 0 {
		t.Errorf("without it the scores are %v and %v", v.Page, v.Ticket)
	}
	v := f.run(26 * time.Hour).view()
	if v.Young {
		t.Fatalf("a day later nothing is learned: %+v", v)
	}
	near(t, "baseline", v.Baseline.V, 0.6, 0.02)
}

// TestBenchmark checks that a benchmark replaces the learned baseline, and that Accept does not
// replace the benchmark.
func TestBenchmark(t *testing.T) {
	f := newFeed(options{Benchmarks: sink.Figures{{{Typical: probe.Some(100 * time.Millisecond), Samples: probe.Some(300)}}}})
	if v := f.views(f.now.Add(time.Hour))[0][0]; v.Page != 0 { // before any turn
		t.Errorf("without a turn: %+v", v)
	}
	f.now = f.now.Add(2 * time.Hour)
	f.ratio = 2
	took := f.until(time.Hour, pages)
	v := f.view()
	if v.Young || v.Samples != 300 || took > 15*time.Minute {
		t.Errorf("four times a benchmark for %v: %+v", took, v)
	}
	f.accept(f.now.Add(-time.Hour), f.now)
	if v := f.run(4 * day).view(); v.Baseline.V < 0.0999 || v.Baseline.V > 0.1001 || !v.Moved.IsZero() {
		t.Errorf("after days and an acceptance: %+v", v)
	}
}
