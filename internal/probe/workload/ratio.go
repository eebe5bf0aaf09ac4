package workload

import (
	"math"
	"slices"
	"sync"

	"synthetic/internal/probe/workload/trace"
)

const (
	// The minimum is that of a tokenizer of single bytes. The maximum is above that of one of
	// whole words.
	minCharsPerToken, maxCharsPerToken = 1.0, 12.0
	// ratioSamples is the length of the running median. Up to 7 absurd values do not change it.
	ratioSamples = 15
	// ratioTolerance is how far the median must be from the current ratio to replace it.
	// Otherwise lengths would never settle, and shared texts would change.
	ratioTolerance = 0.04
	// ratioStep is the grid of ratios. Replicas that learn nearly the same ratio then use the
	// same one.
	ratioStep = 0.02
)

// ratio learns the characters per token from the servers' usage. It is safe for concurrent use.
type ratio struct {
	mu      sync.Mutex
	current float64
	samples [ratioSamples]float64
	n       int
}

func newRatio() *ratio { return &ratio{current: trace.CharsPerToken} }

func (r *ratio) value() float64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.current
}

// Learn adds an observation: the tokens that the server counted in an opening, including chat
// template and system message. It ignores counts that are not positive.
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
	if math.Abs(math.Log(median/r.current)) > ratioTolerance {
		rounded := math.Exp(math.Round(math.Log(median)/ratioStep) * ratioStep)
		r.current = min(max(rounded, minCharsPerToken), maxCharsPerToken)
	}
}
