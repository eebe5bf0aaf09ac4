package study

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"synthetic/internal/probe"
	"synthetic/internal/report/estimate"
	"synthetic/internal/runfile"
)

// levelOf pools the repetitions of one level.
func levelOf(at float64, results []runfile.Result) Level {
	l := Level{At: at, Figures: map[string]Figure{}, Judged: map[string]Figure{}, Errors: map[string]uint64{}, Runs: len(results)}
	valid := l.valid(results)
	l.addTimings(valid)
	l.addErrors(results)
	l.addRates(valid)
	l.addJudged(results)
	l.addInFlight(valid)
	l.addServer(valid)
	l.addLags(results)
	l.Drift = drift(valid)
	if text := disagreement(valid); text != "" {
		l.Warnings = append(l.Warnings, text)
	}
	for _, r := range results {
		l.warn(r)
	}
	return l
}

// valid are the results that stand for the level's latencies: those with few
// errors, or all when there is none of them.
func (l *Level) valid(results []runfile.Result) []runfile.Result {
	var kept []runfile.Result
	for _, r := range results {
		total, failed := turns(r)
		if pct := 100 * float64(failed) / float64(total); total > 0 && pct > MaxErrorPct {
			l.Excluded = append(l.Excluded, fmt.Sprintf("repetition %d: %.1f%% errors", r.Repetition, pct))
			continue
		}
		kept = append(kept, r)
	}
	l.Valid = len(kept)
	if len(kept) == 0 {
		return results
	}
	return kept
}

// turns that ended, without those that our own shutdown canceled.
func turns(r runfile.Result) (total, failed uint64) {
	for _, b := range blocks(r) {
		for outcome, n := range b.Outcomes {
			if outcome == probe.Canceled {
				continue
			}
			total += n
			if outcome.Failed() {
				failed += n
			}
		}
	}
	return total, failed
}

func blocks(r runfile.Result) []runfile.Block {
	var all []runfile.Block
	for _, s := range r.Snapshots {
		all = append(all, s.Blocks...)
	}
	return all
}

// pairs turns the blocks of each result into a part of a whole.
func pairs(results []runfile.Result, of func(runfile.Block) estimate.Pair) [][]estimate.Pair {
	all := make([][]estimate.Pair, len(results))
	for i, r := range results {
		for _, b := range blocks(r) {
			all[i] = append(all[i], of(b))
		}
	}
	return all
}

func (l *Level) addErrors(results []runfile.Result) {
	share := pairs(results, func(b runfile.Block) estimate.Pair {
		var p estimate.Pair
		for outcome, n := range b.Outcomes {
			if outcome.Failed() {
				l.Errors[string(outcome)] += n
				p.Part += float64(n)
			}
			if outcome != probe.Canceled {
				p.Whole += float64(n)
			}
		}
		return p
	})
	share = append(share, l.tail(results)...)
	total := totalOf(share)
	l.Figures["error_pct"] = shareFigure(share)
	l.Figures["completed"] = Plain(total.Whole - total.Part)
	l.Figures["failed"] = Plain(total.Part)
}

// tail are the failures among the turns that were in flight when a measurement
// ended: the level's doing, though they belong to no rate and no quantile.
func (l *Level) tail(results []runfile.Result) [][]estimate.Pair {
	var all [][]estimate.Pair
	for _, r := range results {
		n := float64(tailFailures(r))
		if n > 0 {
			all = append(all, []estimate.Pair{{Part: n, Whole: n}})
			for outcome, n := range r.Tail.Outcomes {
				if outcome.Failed() {
					l.Errors[string(outcome)] += n
				}
			}
		}
	}
	return all
}

func tailFailures(r runfile.Result) (n uint64) {
	if r.Tail == nil {
		return 0
	}
	for outcome, count := range r.Tail.Outcomes {
		if outcome.Failed() {
			n += count
		}
	}
	return n
}

func totalOf(all [][]estimate.Pair) (total estimate.Pair) {
	for _, pairs := range all {
		for _, p := range pairs {
			total.Part += p.Part
			total.Whole += p.Whole
		}
	}
	return total
}

// shareFigure is a share in percent.
func shareFigure(share [][]estimate.Pair) Figure {
	r := estimate.OfShare(share)
	return Figure{Value: 100 * r.Value, Low: 100 * r.Low, High: 100 * r.High, N: uint64(totalOf(share).Whole)}
}

func (l *Level) addJudged(results []runfile.Result) {
	names := map[string]bool{}
	for _, r := range results {
		for _, b := range blocks(r) {
			for name := range b.SLOs {
				names[name] = true
			}
		}
	}
	for name := range names {
		judged := pairs(results, func(b runfile.Block) estimate.Pair {
			j := b.SLOs[name]
			return estimate.Pair{Part: float64(j.Good), Whole: float64(j.Good + j.Bad)}
		})
		for _, r := range results {
			// A turn of the tail that was slow under a falling load says
			// nothing of the level; one that failed does.
			if failed := tailFailures(r); failed > 0 {
				judged = append(judged, []estimate.Pair{{Whole: float64(min(failed, r.Tail.SLOs[name].Bad))}})
			}
		}
		l.Judged[name] = shareFigure(judged)
	}
}

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

// addServer averages each figure over the snapshots that have it.
func (l *Level) addServer(results []runfile.Result) {
	type key struct{ source, name string }
	sums, seconds := map[key]float64{}, map[key]float64{}
	l.Families = map[string][]string{}
	for _, r := range results {
		for _, s := range r.Snapshots {
			for _, server := range s.Server {
				l.Families[server.Source] = server.Families
				for name, v := range server.Figures {
					k := key{server.Source, name}
					sums[k] += v * s.Seconds
					seconds[k] += s.Seconds
				}
			}
		}
	}
	for _, k := range slices.SortedFunc(maps.Keys(sums), func(a, b key) int {
		return slices.Compare([]string{a.source, a.name}, []string{b.source, b.name})
	}) {
		l.Server = append(l.Server, ServerFigure{Source: k.source, Name: k.name, Value: sums[k] / seconds[k]})
		if _, have := l.Figures["kv_hit_rate_pct"]; k.name == runfile.ServerKVHitRatio && !have {
			l.Figures["kv_hit_rate_pct"] = Plain(100 * sums[k] / seconds[k])
		}
	}
}

func (l *Level) warn(r runfile.Result) {
	if r.State != runfile.Complete {
		l.Warnings = append(l.Warnings, fmt.Sprintf("repetition %d did not run to its end: %s", r.Repetition, r.Why))
	}
	l.Warnings = append(l.Warnings, r.Warnings...)
	for _, s := range r.Snapshots {
		l.Warnings = append(l.Warnings, s.Warnings...)
	}
}
