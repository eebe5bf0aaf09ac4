package report

import (
	"strings"

	"synthetic/internal/probe/answers/recall"
	"synthetic/internal/study/runs"
)

// Recalled counts the answers of a level that were judged by reference codes.
type Recalled struct {
	runs.Recalled
	// Effect is the number of answers that prove as much as one independent answer, at least 1.
	Effect float64 `json:"effect"`
}

// Effective returns the numbers of right and of other answers, divided by an effect.
func (r Recalled) Effective(effect float64) runs.Tally {
	return runs.Tally{Good: float64(r.Right) / effect, Bad: float64(r.Wrong+r.Foreign) / effect}
}

// recallClass is a part of the judged answers with a metric of its own.
type recallClass struct {
	metric Metric
	title  string
	holds  func(runs.RecallClass) bool // nil means all
}

// recallClasses returns all answers, and those by the cache and the depth of their code. Foreign answers count
// only among all, because their place is unknown.
func recallClasses() []recallClass {
	all := []recallClass{
		{CorrectPct, "Right answers", nil},
		{CorrectCachedPct, "Code cached", func(c runs.RecallClass) bool { return c.Cached == "yes" }},
		{CorrectUncachedPct, "Code not cached", func(c runs.RecallClass) bool { return c.Cached == "no" }},
	}
	for _, depth := range recall.Depths() {
		if depth != recall.UnknownDepth {
			key := strings.NewReplacer("-", "_", "+", "_up").Replace(depth)
			all = append(all, recallClass{other(Statistic("correct_" + key + "_pct")), depth + " tokens deep", func(c runs.RecallClass) bool { return c.Depth == depth }})
		}
	}
	return all
}

// RecallMetrics returns the shares of right answers by cache and by depth.
func RecallMetrics() (all []Metric) {
	for _, c := range recallClasses()[1:] {
		all = append(all, c.metric)
	}
	return all
}

// addRecall adds the shares of right answers. The turns in flight at the end of a measurement add only their
// foreign answers, because one is too many.
func (l *Level) addRecall(results []runs.Result) {
	for _, c := range recallClasses() {
		shares := pairs(results, func(b runs.Block) runs.Pair {
			n := b.Recalled(c.holds)
			return runs.Pair{Part: float64(n.Right), Whole: float64(n.Judged())}
		})
		if n := runs.Total(shares).Whole; n > 0 {
			r := runs.EstimateShare(shares)
			l.Figures[c.metric] = Figure{Value: r.Value, Low: r.Low, High: r.High, N: uint64(n)}.times(100)
		}
	}
	sum := Recalled{Effect: 1}
	all := pairs(results, func(b runs.Block) runs.Pair {
		n := b.Recalled(nil)
		sum.Add(n)
		return runs.Pair{Part: float64(n.Right), Whole: float64(n.Judged())}
	})
	if sum.Wrong+sum.Foreign > 0 {
		sum.Effect = runs.ShareEffect(all)
	}
	for _, r := range results {
		if r.Tail != nil {
			sum.Foreign += r.Tail.Recalled(nil).Foreign
		}
	}
	if sum.Judged() > 0 {
		l.Recall = &sum
		l.Figures[ForeignAnswers] = Plain(float64(sum.Foreign))
	}
}
