package metrics

import (
	"math"
	"slices"

	dto "github.com/prometheus/client_model/go"
)

// Mode says how much of the catalog a scrape gets, and in what form.
type Mode string

const (
	// Both is all of it; each histogram is native and classic at once.
	Both Mode = "both"
	// Classic leaves out the native histograms.
	Classic Mode = "classic"
	// Native leaves out classic buckets, what no rule and no dashboard of ours reads,
	// and what has nothing to say: a third of the series.
	Native Mode = "native"
)

// unread are the families that Native leaves out.
func unread() []string {
	return []string{
		TTFTWindow, TPOTWindow, TurnDurationWindow, ConversationDuration,
		Conversations, ConversationFailures, ConversationsCanceled, ConversationsShort,
		UserEndpointErrors, ReasoningTokens, TurnsWithoutAnswer, ProbeRate, Bursts, Throttled,
		RegressionDelay, SignalBaselineLog2, SignalLog2Squared, TailLimit, StreamComparisons,
		BoundLimit, BoundUsed,
	}
}

// silent are the families of which Native leaves out the series that are 0 or NaN:
// nothing happened, or nothing is known.
func silent() []string {
	return []string{
		TurnFailures, ConversationsSkipped, OddAnswers, TurnsBuffered, TurnsNotJudged, UsageMissing,
		Excess, Detectable, RegressionSince, BaselineMoved, ExpectedFalsePages, CachedBaseline,
	}
}

// form is what a mode makes of the families, by name.
type form struct {
	mode           Mode
	unread, silent []string
}

func (m Mode) form() form {
	if m != Native {
		return form{mode: m}
	}
	return form{m, unread(), silent()}
}

// leavesOut reports whether a series is not worth its place.
func (f form) leavesOut(family string, v float64) bool {
	return (v == 0 || math.IsNaN(v)) && slices.Contains(f.silent, family)
}

// histogram takes out of h what the mode does not export.
func (f form) histogram(h *dto.Histogram) *dto.Histogram {
	switch f.mode {
	case Native:
		for _, b := range h.Bucket {
			if b.Exemplar != nil {
				h.Exemplars = append(h.Exemplars, b.Exemplar)
			}
		}
		h.Bucket = nil
	case Classic:
		h.Schema, h.ZeroThreshold, h.ZeroCount = nil, nil, nil
		h.PositiveSpan, h.PositiveDelta = nil, nil
	}
	return h
}
