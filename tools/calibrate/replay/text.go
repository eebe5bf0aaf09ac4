package replay

import (
	"math"
	"math/rand/v2"
)

// Length is a normal distribution of tokens, cut at 1 and at Max.
type Length struct {
	Mean, Spread float64
	Max          int
}

// draw returns one length.
func (l Length) draw(r *rand.Rand) int {
	n := int(math.Round(l.Mean + l.Spread*r.NormFloat64()))
	return max(1, min(n, l.Max))
}

// blockTokens is the block size of all presets.
const blockTokens = 16

// text is a growing history, known by the running hashes of its blocks. Where
// it was started from, it equals all texts from there.
type text struct {
	key    uint64
	tokens int
	chain  []uint64
}

// start begins a text that goes on with tokens of its own after an opening.
func start(opening *text, key uint64) *text {
	shared := opening.tokens / blockTokens
	return &text{key: key, tokens: opening.tokens, chain: append(make([]uint64, 0, 2*shared), opening.chain[:shared]...)}
}

// openings returns the texts that conversations share, of these lengths.
func openings(lengths []int) []*text {
	var all []*text
	for i, n := range lengths {
		t := &text{key: mix(uint64(i) + 1)}
		t.grow(n)
		all = append(all, t)
	}
	return all
}

// grow adds tokens.
func (t *text) grow(tokens int) {
	t.tokens += tokens
	for n := len(t.chain); n < t.tokens/blockTokens; n++ {
		before := uint64(0)
		if n > 0 {
			before = t.chain[n-1]
		}
		t.chain = append(t.chain, mix(before^t.key))
	}
}

// mix is the finalizer of splitmix64: a bijection without visible pattern.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
