package probe

import (
	"slices"
	"time"
)

// TPOTUnknown says why a turn with several token-bearing events has no TPOT.
type TPOTUnknown string

const (
	// NoUsage: there is no usage, and the events are longer than single tokens.
	NoUsage TPOTUnknown = "no_usage"
	// HiddenReasoning: the output contains reasoning that was not streamed, or not as a whole.
	HiddenReasoning TPOTUnknown = "hidden_reasoning"
	// Contradiction: the counts contradict each other or the events.
	Contradiction TPOTUnknown = "contradiction"
	// LargeFirstEvent: the first event contains much of the answer.
	LargeFirstEvent TPOTUnknown = "large_first_event"
)

// TPOTUnknowns returns all reasons.
func TPOTUnknowns() []TPOTUnknown {
	return []TPOTUnknown{NoUsage, HiddenReasoning, Contradiction, LargeFirstEvent}
}

const (
	// countError is by how much a count of tokens may be wrong.
	countError = 1.1
	// tokenBytes is the most bytes that events have on average if each is one token: tokens have 3 to 4.5
	// bytes in most languages. leastBytes is the least of tokens in events with several.
	tokenBytes, leastBytes = 5, 2
	// shareError is by how much the tokens of the first event may differ from its share of the bytes.
	shareError = 1.5
	// A pause is a gap of pauseGaps usual ones. Hidden reasoning may be in pauses that are long enough for
	// hiddenShare of it.
	pauseGaps, hiddenShare = 5, 0.08
)

// endTPOT sets the mean time between tokens after the first event, without queue and prefill:
// (last token − first token) / (tokens of the events after the first). It is unknown without a second
// token-bearing event, if all tokens arrived at once, and if the number of tokens is not known well.
func (m *measurement) endTPOT() {
	r := m.turn
	if r.Events < 2 {
		return
	}
	if r.TPOTTokens, r.TPOTUnknown = m.tokensAfterFirst(); r.TPOTUnknown == "" {
		r.TPOT = positive(time.Duration(float64(m.lastToken.Sub(r.Sent)-r.TTFT.V) / r.TPOTTokens))
	}
}

func (m *measurement) tokensAfterFirst() (n float64, why TPOTUnknown) {
	events, size, output := float64(m.turn.Events), float64(m.size-m.calls.ids), float64(m.counts.OutputTokens)
	switch {
	case output == 0 && size > tokenBytes*events:
		return 0, NoUsage
	case output == 0 && (m.counts.reasoningEvents > 0 || m.counts.thinks): // perhaps a summary
		return 0, HiddenReasoning
	case output == 0:
		return events - 1, ""
	case m.counts.firstTokens > 0 && (output-float64(m.counts.firstTokens))*countError < events-1:
		return 0, Contradiction
	case m.counts.firstTokens > 0: // a running usage counts hidden reasoning before the first event, too
		return output - float64(m.counts.firstTokens), ""
	}
	visible, why := m.visibleTokens()
	if why != "" {
		return 0, why
	}
	// Each event has at least a token. Beyond that, the share of the bytes is the share of the tokens.
	share := visible * float64(m.counts.firstSize) / max(size, 1)
	first := func(share float64) float64 { return max(1, min(share, 1+visible-events)) }
	if visible-first(share/shareError) > countError*countError*(visible-first(share*shareError)) {
		return 0, LargeFirstEvent
	}
	return visible - first(share), ""
}

// contradicted reports whether the usage has fewer output tokens than events with tokens.
func (m *measurement) contradicted() bool {
	return m.counts.OutputTokens > 0 && float64(m.counts.OutputTokens)*countError < float64(m.turn.Events)
}

// visibleTokens returns how many tokens the events had.
func (m *measurement) visibleTokens() (n float64, why TPOTUnknown) {
	events, n := float64(m.turn.Events), float64(m.counts.OutputTokens)
	reasoning, streamed := float64(m.counts.ReasoningTokens), float64(m.counts.reasoningEvents)
	switch {
	case m.contradicted() || m.counts.reasoningTooLarge:
		return 0, Contradiction
	case n <= countError*events: // one each
		return n, ""
	case reasoning > 0 && streamed == 0:
		if n -= reasoning; n*countError < events {
			return 0, Contradiction
		}
		if m.pausedFor(reasoning, n) {
			return 0, HiddenReasoning
		}
	case reasoning == 0 && (streamed > 0 || m.counts.thinks): // perhaps a summary
		return 0, HiddenReasoning
	case streamed > 0:
		// In a summary, an event stands for more tokens than in the answer.
		each := 1.0
		if rest := events - streamed; rest > 0 {
			each = max(1, (n-reasoning)/rest)
		}
		if reasoning > countError*each*streamed {
			return 0, HiddenReasoning
		}
	}
	// Nothing tells a few hidden tokens from longer events, unless each event after the first looks like one token.
	later := max(1, float64(m.size-m.counts.firstSize))
	single := (events - 1) * float64(m.size) / later
	if !m.counts.ReasoningKnown && later <= tokenBytes*(events-1) && n-1 > countError*single { // the end may be a token
		return 0, HiddenReasoning
	}
	if n > countError*events && float64(m.size) < leastBytes*n {
		return 0, HiddenReasoning
	}
	return n, ""
}

// pausedFor reports whether pauses between the events were long enough for hidden reasoning, if the
// events had the given number of tokens.
func (m *measurement) pausedFor(reasoning, visible float64) bool {
	if reasoning <= (countError-1)/2*visible || len(m.gaps) == 0 {
		return false
	}
	sorted := slices.Sorted(slices.Values(m.gaps))
	usual := sorted[len(sorted)/2]
	paused := time.Duration(0)
	for _, gap := range sorted {
		if gap > pauseGaps*usual {
			paused += gap
		}
	}
	perToken := float64(usual) * float64(m.turn.Events) / visible
	return float64(paused) > hiddenShare*reasoning*perToken
}
