package cluster

import (
	"math"
	"slices"
	"sort"
)

// Policy is how the frontend chooses a worker.
type Policy string

const (
	RoundRobin Policy = "round_robin"
	Random     Policy = "random"
	// KVAware weighs what a worker has cached of a prompt against what it has
	// to do already.
	KVAware Policy = "kv_aware"
)

// Router configures the choice of a worker.
type Router struct {
	Policy Policy
	// OverlapWeight is what a block to prefill costs, against 1 for a block
	// held by a decoding sequence. KVAware alone uses it.
	OverlapWeight float64
	// Temperature of the choice by cost: 0 takes the cheapest worker, more
	// spreads the choice over all. KVAware alone uses it.
	Temperature float64
}

// pick returns the worker for a request, nil if none lives.
func (c *Cluster) pick(s *sequence) *worker {
	live := slices.DeleteFunc(slices.Clone(c.workers), func(w *worker) bool { return w.lost })
	if len(live) == 0 {
		return nil
	}
	switch c.config.Router.Policy {
	case Random:
		return live[c.rand.IntN(len(live))]
	case KVAware:
		return c.cheapest(s, live)
	default:
		w := live[c.turn%uint64(len(live))]
		c.turn++
		return w
	}
}

// cheapest chooses by cost: what a worker would have to prefill, and the
// blocks that it would have active.
func (c *Cluster) cheapest(s *sequence, live []*worker) *worker {
	var cost []float64
	low, high := math.Inf(1), math.Inf(-1)
	for _, w := range live {
		hits, _ := w.pool.match(s.Chain, s.Prompt/w.pool.tokens)
		prefill := w.demand.prefill + s.Prompt - hits*w.pool.tokens
		v := c.config.Router.OverlapWeight*float64(prefill)/float64(w.pool.tokens) + float64(w.demand.with(s))
		cost = append(cost, v)
		low, high = min(low, v), max(high, v)
	}
	// Softmax over costs scaled to their range; at temperature 0, which leaves
	// weight only at the lowest cost, ties are drawn.
	sum := 0.0
	for i, v := range cost {
		switch scale := (high - low) * c.config.Router.Temperature; {
		case v == low:
			cost[i] = 1
		case scale == 0:
			cost[i] = 0
		default:
			cost[i] = math.Exp(-(v - low) / scale)
		}
		sum += cost[i]
	}
	draw := c.rand.Float64() * sum
	for i, v := range cost {
		if draw -= v; draw < 0 {
			return live[i]
		}
	}
	return live[len(live)-1]
}

// demand is a worker's load as the router counts it: prompts only, since it
// does not see how answers grow.
type demand struct {
	size   int              // tokens per block
	active map[uint64]int32 // users of a prompt block by hash; nil: not counted
	loose  int              // prompt blocks that no other prompt can share
	// prefill is the tokens of routed prompts that have no first token yet.
	prefill int
}

// with is the number of distinct blocks active with one more request.
func (d *demand) with(s *sequence) int {
	shared, loose := s.promptBlocks(d.size)
	// Whoever has a block active has all before it active.
	common := sort.Search(len(shared), func(i int) bool { return d.active[shared[i]] == 0 })
	return len(d.active) + d.loose + len(shared) - common + loose
}

// add counts a request that is routed to the worker.
func (d *demand) add(s *sequence, cached int) {
	if d.active == nil {
		return
	}
	shared, loose := s.promptBlocks(d.size)
	for _, h := range shared {
		d.active[h]++
	}
	d.loose += loose
	s.due = s.Prompt - cached
	d.prefill += s.due
}

// prefilled notes a request's first token.
func (d *demand) prefilled(s *sequence) {
	d.prefill -= s.due
	s.due = 0
}

// remove forgets a request that has ended.
func (d *demand) remove(s *sequence) {
	if d.active == nil {
		return
	}
	d.prefilled(s)
	shared, loose := s.promptBlocks(d.size)
	for _, h := range shared {
		if d.active[h]--; d.active[h] == 0 {
			delete(d.active, h)
		}
	}
	d.loose -= loose
}

// promptBlocks returns the hashes of the prompt's full blocks of a size, and
// the number of its other blocks.
func (s *sequence) promptBlocks(size int) (shared []uint64, loose int) {
	full := min(s.Prompt/size, len(s.Chain))
	return s.Chain[:full], (s.Prompt+size-1)/size - full
}
