// Package reporttest makes runs for tests from a small model of a deployment, whose answers
// become slower with the turns in flight and which refuses some turns beyond its limit.
package reporttest

import (
	"math"
	"math/rand/v2"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/serverside"
	"synthetic/internal/slo"
	"synthetic/internal/study/runs"
)

// Noon is the start of every run.
func Noon() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

// Variant is a configuration of the model.
type Variant struct {
	Name string
	// Slowdown multiplies every latency. 1 means no change.
	Slowdown float64
	// Limit is the number of turns in flight beyond which one in five is refused; 0 means
	// no limit.
	Limit float64
}

// Options describe a run. Zero values have defaults.
type Options struct {
	Seed        uint64
	Variants    []Variant
	Levels      []float64
	Repetitions int
}

// SLOs returns the objectives of every run.
func SLOs() []slo.Objective {
	return []slo.Objective{
		{Name: "ttft", SLI: slo.TTFT, Threshold: time.Second, Objective: 0.99},
		{Name: "tpot", SLI: slo.TPOT, Threshold: 60 * time.Millisecond, Objective: 0.99},
	}
}

// Run makes a run. Equal options make equal runs.
func Run(o Options) *runs.Run {
	if o.Variants == nil {
		o.Variants = []Variant{{Name: "default", Slowdown: 1, Limit: 100}}
	}
	if o.Levels == nil {
		o.Levels = []float64{40, 60, 80, 100, 120}
	}
	target := 10.0
	r := &runs.Run{
		Origin: runs.Origin{
			Format: runs.Format, Generated: Noon(), Tool: runs.Tool{Name: "synthetic", Version: "test"},
			Title: "A sweep of the model", Plan: runs.Plan{Text: "levels: []\n", SHA256: "00"}, Seed: o.Seed,
		},
		Workload: runs.Workload{Name: "chat", Summary: "Multi-turn chat (3-5 turns per conversation)",
			Parameters: []runs.Parameter{{Name: "turns", Value: "3-5"}, {Name: "prompt_tokens", Value: "3750"}}},
		Deployment: []runs.Parameter{{Name: "Model", Value: "model-70b", Source: "/v1/models"}, {Name: "GPU", Value: "3x", Source: "plan"}},
		Method: runs.Method{
			LevelKind: runs.Concurrency, TargetRPS: &target, WarmUpSeconds: 60, MeasurementSeconds: 300,
			Snapshots: 3, Repetitions: max(o.Repetitions, 1), CachePolicy: "keep", Order: "ABBA",
		},
		SLOs: SLOs(),
	}
	rng := rand.New(rand.NewPCG(o.Seed, 17))
	for _, v := range o.Variants {
		r.Variants = append(r.Variants, v.Name)
		for _, level := range o.Levels {
			for i := range r.Repetitions {
				r.Results = append(r.Results, result(rng, v, level, i+1))
			}
		}
	}
	return r
}

func result(rng *rand.Rand, v Variant, level float64, repetition int) runs.Result {
	r := runs.Result{
		Variant: v.Name, Level: level, Repetition: repetition, State: runs.Complete,
		Started: Noon(), Ended: Noon().Add(5 * time.Minute),
	}
	for range 3 {
		r.Snapshots = append(r.Snapshots, snapshot(rng, v, level))
	}
	return r
}

// snapshot has 10 blocks of 10 s.
func snapshot(rng *rand.Rand, v Variant, level float64) runs.Snapshot {
	mean, limit := level, int(level)
	s := runs.Snapshot{
		Started: Noon(), Seconds: 100, InFlightMean: &mean, InFlightMax: &limit,
		Server: []serverside.Summary{{
			Source: "http://frontend:8000/metrics", Families: []string{"dynamo_frontend_cached_tokens", "dynamo_frontend_queued_requests"},
			Figures: map[string]float64{serverside.KVHitRatio: 0.9, serverside.QueueMean: max(level-90, 0), serverside.OutputPerSecond: 100 * level / latency(v, level)},
		}},
	}
	perBlock := 10 * level / latency(v, level)
	for range 10 {
		b := runs.Block{Seconds: 10}
		for range int(perBlock + rng.Float64()) {
			b.TurnsStarted++
			b.Observe(new(turn(rng, v, level)), SLOs())
		}
		s.ConversationStarts += b.TurnsStarted / 4
		s.Blocks = append(s.Blocks, b)
	}
	return s
}

// latency is the mean duration of a turn in seconds. A turn has 100 tokens, so that tests
// are quick.
func latency(v Variant, level float64) float64 { return ttft(v, level) + 99*tpot(v, level) }

func tpot(v Variant, level float64) float64 {
	return v.Slowdown * (0.02 + 0.0002*level + 0.01*max(level-85, 0)/20)
}

func ttft(v Variant, level float64) float64 {
	return v.Slowdown * (0.15 + 0.001*level + 0.05*max(level-95, 0))
}

func turn(rng *rand.Rand, v Variant, level float64) probe.Result {
	kind, slower := probe.Followup, 0.9
	if rng.IntN(4) == 0 {
		kind, slower = probe.First, 1.3
	}
	r := probe.Result{
		Kind: kind, Outcome: probe.Success, Sent: Noon(),
		Asked: probe.Asked{Scheduled: Noon(), Model: "model-70b"},
	}
	if v.Limit > 0 && level > v.Limit && rng.IntN(5) == 0 {
		// Refused after the time of an answer, because it was in flight.
		r.Outcome, r.End = probe.HTTP429, r.Sent.Add(time.Duration(latency(v, level)*float64(time.Second)))
		return r
	}
	spread := func(mean, sigma float64) time.Duration {
		return time.Duration(mean * math.Exp(sigma*rng.NormFloat64()-sigma*sigma/2) * float64(time.Second))
	}
	first, token := spread(slower*ttft(v, level), 0.25), spread(tpot(v, level), 0.04)
	r.End = r.Sent.Add(first + 99*token)
	r.TTFT, r.AnswerTTFT, r.TPOT = probe.Some(first), probe.Some(first), probe.Some(token)
	for range 4 {
		r.Gaps = append(r.Gaps, spread(token.Seconds(), 0.1))
	}
	r.PromptTokens, r.CachedTokens, r.OutputTokens, r.Events = probe.Some(4000), probe.Some(3500+rng.IntN(200)), probe.Some(100), 100
	return r
}
