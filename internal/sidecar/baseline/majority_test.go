package baseline

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// TestMajority checks the bound of a minute: without effect if all turns are slower by a factor, also
// where a third of them is always four times as fast, and near the baseline if a minority is slower by
// a large factor. Few turns, and turns of an unknown mix, have no bound.
func TestMajority(t *testing.T) {
	const spread = 0.3
	rng := rand.New(rand.NewPCG(3, 4))
	bound := func(turns int, healthy, rise func() float64) float64 {
		var quiet majority
		for range 100 {
			for range recentTurns {
				quiet.add(1, healthy()+spread*rng.NormFloat64())
			}
			quiet.learn()
		}
		sum := 0.0
		for minute := int64(2); minute < 1002; minute++ {
			m := quiet
			for range turns {
				m.add(minute, healthy()+rise()+spread*rng.NormFloat64())
			}
			sum += m.bound(minute, boundMinutes, minute) / 1000
		}
		return sum
	}
	share := func(part, size float64) func() float64 {
		return func() float64 {
			if rng.Float64() < part {
				return math.Log(size)
			}
			return 0
		}
	}
	twice := share(1, 2)
	for name, healthy := range map[string]func() float64{"alike": share(0, 1), "a third at a quarter": share(1./3, 0.25)} {
		if got := bound(20, healthy, twice); got < math.Log(2) {
			t.Errorf("%s: twice the baseline is bounded to %v", name, got)
		}
	}
	if got := bound(20, share(0, 1), share(0.4, 5)); got > math.Log(1.4) {
		t.Errorf("40 %% of turns at ×5 are bounded to %v only", got)
	}
	if got := bound(sixthTurns-1, share(0, 1), twice); !math.IsInf(got, 1) {
		t.Errorf("%d turns are bounded to %v", sixthTurns-1, got)
	}
	if got := (&majority{}).bound(1, boundMinutes, 1); !math.IsInf(got, 1) {
		t.Errorf("an unknown mix is bounded to %v", got)
	}
}

// TestPageOfMost checks that a mean pages if most turns of the rise are slower, or too few are known, and that a
// page for slow turns alone needs no others.
func TestPageOfMost(t *testing.T) {
	mean := finding{score: 1.2, reason: reason{Limit: 0.5, Over: 0.1}, atOnce: true}
	tail := finding{score: 1.2, reason: reason{Limit: 0.5, Tail: true}}
	for name, tt := range map[string]struct {
		finding
		turns, slow int
		want        bool
	}{
		"all":            {mean, 12, 12, true},
		"nine of ten":    {mean, 20, 18, true},
		"three of four":  {mean, 20, 15, false},
		"few turns":      {mean, sixthTurns - 1, 3, true},
		"a tail of some": {tail, 20, 5, true},
	} {
		s := series{minute: 100, onset: onset{Since: 98}}
		s.majority.quiet = leastQuiet
		for i := range 2 * tt.turns {
			minute, x := int64(99), 0.
			if i < tt.turns { // before the rise
				minute = 97
			} else if i < tt.turns+tt.slow {
				x = 1
			}
			s.majority.add(minute, x)
		}
		got := s.ofMost(tt.finding)
		if (got.score >= 1) != tt.want || got.atOnce != (tt.want && tt.atOnce) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestSlowMinority checks that a batch of long prompts does not page, and that a fault of all turns
// with the same mean does.
func TestSlowMinority(t *testing.T) {
	f := newFeed(options{})
	f.every = 4 * time.Second
	f.run(8 * day)
	n := 0
	f.shape = func(time.Time) float64 {
		if n++; n%3 == 0 {
			return math.Log(8)
		}
		return 0
	}
	if n := f.pagesIn(9 * time.Minute); n != 0 {
		t.Error("a third of the turns at ×8 pages within ten minutes")
	}
	f.shape = nil
	f.run(2 * time.Hour)
	f.ratio = 2
	if took := f.until(time.Hour, pages); took > 9*time.Minute {
		t.Errorf("all turns at ×%.1f page after %v", f.ratio, took)
	}
}
