package cluster

import "slices"

// block is a block of KV memory. A block without users is in the list of free blocks and may still
// hold a cached text.
type block struct {
	hash       uint64
	cached     bool // the index has this block under its hash
	users      int32
	prev, next int32 // in the list of free blocks
}

// pool is the KV memory of a worker. Free blocks form a list in the order in which they were freed.
// The oldest is reused first, and only then loses the text that it caches.
type pool struct {
	tokens int              // per block
	blocks []block          // blocks[0] is the head of the ring of free blocks
	index  map[uint64]int32 // cached blocks by hash
	free   int              // length of the list
}

func newPool(capacityTokens, blockTokens int) *pool {
	p := &pool{
		tokens: blockTokens,
		blocks: make([]block, 1+capacityTokens/blockTokens),
		index:  make(map[uint64]int32),
	}
	for i := int32(1); int(i) < len(p.blocks); i++ {
		p.addFree(i)
	}
	return p
}

func (p *pool) total() int { return len(p.blocks) - 1 }

func (p *pool) addFree(i int32) {
	last := p.blocks[0].prev
	p.blocks[i].prev, p.blocks[i].next = last, 0
	p.blocks[last].next, p.blocks[0].prev = i, i
	p.free++
}

func (p *pool) removeFree(i int32) {
	b := &p.blocks[i]
	p.blocks[b.prev].next, p.blocks[b.next].prev = b.next, b.prev
	p.free--
}

// match returns how many blocks at the start of a chain are cached, at most limit, and how many of
// those are free.
func (p *pool) match(chain []uint64, limit int) (hits, free int) {
	for _, h := range chain[:min(limit, len(chain))] {
		i, ok := p.index[h]
		if !ok {
			break
		}
		hits++
		if p.blocks[i].users == 0 {
			free++
		}
	}
	return hits, free
}

// missing returns how many more blocks a sequence needs for a number of tokens.
func (p *pool) missing(s *sequence, tokens int) int {
	return (tokens+p.tokens-1)/p.tokens - len(s.blocks)
}

// share gives a sequence the first hits cached blocks of its chain.
func (p *pool) share(s *sequence, hits int) {
	for _, h := range s.Chain[:hits] {
		i := p.index[h]
		if p.blocks[i].users == 0 {
			p.removeFree(i)
		}
		p.blocks[i].users++
		s.blocks = append(s.blocks, i)
	}
	s.computed, s.hashed = hits*p.tokens, hits
}

// grow gives a sequence the blocks for a number of tokens. If too few blocks are free, it returns
// false and changes nothing.
func (p *pool) grow(s *sequence, tokens int) bool {
	n := p.missing(s, tokens)
	if n > p.free {
		return false
	}
	for ; n > 0; n-- {
		i := p.blocks[0].next
		p.removeFree(i)
		p.forget(i)
		p.blocks[i].users = 1
		s.blocks = append(s.blocks, i)
	}
	return true
}

func (p *pool) forget(i int32) {
	if b := &p.blocks[i]; b.cached {
		delete(p.index, b.hash)
		b.cached = false
	}
}

// store caches the full blocks of a sequence, except texts that are already cached.
func (p *pool) store(s *sequence) {
	full := min(s.computed/p.tokens, len(s.Chain))
	for ; s.hashed < full; s.hashed++ {
		h := s.Chain[s.hashed]
		if _, ok := p.index[h]; ok {
			continue
		}
		i := s.blocks[s.hashed]
		p.blocks[i].hash, p.blocks[i].cached = h, true
		p.index[h] = i
	}
}

// release takes all blocks from a sequence, the last block first: the start of a text must stay
// cached longer than its end, because the end is useless without it.
func (p *pool) release(s *sequence) {
	for _, i := range slices.Backward(s.blocks) {
		if p.blocks[i].users--; p.blocks[i].users == 0 {
			p.addFree(i)
		}
	}
	s.blocks = s.blocks[:0]
	s.computed, s.hashed = 0, 0
}

func (p *pool) clear() {
	for i := range p.blocks {
		p.blocks[i].cached = false
	}
	clear(p.index)
}
