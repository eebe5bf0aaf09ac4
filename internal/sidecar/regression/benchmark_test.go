package regression

import (
	"math"
	"testing"
	"time"
)

// TestBenchmarkWithoutNoise: the noise of a benchmark's level is that which is
// learned beside it and, until there is one, an assumed one. Without any the
// rule for slow regressions would have no threshold and could not fire.
func TestBenchmarkWithoutNoise(t *testing.T) {
	f := newFeed(Options{Benchmarks: Benchmarks{{{Typical: 200 * time.Millisecond, Samples: 300}}}})
	v := f.run(time.Hour).view()
	if v.Young || v.Noise != youngNoise {
		t.Errorf("at first: young %v, noise %v; want false and %v", v.Young, v.Noise, youngNoise)
	}
	v = f.run(2 * day).view()
	if v.Young || math.IsNaN(v.Noise) || v.Noise >= youngNoise {
		t.Errorf("of a steady level the noise is %v after two days, want less than %v", v.Noise, youngNoise)
	}
	near(t, "baseline", v.Baseline, 0.2, 1e-9)
	if v.Samples != 300 {
		t.Errorf("it stands on %v turns, want the benchmark's 300", v.Samples)
	}
}
