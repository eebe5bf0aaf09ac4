package simulate

import (
	"cmp"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"

	"synthetic/internal/simulate/cluster"
)

// maxTop is how many tokens an answer can name for each place.
const maxTop = 20

// logprob is a token with the natural logarithm of its probability.
type logprob struct {
	Token   string    `json:"token"`
	Logprob float64   `json:"logprob"`
	Bytes   []int     `json:"bytes"`
	Top     []logprob `json:"top_logprobs,omitempty"` // the likeliest first
}

// encodeLogprobs is the form that chats have them in: null for none.
func encodeLogprobs(all []logprob) string {
	if all == nil {
		return "null"
	}
	return encode(map[string]any{"content": all})
}

// logprobs are those of the next tokens of an answer, from place i on; nil
// unless they were asked for.
func (t *turn) logprobs(i int, text string) []logprob {
	if !t.request.Logprobs {
		return nil
	}
	all := []logprob{}
	for token := range tokens(text) {
		top := t.candidates(i, token)
		own := top[slices.IndexFunc(top, func(l logprob) bool { return l.Token == token })]
		own.Top = top[:min(t.request.TopLogprobs, len(top))]
		all = append(all, own)
		i++
	}
	return all
}

// candidates are the likeliest tokens for place i of an answer, the likeliest
// first. They depend on the model, the prompt, the place and the token that a
// model without drift has there, so they can be repeated.
func (t *turn) candidates(i int, token string) []logprob {
	if was, ok := t.flips[i]; ok {
		token = was
	}
	h := fnv.New64a()
	h.Write([]byte(token))
	key := cluster.Mix(t.textKey^cluster.Mix(uint64(i))) ^ h.Sum64()
	r, noise := rand.New(rand.NewPCG(t.options.Seed, key)), rand.New(rand.NewPCG(key, t.options.Seed))
	p := 0.3 + 0.65*r.Float64()
	rest := 1 - p
	out := make([]logprob, maxTop)
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

// diverge lets an answer of n tokens follow the tokens that drift has made the
// likeliest. What comes after such a token is another text.
func (t *turn) diverge(n int) {
	t.flips = map[int]string{}
	for i := t.thinks; i < n; i++ {
		token := t.text.token(i)
		if top := t.candidates(i, token)[0].Token; top != token {
			t.flips[i] = token
			t.text.branch(i, top)
		}
	}
}

// bytesOf are the bytes of a token, which JSON has as numbers.
func bytesOf(token string) []int {
	out := make([]int, 0, len(token))
	for _, b := range []byte(token) {
		out = append(out, int(b))
	}
	return out
}
