package simulate

import "hash/fnv"

// The tokenizer: every 4 characters (Unicode code points) of a message are one
// token, the last one maybe shorter. A message costs 4 tokens more for its
// role and end marks, and each prompt ends with 3 for the role of the answer.
// So the tokens of a history are a prefix of the tokens of any longer one, as
// with a real chat template, and an answer that comes back as history has the
// tokens that were generated.
const (
	charsPerToken = 4
	roleTokens    = 3
	endTokens     = 1
	blockTokens   = 16 // of the cache of a deployment without a cluster
)

// chain is the running hash of a token sequence, with one entry per full block
// of so many tokens. Equal entries mean equal sequences up to that block, so an
// entry is the key of a block in the prefix cache.
type chain struct {
	size   int // tokens per block
	hash   uint64
	tokens int
	blocks []uint64
}

// newPrompt returns the chain of a whole history, in blocks of so many tokens,
// ready for an answer. The key is that of the model: what one has cached is
// nothing to another. A prompt without roles is its text alone.
func newPrompt(history []message, size int, key uint64) *chain {
	c := &chain{size: size, hash: fnvOffset ^ key}
	for _, m := range history {
		if m.Role == noRole {
			c.text(m.Content.text)
			return c
		}
		c.mark(m.Role, roleTokens)
		c.text(m.Content.text)
		for _, call := range m.ToolCalls {
			c.text(string(call.Function.Arguments))
		}
		c.mark("end", endTokens)
	}
	c.mark("assistant", roleTokens)
	return c
}

// Parameters of 64-bit FNV-1a.
const (
	fnvOffset = 14695981039346656037
	fnvPrime  = 1099511628211
)

// mark adds n tokens that stand for one special word.
func (c *chain) mark(word string, n int) {
	h := fnv.New64a()
	h.Write([]byte(word))
	for range n {
		c.hash = (c.hash ^ h.Sum64()) * fnvPrime
		c.endToken()
	}
}

// text adds a message's text.
func (c *chain) text(s string) {
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

// endToken counts a token and closes the block that it fills.
func (c *chain) endToken() {
	// The token's end goes into the hash: "ab"+"cd" is not "abcd".
	c.hash = (c.hash ^ 0xff00) * fnvPrime
	if c.tokens++; c.tokens%c.size == 0 {
		c.blocks = append(c.blocks, c.hash)
	}
}
