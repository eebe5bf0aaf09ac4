package sweep

import (
	"math"
	"testing"
	"testing/synctest"

	"synthetic/internal/probe"
	"synthetic/internal/serverside"
	"synthetic/internal/simulate"
	"synthetic/internal/study/runs"
)

// TestGridAccounts measures two levels in virtual time and compares every count with the deployment's.
func TestGridAccounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var net network
		d := simulate.New(quick())
		defer net.serve(t, "a", d)()
		run, err := Run(t.Context(), Options{Plan: small(), Dir: t.TempDir(), Dial: net.Dial})
		if err != nil {
			t.Fatal(err)
		}
		if len(run.Results) != 2 {
			t.Fatalf("%d results, want 2", len(run.Results))
		}
		for i, want := range []float64{2, 4} {
			r := run.Results[i]
			if r.Level != want || r.State != runs.Complete || len(r.Snapshots) != 3 {
				t.Fatalf("result %d: level %g, %s (%s), %d snapshots", i, r.Level, r.State, r.Why, len(r.Snapshots))
			}
			for _, s := range r.Snapshots {
				checkSnapshot(t, s, want)
			}
			if !r.Verdict.Met {
				t.Errorf("level %g: %+v, want met", want, r.Verdict)
			}
			if r.Tail == nil || r.Tail.Outcomes[probe.Success] != uint64(want) {
				t.Errorf("level %g: tail %+v, want %g turns that succeeded", want, r.Tail, want)
			}
		}
	})
}

// checkSnapshot expects 0.29 s per turn without pauses. The start rate limits less than the concurrency.
func checkSnapshot(t *testing.T, s runs.Snapshot, level float64) {
	t.Helper()
	var turns uint64
	for _, b := range s.Blocks {
		for o, n := range b.Outcomes {
			if o != probe.Success {
				t.Errorf("%d turns ended as %s", n, o)
			}
			turns += n
		}
	}
	if s.Seconds != 20 || len(s.Blocks) != 10 {
		t.Errorf("%g s in %d blocks, want 20 s in 10", s.Seconds, len(s.Blocks))
	}
	if want := level * 20 / 0.29; math.Abs(float64(turns)-want) > 0.03*want {
		t.Errorf("%d turns, want about %.0f", turns, want)
	}
	// Little's law holds up to the turns at the edges.
	if l := float64(turns) / s.Seconds * 0.29; math.Abs(l-*s.InFlightMean) > 0.03*level {
		t.Errorf("turns/s × latency = %.3f, mean in flight %.3f", l, *s.InFlightMean)
	}
	if *s.InFlightMax != int(level) {
		t.Errorf("at most %d in flight, want %g", *s.InFlightMax, level)
	}
	if len(s.Server) != 1 {
		t.Fatalf("%d server sides, want 1", len(s.Server))
	}
	f := s.Server[0].Figures
	if got, want := f[serverside.OutputPerSecond], float64(turns)*20/s.Seconds; math.Abs(got-want) > 0.03*want {
		t.Errorf("the server says %.1f tokens/s, the client %.1f", got, want)
	}
	if hit := f[serverside.KVHitRatio]; hit < 0.5 || hit > 1 {
		t.Errorf("hit ratio %.2f", hit)
	}
}
