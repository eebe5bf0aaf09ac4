package simulate

import (
	"container/list"
	"slices"
	"sync"
)

// prefixCache remembers the most recently used blocks of token sequences. It
// is safe for concurrent use.
type prefixCache struct {
	mu    sync.Mutex
	order *list.List // of uint64, most recently used first
	index map[uint64]*list.Element
}

func newPrefixCache() *prefixCache {
	return &prefixCache{order: list.New(), index: map[uint64]*list.Element{}}
}

// use returns how many of the chain's tokens are cached from its start, and
// caches all its full blocks, at most capacity in all. The last token of a
// prompt is never cached: an engine has to compute something.
func (p *prefixCache) use(c *chain, capacity int) (cached int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	hit := true
	for _, b := range c.blocks {
		_, ok := p.index[b]
		if hit = hit && ok; hit {
			cached += blockTokens
		}
	}
	// Backwards, so that the start of a sequence is more recent than its end
	// and outlives it: a block without its predecessors is useless.
	for _, b := range slices.Backward(c.blocks) {
		if e, ok := p.index[b]; ok {
			p.order.MoveToFront(e)
		} else {
			p.index[b] = p.order.PushFront(b)
		}
	}
	for p.order.Len() > max(capacity, 0) {
		delete(p.index, p.order.Remove(p.order.Back()).(uint64))
	}
	if cached == c.tokens && cached > 0 {
		cached -= blockTokens
	}
	return cached
}
