package simulate

import (
	"bytes"
	"hash/fnv"
	"math/rand/v2"
)

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
// ready for an answer.
func newPrompt(history []message, size int) *chain {
	c := &chain{size: size, hash: fnvOffset}
	for _, m := range history {
		c.mark(m.Role, roleTokens)
		c.text(m.Content.text)
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

// answer is an endless text of invented words, given out token by token. Every
// token is 4 ASCII characters that need no escaping in JSON.
type answer struct {
	rand     *rand.Rand
	pending  bytes.Buffer
	sentence int // words so far
}

// newAnswer returns the text that a seed gives for a prompt: always the same.
func newAnswer(seed, prompt uint64) *answer {
	return &answer{rand: rand.New(rand.NewPCG(seed, prompt))}
}

// peek returns the text of the next n tokens.
func (a *answer) peek(n int) string {
	for a.pending.Len() < n*charsPerToken {
		a.word()
	}
	return string(a.pending.Bytes()[:n*charsPerToken])
}

// next is peek, but takes the tokens away.
func (a *answer) next(n int) string {
	text := a.peek(n)
	a.pending.Next(len(text))
	return text
}

// word appends a word and what follows it.
func (a *answer) word() {
	const consonants, vowels = "bdfgklmnprstvz", "aeiou"
	var word []byte
	for range 1 + a.rand.IntN(3) {
		word = append(word, consonants[a.rand.IntN(len(consonants))], vowels[a.rand.IntN(len(vowels))])
		if a.rand.IntN(3) == 0 {
			word = append(word, "nrslm"[a.rand.IntN(5)])
		}
	}
	if a.sentence == 0 {
		word[0] -= 'a' - 'A'
	}
	if a.sentence++; a.sentence > 4 && a.rand.IntN(8) == 0 {
		word = append(word, '.')
		a.sentence = 0
	}
	a.pending.Write(append(word, ' '))
}
