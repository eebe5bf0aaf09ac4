package sweep

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"synthetic/internal/probe/workload"
	"synthetic/internal/slo"
	"synthetic/internal/study/runfile"
	"synthetic/internal/study/stats"
)

// blocks returns n equal blocks.
func blocks(n int, good, bad float64) []stats.Tally {
	return slices.Repeat([]stats.Tally{{Good: good, Bad: bad}}, n)
}

func TestVerdicts(t *testing.T) {
	j := &watcher{Judge: stats.Judge{Objectives: []runfile.Objective{{Name: "ttft", SLI: slo.TTFT, Objective: 0.99}, {Name: "tpot", SLI: slo.TPOT, Objective: 0.9}}, Confidence: 0.95}}
	if v := j.JudgeTurns(stats.Turns{"ttft": blocks(10, 99, 1), "tpot": blocks(10, 89, 11)}); v.Met || len(v.Lost) != 1 || v.Lost[0] != "tpot" {
		t.Errorf("measured %+v, want tpot lost", v)
	}
	if v := j.JudgeTurns(stats.Turns{"ttft": blocks(10, 99, 1), "tpot": blocks(10, 90, 10)}); !v.Met || v.Confidence > 0.6 {
		t.Errorf("measured at the limit: %+v, want met with little confidence", v)
	}
	if v := j.met(stats.Turns{"ttft": blocks(10, 50, 0)}); v == nil || !v.Met {
		t.Errorf("500 good turns, and none with a second token: %+v", v)
	}
	if v := j.lost(stats.Turns{"ttft": blocks(10, 5, 5), "tpot": blocks(10, 10, 0)}, 5); v == nil || v.Met || v.Lost[0] != "ttft" {
		t.Errorf("half of the turns are bad: %+v", v)
	}
	if v := j.lost(stats.Turns{"ttft": blocks(10, 9, 1), "tpot": blocks(10, 10, 0)}, 12); v != nil {
		t.Errorf("10 bad turns of 1,200 that may come: %+v", v)
	}
	if v := j.lost(stats.Turns{"ttft": blocks(2, 0, 100), "tpot": nil}, 1); v != nil {
		t.Errorf("decided by the first two blocks: %+v", v)
	}
	if v := j.met(stats.Turns{"ttft": blocks(10, 50, 0), "tpot": blocks(10, 50, 0)}); v == nil || !v.Met {
		t.Errorf("500 good turns: %+v", v)
	}
	if v := j.met(stats.Turns{"ttft": blocks(10, 50, 0), "tpot": blocks(10, 1, 0)}); v != nil {
		t.Errorf("met with 10 turns of an objective: %+v", v)
	}
}

// TestVain gives up only levels that cannot be proven any more.
func TestVain(t *testing.T) {
	j := &watcher{Judge: stats.Judge{Objectives: []runfile.Objective{{Name: "ttft", Objective: 0.99}}, Confidence: 0.95}}
	for _, c := range []struct {
		name   string
		blocks []stats.Tally
		times  float64
		want   bool
	}{
		{"no bad turn, though too few", blocks(10, 10, 0), 2, false},
		{"one, and 474 in all", blocks(1, 236, 1), 2, false},
		{"one, and 470 in all", blocks(1, 234, 1), 2, true},
		{"13 of 1,000", blocks(1, 987, 13), 1, true},
		{"6 of 1,200, here and there", slices.Repeat(append(blocks(1, 50, 0), blocks(1, 49, 1)...), 6), 2, false},
		{"6 of 1,200, in one burst", append(blocks(11, 50, 0), blocks(1, 44, 6)...), 2, true},
	} {
		if got := j.futile(stats.Turns{"ttft": c.blocks}, c.times); (got != nil) != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// TestGrowing: twice as many turns in flight as halfway are a queue.
func TestGrowing(t *testing.T) {
	var history []Counts
	for i := range 60 {
		history = append(history, Counts{Turns: uint64(2 * i), InFlight: 2 * i})
	}
	recorded := workload.Spec{Trace: workload.Trace{File: "trace.jsonl"}}
	for _, c := range []struct {
		name string
		plan Plan
		want bool
	}{
		{"an even rate", Plan{Kind: runfile.Rate}, true},
		{"a closed loop", Plan{Kind: runfile.Concurrency}, false},
		{"a trace at a rate", Plan{Kind: runfile.Rate, Workload: recorded}, true},
	} {
		w := &watcher{plan: c.plan, history: history}
		if why := w.growing(Counts{Turns: 120, Early: time.Second}); (why != "") != c.want {
			t.Errorf("%s: %q", c.name, why)
		}
	}
}

// TestSearchProofsErr counts how often a search proves a level at the edge of its objective,
// where each proof that it meets it is an error. The search looks after each of 30 blocks, whose
// shares of bad turns are log-normal AR(1) noise, and judges the whole level at its end.
func TestSearchProofsErr(t *testing.T) {
	const blocks, turns, allowed, sigma = 30, 60, 0.05, 0.5
	levels := 1000
	if testing.Short() {
		levels = 300
	}
	w := &watcher{Judge: stats.Judge{Objectives: []runfile.Objective{{Name: "ttft", Objective: 1 - allowed}}, Confidence: 0.95}, purpose: confirming}
	for _, c := range []struct{ correlation, most float64 }{{0, 0.06}, {0.5, 0.06}, {0.8, 0.10}} {
		rng := rand.New(rand.NewPCG(11, uint64(100*c.correlation)))
		wrong := 0
		for range levels {
			noise := rng.NormFloat64()
			var seen []stats.Tally
			var end *ending
			for len(seen) < blocks && end == nil {
				noise = c.correlation*noise + math.Sqrt(1-c.correlation*c.correlation)*rng.NormFloat64()
				tally := stats.Tally{}
				for range turns {
					if rng.Float64() < allowed*math.Exp(sigma*noise-sigma*sigma/2) {
						tally.Bad++
					} else {
						tally.Good++
					}
				}
				seen = append(seen, tally)
				share := float64(len(seen)) / blocks
				end = w.decided(stats.Turns{"ttft": seen}, share, 1/share)
			}
			v := w.JudgeTurns(stats.Turns{"ttft": seen})
			if end != nil {
				v = end.verdict
			}
			if v.Standing == runfile.Met {
				wrong++
			}
		}
		t.Logf("correlation %g: %.1f %% wrong", c.correlation, 100*float64(wrong)/float64(levels))
		if float64(wrong) > c.most*float64(levels) {
			t.Errorf("correlation %g: %d of %d wrongly proven, want at most %g %%", c.correlation, wrong, levels, 100*c.most)
		}
	}
}
