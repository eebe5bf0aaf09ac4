package metrics

import (
	"math"
	"slices"

	dto "github.com/prometheus/client_model/go"
)

// Mode selects the families and the histogram format of a scrape.
type Mode string

const (
	// Lean is the default: native and classic histograms, without the families of unread and without
	// series that have no value.
	Lean Mode = "lean"
	// native is Lean without classic buckets.
	native Mode = "native"
	// both exports every family and series; each histogram is native and classic.
	both Mode = "both"
	// classic is both without native histograms.
	classic Mode = "classic"
)

// unread returns the families that Lean and native leave out.
func unread() []string {
	return []string{
		ttftWindow, tpotWindow, turnDurationWindow, conversations,
		RegressionDelay, signalLog2Squared, tailLimit,
	}
}

// zero returns the families whose series Lean and native leave out while they are 0.
func zero() []string {
	return append(late(), GatewayFallbackSince, RegressionSince, BaselineMoved, BaselineYoung)
}

// unknown returns the families whose series Lean and native leave out while they are NaN. Their 0 is a value.
func unknown() []string {
	return []string{
		Baseline, BaselineNoise, RegressionRatio, Excess, Detectable, ExpectedFalsePages, CachedBaseline, ttftPer1k, ttftBase,
	}
}

// late returns the counters of zero. Each belongs to a job.
func late() []string {
	return []string{
		TurnFailures, TurnOwnFaults, finishReasons, ConversationsSkipped, otherModelTurns, turnsNotJudged, UsageMissing,
		conversationFailures, conversationsCanceled, conversationsShort,
		reasoningTokens, turnsWithoutAnswer, bursts,
	}
}

// form holds what a mode leaves out, by family name.
type form struct {
	Mode
	// text is true for a scrape in a text format.
	text                        bool
	unread, zero, unknown, late []string
}

func (m Mode) form() form {
	if !m.lean() {
		return form{Mode: m}
	}
	return form{Mode: m, unread: unread(), zero: zero(), unknown: unknown(), late: late()}
}

// lean reports whether the mode leaves out series without readers or values.
func (m Mode) lean() bool { return m == Lean || m == native }

// leavesOut reports whether the mode leaves out a series.
func (f form) leavesOut(family string, v float64) bool {
	return v == 0 && slices.Contains(f.zero, family) || math.IsNaN(v) && slices.Contains(f.unknown, family)
}

// histogram returns the buckets of h that the mode and the format of the scrape have. A text has no native ones.
func (f form) histogram(h *histogram) *dto.Histogram {
	return h.written(f.Mode != native, f.Mode != classic && !f.text)
}
