package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"synthetic/internal/serverside"
	"synthetic/internal/study/runs"
)

// levelOf pools the repetitions of one level. Repetitions that did not reach the level are used only if all missed it.
func levelOf(at float64, run *runs.Run, measured []runs.Result) Level {
	l := Level{At: at, Figures: map[Metric]Figure{}, Errors: map[string]uint64{}}
	results := l.reachedResults(run, measured)
	l.Runs = len(results)
	valid := l.validResults(results)
	ofAll, ofValid := runs.Sum(results...), runs.Sum(valid...)
	l.Sessions = ofValid.Sessions
	l.addTimings(valid, ofValid)
	l.addErrors(results)
	l.addRecall(results, ofAll.Recall)
	l.addRates(valid, ofValid)
	l.addInFlight(valid)
	if text := unknownTPOT(ofValid); text != "" {
		l.Warnings = append(l.Warnings, text)
	}
	l.addServer(valid)
	l.addLags(ofAll.Lateness)
	for _, r := range results {
		if r.State != runs.Complete {
			l.Warnings = append(l.Warnings, fmt.Sprintf("repetition %d did not finish: %s.", r.Repetition, r.Why))
		}
		if text := leftOutText(r); text != "" {
			l.Warnings = append(l.Warnings, fmt.Sprintf("repetition %d: %s.", r.Repetition, text))
		}
		if v := r.Verdict; r.State == runs.EndedEarly && v != nil && !v.Met && !v.Unjudged() && v.Standing != runs.Undecided {
			l.GivenUp = true
		}
	}
	if len(run.SLOs) > 0 {
		l.Verdict = runs.NewJudge(run).Level(run, results)
	}
	return l
}

// reachedResults returns the results that carried the load of the level, or all if none did.
func (l *Level) reachedResults(run *runs.Run, all []runs.Result) (reached []runs.Result) {
	for _, r := range all {
		why := run.NotReached(r)
		if why == "" {
			reached = append(reached, r)
			continue
		}
		l.NotReached = why
		l.Warnings = append(l.Warnings, fmt.Sprintf("repetition %d did not reach the level: %s.", r.Repetition, why))
	}
	if len(reached) > 0 {
		l.NotReached = ""
		return reached
	}
	l.Warnings = nil // l.NotReached has the reason
	return all
}

// leftOutText describes turns that are not judged because of the prober.
func leftOutText(r runs.Result) string {
	turns, all := r.LeftOut()
	if turns == 0 {
		return ""
	}
	return fmt.Sprintf("the prober was late or could not send: %d of %d turns are left out; give the prober more cores, or fewer streams", turns, all)
}

// unknownShare is the share of turns without a TPOT that is reported.
const unknownShare = 0.05

// unknownTPOT says why many turns have no TPOT, or returns "".
func unknownTPOT(sum runs.Block) string {
	var unknown uint64
	var parts []string
	for _, why := range slices.Sorted(maps.Keys(sum.TPOTUnknown)) {
		unknown += sum.TPOTUnknown[why]
		parts = append(parts, fmt.Sprintf("%s %d", why, sum.TPOTUnknown[why]))
	}
	turns, _ := sum.Ended()
	if unknown == 0 || float64(unknown) <= unknownShare*float64(turns) {
		return ""
	}
	return fmt.Sprintf("TPOT is unknown in %d of %d turns (%s), and only the others are in its figures and its SLO.", unknown, turns, strings.Join(parts, ", "))
}

// validResults returns the results with few errors, which represent the latencies of the level.
// If all have many errors it returns all.
func (l *Level) validResults(results []runs.Result) []runs.Result {
	var kept []runs.Result
	var left []float64 // their percentages of errors
	for _, r := range results {
		total, failed := r.EndedTurns()
		if pct := 100 * float64(failed) / float64(total); total > 0 && pct > MaxErrorPct {
			left = append(left, pct)
			continue
		}
		kept = append(kept, r)
	}
	l.Valid, l.Notes = len(kept), leftOutNote(left, len(kept))
	if len(kept) == 0 {
		return results
	}
	return kept
}

// leftOutNote returns "1 run excluded (33% errors)", "2 runs excluded (7–8% errors); only 1 valid run", or "".
func leftOutNote(pct []float64, valid int) string {
	switch {
	case len(pct) > 1 && valid == 0:
		return fmt.Sprintf("all runs above %d%% errors, so all are shown", MaxErrorPct)
	case len(pct) == 0 || valid == 0:
		return ""
	}
	text, runs := fmt.Sprintf("%.0f", slices.Min(pct)), "runs"
	if high := fmt.Sprintf("%.0f", slices.Max(pct)); high != text {
		text += "–" + high
	}
	if len(pct) == 1 {
		runs = "run"
	}
	text = fmt.Sprintf("%d %s excluded (%s%% errors)", len(pct), runs, text)
	if valid == 1 {
		text += "; only 1 valid run"
	}
	return text
}

// pairs returns a ratio for every block of each result.
func pairs(results []runs.Result, pair func(runs.Block) runs.Pair) [][]runs.Pair {
	all := make([][]runs.Pair, len(results))
	for i, r := range results {
		for _, b := range r.Blocks() {
			all[i] = append(all[i], pair(b))
		}
	}
	return all
}

// addErrors counts failures, including those among the turns that were in flight at the end of
// a measurement. The level caused them, although they count in no rate and no quantile.
func (l *Level) addErrors(results []runs.Result) {
	share := pairs(results, func(b runs.Block) runs.Pair {
		l.countErrors(b)
		ended, failed := b.Ended()
		return runs.Pair{Part: float64(failed), Whole: float64(ended)}
	})
	for i, r := range results {
		if r.Tail == nil {
			continue
		}
		if _, failed := r.Tail.Ended(); failed > 0 {
			share[i] = append(share[i], runs.Pair{Part: float64(failed), Whole: float64(failed)})
			l.countErrors(*r.Tail)
		}
	}
	total, r := runs.Total(share), runs.EstimateShare(share)
	l.Figures[ErrorPct] = Figure{Value: r.Value, Low: r.Low, High: r.High, N: uint64(total.Whole)}.times(100)
	l.Figures[Completed] = Plain(total.Whole - total.Part)
	l.Figures[Failed] = Plain(total.Part)
}

func (l *Level) countErrors(b runs.Block) {
	for outcome, n := range b.Outcomes {
		if outcome.Failed() {
			l.Errors[string(outcome)] += n
		}
	}
}

// addServer averages each server figure over the snapshots that have it.
func (l *Level) addServer(results []runs.Result) {
	sums := map[ServerFigure]runs.Pair{}
	for _, r := range results {
		for _, s := range r.Snapshots {
			for _, server := range s.Server {
				for name, v := range server.Figures {
					k := ServerFigure{Source: server.Source, Name: name}
					sums[k] = runs.Pair{Part: sums[k].Part + v*s.Seconds, Whole: sums[k].Whole + s.Seconds}
				}
			}
		}
	}
	for f, sum := range sums {
		f.Value = sum.Part / sum.Whole
		// The deployment's page may contain any number.
		if percent := 100 * f.Value; !math.IsNaN(percent) && !math.IsInf(percent, 0) {
			l.Server = append(l.Server, f)
		}
	}
	sortServer(l.Server)
	for _, f := range l.Server {
		if f.Name == serverside.KVHitRatio && !l.Has(KVHitRatePct) {
			l.Figures[KVHitRatePct] = Plain(100 * f.Value)
		}
	}
}

func sortServer(all []ServerFigure) {
	slices.SortFunc(all, func(a, b ServerFigure) int {
		return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Name, b.Name))
	})
}

// round rounds the figures to twelve significant digits: sums depend on the order of the turns in the last
// ones, and a merged run has another order. Halves, which short decimal fractions often are, are rounded up.
func (l *Level) round() {
	const halfUp = 1 + 1e-14
	for m, f := range l.Figures {
		for _, v := range []*float64{&f.Value, &f.Low, &f.High} {
			*v, _ = strconv.ParseFloat(strconv.FormatFloat(*v*halfUp, 'g', 12, 64), 64) // also NaN and Inf
		}
		l.Figures[m] = f
	}
}

// addRecall adds the share of right answers. The turns in flight at the end of a measurement add only their foreign
// answers, because one is too many.
func (l *Level) addRecall(results []runs.Result, sum runs.Recalled) {
	shares := pairs(results, func(b runs.Block) runs.Pair {
		return runs.Pair{Part: float64(b.Recall.Right), Whole: float64(b.Recall.Judged())}
	})
	if n := sum.Judged(); n > 0 {
		r := runs.EstimateShare(shares)
		l.Figures[CorrectPct] = Figure{Value: r.Value, Low: r.Low, High: r.High, N: n}.times(100)
	}
	for _, r := range results {
		if r.Tail != nil {
			sum.Foreign += r.Tail.Recall.Foreign
		}
	}
	if sum.Judged() > 0 {
		l.Recall = &sum
		l.Figures[ForeignAnswers] = Plain(float64(sum.Foreign))
	}
}
