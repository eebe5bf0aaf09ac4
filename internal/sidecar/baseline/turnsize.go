package baseline

import (
	"slices"

	"synthetic/internal/probe"
	"synthetic/internal/sidecar/sink"
)

// firstCached holds the cached tokens of the newest first turns. A lost prefix cache is a regression, not a
// larger turn, so the tokens that a cache usually holds do not belong to the size of a first turn.
type firstCached struct {
	// Newest is a ring of at most keptFirsts numbers, and Next the place of the next one.
	Newest []int `json:"newest,omitempty"`
	Next   int   `json:"next,omitzero"`
	median int
}

const keptFirsts = 64

func (f *firstCached) add(r *probe.Result) {
	if r.Kind != probe.First || r.Burst || !r.CachedTokens.OK {
		return
	}
	if len(f.Newest) < keptFirsts {
		f.Newest = append(f.Newest, r.CachedTokens.V)
	} else {
		f.Newest[f.Next] = r.CachedTokens.V
		f.Next = (f.Next + 1) % keptFirsts
	}
	f.derive()
}

func (f *firstCached) derive() {
	if sorted := slices.Sorted(slices.Values(f.Newest)); len(sorted) > 0 {
		f.median = sorted[len(sorted)/2]
	}
}

// copy returns a copy that does not change.
func (f *firstCached) copy() firstCached {
	return firstCached{Newest: slices.Clone(f.Newest), Next: f.Next}
}

// plausible returns what a state file holds, and nothing if it cannot be used.
func (f firstCached) plausible() firstCached {
	bad := func(n int) bool { return n < 0 || n > mostTurns }
	if len(f.Newest) > keptFirsts || f.Next < 0 || f.Next >= keptFirsts || slices.ContainsFunc(f.Newest, bad) {
		return firstCached{}
	}
	f.derive()
	return f
}

// sizeOf returns the size of a turn in tokens. For the TTFT it is the prompt without what the cache held, or
// could have held: the turns before in the conversation, in first turns what it usually holds. For the TPOT it
// is the whole prompt. It is 0 if it is unknown.
func (j *job) sizeOf(r *probe.Result, signal int) float64 {
	reusable := r.ContextTokens
	if r.Kind == probe.First {
		reusable = probe.Some(j.firstCached.median)
	}
	switch {
	case !r.PromptTokens.OK, r.ContextCut(): // no usual size
		return 0
	case sink.Signals()[signal] == sink.TPOT:
		return float64(max(1, r.PromptTokens.V))
	case !reusable.OK:
		return 0
	}
	return float64(max(1, r.PromptTokens.V-max(r.CachedTokens.V, reusable.V)))
}
