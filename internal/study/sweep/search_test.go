package sweep

import (
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"synthetic/internal/simulate"
	"synthetic/internal/study/runfile"
)

// TestBracket simulates searches over eight levels. Each level has one outcome: "p" passed
// while bracketing, "m" proven to meet the objectives, "u" undecided, "x" missed, and "f"
// passed while bracketing but undecided when it must be proven.
func TestBracket(t *testing.T) {
	for _, c := range []struct {
		levels string
		visits []int
	}{
		{"pppppppp", []int{7}},
		{"mmmmxxxx", []int{7, 3, 5, 4}},
		{"pppxxxxx", []int{7, 3, 1, 2}},
		{"ppppxxxx", []int{7, 3, 5, 4, 3}},       // the answer was only passed
		{"pppfxxxx", []int{7, 3, 5, 4, 3, 1, 2}}, // and is not confirmed
		{"pppuxxxx", []int{7, 3, 1, 2, 5, 4}},    // 4 misses, as in a grid
		{"pppuuuxx", []int{7, 3, 1, 2, 5, 6}},    //
		{"uuuuuuuu", []int{7, 3, 1, 0}},          // no level is proven
		{"xxxxxxxx", []int{7, 3, 1, 0}},          //
		{"fxxxxxxx", []int{7, 3, 1, 0}},          //
		{"pppuumuu", []int{7, 3, 1, 2}},          // contradictory outcomes, but it ends
		{"fffffffx", []int{7, 3, 5, 6, 5, 4, 3, 1, 2, 1, 0}},
	} {
		b := newBracket(0, len(c.levels), 100)
		var visits []int
		for len(visits) < 20 {
			next, ok := b.next()
			if !ok {
				break
			}
			visits = append(visits, next.level)
			b.record(next.level, outcome(c.levels[next.level], next.purpose), 1)
		}
		if !slices.Equal(visits, c.visits) {
			t.Errorf("%s: visits %v, want %v", c.levels, visits, c.visits)
		}
	}
}

// outcome returns the verdict on a level for a purpose.
func outcome(kind byte, p purpose) *runfile.LevelVerdict {
	v := &runfile.LevelVerdict{Decided: runfile.DecidedEarly, Standing: runfile.Missed}
	switch {
	case kind == 'm', kind == 'p' && p == confirming:
		v.Standing = runfile.Met
	case kind == 'p', kind == 'f' && p == bracketing:
		v.Standing, v.Decided = runfile.Undecided, runfile.DecidedProvisional
	case kind == 'u', kind == 'f':
		v.Standing = runfile.Undecided
	}
	return v
}

// TestSearchTakesNoMoreThanTheList: whatever the levels turn out to be, a search takes at most
// the time of all listed levels, and ends with a proof if every level can be proven.
func TestSearchTakesNoMoreThanTheList(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 1))
	for range 5000 {
		listed := 1 + rng.IntN(8)
		levels := listed * (1 + rng.IntN(12))
		kinds := make([]byte, levels)
		capacity := rng.IntN(levels + 1)
		for i := range kinds {
			kinds[i] = 'p'
			if i >= capacity {
				kinds[i] = 'x'
			}
			if rng.IntN(8) == 0 {
				kinds[i] = "pmufxs"[rng.IntN(6)]
			}
		}
		flat := rng.IntN(4) == 0
		b, spent := newBracket(0, levels, listed), 0.0
		for range 100 {
			next, ok := b.next()
			if !ok {
				break
			}
			kind := kinds[next.level]
			if flat {
				kind = 'p'
			}
			v := outcome(kind, next.purpose)
			if kind == 's' { // seems to pass, after its whole time
				v = &runfile.LevelVerdict{Standing: runfile.Undecided, Met: true, Decided: runfile.DecidedMeasured}
			}
			time := next.most * (0.1 + 0.9*rng.Float64())
			spent += time
			b.record(next.level, v, time)
		}
		if _, more := b.next(); more {
			t.Fatalf("%s of %d listed: the search does not end", kinds, listed)
		}
		if spent > float64(listed)+roundedTime {
			t.Errorf("%s: it took the time of %.2f levels, %d are listed", kinds, spent, listed)
		}
		if flat && !b.proven[levels-1] {
			t.Errorf("%d levels that pass: the highest is not proven", levels)
		}
	}
}

// TestFlatServerIsProven: a server that meets its objectives at every listed level is proven to
// do so at the highest, in less time than the list.
func TestFlatServerIsProven(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var net network
		o := quick()
		o.InterToken.Median = 190 * time.Millisecond
		defer net.serve(t, "a", simulate.New(o))()
		plan := ladder()
		plan.Levels = []float64{2, 4, 8, 16, 32, 64}
		plan.Measure.Snapshots, plan.Measure.Snapshot = 1, 10*time.Second
		run, err := Run(t.Context(), Options{Plan: plan, Dir: t.TempDir(), Dial: net.Dial, FindCapacity: true, Resolution: 0.05})
		if err != nil {
			t.Fatal(err)
		}
		c := run.Capacities[0]
		if c.Level == nil || *c.Level < 0.9*64 || c.MeasuredSeconds > *c.GridSeconds {
			t.Errorf("%s, measured for %.0f s of %.0f s", c.Sentence("concurrency"), c.MeasuredSeconds, *c.GridSeconds)
		}
	})
}
