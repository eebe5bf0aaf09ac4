package figures

import (
	"math"

	"synthetic/internal/probe"
	"synthetic/internal/study/estimate"
	"synthetic/internal/study/runfile"
)

// addRates adds what is counted per second of measured time.
func (l *Level) addRates(results []runfile.Result) {
	rate := func(key string, of func(runfile.Block) float64) {
		l.Figures[key] = ratioFigure(pairs(results, func(b runfile.Block) estimate.Pair {
			return estimate.Pair{Part: of(b), Whole: b.Seconds}
		}))
	}
	ended := func(b runfile.Block) (n float64) {
		for outcome, count := range b.Outcomes {
			if outcome != probe.Canceled {
				n += float64(count)
			}
		}
		return n
	}
	rate("actual_rps", ended)
	if time := ratioFigure(pairs(results, func(b runfile.Block) estimate.Pair {
		return estimate.Pair{Part: 1000 * b.TurnSeconds, Whole: ended(b)}
	})); time.Value > 0 {
		l.Figures["turn_time_mean_ms"] = time // for Little's law: failed turns were in flight, too
	}
	rate("goodput_per_s", func(b runfile.Block) float64 { return float64(b.Good) })
	rate("tops", func(b runfile.Block) float64 { return float64(b.Tokens.Output) })
	rate("prompt_tokens_per_s", func(b runfile.Block) float64 { return float64(b.Tokens.Prompt) })
	l.Figures["output_tokens_per_turn"] = ratioFigure(pairs(results, func(b runfile.Block) estimate.Pair {
		return estimate.Pair{Part: float64(b.Tokens.Output), Whole: float64(b.Outcomes[probe.Success])}
	}))
	starts := make([][]estimate.Pair, len(results))
	for i, r := range results {
		for _, s := range r.Snapshots {
			starts[i] = append(starts[i], estimate.Pair{Part: float64(s.ConversationStarts), Whole: s.Seconds})
		}
	}
	l.Figures["conversation_starts_per_s"] = ratioFigure(starts)
	l.addHitRate(results)
}

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
	l.Figures["kv_hit_rate_pct"] = Figure{Value: 100 * r.Value, Low: max(100*r.Low, 0), High: min(100*r.High, 100)}
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
		l.Figures["in_flight_mean"] = Plain(weighted / seconds)
	}
	if most >= 0 {
		l.Figures["max_in_flight"] = Plain(float64(most))
	}
}
