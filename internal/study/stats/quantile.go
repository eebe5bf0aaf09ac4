// Package estimate says how well a number is known: quantiles, shares and
// rates with 95 % confidence intervals that hold when turns that are close in
// time resemble each other.
//
// The method, step by step:
//
//   - A quantile's interval is the interval of a share, turned round: the share
//     of values at or below the estimate is estimated with its variance, and the
//     ends of the share's interval are read off the distribution (Woodruff,
//     "Confidence intervals for medians and other position measures", JASA
//     1952).
//   - The variance of a share is taken between blocks of time that resemble
//     each other: as an autoregressive process of the first order (Box and
//     Jenkins, "Time Series Analysis", 1970), or with the covariances of blocks
//     farther apart (Newey and West, "A simple, positive semi-definite,
//     heteroskedasticity and autocorrelation consistent covariance matrix",
//     Econometrica 1987), whichever is more. Its ratio to the variance of independent turns is the design effect; the
//     number of turns divided by it is the effective number (Kish, "Survey
//     Sampling", 1965).
//   - For the effective number the ends are fractional order statistics
//     (Hutson, "Calculating nonparametric confidence intervals for quantiles
//     using fractional order statistics", Journal of Applied Statistics 1999),
//     which for independent turns is the textbook interval between order
//     statistics with the binomial's ends, without its steps. The effective
//     number is reduced further because the variance is itself an estimate
//     (Korn and Graubard, "Confidence intervals for proportions with small
//     expected number of positive counts estimated from survey data", Survey
//     Methodology 1998).
//   - Where even that leaves no interval, though there are turns enough, the
//     quantiles of batches of blocks give one (see batched).
package stats

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"

	"synthetic/internal/study/runfile"
)

// Confidence of every interval in this package.
const Confidence = 0.95

const tail = (1 - Confidence) / 2

// Block holds the turns of one interval of time.
type Block struct {
	// Values of the turns, in any unit; never nil.
	Values *runfile.Sample
	// Failures are turns without a value. They count as +∞ in a quantile over all turns.
	Failures uint64
}

// Series is one uninterrupted measurement: blocks in order of time. Different series are
// independent.
type Series []Block

// Quantile is the estimate of a quantile.
type Quantile struct {
	// Q is the share of values at or below the quantile.
	Q float64
	// Value is the estimate: +∞ if it falls among failures, NaN without values.
	Value float64
	// Low and High are the ends of the 95 % interval; NaN if the sample is too small for that
	// end.
	Low, High float64
	// N is the number of turns, Effective the equivalent number of independent ones.
	N         uint64
	Effective float64
}

// Known reports whether the interval has both ends.
func (q Quantile) Known() bool { return !math.IsNaN(q.Low) && !math.IsNaN(q.High) }

// Of estimates the quantile q, in (0, 1), of the values, or of all turns with failures at +∞.
func EstimateQuantile(q float64, all []Series, failures bool) Quantile {
	return EstimatePooledQuantile(q, all, Pool(all), failures)
}

// OfPooled is Of for series that are already pooled.
func EstimatePooledQuantile(q float64, all []Series, pooled Block, failures bool) Quantile {
	if !failures {
		pooled.Failures = 0
	}
	n := pooled.size()
	e := Quantile{Q: q, Value: pooled.quantile(q), Low: math.NaN(), High: math.NaN(), N: n}
	if n == 0 {
		return e
	}
	effect, df := quantileEffect(e.Value, pooled.Values.Error(), all, failures)
	e.Effective = float64(n) / effect
	calibrated := e.Effective / square(studentRatio(df))
	if k, ok := fractionalOrder(q, calibrated, 1-tail); ok {
		e.Low = pooled.at(k / (calibrated + 1) * float64(n))
	}
	if k, ok := fractionalOrder(q, calibrated, tail); ok {
		e.High = pooled.at(k / (calibrated + 1) * float64(n))
	}
	if !e.Known() && n >= MinTurns(q) {
		if low, high, ok := batchInterval(q, e.Value, all, failures); ok {
			e.Low, e.High = limitToObserved(q, pooled, low, high)
		}
	}
	// An interval is at least as wide as the error of the values. NaN stays NaN.
	by := pooled.Values.Error()
	e.Low, e.High = min(e.Low, e.Value*(1-by)), max(e.High, e.Value*(1+by))
	return e
}

// Pool returns the union of all blocks.
func Pool(all []Series) Block {
	pooled := Block{Values: &runfile.Sample{}}
	for _, b := range slices.Concat(all...) {
		pooled.join(b, true)
	}
	return pooled
}

// within limits an interval to the observed values. The quantile is practically never below all
// values, nor, for a low quantile, above all of them. A high quantile may well be above all
// values, so that end is then unknown.
func limitToObserved(q float64, seen Block, low, high float64) (float64, float64) {
	low, most := max(low, seen.Values.Min()), seen.Values.Max()
	if high > most && q > 0.5 {
		return low, math.NaN()
	}
	return low, min(high, most)
}

// effectAt is the design effect of the share of turns at or below a value, per
// block; a value at +∞ has none above it, so that is the share that did not
// fail. Many turns of one length fall into one bin of a sketch, which the
// estimate then cuts in two: the bin's ends, by its error, are tried as well, and
// the largest effect counts.
func quantileEffect(v, by float64, all []Series, failures bool) (effect, df float64) {
	for _, at := range []float64{v, v * (1 - by), v * (1 + by)} {
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

func (b Block) size() uint64 { return b.Values.Count() + b.Failures }

// quantile returns the value of rank ⌈q n⌉, with failures last.
func (b Block) quantile(q float64) float64 {
	n, ok := b.size(), b.Values.Count()
	if n == 0 {
		return math.NaN()
	}
	rank := max(math.Ceil(q*float64(n)), 1)
	if rank > float64(ok) {
		return math.Inf(1)
	}
	return b.Values.Quantile(rank / float64(ok))
}

func (b Block) at(rank float64) float64 {
	if rank > float64(b.Values.Count()) {
		return math.Inf(1)
	}
	return b.Values.At(rank)
}

// below returns, per block, the turns at or below v and all turns.
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

// order is the fractional order k in [1, n] of an end of the interval among n
// independent values; false for an end that so few do not have. The k-th of n
// values in rising order covers a share of the population that is
// Beta(k, n + 1 − k), and k is that for which it is at most q with probability
// p, taken as a continuous number.
func fractionalOrder(q, n, p float64) (k float64, ok bool) {
	covered := func(k float64) float64 { return mathext.RegIncBeta(k, n+1-k, q) }
	if n < 1 || covered(1) < p || covered(n) > p {
		return 0, false
	}
	low, high := 1.0, n
	for range 60 { // narrows the range far below one rank
		mid := (low + high) / 2
		if covered(mid) > p { // falls as k rises
			low = mid
		} else {
			high = mid
		}
	}
	return low, true
}

// LeastFor returns the number of independent values needed for an interval of the quantile q.
// With fewer, all values lie on one side of it with a probability above 2.5 % (q^n for the
// upper side).
func MinTurns(q float64) uint64 {
	return uint64(math.Ceil(math.Log(tail) / math.Log(max(q, 1-q))))
}

func square(x float64) float64 { return x * x }
