package simulate

import (
	"iter"
	"math/rand/v2"
	"slices"
)

// answer is the text of an answer, given out token by token: endless, unless it
// is fixed.
type answer struct {
	rand     *rand.Rand
	more     func() []rune // some more of it; nil for the end
	pending  []rune
	sentence int // words so far
}

// newAnswer returns the invented words that a seed gives for a prompt: always
// the same.
func newAnswer(seed, prompt uint64) *answer {
	a := &answer{rand: rand.New(rand.NewPCG(seed, prompt))}
	a.more = a.word
	return a
}

// fix makes the answer end after so many tokens of the words that it would have
// been, and then a text. It returns how many tokens that is.
func (a *answer) fix(words int, text string) (tokens int) {
	a.peek(words)
	a.pending = append(a.pending[:words*charsPerToken], []rune(text)...)
	a.more = nil
	return (len(a.pending) + charsPerToken - 1) / charsPerToken
}

// peek returns the text of the next n tokens.
func (a *answer) peek(n int) string {
	for a.more != nil && len(a.pending) < n*charsPerToken {
		a.pending = append(a.pending, a.more()...)
	}
	return string(a.pending[:min(n*charsPerToken, len(a.pending))])
}

// next is peek, but takes the tokens away.
func (a *answer) next(n int) string {
	text := a.peek(n)
	a.pending = a.pending[min(n*charsPerToken, len(a.pending)):]
	return text
}

// token returns one of the next tokens, counted from 0; "" beyond the end.
func (a *answer) token(i int) string {
	a.peek(i + 1)
	return string(a.pending[min(i*charsPerToken, len(a.pending)):min((i+1)*charsPerToken, len(a.pending))])
}

// branch replaces one of the next tokens and all that comes after it, unless
// the end is fixed.
func (a *answer) branch(i int, token string) {
	if a.more != nil {
		a.pending = append(a.pending[:i*charsPerToken], []rune(token)...)
	}
}

// word is a word and what follows it.
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

// tokens are those of a text.
func tokens(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for token := range slices.Chunk([]rune(text), charsPerToken) {
			if !yield(string(token)) {
				return
			}
		}
	}
}

// garble replaces the text by what a deployment says whose numbers went wrong;
// it reports whether such an answer has no end of its own.
func (a *answer) garble(kind IncidentKind) (endless bool) {
	switch kind {
	case Exclamations:
		a.more = func() []rune { return []rune("!!!!") }
	case Repetition:
		phrase := []rune(newAnswer(a.rand.Uint64(), 0).peek(5))
		a.more = func() []rune { return phrase }
	case WrongScript:
		a.more = func() []rune { return []rune{rune(0x4e00 + a.rand.IntN(0x5000))} }
		return false
	default:
		return false
	}
	return true
}
