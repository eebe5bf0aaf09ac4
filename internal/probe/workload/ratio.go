package workload

import (
	"math"
	"slices"
	"sync"
)

const (
	// DefaultCharsPerToken is assumed until the first usage arrives; English
	// text is near it with the tokenizers of today's models.
	DefaultCharsPerToken = 4.5
	// minCharsPerToken is a tokenizer of single bytes, maxCharsPerToken is more
	// than one of whole words gives.
	minCharsPerToken, maxCharsPerToken = 1.0, 12.0
	// ratioSamples is the length of the running median: up to 7 absurd counts
	// among 15 do not move it.
	ratioSamples = 15
	// ratioHold is how far the median has to be from the ratio in use before
	// that moves: lengths settle, and shared texts stay the same text.
	ratioHold = 0.04
	// ratioStep is the grid on which a ratio is put, so that replicas which
	// learned nearly the same use the same.
	ratioStep = 0.02
)

// ratio learns characters per token as a running median of what the server's
// usage said. It is safe for concurrent use.
type ratio struct {
	mu      sync.Mutex
	used    float64
	samples [ratioSamples]float64
	n       int
}

func newRatio() *ratio { return &ratio{used: DefaultCharsPerToken} }

func (r *ratio) value() float64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.used
}

// Learn tells how many tokens the server counted in an opening of so many
// characters, chat template and system message included. The length of later
// texts follows the median of recent observations. Counts that are not positive
// are ignored.
func (r *ratio) Learn(chars, tokens int) {
	if chars <= 0 || tokens <= 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.samples[r.n%ratioSamples] = float64(chars) / float64(tokens)
	r.n++
	seen := slices.Clone(r.samples[:min(r.n, ratioSamples)])
	slices.Sort(seen)
	median := seen[len(seen)/2]
	if math.Abs(math.Log(median/r.used)) > ratioHold {
		r.used = quantise(median)
	}
}

func quantise(v float64) float64 {
	v = math.Exp(math.Round(math.Log(v)/ratioStep) * ratioStep)
	return min(max(v, minCharsPerToken), maxCharsPerToken)
}
