package cluster

import (
	"fmt"
	"slices"
	"time"
)

// cost70B is what a step takes on an H200 with a Llama 70B in FP8 and KV
// memory in 16 bits.
func cost70B() Cost {
	return Cost{Base: 20.5e-3, Token: 0.13e-3, KVToken: 66e-9, Prefill: 96e-6, Pair: 5e-9, Eager: 0}
}

// multiplesOf8 are the batch sizes that vLLM captures.
func multiplesOf8(most int) []int {
	sizes := []int{1, 2, 4}
	for n := 8; n <= most; n += 8 {
		sizes = append(sizes, n)
	}
	return sizes
}

// vllm is one worker with vLLM behind Dynamo's frontend.
func vllm() Config {
	return Config{
		Workers: 1,
		Engine: Engine{
			MaxSeqs: 128, MaxBatchedTokens: 8192, BlockTokens: 16, KVTokens: 250_000,
			Lookahead: 1, Graphs: multiplesOf8(512), Padding: true, Cost: cost70B(),
		},
		Router:   Router{Policy: RoundRobin},
		Frontend: Frontend{RequestDelay: 43 * time.Millisecond, ResponseDelay: 10 * time.Millisecond, Deadline: 120 * time.Second},
	}
}

func eagle3() Config {
	c := vllm()
	c.Engine.MaxSeqs, c.Engine.MaxBatchedTokens, c.Engine.KVTokens = 64, 16384, 348_000
	c.Engine.Speculation = Speculation{Draft: 3, Acceptance: 1e-4, KVTokens: 24_000}
	c.Engine.Cost.Draft = 3e-3
	c.Engine.Cost.KVToken = 42e-9
	return c
}

// trtllm is three workers with TensorRT-LLM behind Dynamo's frontend.
func trtllm(policy Policy) Config {
	c := vllm()
	c.Workers = 3
	c.Engine.MaxSeqs, c.Engine.MaxBatchedTokens, c.Engine.KVTokens = 64, 8192, 400_000
	c.Engine.Lookahead = 5
	c.Engine.Graphs, c.Engine.Padding = nil, false
	for n := 1; n <= 32; n++ {
		c.Engine.Graphs = append(c.Engine.Graphs, n)
	}
	c.Engine.Graphs = append(c.Engine.Graphs, 64, 128)
	c.Engine.Cost.Base, c.Engine.Cost.Token = 18.75e-3, .1085e-3
	c.Engine.Cost.KVToken = 42e-9
	c.Engine.Cost.Eager = 43e-3
	c.Frontend.RequestDelay = 47 * time.Millisecond
	c.Router = Router{Policy: policy, OverlapWeight: 1}
	return c
}

// presets are the deployments of the measured benchmarks.
func presets() []struct {
	name   string
	config func() Config
} {
	return []struct {
		name   string
		config func() Config
	}{
		{"phase0", vllm},
		{"eagle3", eagle3},
		{"trtllm-rr", func() Config { return trtllm(RoundRobin) }},
		{"trtllm-kv", func() Config { return trtllm(KVAware) }},
		{"bench-phase0", benchPhase0},
		{"bench-eagle3", benchEagle3},
	}
}

func benchPhase0() Config {
	c := vllm()
	c.Engine.MaxSeqs, c.Engine.KVTokens = 1024, 348_000
	c.Frontend = Frontend{RequestDelay: 20 * time.Millisecond, ResponseDelay: 5 * time.Millisecond}
	c.Engine.Cost.Token = .095e-3
	c.Engine.Cost.KVToken = 42e-9
	return c
}

func benchEagle3() Config {
	c := eagle3()
	c.Frontend = benchPhase0().Frontend
	c.Engine.Cost.Token = .095e-3
	c.Engine.Cost.KVToken = 42e-9
	return c
}

// Presets lists the names that Preset knows.
func Presets() []string {
	var names []string
	for _, p := range presets() {
		names = append(names, p.name)
	}
	return names
}

// Preset returns a measured deployment by its name.
func Preset(name string) (Config, error) {
	for _, p := range presets() {
		if p.name == name {
			return p.config(), nil
		}
	}
	return Config{}, fmt.Errorf("preset %q is unknown: give one of %q", name, slices.Clip(Presets()))
}
