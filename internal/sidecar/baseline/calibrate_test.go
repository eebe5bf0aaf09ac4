package baseline

import (
	"math"
	"math/rand/v2"
	"reflect"
	"synthetic/internal/sidecar/sink"
	"testing"
	"time"
)

// TestGumbel checks that the fit finds the parameters of the drawn sample, widened for the
// uncertainty of a small sample.
func TestGumbel(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	var drawn []float64
	for range 4000 {
		drawn = append(drawn, 0.3-0.05*math.Log(-math.Log(rng.Float64())))
	}
	got := gumbel(drawn)
	near(t, "location", got.location, 0.3, 0.005)
	near(t, "scale", got.scale, 0.05*(1+2/math.Sqrt(4000)), 0.003)
	near(t, "what a block in a thousand exceeds", got.chance(got.beyond(0.001)), 0.001, 1e-9)
	few, many := []float64{1, 2, 3, 4, 5, 6, 7, 8}, []float64{}
	for range 100 {
		many = append(many, few...)
	}
	if a, b := gumbel(few).scale, gumbel(many).scale; a < 1.4*b {
		t.Errorf("the scale of %d blocks is %v, of a hundred times as many %v", len(few), a, b)
	}
	if same := gumbel([]float64{1, 1, 1, 1, 1, 1, 1, 1}); same.scale != 0 || same.beyond(1e-9) != 1 {
		t.Errorf("of blocks that are all alike: %+v", same)
	}
}

// wandering returns a history of some days whose level has the standard deviation sd from half
// hour to half hour. on is added to the logarithm of a minute.
func wandering(days int, sd float64, on func(minute int64) float64) *history {
	rng := rand.New(rand.NewPCG(7, 8))
	h, level, first := &history{}, 0.0, minuteOf(monday)
	for m := first; m < first+int64(days)*24*60; m++ {
		if m%30 == 0 {
			level = sd * rng.NormFloat64()
		}
		v := level + 0.1*rng.NormFloat64()
		if on != nil {
			v += on(m - first)
		}
		h.put(m, 9, v, 0)
	}
	return h
}

func calibrated(h *history) calibration {
	return calibrate(h, func(int64) float64 { return 0 }, func(time.Time) float64 { return 1 })
}

func limitsOf(c calibration) limits {
	s := series{policy: sink.DefaultPolicy(), past: c}
	return s.pageLimits(1, 1)
}

// TestLimitsGrowWithNoise checks that limits and detectable ratios grow with the noise of the
// past, and that the same past gives the same limits.
func TestLimitsGrowWithNoise(t *testing.T) {
	var before limits
	var seen float64
	for _, sd := range []float64{0.02, 0.1, 0.2, 0.3} {
		h := wandering(14, sd, nil)
		c := calibrated(h)
		if again := calibrated(h); !c.known || !reflect.DeepEqual(c, again) {
			t.Fatalf("two calibrations of one past: %+v and %+v", c, again)
		}
		l := limitsOf(c)
		for i := range l.spans {
			if l.spans[i] < before.spans[i] {
				t.Errorf("noise of %v: window %d has the limit %v, less noise %v", sd, i, l.spans[i], before.spans[i])
			}
		}
		held := hold(sink.DefaultPolicy()).Minutes()
		quarter, hour := l.detectable(held, 15), l.detectable(held, 60)
		if quarter < seen || hour > quarter {
			t.Errorf("noise of %v: ×%v is seen in 15 min, ×%v in an hour; with less noise ×%v", sd, quarter, hour, seen)
		}
		if d := l.delay(math.Log(quarter*1.001), held); d > 15 {
			t.Errorf("noise of %v: ×%v is seen in 15 min, and after %v", sd, quarter, d)
		}
		if e := l.expected(&c); !(e >= 0) {
			t.Errorf("noise of %v: %v pages are expected", sd, e)
		}
		before, seen = l, quarter
	}
}

// TestLastingFaultsRaiseNoLimits checks that a rise of an hour counts as a fault and raises no
// limit, while short bursts raise the limits of short windows.
func TestLastingFaultsRaiseNoLimits(t *testing.T) {
	steady := limitsOf(calibrated(wandering(14, 0.05, nil)))
	faulty := limitsOf(calibrated(wandering(14, 0.05, func(m int64) float64 {
		if m%(2*24*60) < 90 {
			return math.Log(2)
		}
		return 0
	})))
	bursts := limitsOf(calibrated(wandering(14, 0.05, func(m int64) float64 {
		if m%(8*60) < 3 {
			return math.Log(2.3)
		}
		return 0
	})))
	for i, w := range spanTable() {
		if math.Abs(faulty.spans[i]/steady.spans[i]-1) > 0.15 {
			t.Errorf("faults changed the limit of %+v from %v to %v", w, steady.spans[i], faulty.spans[i])
		}
		if w.minutes <= 3 && bursts.spans[i] < steady.spans[i]*1.1 {
			t.Errorf("bursts left the limit of %+v at %v", w, bursts.spans[i])
		}
	}
}

// TestTooShortAPast checks that a history that is too short gives no calibration.
func TestTooShortAPast(t *testing.T) {
	if c := calibrated(wandering(1, 0.05, nil)); c.known {
		t.Errorf("a day is enough for %+v", c)
	}
	if c := calibrated(&history{}); c.known {
		t.Errorf("nothing is enough for %+v", c)
	}
}

// TestHold checks that fewer accepted false pages ask for a longer rise, and not for a higher one than
// at the default.
func TestHold(t *testing.T) {
	c := calibrated(wandering(14, 0.1, nil))
	for falsePages, want := range map[float64]time.Duration{
		50: 2 * time.Minute, 8: 2 * time.Minute, 0.5: 5 * time.Minute, 0.5 / 30: 12 * time.Minute, 0.5 / 5000: 15 * time.Minute,
	} {
		p := sink.DefaultPolicy()
		p.FalsePages = falsePages
		if got := hold(p); got != want {
			t.Errorf("%v false pages: a level must last %v, want %v", falsePages, got, want)
		}
		s := series{policy: p, past: c}
		own, usual := s.pageLimits(1, 1), limitsOf(c)
		if got, most := own.detectable(hold(p).Minutes(), 60), usual.detectable(hold(sink.DefaultPolicy()).Minutes(), 60); got > most {
			t.Errorf("%v false pages: detectable in an hour is ×%v, and ×%v at the default", falsePages, got, most)
		}
	}
}
