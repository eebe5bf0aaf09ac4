package cluster

import "time"

// Config describes a deployment. Preset returns the configurations in use. All workers are alike.
type Config struct {
	Workers  int
	Engine   engine
	Policy   policy
	Frontend Frontend
	Faults   []Fault
	// Seed seeds all random draws: ties of the router, request delays, accepted drafts.
	Seed uint64
}

// engine describes how a worker runs its batch.
type engine struct {
	// MaxSeqs limits the sequences of a batch, MaxBatchedTokens the tokens of one step, prefill
	// and decode together.
	MaxSeqs, MaxBatchedTokens int
	// BlockTokens is the size of a KV block. KVTokens is the capacity of the KV memory, including
	// the part that the drafter takes.
	BlockTokens, KVTokens int
	// Lookahead is the number of steps that are already planned when a request reaches a busy
	// worker, so that it cannot join them. Asynchronous scheduling has 1.
	Lookahead int
	// Graphs lists the batch sizes, in decoded tokens and ascending, for which the engine has
	// captured graphs. With Padding, a batch runs as the next larger captured size. A batch
	// without a captured size is launched kernel by kernel and pays Cost.Eager. If Graphs is
	// empty, every size is captured.
	Graphs  []int
	Padding bool

	Speculation Speculation
	Cost        cost
}

// Speculation describes speculative decoding. The zero value turns it off.
type Speculation struct {
	// Draft is the number of tokens drafted per sequence and step.
	Draft int
	// Acceptance is the probability that a drafted token is accepted if the one before it was.
	Acceptance float64
	// KVTokens is the part of the KV memory that the drafter and its own cache take.
	KVTokens int
}

// cost holds the parts of the duration of a step, in seconds.
type cost struct {
	// Base is paid once per step: reading the weights, launching kernels, sampling.
	Base float64
	// Token is paid per token of the decode batch, padding and drafts included.
	Token float64
	// KVToken is paid per cached token that a decoding sequence attends to.
	KVToken float64
	// Prefill is paid per prompt token, Pair per pair of a prompt token and a token before it.
	Prefill, Pair float64
	// Eager is added to a step that runs without a captured graph, because the GPU idles between
	// kernels that are launched one by one. Steps with prefill never have a graph.
	Eager float64
	// Draft is paid by a step that drafts.
	Draft float64
}

// Frontend describes what lies between clients and workers.
type Frontend struct {
	// RequestDelay passes before a request is routed. ResponseDelay passes between the end of a
	// step and the arrival of its tokens at the client. Both cover network and tokenizer.
	RequestDelay, ResponseDelay time.Duration
	// Spread varies each request delay uniformly by up to this share of RequestDelay, so that
	// requests do not arrive in step with an engine.
	Spread float64
	// Deadline ends requests that take longer; 0 means no deadline.
	Deadline time.Duration
}
