package cluster

import (
	"slices"
	"testing"
)

// compute adds a new sequence that has computed a text.
func compute(t *testing.T, p *pool, chain []uint64) *sequence {
	t.Helper()
	tokens := len(chain) * p.tokens
	s := &sequence{Request: Request{Prompt: tokens, Output: 1, Chain: chain}}
	hits, _ := p.match(chain, len(chain))
	p.share(s, hits)
	if !p.grow(s, tokens) {
		t.Fatalf("no memory for %d tokens", tokens)
	}
	s.computed = tokens
	p.store(s)
	return s
}

func TestPoolCachesPrefixes(t *testing.T) {
	p := newPool(160, 16)
	a := compute(t, p, []uint64{1, 2, 3})
	b := compute(t, p, []uint64{1, 2, 4})
	if p.free != 10-4 {
		t.Errorf("%d of 10 blocks free, want 6: the texts share two blocks", p.free)
	}
	if !slices.Equal(a.blocks[:2], b.blocks[:2]) || a.blocks[2] == b.blocks[2] {
		t.Errorf("blocks %v and %v", a.blocks, b.blocks)
	}
	p.release(a)
	if p.free != 7 || p.blocks[b.blocks[0]].users != 1 {
		t.Errorf("%d free, want 7: two blocks are still in use", p.free)
	}
	p.release(b)
	for _, c := range []struct {
		chain []uint64
		hits  int
	}{{[]uint64{1, 2, 3}, 3}, {[]uint64{1, 2, 4, 5}, 3}, {[]uint64{9, 1}, 0}, {nil, 0}} {
		if hits, _ := p.match(c.chain, 10); hits != c.hits {
			t.Errorf("%d hits of %v, want %d", hits, c.chain, c.hits)
		}
	}
	if hits, free := p.match([]uint64{1, 2, 3}, 2); hits != 2 || free != 2 {
		t.Errorf("%d hits, %d of them free; want 2 and 2, the limit", hits, free)
	}
}

func TestPoolReusesOldestEndsFirst(t *testing.T) {
	p := newPool(6*16, 16)
	p.release(compute(t, p, []uint64{1, 2, 3}))
	p.release(compute(t, p, []uint64{4, 5, 6}))
	fresh := compute(t, p, []uint64{7})
	if hits, _ := p.match([]uint64{1, 2, 3}, 3); hits != 2 {
		t.Errorf("%d hits of the older text, want 2: its end is reused first", hits)
	}
	if hits, _ := p.match([]uint64{4, 5, 6}, 3); hits != 3 {
		t.Errorf("%d hits of the newer text, want 3", hits)
	}
	p.release(fresh)
	p.release(compute(t, p, []uint64{1, 2})) // makes this text the newest
	compute(t, p, []uint64{8, 9})
	if hits, _ := p.match([]uint64{1, 2}, 2); hits != 2 {
		t.Errorf("%d hits of the newest text, want 2", hits)
	}
	if hits, _ := p.match([]uint64{4, 5, 6}, 3); hits != 1 {
		t.Errorf("%d hits of the older text, want 1", hits)
	}
}

func TestPoolGrowsFullyOrNotAtAll(t *testing.T) {
	p := newPool(64, 16)
	s := &sequence{}
	if p.grow(s, 65) || len(s.blocks) != 0 || p.free != 4 {
		t.Errorf("%d blocks for more tokens than the pool has, %d free", len(s.blocks), p.free)
	}
	if !p.grow(s, 64) || len(s.blocks) != 4 || p.free != 0 {
		t.Errorf("%d blocks, %d free; want 4 and 0", len(s.blocks), p.free)
	}
	if !p.grow(s, 10) || len(s.blocks) != 4 {
		t.Errorf("%d blocks after a request for fewer tokens, want 4", len(s.blocks))
	}
}

func TestPoolCachesEqualTextsOnce(t *testing.T) {
	p := newPool(160, 16)
	// Two sequences compute the same text at the same time.
	chain := []uint64{1, 2}
	a := &sequence{Request: Request{Chain: chain}, computed: 32}
	b := &sequence{Request: Request{Chain: chain}, computed: 32}
	p.grow(a, 32)
	p.grow(b, 32)
	p.store(a)
	p.store(b)
	p.release(a)
	p.release(b)
	if got := p.cachedFree(); got != 2 || p.free != 10 {
		t.Errorf("%d of %d free blocks are cached, want 2 of 10", got, p.free)
	}
	p.clear()
	if hits, _ := p.match(chain, 2); hits != 0 || p.cachedFree() != 0 {
		t.Errorf("%d hits in an empty cache", hits)
	}
}

// cachedFree counts the free blocks that cache a text.
func (p *pool) cachedFree() int {
	n := 0
	for i := p.blocks[0].next; i != 0; i = p.blocks[i].next {
		if p.blocks[i].cached {
			n++
		}
	}
	return n
}
