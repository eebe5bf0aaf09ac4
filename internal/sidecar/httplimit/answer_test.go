package httplimit

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// TestPieces: the pieces of a text are the text, and reserve little more memory than it has.
func TestPieces(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	text := make([]byte, 3<<20)
	for i := range text {
		text[i] = byte(rng.Uint32())
	}
	var p pieces
	for rest := text; len(rest) > 0; {
		n := min(rng.IntN(9000), len(rest))
		p.add(rest[:n])
		rest = rest[n:]
	}
	reserved := 0
	for _, piece := range p.all {
		reserved += cap(piece)
	}
	if p.size != len(text) || !bytes.Equal(bytes.Join(p.all, nil), text) {
		t.Errorf("%d bytes became %d others", len(text), p.size)
	}
	if reserved > len(text)+largestPiece {
		t.Errorf("%d bytes are reserved for %d", reserved, len(text))
	}
}
