package cluster

// Text is a growing text without content: the length and the block hashes that a Request needs.
type Text struct {
	// Tokens is the length. Chain holds the running hashes of all full blocks.
	Tokens int
	Chain  []uint64

	key         uint64
	blockTokens int
}

// NewText returns an empty text. Texts of equal keys have equal content.
func NewText(key uint64, blockTokens int) *Text { return &Text{key: key, blockTokens: blockTokens} }

// Fork returns a copy that continues with other content, chosen by key.
func (t *Text) Fork(key uint64) *Text {
	full := t.Tokens / t.blockTokens
	chain := append(make([]uint64, 0, 3*full), t.Chain[:full]...)
	return &Text{Tokens: t.Tokens, Chain: chain, key: key, blockTokens: t.blockTokens}
}

// Grow appends tokens.
func (t *Text) Grow(tokens int) {
	t.Tokens += tokens
	for n := len(t.Chain); n < t.Tokens/t.blockTokens; n++ {
		hash := t.key
		if n > 0 {
			hash ^= t.Chain[n-1]
		}
		t.Chain = append(t.Chain, Mix(hash))
	}
}

// Mix scrambles a number with the finalizer of splitmix64, which is a bijection.
func Mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
