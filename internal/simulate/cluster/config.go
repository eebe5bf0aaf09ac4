package cluster

import (
	"errors"
	"fmt"
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
	// Eager is paid by a step without a captured graph: see Engine.Graphs.
	// Steps with prefill work never have one.
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
	return errors.Join(c.Engine.validate(), c.Router.validate(), c.Frontend.validate(),
		atLeast("workers", c.Workers, 1), c.validateFaults())
}

func (e Engine) validate() error {
	errs := []error{
		atLeast("engine: max seqs", e.MaxSeqs, 1),
		atLeast("engine: max batched tokens", e.MaxBatchedTokens, 1+e.Speculation.Draft),
		atLeast("engine: block tokens", e.BlockTokens, 1),
		atLeast("engine: lookahead", e.Lookahead, 0),
		atLeast("engine: speculation: draft", e.Speculation.Draft, 0),
		atLeast("engine: speculation: KV tokens", e.Speculation.KVTokens, 0),
		atLeast("engine: KV tokens beside the drafter", e.KVTokens-e.Speculation.KVTokens, 2*max(e.BlockTokens, 1)),
	}
	if a := e.Speculation.Acceptance; !(a >= 0 && a <= 1) {
		errs = append(errs, fmt.Errorf("engine: speculation: acceptance is %v: give a probability", a))
	}
	for i := 1; i < len(e.Graphs); i++ {
		if e.Graphs[i] <= e.Graphs[i-1] {
			errs = append(errs, fmt.Errorf("engine: graphs: %d comes after %d: give ascending sizes", e.Graphs[i], e.Graphs[i-1]))
		}
	}
	return errors.Join(append(errs, e.Cost.validate())...)
}

func (c Cost) validate() error {
	var errs []error
	for _, v := range []struct {
		name  string
		value float64
	}{
		{"base", c.Base}, {"token", c.Token}, {"KV token", c.KVToken}, {"prefill", c.Prefill},
		{"pair", c.Pair}, {"eager", c.Eager}, {"draft", c.Draft},
	} {
		if !(v.value >= 0 && v.value < 3600) {
			errs = append(errs, fmt.Errorf("engine: cost: %s is %v: give seconds, not negative", v.name, v.value))
		}
	}
	if c.Base == 0 {
		errs = append(errs, errors.New("engine: cost: base is 0: time would stand still, give a step some"))
	}
	return errors.Join(errs...)
}

func (f Frontend) validate() error {
	var spread error
	if !(f.Spread >= 0 && f.Spread <= 1) {
		spread = fmt.Errorf("frontend: spread is %v: give a share from 0 to 1", f.Spread)
	}
	return errors.Join(
		spread,
		atLeast("frontend: request delay", f.RequestDelay, 0),
		atLeast("frontend: response delay", f.ResponseDelay, 0),
		atLeast("frontend: deadline", f.Deadline, 0),
		atLeast("frontend: max waiting", f.MaxWaiting, 0),
	)
}

// atLeast checks one number.
func atLeast[T int | time.Duration](name string, value, least T) error {
	if value < least {
		return fmt.Errorf("%s: %v is too small: give at least %v", name, value, least)
	}
	return nil
}
