package cluster

import (
	"fmt"
	"time"
)

// Costs that presets share. All have an H200 per worker and a Llama 70B with FP8 weights. The values
// were fitted to the reports in docs/background/simulation.md, which also has the physical bounds.
const (
	prefillToken = 106e-6 // 67 % of the peak in FP8
	pairOfTokens = 5e-9   // attention in prefill
	kvTokenFP8   = 42e-9  // 163,840 bytes at 81 % of the peak
)

// Presets lists the names of the presets.
func Presets() []string {
	return []string{"phase0", "eagle3", "trtllm-rr", "trtllm-kv", "bench-phase0", "bench-eagle3"}
}

// Preset returns the model of a measured deployment.
func Preset(name string) (Config, error) {
	switch name {
	case "phase0":
		return phase0(), nil
	case "eagle3":
		return eagle3(), nil
	case "trtllm-rr":
		return trtllm(roundRobin), nil
	case "trtllm-kv":
		return trtllm(KVAware), nil
	case "bench-phase0":
		return bench(phase0()), nil
	case "bench-eagle3":
		return bench(eagle3()), nil
	}
	return Config{}, fmt.Errorf("preset %q is unknown: give one of %q", name, Presets())
}

// phase0 is one worker with vLLM behind Dynamo's frontend.
func phase0() Config {
	graphs := []int{1, 2, 4} // the batch sizes that vLLM captures
	for n := 8; n <= 512; n += 8 {
		graphs = append(graphs, n)
	}
	return Config{
		Workers: 1,
		Engine: engine{
			MaxSeqs: 128, MaxBatchedTokens: 8192, BlockTokens: 16,
			// Fitted: the report does not give the size of the KV memory. Values of 16 bits would
			// give 197,000 tokens, values of 8 bits 394,000.
			KVTokens:  268_000,
			Lookahead: 1, Graphs: graphs, Padding: true,
			Cost: cost{Base: 22.5e-3, Token: .13e-3, KVToken: 62e-9, Prefill: prefillToken, Pair: pairOfTokens},
		},
		Policy: roundRobin,
		Frontend: Frontend{
			RequestDelay: 40 * time.Millisecond, Spread: .5, ResponseDelay: 10 * time.Millisecond,
			Deadline: 120 * time.Second,
		},
	}
}

// eagle3 is phase0 with a drafter whose drafts are almost never accepted.
func eagle3() Config {
	c := phase0()
	e := &c.Engine
	e.MaxSeqs, e.MaxBatchedTokens = 64, 16384
	// 53.15 GiB of FP8 tokens. The drafter takes 3.06 GiB, and then an 81st layer of the rest.
	e.KVTokens = 348_000
	e.Speculation = Speculation{Draft: 3, Acceptance: 1e-4, KVTokens: 24_000}
	e.Cost.KVToken, e.Cost.Draft = kvTokenFP8, 3.1e-3
	return c
}

// bench changes a deployment into the one that was measured in an open loop: another version of
// vLLM, without Dynamo and its deadline.
func bench(c Config) Config {
	e := &c.Engine
	if e.Speculation.Draft == 0 {
		e.MaxSeqs = 1024
	}
	e.KVTokens = 348_000
	e.Cost.Token, e.Cost.KVToken = .1118e-3, kvTokenFP8
	c.Frontend = Frontend{RequestDelay: 20 * time.Millisecond, Spread: .5, ResponseDelay: 5 * time.Millisecond}
	return c
}

// trtllm is three workers with TensorRT-LLM behind Dynamo's frontend. It was fitted to
// concurrencies from 40 to 120 with both routers, and from 160 to 200 with the KV-aware one.
func trtllm(router policy) Config {
	c := phase0()
	c.Workers = 3
	c.Policy = router
	c.Frontend.RequestDelay = 30 * time.Millisecond
	e := &c.Engine
	e.MaxSeqs = 64
	e.KVTokens = 400_000 // 90 % of the memory beside the weights, in FP8: never full
	e.Lookahead = 6
	// TensorRT-LLM captures the sizes 1 to 32, 64 and 128, and does not pad.
	e.Graphs, e.Padding = nil, false
	for n := range 32 {
		e.Graphs = append(e.Graphs, n+1)
	}
	e.Graphs = append(e.Graphs, 64, 128)
	e.Cost = cost{
		Base: 18.8e-3, Token: .1118e-3, KVToken: kvTokenFP8, Prefill: prefillToken, Pair: pairOfTokens,
		// Fitted to both reports of TensorRT-LLM: about 8 µs of idle GPU before each of some 1,000
		// kernels in 80 layers.
		Eager: 8e-3,
	}
	return c
}
