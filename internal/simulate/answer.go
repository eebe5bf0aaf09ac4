package simulate

import (
	"math/rand/v2"
	"slices"
)

// answer is the text of an answer, as a stream of tokens. It is endless unless end was called.
type answer struct {
	rand     *rand.Rand
	generate func() []rune // returns the next text; nil if the end is fixed
	pending  []rune
	sentence int // words so far
}

// newAnswer returns the invented words for a seed and a prompt.
func newAnswer(seed, prompt uint64) *answer {
	a := &answer{rand: rand.New(rand.NewPCG(seed, prompt))}
	a.generate = a.word
	return a
}

// end makes the answer end with text, after n more tokens of words. It returns the tokens of both.
func (a *answer) end(n int, text string) (tokens int) {
	a.peek(n)
	a.pending = append(a.pending[:n*charsPerToken], []rune(text)...)
	a.generate = nil
	return (len(a.pending) + charsPerToken - 1) / charsPerToken
}

// insert puts a text after the next n tokens.
func (a *answer) insert(n int, text string) {
	a.peek(n)
	a.pending = slices.Insert(a.pending, n*charsPerToken, []rune(text)...)
}

// peek returns the text of the next n tokens.
func (a *answer) peek(n int) string {
	for a.generate != nil && len(a.pending) < n*charsPerToken {
		a.pending = append(a.pending, a.generate()...)
	}
	return string(a.pending[:min(n*charsPerToken, len(a.pending))])
}

// next returns and removes the text of the next n tokens.
func (a *answer) next(n int) string {
	text := a.peek(n)
	a.pending = a.pending[min(n*charsPerToken, len(a.pending)):]
	return text
}

// word returns a word and the space after it.
func (a *answer) word() []rune {
	const consonants, vowels = "bdfgklmnprstvz", "aeiou"
	var word []rune
	for range 1 + a.rand.IntN(3) {
		word = append(word, rune(consonants[a.rand.IntN(len(consonants))]), rune(vowels[a.rand.IntN(len(vowels))]))
		if a.rand.IntN(3) == 0 {
			word = append(word, rune("nrslm"[a.rand.IntN(5)]))
		}
	}
	if a.sentence == 0 {
		word[0] -= 'a' - 'A'
	}
	if a.sentence++; a.sentence > 4 && a.rand.IntN(8) == 0 {
		word = append(word, '.')
		a.sentence = 0
	}
	return append(word, ' ')
}
