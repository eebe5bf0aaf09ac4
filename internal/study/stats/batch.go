package stats

import (
	"math"

	"synthetic/internal/study/runfile"
)

// batchInterval returns the interval of a quantile from the quantiles of batches of blocks:
// Student's interval of their logarithms around the estimate (Seila, "A batching approach to
// quantile estimation in regenerative simulations", Management Science 1982).
//
// It is for turns that are so correlated that no order statistic bounds the quantile, although
// the quantile hardly moves. An example is a server whose tokens take 42 ms for some minutes and
// 43 ms for others.
func batchInterval(q, value float64, all []Series, failures bool) (low, high float64, ok bool) {
	logs := make([][]Pair, len(all))
	for i, series := range all {
		for _, b := range batches(q, series, failures) {
			x := quantile(b, q)
			if !(x > 0) || math.IsInf(x, 0) {
				return 0, 0, false
			}
			logs[i] = append(logs[i], Pair{Part: math.Log(x), Whole: 1})
		}
	}
	if Total(logs).Whole < minBatches || !(value > 0) || math.IsInf(value, 0) {
		return 0, 0, false
	}
	r := EstimateRatio(logs)
	half := (r.High - r.Low) / 2
	return value * math.Exp(-half), value * math.Exp(half), true
}

// minBatches is the smallest number of batches for a spread.
const minBatches = 6

// batches joins neighbouring blocks until each has enough turns to contain the quantile: two
// beyond it on average. The rest joins the last batch.
func batches(q float64, series Series, failures bool) Series {
	least := uint64(math.Ceil(2 / min(q, 1-q)))
	var all Series
	next := runfile.Distribution{Values: &runfile.Sample{}}
	for _, b := range series {
		if !failures {
			b.Failures = 0
		}
		if next.Merge(b); size(next) >= least {
			all = append(all, next)
			next = runfile.Distribution{Values: &runfile.Sample{}}
		}
	}
	if len(all) > 0 {
		all[len(all)-1].Merge(next)
	}
	return all
}
