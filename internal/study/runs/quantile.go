package runs

import (
	"math"
	"slices"

	"synthetic/internal/sketch"
)

// intervalConfidence is the confidence of every interval in this package.
const intervalConfidence = 0.95

const tail = (1 - intervalConfidence) / 2

// Series is one uninterrupted measurement: the values of its blocks in order of time, never nil. Different series are
// independent.
type Series []*sketch.Sketch

// Quantile is the estimate of a quantile.
type Quantile struct {
	Q     float64 // the share of values at or below the quantile
	Value float64 // the estimate; NaN without values
	// Low and High are the ends of the 95 % interval; NaN if the sample is too small for that end.
	Low, High float64
	N         uint64  // the number of turns
	Effective float64 // the equivalent number of independent turns
}

// EstimateQuantile estimates the quantile q, in (0, 1), of the values of series and of their Pool.
func EstimateQuantile(q float64, all []Series, pooled *sketch.Sketch) Quantile {
	n := float64(pooled.Count())
	e := Quantile{Q: q, Value: math.NaN(), Low: math.NaN(), High: math.NaN(), N: pooled.Count()}
	if n == 0 {
		return e
	}
	e.Value = pooled.At(q * n)
	// Equal turns share one bin of a sketch, which the estimate cuts in two. Its ends show whether their share varies.
	effect := 1.0
	for _, at := range []float64{1 - 2*sketch.Error, 1, 1 + 2*sketch.Error} {
		effect = max(effect, shareEffect(sharesBelow(all, at*e.Value)))
	}
	e.Effective = n / effect
	low, high := shareInterval(q, e.Effective)
	if math.Pow(1-q, e.Effective) <= tail {
		e.Low = min(pooled.At(low*n), e.Value*(1-sketch.Error))
	}
	if math.Pow(q, e.Effective) <= tail {
		e.High = max(pooled.At(high*n), e.Value*(1+sketch.Error))
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

// Pool returns the values of all blocks.
func Pool(all []Series) *sketch.Sketch {
	pooled := &sketch.Sketch{}
	for _, b := range slices.Concat(all...) {
		pooled.Merge(b)
	}
	return pooled
}

// sharesBelow returns, per block, the values at or below v and all values.
func sharesBelow(all []Series, v float64) [][]Pair {
	pairs := make([][]Pair, len(all))
	for i, series := range all {
		for _, b := range series {
			pairs[i] = append(pairs[i], Pair{Part: b.Rank(v), Whole: float64(b.Count())})
		}
	}
	return pairs
}
