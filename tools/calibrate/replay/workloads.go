package replay

import "time"

// MultiTurn is the chat of the measured sweeps: conversations of 3 to 5 turns that share
// one of ten long starters and start as fast as the concurrency allows. Prompts grow as
// 3.5k, 4.1k, 5.1k, 6.1k, 7.1k tokens. Answers are limited to 1,024 tokens, which every
// fourth follow-up reaches; the first answer of a conversation is shorter. These lengths
// follow from the growth of the prompts, from the median and the 95th percentile of latency
// over time per token, and from throughput over turns per second in the reports.
func MultiTurn(seed uint64) Chat {
	return Chat{
		Rate: 10, MinTurns: 3, MaxTurns: 5,
		Opening:  Length{Mean: 560, Spread: 130, Max: 1024},
		Answer:   Length{Mean: 960, Spread: 140, Max: 1024},
		Question: Length{Mean: 60, Spread: 20, Max: 200},
		Starters: starters(),
		Seed:     seed,
	}
}

// starters returns the lengths of the ten long texts.
func starters() []int {
	var all []int
	for i := range 10 {
		all = append(all, 3500+20*i)
	}
	return all
}

// FixedPrompts is the workload of the measured open loop: 300 requests per rate with
// prompts of 5,806 tokens on average. The length of the answers is throughput over rate.
func FixedPrompts(output Length, seed uint64) bench {
	return bench{
		Prompts: 300, Conversations: 120,
		Starters: starters(), Rest: Length{Mean: 2216, Spread: 1400, Max: 5000}, Output: output,
		WarmUp: 10, WarmUpRate: .5, Cooldown: 15 * time.Second, Pause: 30 * time.Second,
		Seed: seed,
	}
}
