package figures

import (
	"math"

	"synthetic/internal/probe"
	"synthetic/internal/study/estimate"
	"synthetic/internal/study/runfile"
)

// addRates adds what is counted per second of measured time, and per turn.
func (l *Level) addRates(results []runfile.Result) {
	ended := func(b runfile.Block) float64 {
		n, _ := b.Ended()
		return float64(n)
	}
	seconds := func(b runfile.Block) float64 { return b.Seconds }
	for _, rate := range []struct {
		metric      Metric
		part, whole func(runfile.Block) float64
	}{
		{TurnsPerSecond, ended, seconds},
		{TurnTimeMean, func(b runfile.Block) float64 { return 1000 * b.TurnSeconds }, ended},
		{GoodputPerSecond, func(b runfile.Block) float64 { return float64(b.Good) }, seconds},
		{OutputTokensPerSecond, outputTokens, seconds},
		{PromptTokensPerSecond, func(b runfile.Block) float64 { return float64(b.Tokens.Prompt) }, seconds},
		{OutputTokensPerTurn, outputTokens, func(b runfile.Block) float64 { return float64(b.Outcomes[probe.Success]) }},
	} {
		l.Figures[rate.metric] = ratioFigure(pairs(results, func(b runfile.Block) estimate.Pair {
			return estimate.Pair{Part: rate.part(b), Whole: rate.whole(b)}
		}))
	}
	if !(l.Figures[TurnTimeMean].Value > 0) {
		delete(l.Figures, TurnTimeMean) // files of earlier versions do not have it
	}
	starts := make([][]estimate.Pair, len(results))
	for i, r := range results {
		for _, s := range r.Snapshots {
			starts[i] = append(starts[i], estimate.Pair{Part: float64(s.ConversationStarts), Whole: s.Seconds})
		}
	}
	l.Figures[ConversationStartsPerSecond] = ratioFigure(starts)
	l.addHitRate(results)
}

func outputTokens(b runfile.Block) float64 { return float64(b.Tokens.Output) }

func ratioFigure(all [][]estimate.Pair) Figure {
	r := estimate.OfRatio(all)
	if math.IsInf(r.Value, 0) {
		return Unknown()
	}
	return Figure{Value: r.Value, Low: max(r.Low, 0), High: r.High}
}

// addHitRate uses what the answers' usage said; without it the server's own
// figure stands in (see addServer).
func (l *Level) addHitRate(results []runfile.Result) {
	cached := pairs(results, func(b runfile.Block) estimate.Pair {
		if b.Tokens.Cached == nil || b.Tokens.CachedOf == nil {
			return estimate.Pair{}
		}
		return estimate.Pair{Part: float64(*b.Tokens.Cached), Whole: float64(*b.Tokens.CachedOf)}
	})
	if totalOf(cached).Whole == 0 {
		return
	}
	r := estimate.OfRatio(cached) // tokens are no independent trials
	l.Figures[KVHitRatePct] = Figure{Value: 100 * r.Value, Low: max(100*r.Low, 0), High: min(100*r.High, 100)}
}

func (l *Level) addInFlight(results []runfile.Result) {
	var weighted, seconds float64
	most := -1
	for _, r := range results {
		for _, s := range r.Snapshots {
			if s.InFlightMean != nil {
				weighted += *s.InFlightMean * s.Seconds
				seconds += s.Seconds
			}
			if s.InFlightMax != nil {
				most = max(most, *s.InFlightMax)
			}
		}
	}
	if seconds > 0 {
		l.Figures[InFlightMean] = Plain(weighted / seconds)
	}
	if most >= 0 {
		l.Figures[InFlightMax] = Plain(float64(most))
	}
}
