package sweep

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
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
		if !errors.Is(err, ErrInterrupted) || len(run.Results) != 2 {
			t.Fatalf("error %v, results %+v", err, run.Results)
		}
		options.Resume = true
		if run, err = Run(t.Context(), options); err != nil {
			t.Fatal(err)
		}
		most := 0.0
		for _, r := range run.Results {
			if r.Verdict.Standing == runs.Met {
				most = max(most, r.Level)
			}
		}
		if most != 5 || len(run.Results) != visits {
			t.Errorf("capacity %g after %d visits, %d in the run", most, visits, len(run.Results))
		}
	})
}
