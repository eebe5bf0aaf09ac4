// Package canary tells whether a deployment still answers a few fixed prompts, at
// temperature 0, as it did when a reference was recorded: by the log-probabilities
// of the first tokens, or, from a server that gives none, by the texts. It is
// pure: who asks, when, and who is told, is the sidecar's matter.
package answers

import "math"

// Token is one token of an answer.
type Token struct {
	Text string `json:"text"`
	// Logprob is the natural logarithm of its probability.
	Logprob float64 `json:"logprob"`
	// Others are tokens that were likely in its place, itself included or not; not
	// kept in a reference.
	Others []Token `json:"-"`
}

// Answer is what one prompt was answered with.
type CanaryAnswer struct {
	Text string `json:"text"`
	// Tokens are empty where the server gives no log-probabilities.
	Tokens []Token `json:"tokens,omitempty"`
}

// Round are the answers to all prompts, in their order.
type Round []CanaryAnswer

// DefaultPrompts are asked where the configuration names none: short, of
// different kinds, and with answers in which a model is not sure of every token.
func DefaultPrompts() []string {
	return []string{
		"Continue this sentence: The old lighthouse keeper opened the door and",
		"Name five animals that live in rivers.",
		"Explain in one sentence why the sky is blue.",
		"Write a Go function that reverses a slice of ints.",
		"Translate into French: The train leaves at seven in the morning.",
		"What is 17 times 24? Answer with the steps.",
		"Write the first line of a poem about autumn.",
		"List three uses of a paper clip other than holding paper.",
	}
}

const (
	// mostApart bounds the difference of one token's log-probabilities: servers
	// give -9999 or -inf for what they left out.
	mostApart = 5
)

// distance is the mean over the prompts of how far a round is from the centre.
func (r *Reference) distance(round Round) float64 {
	sum := 0.0
	for i, p := range r.Centre {
		if r.Logprobs {
			sum += apart(p.Tokens, round[i].Tokens)
		} else {
			sum += p.differing(round[i].Text)
		}
	}
	return sum / float64(len(r.Centre))
}

// apart is the mean difference of log-probabilities, up to the first token that
// is another one, and there that of the token that was expected. A tie that falls
// the other way is therefore near; an end where a token was expected is not.
func apart(want, got []Token) float64 {
	sum, n := 0.0, 0
	for other := false; n < len(want) && !other; n++ {
		d := math.NaN() // of an end
		if other = n >= len(got) || got[n].Text != want[n].Text; n < len(got) {
			d = math.Abs(want[n].Logprob - got[n].likelihood(want[n].Text))
		}
		if !(d < mostApart) { // NaN included
			d = mostApart
		}
		sum += d
	}
	return sum / float64(max(n, 1))
}

// likelihood is the log-probability of a text in the place of the token; that of
// the least likely that is known, where it is not among them.
func (t Token) likelihood(text string) float64 {
	if t.Text == text {
		return t.Logprob
	}
	least := t.Logprob
	for _, o := range t.Others {
		if o.Text == text {
			return o.Logprob
		}
		least = min(least, o.Logprob)
	}
	return least
}

// differing is the mean share of a text that is not the same as in one of the
// recorded ones: at temperature 0 all behind the first difference is another text.
func (p Prompt) differing(text string) float64 {
	sum := 0.0
	for _, t := range p.Texts {
		if longest := max(len(t), len(text)); longest > 0 {
			sum += 1 - float64(common(t, text))/float64(longest)
		}
	}
	return sum / float64(len(p.Texts))
}

// common is how many bytes two texts begin with alike.
func common(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}
