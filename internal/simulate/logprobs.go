package simulate

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"synthetic/internal/simulate/cluster"
)

// maxTopLogprobs is the largest number of candidates per token.
const maxTopLogprobs = 20

// logprob is a token and the natural logarithm of its probability.
type logprob struct {
	Token   string    `json:"token"`
	Logprob float64   `json:"logprob"`
	Bytes   []int     `json:"bytes"`
	Top     []logprob `json:"top_logprobs,omitempty"` // likeliest first
}

// logprobsObject returns the logprobs object of a chat, nil without log-probabilities.
func logprobsObject(all []logprob) any {
	if all == nil {
		return nil
	}
	return map[string]any{"content": all}
}

// logprobs returns the log-probabilities of the tokens of text, which starts at token i of the
// answer; nil if the request wants none.
func (t *turn) logprobs(i int, text string) []logprob {
	if !t.request.Logprobs {
		return nil
	}
	all := []logprob{}
	for token := range slices.Chunk([]rune(text), charsPerToken) {
		top := t.candidates(i, string(token))
		own := top[slices.IndexFunc(top, func(l logprob) bool { return l.Token == string(token) })]
		own.Top = top[:min(t.request.TopLogprobs, len(top))]
		all = append(all, own)
		i++
	}
	return all
}

// candidates returns the likeliest tokens at place i of the answer, likeliest first. They depend on
// the model, the prompt, the place and the token that a model without Drift generates there.
func (t *turn) candidates(i int, token string) []logprob {
	if original, ok := t.driftedFrom[i]; ok {
		token = original
	}
	key := cluster.Mix(t.textKey^cluster.Mix(uint64(i))) ^ hashOf(token)
	r, noise := rand.New(rand.NewPCG(t.options.Seed, key)), rand.New(rand.NewPCG(key, t.options.Seed))
	p := 0.3 + 0.65*r.Float64()
	rest := 1 - p
	out := make([]logprob, maxTopLogprobs)
	for k := range out {
		if k > 0 {
			p = min(rest*(0.3+0.4*r.Float64()), p*(0.5+0.5*r.Float64()))
			rest -= p
			token = newAnswer(key, uint64(k)).peek(1)
		}
		shifted := math.Log(p) + t.drift*noise.NormFloat64()
		out[k] = logprob{Token: token, Logprob: min(shifted, -1e-6), Bytes: bytesOf(token)}
	}
	slices.SortStableFunc(out, func(a, b logprob) int { return cmp.Compare(b.Logprob, a.Logprob) })
	return out
}

// applyDrift makes an answer of n tokens follow the tokens that Drift has made the likeliest. Another
// text follows such a token.
func (t *turn) applyDrift(n int) {
	t.driftedFrom = map[int]string{}
	for i := t.reasoning; i < n; i++ {
		token := t.text.token(i)
		if top := t.candidates(i, token)[0].Token; top != token {
			t.driftedFrom[i] = token
			t.text.branch(i, top)
		}
	}
}

// bytesOf returns the bytes of a token as numbers. JSON would encode a []byte as base64.
func bytesOf(token string) []int {
	out := make([]int, 0, len(token))
	for _, b := range []byte(token) {
		out = append(out, int(b))
	}
	return out
}
