package simulate

import (
	"bytes"
	"math/rand/v2"
)

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
