package probe

import (
	"cmp"
	"math"
	"sync/atomic"

	"synthetic/internal/probe/workload"
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

// estimate sets the estimate of the uncached prompt tokens of a turn without a usage, from the texts that it sent.
func (p *promptSizes) estimate(r *Result, sent []workload.Message) {
	size, cached := 0, &p.cachedShare[r.Kind.Index()]
	for i := range sent {
		size += len(sent[i].Content) + len(sent[i].Reasoning)
	}
	if r.PromptTokens.OK {
		p.bytesPerToken.Store(math.Float64bits(float64(size) / float64(r.PromptTokens.V)))
		cached.Store(math.Float64bits(float64(r.CachedTokens.V) / float64(r.PromptTokens.V)))
		return
	}
	prompt := float64(size) / cmp.Or(math.Float64frombits(p.bytesPerToken.Load()), trace.CharsPerToken)
	r.UncachedEstimate = Some(int((1 - math.Float64frombits(cached.Load())) * math.Floor(prompt)))
}
