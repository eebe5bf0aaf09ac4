package probe

import (
	"slices"

	"synthetic/internal/probe/answers/recall"
	"synthetic/internal/probe/workload/trace"
)

// Recall is the result of a turn in a conversation with reference codes. It contains no code.
type Recall struct {
	// Result is "" if nothing was judged: the turn asked for no reference, or its answer has no text
	// yet. An answer with a code of another conversation is Foreign even then.
	Result recall.Result
	// Depth is the number of prompt tokens before the code that was asked for. It is estimated from
	// the position of the code in the text. Depth and Cached are unknown for a Foreign answer, because
	// the server may have reported the usage of the other request.
	Depth Opt[int]
	// Cached is whether the code was in the part of the prompt that the server took from its cache.
	Cached Opt[bool]
}

// DepthClass returns one of recall.Depths.
func (r Recall) DepthClass() string {
	if !r.Depth.OK {
		return recall.UnknownDepth
	}
	return recall.Depth(r.Depth.V)
}

// CachedStates returns the values of Recall.CachedState.
func CachedStates() []string { return []string{"yes", "no", "unknown"} }

// CachedState returns Cached as one of CachedStates.
func (r Recall) CachedState() string {
	switch {
	case !r.Cached.OK:
		return "unknown"
	case r.Cached.V:
		return "yes"
	}
	return "no"
}

// roomForCode is a length in bytes. If the token limit ended a shorter answer, its code may be missing
// only because of that.
const roomForCode = 64

// judgeRecall looks for codes in the answer. A turn that sends the results of tools counts for the
// question before it.
func (d *dialogue) judgeRecall(r *Result) {
	c := &d.plan.Conversation
	if len(c.References) == 0 {
		return
	}
	var asked recall.Code
	if d.userMessages >= 2 && !r.NoAnswer && len(r.ToolCalls) == 0 {
		if n := valueAt(c.Asked, d.userMessages-2); n > 0 {
			asked = c.References[n-1]
		}
	}
	result, foreign := recall.Judge(r.Answer, slices.Concat(c.References, d.foreign), asked)
	d.foreign = append(d.foreign, foreign...)
	out := Recall{Result: result}
	if result == recall.Wrong && r.IsCut() && len(r.Answer) < roomForCode {
		return
	}
	if asked != "" && result != recall.Foreign {
		out.Depth = d.depth(string(asked), r)
	}
	if r.CachedTokens.OK && out.Depth.OK {
		out.Cached = Some(r.CachedTokens.V > out.Depth.V)
	}
	r.Recall = out
}

// depth estimates the number of prompt tokens before a text of the history.
func (d *dialogue) depth(text string, r *Result) Opt[int] {
	before, size := d.history.find(text)
	switch {
	case before < 0:
		return Opt[int]{}
	case r.PromptTokens.OK:
		return Some(int(float64(r.PromptTokens.V) * float64(before) / float64(size)))
	}
	return Some(int(float64(before) / trace.CharsPerToken))
}
