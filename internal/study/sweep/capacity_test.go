package sweep

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"synthetic/internal/fleet"
	"synthetic/internal/simulate"
	"synthetic/internal/study/runs"
)

// slowed answers requests in 0.8 s, and in 1.5 s if isSlow says so.
type slowed struct {
	http.Handler
	running, served atomic.Int64
	isSlow          func(running, served int64) bool
}

// newSlowed returns a deployment that is otherwise quick.
func newSlowed(isSlow func(running, served int64) bool) *slowed {
	o := quick()
	o.FirstToken.Median, o.TokensPerEvent = time.Nanosecond, 20
	return &slowed{Handler: simulate.New(o), isSlow: isSlow}
}

func (s *slowed) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost {
		first := 800 * time.Millisecond
		if s.isSlow(s.running.Add(1), s.served.Add(1)) {
			first = 1500 * time.Millisecond
		}
		time.Sleep(first)
		s.running.Add(-1) // before the client knows, because its next request follows at once
	}
	s.Handler.ServeHTTP(w, r)
}

// kneeAt has no slow answers up to a number of running requests, then the share above of them, and ever more from two
// requests later on.
func kneeAt(at int64, above float64) func(running, served int64) bool {
	return func(running, served int64) bool {
		share := 0.4
		switch {
		case running <= at:
			share = 0 // a few bad turns that come together leave a short level undecided
		case running <= at+2:
			share = above
		}
		return rand.New(rand.NewPCG(1, uint64(served))).Float64() < share
	}
}

func ladder() fleet.Plan {
	p := small()
	p.Levels = []float64{2, 3, 4, 5, 6, 7, 8, 9}
	p.Measure.Snapshot = 100 * time.Second
	return p
}

// TestCapacityAgreesWithGrid: the search finds the same level as the full grid, wherever the
// knee is, in at most half of its measured time.
func TestCapacityAgreesWithGrid(t *testing.T) {
	for _, at := range []int64{0, 4, 5, 9} {
		t.Run(fmt.Sprint(at), func(t *testing.T) {
			if testing.Short() && at != 4 {
				t.Skip("measures a grid of eight levels; make test-long runs it")
			}
			grid, gridTime := highest(t, at, false)
			found, searchTime := highest(t, at, true)
			if found != grid || found != float64(at) {
				t.Errorf("the search finds %g, the grid %g, the knee is at %d", found, grid, at)
			}
			if searchTime > gridTime/2 {
				t.Errorf("the search measured %.0f s, the grid %.0f s", searchTime, gridTime)
			}
			t.Logf("%.0f s against %.0f s", searchTime, gridTime)
		})
	}
}

// highest returns the highest level that is proven to meet the objectives, 0 for none, and the
// measured seconds.
func highest(t *testing.T, at int64, search bool) (level, seconds float64) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var net network
		// With 0.05, two levels of a hundred stayed undecided by chance.
		defer net.serve(t, "a", newSlowed(kneeAt(at, 0.08)))()
		run, err := Run(t.Context(), Options{Plan: ladder(), Dir: t.TempDir(), Dial: net.Dial, FindCapacity: search})
		if err != nil {
			t.Fatal(err)
		}
		if (run.Capacities != nil) != search {
			t.Errorf("search %v: capacities %+v", search, run.Capacities)
		}
		c := capacities(ladder(), run)[0]
		if c.Level != nil {
			level = *c.Level
			if c.Confidence < 0.95 {
				t.Errorf("confidence %.3f", c.Confidence)
			}
		}
		if above := max(level+1, 2); len(c.Undecided) > 0 || (c.Missed == nil) != (above > 9) || c.Missed != nil && *c.Missed != above {
			t.Errorf("level %g, undecided %v, missed %v", level, c.Undecided, c.Missed)
		}
		if c.Wanted != 0.95 {
			t.Errorf("%+v", c)
		}
		seconds = c.MeasuredSeconds
	})
	return level, seconds
}

// edge is slow for a fixed share of requests while more than two run, and for every second one while more than four do.
func edge(running, served int64) bool {
	return running > 4 && served%2 == 0 || running > 2 && served%100 == 0
}

// TestUndecided measures a level exactly at its limit. Grid and search call it undecided.
func TestUndecided(t *testing.T) {
	for _, search := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			var net network
			defer net.serve(t, "a", newSlowed(edge))()
			plan := ladder()
			plan.Levels = []float64{2, 4, 6}
			run, err := Run(t.Context(), Options{Plan: plan, Dir: t.TempDir(), Dial: net.Dial, FindCapacity: search})
			if err != nil {
				t.Fatal(err)
			}
			c := capacities(plan, run)[0]
			if c.Level == nil || *c.Level != 2 || !slices.Equal(c.Undecided, []float64{4}) || !search && (c.Missed == nil || *c.Missed != 6) {
				t.Errorf("search %t: %s", search, c.Sentence("level"))
			}
		})
	}
}

// TestSearchResumes stops a search after its second visit. The resumed search ends the same way
// and does not visit the same level a third time.
func TestSearchResumes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var net network
		defer net.serve(t, "a", newSlowed(kneeAt(5, 0.05)))()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		visits := 0
		options := Options{Plan: ladder(), Dir: t.TempDir(), Dial: net.Dial, FindCapacity: true, Finished: func(runs.Result, string) {
			if visits++; visits == 2 {
				cancel()
			}
		}}
		run, err := Run(ctx, options)
		if !errors.Is(err, ErrInterrupted) || len(run.Capacities) != 1 || len(run.Capacities[0].Visited) != 2 {
			t.Fatalf("error %v, capacities %+v", err, run.Capacities)
		}
		options.Resume = true
		if run, err = Run(t.Context(), options); err != nil {
			t.Fatal(err)
		}
		c := run.Capacities[0]
		if c.Level == nil || *c.Level != 5 || len(c.Visited) != visits || len(run.Results) != visits {
			t.Errorf("capacity %+v after %d visits", c, visits)
		}
	})
}

// TestCapacity computes the capacity from results of a grid or a search.
func TestCapacity(t *testing.T) {
	type seen struct {
		level     float64
		good, bad uint64 // in each of ten blocks
	}
	met := func(level float64) seen { return seen{level, 50, 0} }
	missed := func(level float64) seen { return seen{level, 30, 20} }
	unsure := func(level float64) seen { return seen{level, 99, 1} }
	for _, c := range []struct {
		name string
		seen []seen
		want string
	}{
		{"nothing", nil, "unknown, no level was measured"},
		{"a clear knee", []seen{met(2), met(4), missed(6), missed(8)},
			"level 4 meets the SLOs with a confidence of 99.3% (wanted 95%), level 6 misses them"},
		{"a knee that is not", []seen{met(2), unsure(4), met(6), unsure(8), unsure(10), missed(12)},
			"level 6 meets the SLOs with a confidence of 99.3% (wanted 95%), level 8 and 10 are undecided, level 12 misses them"},
		{"none is met", []seen{unsure(2), missed(4), met(6)},
			"no level is proven to meet the SLOs with the wanted confidence of 95%, level 2 is undecided, level 4 misses them"},
		{"all are met", []seen{met(14), met(16)}, "level 16 meets the SLOs with a confidence of 99.3% (wanted 95%)"},
		{"not judged", []seen{met(2), {level: 4}, missed(6)},
			"level 2 meets the SLOs with a confidence of 99.3% (wanted 95%), level 4 was not judged, level 6 misses them"},
	} {
		plan := ladder()
		var results []runs.Result
		for _, s := range c.seen {
			counts := map[string]runs.Judged{}
			for _, o := range plan.SLOs {
				counts[o.Name] = runs.Judged{Good: s.good, Bad: s.bad}
			}
			verdict := runs.LevelVerdict{}
			results = append(results, runs.Result{
				Variant: "a", Level: s.level, Verdict: &verdict,
				Snapshots: []runs.Snapshot{{Blocks: slices.Repeat([]runs.Block{{SLOs: counts}}, 10)}},
			})
		}
		results = append(results, runs.Result{Variant: "a", Level: 16, State: runs.Interrupted})
		if got := capacities(plan, &runs.Run{Results: results})[0].Sentence("level"); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}
