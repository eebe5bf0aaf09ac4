// Package stats estimates quantiles, shares and ratios with 95 % confidence intervals, and what
// counted turns prove about the objectives of a level and the capacity of a variant. Its results
// hold if turns that are close in time are correlated. The sweep and the report use the same code.
//
// The method for intervals:
//
//   - The interval of a quantile is the interval of a share, inverted: of the share of values at
//     or below the estimate. The ends of that interval are read off the distribution (Woodruff,
//     "Confidence intervals for medians and other position measures", JASA 1952).
//   - The variance of a share comes from blocks of time. It is the larger of two estimates: that
//     of a first-order autoregressive process (Box and Jenkins, "Time Series Analysis", 1970), and
//     that with the covariances of more distant blocks (Newey and West, "A simple, positive
//     semi-definite, heteroskedasticity and autocorrelation consistent covariance matrix",
//     Econometrica 1987). Its ratio to the variance of independent turns is the design effect.
//     The number of turns divided by it is the effective number (Kish, "Survey Sampling", 1965).
//   - The ends are fractional order statistics for the effective number (Hutson, "Calculating
//     nonparametric confidence intervals for quantiles using fractional order statistics", Journal
//     of Applied Statistics 1999). The effective number is reduced further because the variance
//     is an estimate (Korn and Graubard, "Confidence intervals for proportions with small expected
//     number of positive counts estimated from survey data", Survey Methodology 1998).
//   - If that gives no interval although there are enough turns, the quantiles of batches of
//     blocks give one (see batchInterval).
//
// Verdicts use the same design effect, with a margin (see Evidence.DesignEffect).
package stats

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"

	"synthetic/internal/study/runfile"
)

// intervalConfidence is the confidence of every interval in this package.
const intervalConfidence = 0.95

const tail = (1 - intervalConfidence) / 2

// Series is one uninterrupted measurement: blocks in order of time, whose values are never nil.
// Failures count as +∞ in a quantile over all turns. Different series are independent.
type Series []runfile.Distribution

// Quantile is the estimate of a quantile.
type Quantile struct {
	Q     float64 // the share of values at or below the quantile
	Value float64 // the estimate: +∞ if it falls among failures, NaN without values
	// Low and High are the ends of the 95 % interval; NaN if the sample is too small for that
	// end.
	Low, High float64
	N         uint64  // the number of turns
	Effective float64 // the equivalent number of independent turns
}

// Known reports whether the interval has both ends.
func (q Quantile) Known() bool { return !math.IsNaN(q.Low) && !math.IsNaN(q.High) }

// EstimateQuantile estimates the quantile q, in (0, 1), of the values. With failures true, failed
// turns count as values of +∞.
func EstimateQuantile(q float64, all []Series, failures bool) Quantile {
	return EstimatePooledQuantile(q, all, Pool(all), failures)
}

// EstimatePooledQuantile is EstimateQuantile for series that are already pooled.
func EstimatePooledQuantile(q float64, all []Series, pooled runfile.Distribution, failures bool) Quantile {
	if !failures {
		pooled.Failures = 0
	}
	n := size(pooled)
	e := Quantile{Q: q, Value: quantile(pooled, q), Low: math.NaN(), High: math.NaN(), N: n}
	if n == 0 {
		return e
	}
	effect, df := quantileEffect(e.Value, pooled.Values.Error(), all, failures)
	e.Effective = float64(n) / effect
	calibrated := e.Effective / square(studentRatio(df))
	if k, ok := fractionalOrder(q, calibrated, 1-tail); ok {
		e.Low = valueAt(pooled, k/(calibrated+1)*float64(n))
	}
	if k, ok := fractionalOrder(q, calibrated, tail); ok {
		e.High = valueAt(pooled, k/(calibrated+1)*float64(n))
	}
	if !e.Known() && n >= MinTurns(q) {
		if low, high, ok := batchInterval(q, e.Value, all, failures); ok {
			e.Low, e.High = limitToObserved(q, pooled.Values, low, high)
		}
	}
	// An interval is at least as wide as the error of the values. NaN stays NaN.
	relativeError := pooled.Values.Error()
	e.Low, e.High = min(e.Low, e.Value*(1-relativeError)), max(e.High, e.Value*(1+relativeError))
	return e
}

// Pool returns the union of all blocks.
func Pool(all []Series) runfile.Distribution {
	pooled := runfile.Distribution{Values: &runfile.Sample{}}
	for _, b := range slices.Concat(all...) {
		pooled.Merge(b)
	}
	return pooled
}

// limitToObserved limits an interval to the observed values. The quantile is practically never below
// all values, nor, for a low quantile, above all of them. A high quantile may well be above all
// values, so that end is then unknown. Neither end is known if the interval covers all observed
// values and they differ by more than a factor of two: it would say nothing about the quantile.
func limitToObserved(q float64, seen *runfile.Sample, low, high float64) (float64, float64) {
	least, most := seen.Quantile(0), seen.Quantile(1)
	switch {
	case low <= least && high >= most && most > 2*least:
		return math.NaN(), math.NaN()
	case high > most && q > 0.5:
		high = math.NaN()
	}
	return max(low, least), min(high, most)
}

// quantileEffect returns the design effect of the share of turns at or below a value. A value at
// +∞ gives the share that did not fail. Equal turns share one bin of a sketch, which the estimate
// cuts in two, so it also tries the ends of the bin and returns the largest effect.
func quantileEffect(v, relativeError float64, all []Series, failures bool) (effect, df float64) {
	for _, at := range []float64{v, v * (1 - relativeError), v * (1 + relativeError)} {
		share := make([][]Pair, len(all))
		for i, series := range all {
			share[i] = sharesBelow(series, at, failures)
		}
		total := Total(share)
		if x, xdf := significantEffect(share, total.Part/total.Whole); x > effect {
			effect, df = x, xdf
		}
	}
	return effect, df
}

func size(b runfile.Distribution) uint64 { return b.Values.Count() + b.Failures }

// quantile returns the value of rank ⌈q n⌉, with failures last.
func quantile(b runfile.Distribution, q float64) float64 {
	n, ok := size(b), b.Values.Count()
	if n == 0 {
		return math.NaN()
	}
	rank := max(math.Ceil(q*float64(n)), 1)
	if rank > float64(ok) {
		return math.Inf(1)
	}
	return b.Values.Quantile(rank / float64(ok))
}

func valueAt(b runfile.Distribution, rank float64) float64 {
	if rank > float64(b.Values.Count()) {
		return math.Inf(1)
	}
	return b.Values.At(rank)
}

// sharesBelow returns, per block, the turns at or below v and all turns.
func sharesBelow(series Series, v float64, failures bool) []Pair {
	pairs := make([]Pair, len(series))
	for i, b := range series {
		pairs[i] = Pair{Part: b.Values.Rank(v), Whole: float64(b.Values.Count())}
		if failures {
			pairs[i].Whole += float64(b.Failures)
		}
	}
	return pairs
}

// fractionalOrder returns the order k in [1, n] of an end of the interval among n independent
// values, and false if n is too small for it. The k-th of n rising values covers a share of the
// population that has the distribution Beta(k, n + 1 − k). For the returned k, taken as a
// continuous number, that share is at most q with probability p.
func fractionalOrder(q, n, p float64) (k float64, ok bool) {
	covered := func(k float64) float64 { return mathext.RegIncBeta(k, n+1-k, q) }
	if n < 1 || covered(1) < p || covered(n) > p {
		return 0, false
	}
	low, high := 1.0, n
	for range 60 { // bisects to far below one rank
		mid := (low + high) / 2
		if covered(mid) > p { // decreases with k
			low = mid
		} else {
			high = mid
		}
	}
	return low, true
}

// MinTurns returns the number of independent values needed for an interval of the quantile q.
// With fewer, all values lie on one side of it with a probability above 2.5 % (q^n for the
// upper side).
func MinTurns(q float64) uint64 {
	return uint64(math.Ceil(math.Log(tail) / math.Log(max(q, 1-q))))
}

func square(x float64) float64 { return x * x }
