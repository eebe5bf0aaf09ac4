package runs

import (
	"math"

	"synthetic/internal/sketch"
)

// intervalConfidence is the confidence of every interval in this package.
const intervalConfidence = 0.95

const tail = (1 - intervalConfidence) / 2

// Series is one uninterrupted measurement: blocks in order of time, whose values are never nil.
// Failures count as +∞ in a quantile over all turns. Different series are independent.
type Series []Distribution

// Quantile is the estimate of a quantile.
type Quantile struct {
	Q     float64 // the share of values at or below the quantile
	Value float64 // the estimate: +∞ if it falls among failures, NaN without values
	// Low and High are the ends of the 95 % interval; NaN if the sample is too small for that end.
	Low, High float64
	N         uint64  // the number of turns
	Effective float64 // the equivalent number of independent turns
}

// EstimateQuantile estimates the quantile q, in (0, 1), of the values of series. pooled has the values of all series.
// With failures true, failed turns count as values of +∞.
func EstimateQuantile(q float64, all []Series, pooled Distribution, failures bool) Quantile {
	if !failures {
		pooled.Failures = 0
	}
	n := size(pooled)
	e := Quantile{Q: q, Value: math.NaN(), Low: math.NaN(), High: math.NaN(), N: n}
	if n == 0 {
		return e
	}
	e.Value = valueAt(pooled, q*float64(n))
	// Equal turns share one bin of a sketch, which the estimate cuts in two. Its ends show whether their share varies.
	effect := 1.0
	for _, at := range []float64{1 - 2*sketch.Error, 1, 1 + 2*sketch.Error} {
		effect = max(effect, shareEffect(sharesBelow(all, at*e.Value, failures)))
	}
	e.Effective = float64(n) / effect
	low, high := shareInterval(q, e.Effective)
	if math.Pow(1-q, e.Effective) <= tail {
		e.Low = min(valueAt(pooled, low*float64(n)), e.Value*(1-sketch.Error))
	}
	if math.Pow(q, e.Effective) <= tail {
		e.High = max(valueAt(pooled, high*float64(n)), e.Value*(1+sketch.Error))
	}
	return e
}

// Lag is what the prober's own lateness can have added to the values of a latency.
type Lag struct {
	Turns  *sketch.Sketch // the most that it added to a value of each turn, in seconds
	Values float64        // the number of values of a turn
	Tokens float64        // the number of tokens that share an addition; 1 if each value gets all of it
}

// Moved returns the estimate with a lower end that allows for the prober's lateness; NaN if that may be the whole
// value. Lateness in fewer values than a tenth of those beyond the quantile hardly moves it. A late turn counts as one
// late value.
func (q Quantile) Moved(by Lag) Quantile {
	late := min(q.Q, 1-q.Q) / 10 * by.Values
	if by.Turns.Count() == 0 || late >= 1 {
		return q
	}
	if q.Low = min(q.Low, q.Value-by.Turns.Quantile(1-late)/by.Tokens); q.Low <= 0 {
		q.Low = math.NaN()
	}
	return q
}

func size(b Distribution) uint64 { return b.Values.Count() + b.Failures }

// valueAt returns the value of a rank, with failures last.
func valueAt(b Distribution, rank float64) float64 {
	if rank > float64(b.Values.Count()) {
		return math.Inf(1)
	}
	return b.Values.At(rank)
}

// sharesBelow returns, per block, the turns at or below v and all turns. A v of +∞ gives the turns that did not fail.
func sharesBelow(all []Series, v float64, failures bool) [][]Pair {
	pairs := make([][]Pair, len(all))
	for i, series := range all {
		for _, b := range series {
			p := Pair{Part: b.Values.Rank(v), Whole: float64(b.Values.Count())}
			if failures {
				p.Whole += float64(b.Failures)
			}
			pairs[i] = append(pairs[i], p)
		}
	}
	return pairs
}
