package metrics

import (
	"math"
	"slices"

	dto "github.com/prometheus/client_model/go"
)

// Mode selects the families and the histogram format of a scrape.
type Mode string

const (
	// both exports every family; each histogram is native and classic.
	both Mode = "both"
	// classic leaves out native histograms.
	classic Mode = "classic"
	// native leaves out classic buckets, families that no rule or dashboard reads, and series
	// that are always 0 or NaN. About 115 of 430 series remain.
	native Mode = "native"
)

// unread returns the families that Native leaves out.
func unread() []string {
	return []string{
		ttftWindow, tpotWindow, turnDurationWindow, conversationDuration,
		conversations, conversationFailures, conversationsCanceled, conversationsShort,
		userEndpointErrors, reasoningTokens, turnsWithoutAnswer, probeRate, bursts, throttled,
		RegressionDelay, signalLog2Squared, tailLimit, streamComparisons,
		boundLimit, boundUsed,
	}
}

// silent returns the families whose series Native leaves out while they are 0 or NaN.
func silent() []string {
	return []string{
		TurnFailures, ConversationsSkipped, OddAnswers, TurnsBuffered, turnsNotJudged, UsageMissing,
		Excess, Detectable, RegressionSince, BaselineMoved, ExpectedFalsePages, CachedBaseline, BaselineYoung,
	}
}

// form holds what a mode leaves out, by family name.
type form struct {
	mode           Mode
	unread, silent []string
}

func (m Mode) form() form {
	if m != native {
		return form{mode: m}
	}
	return form{m, unread(), silent()}
}

// leavesOut reports whether the mode leaves out a series.
func (f form) leavesOut(family string, v float64) bool {
	return (v == 0 || math.IsNaN(v)) && slices.Contains(f.silent, family)
}

// histogram removes the parts of h that the mode does not export.
func (f form) histogram(h *dto.Histogram) *dto.Histogram {
	switch f.mode {
	case native:
		for _, b := range h.Bucket {
			if b.Exemplar != nil {
				h.Exemplars = append(h.Exemplars, b.Exemplar)
			}
		}
		h.Bucket = nil
	case classic:
		h.Schema, h.ZeroThreshold, h.ZeroCount = nil, nil, nil
		h.PositiveSpan, h.PositiveDelta = nil, nil
	}
	return h
}
