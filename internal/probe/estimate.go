package probe

import (
	"math"
	"sync/atomic"

	"synthetic/internal/probe/workload/trace"
)

// promptSizes remembers the last turns with a usage, to estimate the sizes of turns without one. It is safe
// for concurrent use.
type promptSizes struct {
	// bytesPerToken is the length of the texts per prompt token. cachedShare is the cached share of the
	// prompt, by TurnKind.Index. Both are bits of a float64, and 0 before the first usage.
	bytesPerToken atomic.Uint64
	cachedShare   [2]atomic.Uint64
}

// estimateUncached sets the estimate of the uncached prompt tokens of a turn without a usage.
func (d *dialogue) estimateUncached(r *Result) {
	last := &d.prober.promptSizes
	if r.PromptTokens.OK {
		last.bytesPerToken.Store(math.Float64bits(float64(d.size()) / float64(r.PromptTokens.V)))
		last.cachedShare[r.Kind.Index()].Store(math.Float64bits(float64(r.CachedTokens.V) / float64(r.PromptTokens.V)))
		return
	}
	uncached := 1 - math.Float64frombits(last.cachedShare[r.Kind.Index()].Load())
	r.UncachedEstimate = Some(int(uncached * float64(d.promptEstimate())))
}

// promptEstimate estimates the prompt tokens of the history.
func (d *dialogue) promptEstimate() int {
	ratio := math.Float64frombits(d.prober.promptSizes.bytesPerToken.Load())
	if ratio == 0 {
		ratio = trace.CharsPerToken
	}
	return int(float64(d.size()) / ratio)
}

// size returns the length of the history in bytes.
func (d *dialogue) size() (n int) {
	for i := range d.history {
		n += len(d.history[i].Content) + len(d.history[i].Reasoning)
	}
	return n
}
