package workload

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"

	"synthetic/internal/probe/answers/recall"
)

// roomyOpening is a length in characters. Longer openings have references at their start, middle and
// end; shorter ones have only the first.
const roomyOpening = 800

// openingReferences returns the codes of an opening text. Shared texts have shared codes, so that a
// prefix cache still serves them.
func (w *writer) openingReferences(index uint64, chars int) (codes []recall.Code) {
	if w.spec.Recall <= 0 {
		return nil
	}
	n := 1
	if chars >= roomyOpening {
		n = 3
	}
	rng := newRand(w.spec.Seed, w.textSalt(), streamReference, index)
	for range n {
		codes = append(codes, recall.New(rng))
	}
	return codes
}

// composeWith is compose for a text with references, which are part of its length. Each reference is a
// paragraph: after the title, near the middle, and before the question.
func (w *writer) composeWith(codes []recall.Code, index uint64, chars int) string {
	length := 0
	for i, c := range codes {
		length += len(recall.Statement(i+1, c)) + len("\n\n")
	}
	paragraphs := strings.Split(w.compose(index, max(chars-length, 1)), "\n\n")
	last := max(len(paragraphs)-1, 0)
	places := []int{min(1, last), nearMiddle(paragraphs, chars), last}
	for i, c := range slices.Backward(codes) {
		paragraphs = slices.Insert(paragraphs, places[i], recall.Statement(i+1, c))
	}
	return strings.Join(paragraphs, "\n\n")
}

// nearMiddle returns the index of the first paragraph behind a power of two of characters, the largest one
// in the first half of the text. So openings of nearly equal lengths share the text up to their ends, and
// the prefix cache serves it after the length was adapted.
func nearMiddle(paragraphs []string, chars int) int {
	half, at := 1<<bits.Len(uint(chars/4)), 0
	for i, p := range paragraphs {
		if at >= half {
			return i
		}
		at += len(p) + len("\n\n")
	}
	return len(paragraphs) - 1
}

// codeExcess is how many characters of other text have as many tokens as a code has more than text of its own length:
// 17 characters are 13 tokens, measured with the vocabularies cl100k and o200k. Follow-ups are shorter by it, so that
// they have as many tokens as without a code. Openings adapt to the server's usage.
const codeExcess = 44

// addReference adds a code of its own to the next follow-up. It returns the sentences that give this
// code and that perhaps ask for an earlier one; "" without Spec.Recall.
func (w *writer) addReference(c *Conversation) string {
	if w.spec.Recall <= 0 {
		return ""
	}
	rng := newRand(w.spec.Seed, w.salt, streamReference, c.ID, uint64(len(c.Asked)+1))
	earlier, code := len(c.References), recall.New(rng)
	text := " " + recall.Statement(earlier+1, code)
	asked := 0
	if rng.Float64() < w.spec.Recall {
		asked = drawReference(rng, earlier, c.Asked)
		text += " " + recall.Request(asked)
	}
	c.References, c.Asked = append(c.References, code), append(c.Asked, asked)
	return text
}

// drawReference draws one of the references 1 to n that no follow-up has asked for. There is one: the opening
// has a reference, and each follow-up adds one.
func drawReference(rng *rand.Rand, n int, asked []int) int {
	var unasked []int
	for i := 1; i <= n; i++ {
		if !slices.Contains(asked, i) {
			unasked = append(unasked, i)
		}
	}
	return unasked[rng.IntN(len(unasked))]
}
