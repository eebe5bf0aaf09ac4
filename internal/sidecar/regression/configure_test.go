package regression

import (
	"testing"
	"time"
)

// TestReloadEndsWhatItTookAway: a regression from a benchmark, or from an
// objective, is over with it, and the level is learned as any other. A sum that
// stood for ever would hold the page, and keep each half hour out of the
// baseline.
func TestReloadEndsWhatItTookAway(t *testing.T) {
	const slow = 600 * time.Millisecond
	for name, before := range map[string]Options{
		"a benchmark":  {Benchmarks: Benchmarks{{{Typical: 200 * time.Millisecond, Samples: 300, Noise: 0.05}}}},
		"an objective": {Thresholds: [kinds][signals]time.Duration{{200 * time.Millisecond, 0}}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFeed(before)
			f.run(30 * time.Minute)
			f.median = slow
			if v := f.run(time.Hour).view(); v.Cusum < v.Limit {
				t.Fatalf("no regression to begin with: %+v", v)
			}
			f.Configure(Options{})
			if v := f.run(5 * time.Second).view(); v.Cusum != 0 || v.Step != 0 {
				t.Errorf("without it the sums stand at %v and %v", v.Cusum, v.Step)
			}
			v := f.run(26 * time.Hour).view()
			if v.Young {
				t.Fatalf("a day later nothing is learned: %+v", v)
			}
			near(t, "baseline", v.Baseline, slow.Seconds(), 0.02)
		})
	}
}
