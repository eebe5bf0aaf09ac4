package regression

import (
	"math"
	"math/rand/v2"
	"testing"
)

// walk feeds a step with turns whose log ratio has a standard deviation of 0.5
// around a level, 36 a minute, and tells after how many minutes it was up: NaN
// if it never was.
type walk struct {
	step
	rng   *rand.Rand
	noise float64
}

func newWalk(seed uint64) *walk { return &walk{rng: rand.New(rand.NewPCG(seed, 1)), noise: 0.085} }

func (w *walk) run(minutes int, level func(minute float64) float64) float64 {
	const perMinute = 36
	for i := range minutes * perMinute {
		at := float64(i) / perMinute
		w.add(level(at)+0.5*w.rng.NormFloat64(), 1.0/perMinute, w.bounds(0.5, w.noise))
		if w.Up {
			return at
		}
	}
	return math.NaN()
}

func flat(level float64) func(float64) float64 { return func(float64) float64 { return level } }

// TestStep counts in how many of 20 deployments a change is a step within its
// time: chance has a part in it, for a level of 1.3 times is three standard
// deviations of this one.
func TestStep(t *testing.T) {
	const seeds = 20
	for name, tt := range map[string]struct {
		before, after func(float64) float64
		minutes       int
		least, most   int
	}{
		"1.3 times":                      {flat(0), flat(math.Log(1.3)), 60, 14, seeds},
		"1.5 times":                      {flat(0), flat(math.Log(1.5)), 12, 18, seeds},
		"1.5 times a level above usual":  {flat(0.1), flat(0.1 + math.Log(1.5)), 15, 18, seeds},
		"back from far below the usual":  {flat(-0.5), flat(0), 240, 0, 0},
		"1.1 times":                      {flat(0), flat(math.Log(1.1)), 240, 0, 0},
		"a burst of two minutes, hourly": {flat(0), func(m float64) float64 { return burst(math.Mod(m, 60)) }, 240, 0, 0},
		"a level that wanders up to 1.2": {flat(0), func(m float64) float64 { return 0.18 * math.Sin(math.Pi*m/240) }, 240, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			steps := 0
			for seed := range uint64(seeds) {
				w := newWalk(seed)
				if at := w.run(120, tt.before); !math.IsNaN(at) {
					t.Fatalf("seed %d: up after %.1f minutes, before anything happened", seed, at)
				}
				if !math.IsNaN(w.run(tt.minutes, tt.after)) {
					steps++
				}
			}
			if steps < tt.least || steps > tt.most {
				t.Errorf("a step in %d of %d within %d minutes, want %d to %d", steps, seeds, tt.minutes, tt.least, tt.most)
			}
		})
	}
}

// burst is half an e-fold for two minutes.
func burst(minute float64) float64 {
	if minute < 2 {
		return 0.5
	}
	return 0
}

// TestStepEnds: a step is over minutes after the fault, and not while a level
// wanders about the limit.
func TestStepEnds(t *testing.T) {
	w := newWalk(3)
	w.run(120, flat(0))
	if at := w.run(240, flat(0.35)); math.IsNaN(at) {
		t.Fatal("never up")
	}
	b := w.bounds(0.5, w.noise)
	if got := w.ratio(b); got < 1 {
		t.Errorf("the ratio of a step that is up is %v", got)
	}
	w.Sum = (stepOver + 0.01) * b.limit
	w.close(b.allowance+w.Recent, 1, b)
	if got := w.ratio(b); !w.Up || got < 1 {
		t.Errorf("just above %v of the limit the step is over; ratio %v", stepOver, got)
	}
	minutes := 0
	for ; w.Up && minutes < 60; minutes++ {
		w.close(0, 1, b)
	}
	if minutes > 6 {
		t.Errorf("over only after %d minutes at the usual level", minutes)
	}
	if got := w.ratio(b); got >= 1 {
		t.Errorf("the ratio of a step that is over is %v", got)
	}
}

// TestStepFewTurns: outliers are no step where turns are few, and a pause of the
// prober does not count in full.
func TestStepFewTurns(t *testing.T) {
	for _, perMinute := range []float64{3, 1, 0.2} {
		var s step
		feed := func(n int, x float64) {
			for range n {
				s.add(x, 1/perMinute, s.bounds(0.3, 0.055))
			}
		}
		feed(600, 0)
		feed(2, math.Log(100))
		if s.Up {
			t.Errorf("at %v turns a minute two outliers are a step", perMinute)
		}
		s = step{}
		feed(600, 0)
		s.add(0.3, 24*60, s.bounds(0.3, 0.055))
		if s.Up {
			t.Errorf("at %v turns a minute one turn after a day is a step", perMinute)
		}
	}
}

// TestNoiseIsRemembered: the noise of the level stands on many more half hours
// than the baseline, forgets slowly, and is no less for faults.
func TestNoiseIsRemembered(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var d deviations
	for range 336 {
		d.add(0.1 * rng.NormFloat64())
	}
	if got := d.upper(); got < 0.095 || got > 0.125 {
		t.Errorf("of a week the upper estimate of 0.1 is %v", got)
	}
	for range 3000 {
		d.follow(0.1 * rng.NormFloat64())
	}
	if got := d.upper(); got < 0.097 || got > 0.112 {
		t.Errorf("of two months the upper estimate of 0.1 is %v", got)
	}
	before := d.upper()
	for range 100 {
		d.follow(1)
	}
	if got := d.upper(); got != before {
		t.Errorf("half hours of a fault changed the noise from %v to %v", before, got)
	}
	d.follow(-5)
	if got := d.upper(); got > 1.05*before {
		t.Errorf("one half hour far below changed the noise from %v to %v", before, got)
	}
}

// TestAStepIsNoCalm: what is learned beside the baselines waits for its end, too.
func TestAStepIsNoCalm(t *testing.T) {
	j := NewJob(Options{})
	j.series[1][0].step.Up = true
	if !j.calm(0) || j.calm(1) {
		t.Errorf("with a step of follow-up turns calm says %v of first turns and %v of those", j.calm(0), j.calm(1))
	}
}
