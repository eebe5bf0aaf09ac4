package simulate

import "math/rand/v2"

// answer is an endless text of invented words, given out token by token. Every
// token is 4 ASCII characters that need no escaping in JSON.
type answer struct {
	rand     *rand.Rand
	pending  []byte
	sentence int // words so far
}

// newAnswer returns the text that a seed gives for a prompt: always the same.
func newAnswer(seed, prompt uint64) *answer {
	return &answer{rand: rand.New(rand.NewPCG(seed, prompt))}
}

// next appends the next n tokens to b.
func (a *answer) next(b []byte, n int) []byte {
	for len(a.pending) < n*charsPerToken {
		a.word()
	}
	b = append(b, a.pending[:n*charsPerToken]...)
	a.pending = append(a.pending[:0], a.pending[n*charsPerToken:]...)
	return b
}

// word appends a word and what follows it.
func (a *answer) word() {
	const consonants, vowels = "bdfgklmnprstvz", "aeiou"
	start := len(a.pending)
	for range 1 + a.rand.IntN(3) {
		a.pending = append(a.pending, consonants[a.rand.IntN(len(consonants))], vowels[a.rand.IntN(len(vowels))])
		if a.rand.IntN(3) == 0 {
			a.pending = append(a.pending, "nrslm"[a.rand.IntN(5)])
		}
	}
	if a.sentence == 0 {
		a.pending[start] -= 'a' - 'A'
	}
	if a.sentence++; a.sentence > 4 && a.rand.IntN(8) == 0 {
		a.pending = append(a.pending, '.')
		a.sentence = 0
	}
	a.pending = append(a.pending, ' ')
}
