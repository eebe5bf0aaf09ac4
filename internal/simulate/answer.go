package simulate

import "math/rand/v2"

// answer is an endless text of invented words, given out token by token. Every
// token is 4 ASCII characters that need no escaping in JSON.
type answer struct {
	rand     *rand.Rand
	pending  []byte
	taken    int // of pending
	sentence int // words so far
}

// newAnswer returns the text that a seed gives for a prompt: always the same.
func newAnswer(seed, prompt uint64) *answer {
	return &answer{rand: rand.New(rand.NewPCG(seed, prompt))}
}

// peek returns the text of the next n tokens.
func (a *answer) peek(n int) string {
	if a.taken > 1<<16 { // an endless answer takes no endless memory
		a.pending, a.taken = append(a.pending[:0], a.pending[a.taken:]...), 0
	}
	for len(a.pending)-a.taken < n*charsPerToken {
		a.word()
	}
	return string(a.pending[a.taken : a.taken+n*charsPerToken])
}

// next is peek, but takes the tokens away.
func (a *answer) next(n int) string {
	text := a.peek(n)
	a.taken += len(text)
	return text
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
