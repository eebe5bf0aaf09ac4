package cluster

// Text is one that grows, known by what Request wants of it: its length and the
// running hashes of its blocks.
type Text struct {
	// Tokens and Chain are those of Request; Chain is of all full blocks.
	Tokens int
	Chain  []uint64

	key   uint64
	block int // tokens
}

// NewText begins a text that equals others of its key, in blocks of so many tokens.
func NewText(key uint64, block int) *Text { return &Text{key: key, block: block} }

// Fork begins another text, which goes on differently.
func (t *Text) Fork(key uint64) *Text {
	full := t.Tokens / t.block
	return &Text{Tokens: t.Tokens, Chain: append(make([]uint64, 0, 3*full), t.Chain[:full]...), key: key, block: t.block}
}

// Grow adds tokens.
func (t *Text) Grow(tokens int) {
	t.Tokens += tokens
	for n := len(t.Chain); n < t.Tokens/t.block; n++ {
		before := t.key
		if n > 0 {
			before ^= t.Chain[n-1]
		}
		t.Chain = append(t.Chain, Mix(before))
	}
}

// Mix scrambles a number: a bijection without visible pattern (the finalizer of
// splitmix64).
func Mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
