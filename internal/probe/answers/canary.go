package answers

import "math"

// Token is one token of an answer.
type Token struct {
	Text string `json:"text"`
	// Logprob is the natural logarithm of its probability.
	Logprob float64 `json:"logprob"`
	// Others are likely alternatives. They may include the token itself. A reference does not
	// contain them.
	Others []Token `json:"-"`
}

// CanaryAnswer is the answer to one prompt.
type CanaryAnswer struct {
	Text string `json:"text"`
	// Tokens is empty if the server returns no log-probabilities.
	Tokens []Token `json:"tokens,omitempty"`
}

// Round holds the answers to all prompts, in their order.
type Round []CanaryAnswer

// DefaultPrompts are used if the configuration has none. They are short and diverse, and their
// answers contain tokens that a model is not sure about.
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

// maxTokenDistance bounds the difference of one token's log-probabilities: servers report -9999
// or -inf for omitted ones.
const maxTokenDistance = 5

// tokenDistance is the mean difference of log-probabilities up to the first token whose text
// differs. For that token it compares the probability of the expected text. So two tokens that
// are equally likely are close, and an answer that ends too early is far away.
func tokenDistance(want, got []Token) float64 {
	sum, n := 0.0, 0
	for differs := false; n < len(want) && !differs; n++ {
		d := math.NaN() // the answer has ended
		if differs = n >= len(got) || got[n].Text != want[n].Text; n < len(got) {
			d = math.Abs(want[n].Logprob - got[n].logprobOf(want[n].Text))
		}
		if !(d < maxTokenDistance) { // also for NaN
			d = maxTokenDistance
		}
		sum += d
	}
	return sum / float64(max(n, 1))
}

// logprobOf returns the log-probability of a text in the place of the token, or the lowest
// known one if the text is not among the alternatives.
func (t Token) logprobOf(text string) float64 {
	if t.Text == text {
		return t.Logprob
	}
	lowest := t.Logprob
	for _, o := range t.Others {
		if o.Text == text {
			return o.Logprob
		}
		lowest = min(lowest, o.Logprob)
	}
	return lowest
}

// textDistance is the mean over the recorded texts of the share of the text behind the common
// prefix. At temperature 0, everything behind the first difference is another text.
func (u usualAnswer) textDistance(text string) float64 {
	sum := 0.0
	for _, recorded := range u.Texts {
		if longest := max(len(recorded), len(text)); longest > 0 {
			sum += 1 - float64(commonPrefix(recorded, text))/float64(longest)
		}
	}
	return sum / float64(len(u.Texts))
}

func commonPrefix(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}
