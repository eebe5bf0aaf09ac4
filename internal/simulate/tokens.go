package simulate

import (
	"container/list"
	"hash/fnv"
	"slices"
	"sync"
)

// The tokenizer: every 4 characters (Unicode code points) of a message are one token, and a shorter
// rest is one, too. A message costs 4 more tokens for its role and end, and a prompt ends with 3
// tokens for the role of the answer. As with a real chat template, the tokens of a history are
// therefore a prefix of the tokens of every longer history, and an answer that comes back as history
// has the tokens that were generated.
const (
	charsPerToken = 4
	roleTokens    = 3
	endTokens     = 1
	blockTokens   = 16     // per cache block of a deployment without a cluster
	cacheBlocks   = 65_536 // of its cache
)

// chain is the running hash of a token sequence. blocks has an entry per full block. Equal entries
// mean equal sequences up to the end of that block, so an entry is the key of a block in the cache.
type chain struct {
	blockTokens int
	hash        uint64
	tokens      int
	blocks      []uint64
}

// newPrompt returns the chain of a history and the start of its answer. A prompt without roles is only
// its text.
func newPrompt(history []message, blockTokens int) *chain {
	c := &chain{blockTokens: blockTokens, hash: fnvOffset}
	for _, m := range history {
		if m.Role == noRole {
			c.addText(m.Content.text)
			return c
		}
		c.addMark(m.Role, roleTokens)
		c.addText(m.Content.text)
		for _, call := range m.ToolCalls {
			c.addText(string(call.Function.Arguments))
		}
		c.addMark("end", endTokens)
	}
	c.addMark("assistant", roleTokens)
	return c
}

// Parameters of 64-bit FNV-1a.
const (
	fnvOffset = 14695981039346656037
	fnvPrime  = 1099511628211
)

func hashOf(text string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(text))
	return h.Sum64()
}

// addMark adds n tokens that stand for one special word.
func (c *chain) addMark(word string, n int) {
	for range n {
		c.hash = (c.hash ^ hashOf(word)) * fnvPrime
		c.endToken()
	}
}

func (c *chain) addText(s string) {
	n := 0
	for _, r := range s {
		c.hash = (c.hash ^ uint64(r)) * fnvPrime
		if n++; n%charsPerToken == 0 {
			c.endToken()
		}
	}
	if n%charsPerToken != 0 {
		c.endToken()
	}
}

// endToken counts a token, and completes its block if the block is full.
func (c *chain) endToken() {
	// Hashing the end of the token makes "ab"+"cd" different from "abcd".
	c.hash = (c.hash ^ 0xff00) * fnvPrime
	if c.tokens++; c.tokens%c.blockTokens == 0 {
		c.blocks = append(c.blocks, c.hash)
	}
}

// prefixCache holds the most recently used blocks. It is safe for concurrent use.
type prefixCache struct {
	mu    sync.Mutex
	order *list.List // of uint64, most recently used first
	index map[uint64]*list.Element
}

func newPrefixCache() *prefixCache {
	return &prefixCache{order: list.New(), index: map[uint64]*list.Element{}}
}

// use returns how many tokens at the start of the chain are cached. Then it caches all full blocks
// of the chain and shrinks the cache to capacity. The last token of a prompt is never cached, because
// an engine has to compute something.
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
	// Backwards: the start of a sequence must stay longer than its end, which is useless without it.
	for _, b := range slices.Backward(c.blocks) {
		if e, ok := p.index[b]; ok {
			p.order.MoveToFront(e)
		} else {
			p.index[b] = p.order.PushFront(b)
		}
	}
	for p.order.Len() > capacity {
		delete(p.index, p.order.Remove(p.order.Back()).(uint64))
	}
	if cached == c.tokens && cached > 0 {
		cached -= blockTokens
	}
	return cached
}
