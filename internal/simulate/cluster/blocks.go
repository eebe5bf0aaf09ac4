package cluster

// block is a piece of KV memory. Without a user it is in the list of free
// blocks, where it may still hold a cached text.
type block struct {
	hash       uint64
	cached     bool // in the index under its hash
	users      int32
	prev, next int32 // in the list of free blocks
}

// pool is a worker's KV memory: blocks that sequences use, and a list of free
// blocks ordered by when they were freed. The oldest is taken first, and what
// it cached is lost only then.
type pool struct {
	tokens int              // per block
	blocks []block          // blocks[0] is the list's ring head, never used
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
		p.put(i)
	}
	return p
}

// total is the number of blocks.
func (p *pool) total() int { return len(p.blocks) - 1 }

// put appends a block to the list of free blocks.
func (p *pool) put(i int32) {
	last := p.blocks[0].prev
	p.blocks[i].prev, p.blocks[i].next = last, 0
	p.blocks[last].next, p.blocks[0].prev = i, i
	p.free++
}

// unlist takes a block out of the list of free blocks.
func (p *pool) unlist(i int32) {
	b := &p.blocks[i]
	p.blocks[b.prev].next, p.blocks[b.next].prev = b.next, b.prev
	p.free--
}

// match returns how many blocks of a chain are cached from its start, at most
// limit, and how many of them are free.
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

// missing is how many blocks a sequence lacks for so many tokens.
func (p *pool) missing(s *sequence, tokens int) int {
	return (tokens+p.tokens-1)/p.tokens - len(s.blocks)
}

// share lets a sequence use the first hits cached blocks of its chain.
func (p *pool) share(s *sequence, hits int) {
	for _, h := range s.Chain[:hits] {
		i := p.index[h]
		if p.blocks[i].users == 0 {
			p.unlist(i)
		}
		p.blocks[i].users++
		s.blocks = append(s.blocks, i)
	}
	s.computed, s.hashed = hits*p.tokens, hits
}

// grow gives a sequence the blocks for so many tokens, all or none.
func (p *pool) grow(s *sequence, tokens int) bool {
	n := p.missing(s, tokens)
	if n > p.free {
		return false
	}
	for ; n > 0; n-- {
		i := p.blocks[0].next
		p.unlist(i)
		p.forget(i)
		p.blocks[i].users = 1
		s.blocks = append(s.blocks, i)
	}
	return true
}

// forget drops what a block caches.
func (p *pool) forget(i int32) {
	if b := &p.blocks[i]; b.cached {
		delete(p.index, b.hash)
		b.cached = false
	}
}

// store caches the blocks of a sequence that are full by now. A text that is
// cached already stays where it is.
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

// release takes all blocks from a sequence, the last first: the start of a
// text outlives its end, which is useless without it.
func (p *pool) release(s *sequence) {
	for n := len(s.blocks) - 1; n >= 0; n-- {
		i := s.blocks[n]
		if p.blocks[i].users--; p.blocks[i].users == 0 {
			p.put(i)
		}
	}
	s.blocks = s.blocks[:0]
	s.computed, s.hashed = 0, 0
}

// clear forgets all that is cached.
func (p *pool) clear() {
	for i := range p.blocks {
		p.forget(int32(i))
	}
}
