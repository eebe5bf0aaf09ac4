package cluster

import (
	"math"
	"slices"
	"sort"
)

type policy string

// roundRobin uses the workers in turn. KVAware weighs the cached part of a prompt against the load
// of each worker.
const (
	roundRobin policy = "round_robin"
	KVAware    policy = "kv_aware"
)

// pick returns the worker for a request, nil if all workers are lost.
func (c *Cluster) pick(s *sequence) *worker {
	live := slices.DeleteFunc(slices.Clone(c.workers), func(w *worker) bool { return w.lost })
	switch {
	case len(live) == 0:
		return nil
	case c.config.Policy == KVAware:
		return c.cheapest(s, live)
	}
	c.routed++
	return live[(c.routed-1)%uint64(len(live))]
}

// cheapest returns the worker with the lowest cost: the blocks that it would have to prefill plus
// the blocks that it would have active. It draws among workers of equal cost.
func (c *Cluster) cheapest(s *sequence, live []*worker) *worker {
	var best []*worker
	lowest := math.Inf(1)
	for _, w := range live {
		hits, _ := w.pool.match(s.Chain, s.Prompt/w.pool.tokens)
		prefill := w.demand.prefill + s.Prompt - hits*w.pool.tokens
		cost := float64(prefill)/float64(w.pool.tokens) + float64(w.demand.with(s))
		if cost < lowest {
			lowest, best = cost, nil
		}
		if cost == lowest {
			best = append(best, w)
		}
	}
	return best[int(c.rand.Float64()*float64(len(best)))]
}

// demand is the load of a worker as the router counts it. It covers prompts only, because the
// router does not see how answers grow.
type demand struct {
	size     int              // tokens per block
	active   map[uint64]int32 // requests per prompt block, by hash; nil if nothing is counted
	unshared int              // prompt blocks that no other prompt can share
	// prefill is the number of uncached prompt tokens of requests without a first token.
	prefill int
}

// with returns the number of distinct active blocks with one more request.
func (d *demand) with(s *sequence) int {
	shared, unshared := s.promptBlocks(d.size)
	// A request that uses a block uses all blocks before it, too.
	common := sort.Search(len(shared), func(i int) bool { return d.active[shared[i]] == 0 })
	return len(d.active) + d.unshared + len(shared) - common + unshared
}

// add counts a request that is routed to the worker.
func (d *demand) add(s *sequence, cached int) {
	if d.active == nil {
		return
	}
	shared, unshared := s.promptBlocks(d.size)
	for _, h := range shared {
		d.active[h]++
	}
	d.unshared += unshared
	s.pendingPrefill = s.Prompt - cached
	d.prefill += s.pendingPrefill
}

// prefilled counts the first token of a request.
func (d *demand) prefilled(s *sequence) {
	d.prefill -= s.pendingPrefill
	s.pendingPrefill = 0
}

// remove stops counting a request.
func (d *demand) remove(s *sequence) {
	if d.active == nil {
		return
	}
	d.prefilled(s)
	shared, unshared := s.promptBlocks(d.size)
	for _, h := range shared {
		if d.active[h]--; d.active[h] == 0 {
			delete(d.active, h)
		}
	}
	d.unshared -= unshared
}

// promptBlocks returns the hashes of the full blocks of the prompt, and the number of its other
// blocks.
func (s *sequence) promptBlocks(size int) (shared []uint64, unshared int) {
	full := min(s.Prompt/size, len(s.Chain))
	return s.Chain[:full], (s.Prompt+size-1)/size - full
}
