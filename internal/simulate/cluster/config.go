package cluster

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"
)

// Config is a deployment. The workers are alike.
type Config struct {
	Workers  int
	Engine   Engine
	Router   Router
	Frontend Frontend
	// Faults happen by themselves, each at its time.
	Faults []Fault
	// Seed is the start of all draws: routing and acceptance of drafts.
	Seed uint64
}

// Engine is how a worker runs its batch.
type Engine struct {
	// MaxSeqs is the most sequences in a batch, MaxBatchedTokens the most
	// tokens computed in one step, prefill and decode together.
	MaxSeqs, MaxBatchedTokens int
	// BlockTokens is the size of a KV block, KVTokens the capacity of the KV
	// memory before the drafter has taken its part.
	BlockTokens, KVTokens int
	// Lookahead is how many steps are already planned when a request arrives
	// at a busy worker, so that it cannot join them: 1 with asynchronous
	// scheduling.
	Lookahead int
	// Graphs are the batch sizes, ascending, with captured graphs, in decoded
	// tokens. With Padding a batch runs as the next larger captured one;
	// without, as with a batch above all, a size that was not captured is
	// launched kernel by kernel and pays Cost.Eager. No sizes: no padding, and
	// every batch is captured.
	Graphs  []int
	Padding bool

	Speculation Speculation
	Cost        Cost
}

// Speculation is speculative decoding; the zero value has none.
type Speculation struct {
	// Draft is the number of tokens drafted per sequence and step.
	Draft int
	// Acceptance is the probability that a drafted token is accepted when the
	// one before it was.
	Acceptance float64
	// KVTokens is what drafter and its own cache take from the KV memory.
	KVTokens int
}

// Cost is what a step takes, in seconds.
type Cost struct {
	// Base is paid by each step: reading the weights, launching, sampling.
	Base float64
	// Token is paid per decoded token of the (padded) batch, drafts included.
	Token float64
	// KVToken is paid per cached token that a decoded sequence attends to.
	KVToken float64
	// Prefill is paid per prompt token computed, Pair per pair of such a token
	// and a token before it.
	Prefill, Pair float64
	// Eager is what a step without a captured graph (see Engine.Graphs) takes
	// on top: the GPU idles between kernels that are launched one by one. Steps
	// with prefill work never have a graph.
	Eager float64
	// Draft is paid by a step that drafts.
	Draft float64
}

// Frontend is what stands between clients and workers.
type Frontend struct {
	// RequestDelay passes from a request's start to its routing, ResponseDelay
	// from the end of a step to its tokens reaching the client: network,
	// tokenizer, detokenizer.
	RequestDelay, ResponseDelay time.Duration
	// Spread makes request delays differ, evenly, by up to this share of
	// RequestDelay, so that requests do not march in step with an engine.
	Spread float64
	// Deadline ends requests that take longer; 0 means none.
	Deadline time.Duration
	// MaxWaiting refuses requests while so many wait for a place in a batch;
	// 0 means no limit.
	MaxWaiting int
}

// Validate returns what is wrong with a configuration, nil if nothing is.
func (c Config) Validate() error {
	r, f := c.Router, c.Frontend
	errs := []error{
		c.Engine.validate(),
		within("router: overlap weight", r.OverlapWeight, math.Inf(1), "0 or more"),
		within("router: temperature", r.Temperature, math.Inf(1), "0 or more"),
		within("frontend: spread", f.Spread, 1, "a share from 0 to 1"),
		atLeast("frontend: request delay", f.RequestDelay, 0),
		atLeast("frontend: response delay", f.ResponseDelay, 0),
		atLeast("frontend: deadline", f.Deadline, 0),
		atLeast("frontend: max waiting", f.MaxWaiting, 0),
		atLeast("workers", c.Workers, 1),
	}
	if !slices.Contains([]Policy{RoundRobin, Random, KVAware}, r.Policy) {
		errs = append(errs, fmt.Errorf("router: policy is %q: give %q, %q or %q", r.Policy, RoundRobin, Random, KVAware))
	}
	for i, f := range c.Faults {
		if err := f.validate(c.Workers); err != nil {
			errs = append(errs, fmt.Errorf("fault %d (%s): %w", i+1, f.Kind, err))
		}
	}
	return errors.Join(errs...)
}

func (e Engine) validate() error {
	const seconds, most = "seconds, not negative", 3599
	s, cost := e.Speculation, e.Cost
	errs := []error{
		atLeast("engine: max seqs", e.MaxSeqs, 1),
		atLeast("engine: max batched tokens", e.MaxBatchedTokens, 1+s.Draft),
		atLeast("engine: block tokens", e.BlockTokens, 1),
		atLeast("engine: lookahead", e.Lookahead, 0),
		atLeast("engine: speculation: draft", s.Draft, 0),
		atLeast("engine: speculation: KV tokens", s.KVTokens, 0),
		atLeast("engine: KV tokens beside the drafter", e.KVTokens-s.KVTokens, 2*max(e.BlockTokens, 1)),
		within("engine: speculation: acceptance", s.Acceptance, 1, "a probability"),
		within("engine: cost: base", cost.Base, most, seconds),
		within("engine: cost: token", cost.Token, most, seconds),
		within("engine: cost: KV token", cost.KVToken, most, seconds),
		within("engine: cost: prefill", cost.Prefill, most, seconds),
		within("engine: cost: pair", cost.Pair, most, seconds),
		within("engine: cost: eager", cost.Eager, most, seconds),
		within("engine: cost: draft", cost.Draft, most, seconds),
	}
	for i := 1; i < len(e.Graphs); i++ {
		if e.Graphs[i] <= e.Graphs[i-1] {
			errs = append(errs, fmt.Errorf("engine: graphs: %d comes after %d: give ascending sizes", e.Graphs[i], e.Graphs[i-1]))
		}
	}
	if cost.Base == 0 {
		errs = append(errs, errors.New("engine: cost: base is 0: time would stand still, give a step some"))
	}
	return errors.Join(errs...)
}

// atLeast checks one number.
func atLeast[T int | time.Duration](name string, value, least T) error {
	if value < least {
		return fmt.Errorf("%s: %v is too small: give at least %v", name, value, least)
	}
	return nil
}

// within checks one number from 0. It is written so that NaN, too, is refused.
func within(name string, value, most float64, give string) error {
	if !(value >= 0 && value <= most) {
		return fmt.Errorf("%s is %v: give %s", name, value, give)
	}
	return nil
}
