package report

import (
	"cmp"
	"math"

	"synthetic/internal/probe"
	"synthetic/internal/sketch"
	"synthetic/internal/slo"
	"synthetic/internal/study/runs"
)

// addTimings adds the quantiles of every latency, and statistics over all turns. sum is the sum of
// the results.
func (l *Level) addTimings(results []runs.Result, sum runs.Block) {
	for _, timing := range timings() {
		lag := ownLag(timing, sum)
		for _, turns := range []Turns{AllTurns, FirstTurns, FollowupTurns} {
			series := timingSeries(results, timing, turns)
			pooled := ofTurns(turns, timing, sum)
			for _, q := range allQuantiles() {
				l.addTiming(percentile(timing, turns, 100*q), runs.EstimateQuantile(q, series, pooled, false).Moved(lag))
				if turns == AllTurns && timing != slo.ITL {
					l.addTiming(percentile(timing, WithFailures, 100*q), runs.EstimateQuantile(q, series, pooled, true).Moved(lag))
				}
			}
			if turns == AllTurns && pooled.Values.Count() > 0 {
				l.addStatistics(timing, series, pooled.Values)
			}
		}
	}
}

// ownLag returns what the prober can have added to a latency.
func ownLag(t slo.SLI, sum runs.Block) runs.Lag {
	lag := runs.Lag{Turns: sum.AddedGap, Values: 1, Tokens: 1}
	if t == slo.TTFT {
		lag.Turns = sum.AddedTTFT
	}
	lag.Turns = cmp.Or(lag.Turns, &sketch.Sketch{})
	switch n := float64(lag.Turns.Count()); {
	case n == 0:
	case t == slo.ITL:
		lag.Values = float64(ofTurns(AllTurns, slo.ITL, sum).Values.Count()) / n
	case t == slo.TPOT || t == slo.NTPOT:
		lag.Tokens = max(float64(sum.Tokens.Output)/n, 1)
	}
	return lag
}

// addStatistics adds the mean and the extremes in ms. Extremes have no interval.
func (l *Level) addStatistics(t slo.SLI, series []runs.Series, values *sketch.Sketch) {
	sums := make([][]runs.Pair, len(series))
	for i, blocks := range series {
		for _, b := range blocks {
			sums[i] = append(sums[i], runs.Pair{Part: b.Values.Sum(), Whole: float64(b.Values.Count())})
		}
	}
	for name, f := range map[Statistic]Figure{
		Mean: ratioFigure(sums), Min: Plain(values.Quantile(0)), Max: Plain(values.Quantile(1)),
	} {
		f.N = values.Count()
		l.Figures[ofAll(t, name)] = f.times(1000)
	}
}

// timingSeries returns a latency's values in the blocks of each result.
func timingSeries(results []runs.Result, timing slo.SLI, turns Turns) []runs.Series {
	all := make([]runs.Series, len(results))
	for i, r := range results {
		for _, b := range r.Blocks() {
			all[i] = append(all[i], ofTurns(turns, timing, b))
		}
	}
	return all
}

// ofTurns returns a latency's values of some turns of a block.
func ofTurns(turns Turns, timing slo.SLI, b runs.Block) runs.Distribution {
	merged := runs.Distribution{Values: &sketch.Sketch{}}
	if turns != FollowupTurns {
		merged.Merge(distribution(timing, b.First))
	}
	if turns != FirstTurns {
		merged.Merge(distribution(timing, b.Followup))
	}
	return merged
}

func distribution(t slo.SLI, d runs.Distributions) runs.Distribution {
	return map[slo.SLI]runs.Distribution{
		slo.TTFT: d.TTFT, slo.AnswerTTFT: d.AnswerTTFT, slo.TPOT: d.TPOT, slo.NTPOT: d.NTPOT, slo.ITL: d.ITL, slo.TurnDuration: d.Latency,
	}[t]
}

// addTiming adds a quantile in ms, unless it has no values. An end of the interval is unknown if there are too few
// turns, or turns that are too correlated.
func (l *Level) addTiming(m Metric, e runs.Quantile) {
	if !math.IsNaN(e.Value) {
		l.Figures[m] = Figure{Value: e.Value, Low: e.Low, High: e.High, N: e.N, Quantile: true}.times(1000)
	}
}

// addLags adds the prober's own lateness.
func (l *Level) addLags(own runs.Lateness) {
	for m, lags := range map[Metric]*sketch.Sketch{ScheduleLagP99: own.ScheduleLag, AddedTTFTP99: own.AddedTTFT, AddedGapP99: own.AddedGap} {
		if lags != nil && lags.Count() > 0 {
			f := Plain(1000 * lags.Quantile(0.99))
			f.N = lags.Count()
			l.Figures[m] = f
		}
	}
}

// addRates adds counts per second of measured time and per turn.
func (l *Level) addRates(results []runs.Result, sum runs.Block) {
	ended := func(b runs.Block) float64 {
		n, _ := b.Ended()
		return float64(n)
	}
	turns, _ := sum.Ended()
	seconds := func(b runs.Block) float64 { return b.Seconds }
	output := func(b runs.Block) float64 { return float64(b.Tokens.Output) }
	for _, rate := range []struct {
		metric      Metric
		part, whole func(runs.Block) float64
	}{
		{TurnsPerSecond, ended, seconds},
		{TurnTimeMean, func(b runs.Block) float64 { return 1000 * b.TurnSeconds }, ended},
		{GoodputPerSecond, func(b runs.Block) float64 { return float64(b.Good) }, seconds},
		{OutputTokensPerSecond, output, seconds},
		{PromptTokensPerSecond, func(b runs.Block) float64 { return float64(b.Tokens.Prompt) }, seconds},
		{OutputTokensPerTurn, output, func(b runs.Block) float64 { return float64(b.Outcomes[probe.Success]) }},
	} {
		f := ratioFigure(pairs(results, func(b runs.Block) runs.Pair {
			return runs.Pair{Part: rate.part(b), Whole: rate.whole(b)}
		}))
		f.N = turns
		l.Figures[rate.metric] = f
	}
	if !(l.Figures[TurnTimeMean].Value > 0) {
		delete(l.Figures, TurnTimeMean)
	}
	starts := make([][]runs.Pair, len(results))
	for i, r := range results {
		for _, s := range r.Snapshots {
			starts[i] = append(starts[i], runs.Pair{Part: float64(s.ConversationStarts), Whole: s.Seconds})
		}
	}
	l.Figures[ConversationStartsPerSecond] = ratioFigure(starts)
	// The usage in the answers gives the hit rate. Without it addServer adds the server's own.
	cached := pairs(results, func(b runs.Block) runs.Pair {
		if b.Tokens.Cached == nil || b.Tokens.CachedOf == nil {
			return runs.Pair{}
		}
		return runs.Pair{Part: 100 * float64(*b.Tokens.Cached), Whole: float64(*b.Tokens.CachedOf)}
	})
	if runs.Total(cached).Whole > 0 {
		f := ratioFigure(cached) // tokens are not independent trials
		f.High = min(f.High, 100)
		l.Figures[KVHitRatePct] = f
	}
}

func ratioFigure(all [][]runs.Pair) Figure {
	r := runs.EstimateRatio(all)
	if math.IsInf(r.Value, 0) {
		return unknown()
	}
	return Figure{Value: r.Value, Low: max(r.Low, 0), High: r.High}
}

func (l *Level) addInFlight(results []runs.Result) {
	var weighted, seconds float64
	for _, r := range results {
		for _, s := range r.Snapshots {
			if s.InFlightMean != nil {
				weighted += *s.InFlightMean * s.Seconds
				seconds += s.Seconds
			}
			if s.InFlightMax != nil {
				most := max(l.Figures[InFlightMax].Value, float64(*s.InFlightMax))
				l.Figures[InFlightMax] = Plain(most)
			}
		}
	}
	if seconds > 0 {
		l.Figures[InFlightMean] = Plain(weighted / seconds)
	}
}
