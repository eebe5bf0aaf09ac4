package metrics

import (
	"math"
	"slices"

	dto "github.com/prometheus/client_model/go"
)

// Mode selects the families and the histogram format of a scrape.
type Mode string

const (
	// Both exports every family; each histogram is native and classic.
	Both Mode = "both"
	// Classic leaves out native histograms.
	Classic Mode = "classic"
	// Native leaves out classic buckets, families that no rule or dashboard reads, and series
	// without information: a third of all series.
	Native Mode = "native"
)

// unread returns the families that Native leaves out.
func unread() []string {
	return []string{
		TTFTWindow, TPOTWindow, TurnDurationWindow, ConversationDuration,
		Conversations, ConversationFailures, ConversationsCanceled, ConversationsShort,
		UserEndpointErrors, ReasoningTokens, TurnsWithoutAnswer, ProbeRate, Bursts, Throttled,
		RegressionDelay, SignalLog2Squared, TailLimit, StreamComparisons,
		BoundLimit, BoundUsed,
	}
}

// silent returns the families whose series Native leaves out while they are 0 or NaN.
func silent() []string {
	return []string{
		TurnFailures, ConversationsSkipped, OddAnswers, TurnsBuffered, TurnsNotJudged, UsageMissing,
		Excess, Detectable, RegressionSince, BaselineMoved, ExpectedFalsePages, CachedBaseline, BaselineYoung,
	}
}

// form holds what a mode leaves out, by family name.
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

// leavesOut reports whether the mode leaves out a series.
func (f form) leavesOut(family string, v float64) bool {
	return (v == 0 || math.IsNaN(v)) && slices.Contains(f.silent, family)
}

// histogram removes the parts of h that the mode does not export.
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
