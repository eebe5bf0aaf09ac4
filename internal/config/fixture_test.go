package config

import (
	"bytes"
	"flag"
	"math"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/slo"
	"synthetic/internal/study/runfile"
)

var update = flag.Bool("update", false, "rewrite testdata/run.json")

const fixture = "testdata/run.json"

// TestFixture checks that the file, which tests of other packages read too, is up to date.
func TestFixture(t *testing.T) {
	made, err := runfile.Encode(smallRun())
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(fixture, made, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(fixture)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(have, made) {
		t.Errorf("%s is stale; `go test ./internal/config -update` rewrites it", fixture)
	}
}

func noon() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

// smallRun has levels with few turns (5), good levels (10, 20), one with errors (40) and one that was given
// up (60).
func smallRun() *runfile.Run {
	r := &runfile.Run{
		Format: runfile.Format, Generated: noon(), Tool: runfile.Tool{Name: "synthetic", Version: "test"}, Title: "A small sweep",
		Plan: runfile.Plan{Text: "levels: {concurrency: [5, 10, 20, 40, 60]}\n", SHA256: "00"}, Seed: 1,
		Workload: runfile.Workload{Name: "chat", Summary: "Multi-turn chat (3-5 turns per conversation)", Parameters: []runfile.Parameter{
			{Name: "turns", Value: "3-5"}, {Name: "prompt_tokens", Value: "500"}, {Name: "starters", Value: "10"},
			{Name: "followup_tokens", Value: "60"}, {Name: "max_output_tokens", Value: "128"},
		}},
		SLOs:      []runfile.Objective{{Name: "ttft", SLI: slo.TTFT, ThresholdSeconds: 1, Objective: 0.99}},
		LevelKind: runfile.Concurrency, WarmUpSeconds: 10, MeasurementSeconds: 100, Snapshots: 1, Repetitions: 1, CachePolicy: "keep",
		Variants: []string{"round_robin", "kv_aware"},
	}
	rng := rand.New(rand.NewPCG(1, 1))
	r.Results = append(r.Results, result(rng, "kv_aware", 5, 12, 0))
	for _, v := range r.Variants {
		r.Results = append(r.Results, result(rng, v, 10, 400, 0), result(rng, v, 20, 400, 0))
	}
	failing, doomed := result(rng, "kv_aware", 40, 400, 0.2), result(rng, "kv_aware", 60, 400, 0)
	doomed.State, doomed.Why = runfile.EndedEarly, "the queue grew"
	doomed.Verdict = &runfile.LevelVerdict{Decided: runfile.DecidedEarly}
	r.Results = append(r.Results, failing, doomed)
	return r
}

// result returns a level with a number of turns, a share of which fails.
func result(rng *rand.Rand, variant string, level float64, turns int, failing float64) runfile.Result {
	objectives := []slo.Objective{{Name: "ttft", SLI: slo.TTFT, Threshold: time.Second, Objective: 0.99}}
	b := runfile.Block{Seconds: 100, TurnsStarted: uint64(turns)}
	for i := range turns {
		kind := probe.Followup
		if i%4 == 0 {
			kind = probe.First
		}
		b.Observe(new(turn(rng, kind, level, rng.Float64() < failing)), objectives)
	}
	return runfile.Result{
		Variant: variant, Level: level, Repetition: 1, State: runfile.Complete,
		Started: noon(), Ended: noon().Add(110 * time.Second),
		Snapshots: []runfile.Snapshot{{Started: noon(), Seconds: 100, Blocks: []runfile.Block{b}}},
	}
}

// ttftAt returns the geometric mean of the TTFT in seconds.
func ttftAt(kind probe.TurnKind, level float64) float64 {
	if kind == probe.First {
		return 0.2 * (1 + level/20)
	}
	return 0.1 * (1 + level/20)
}

func turn(rng *rand.Rand, kind probe.TurnKind, level float64, fails bool) probe.Result {
	r := probe.Result{Kind: kind, Outcome: probe.Success, Scheduled: noon(), Sent: noon()}
	if fails {
		r.Outcome, r.End = probe.HTTP5xx, noon().Add(time.Second)
		return r
	}
	spread := func(mean, sigma float64) time.Duration {
		return time.Duration(mean * math.Exp(sigma*rng.NormFloat64()) * float64(time.Second))
	}
	first, token := spread(ttftAt(kind, level), 0.3), spread(0.02, 0.05)
	r.TTFT, r.AnswerTTFT, r.TPOT = probe.Some(first), probe.Some(first), probe.Some(token)
	r.PromptTokens, r.OutputTokens = probe.Some(800), probe.Some(100)
	r.End = noon().Add(first + 99*token)
	return r
}
