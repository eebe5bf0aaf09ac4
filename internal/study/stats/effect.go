package stats

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mathext"
)

// Pair is the contribution of one block of time to a ratio: a part of a whole (failed turns of
// all turns), or an amount per time (tokens, seconds).
type Pair struct{ Part, Whole float64 }

// Ratio is Σ part / Σ whole with its 95 % interval. NaN if unknown.
type Ratio struct{ Value, Low, High float64 }

// EstimateRatio estimates an unbounded ratio, such as tokens per second, from blocks of one or more
// uninterrupted measurements, with Student's interval and the variance between blocks. It needs
// at least two blocks for an interval.
func EstimateRatio(all [][]Pair) Ratio {
	total := Total(all)
	r := Ratio{Value: total.Part / total.Whole, Low: math.NaN(), High: math.NaN()}
	if len(slices.Concat(all...)) < 2 || !(total.Whole > 0) {
		return r
	}
	variance, df := longRunVariance(all, r.Value, total.Whole)
	half := student(df) * math.Sqrt(variance)
	r.Low, r.High = r.Value-half, r.Value+half
	return r
}

// EstimateShare estimates a share of turns, within [0, 1], with the exact interval of Clopper and
// Pearson (Biometrika 1934) for the effective number of turns.
func EstimateShare(all [][]Pair) Ratio {
	total := Total(all)
	r := Ratio{Value: total.Part / total.Whole, Low: math.NaN(), High: math.NaN()}
	if r.Value > 1 { // counters overflowed
		r.Value = math.NaN()
	}
	if !(total.Whole > 0) || math.IsNaN(r.Value) {
		return r
	}
	n := total.Whole / ShareEffect(all)
	hits := r.Value * n
	r.Low, r.High = 0, 1
	if hits > 0 {
		r.Low = mathext.InvRegIncBeta(hits, n-hits+1, tail)
	}
	if hits < n {
		r.High = mathext.InvRegIncBeta(hits+1, n-hits, 1-tail)
	}
	return r
}

// ShareEffect returns the number of turns that prove as much about a share as one independent turn, at least 1. It
// is 1 where the blocks are no evidence of correlation.
func ShareEffect(all [][]Pair) float64 {
	total := Total(all)
	effect, df := significantEffect(all, total.Part/total.Whole)
	return effect * square(studentRatio(df))
}

// Total returns Σ part and Σ whole.
func Total(all [][]Pair) (total Pair) {
	for _, p := range slices.Concat(all...) {
		total.Part += p.Part
		total.Whole += p.Whole
	}
	return total
}

// varianceRatio divides the variance of a share by the variance for independent turns. It
// returns at least 1, and the degrees of freedom (+∞ if the effect is not estimated).
func varianceRatio(all [][]Pair, share float64) (effect, df float64) {
	whole := Total(all).Whole
	independent := share * (1 - share) / whole
	if len(slices.Concat(all...)) < 2 || !(independent > 0) {
		return 1, math.Inf(1)
	}
	variance, df := longRunVariance(all, share, whole)
	if variance <= independent {
		return 1, math.Inf(1)
	}
	return variance / independent, df
}

// significantEffect is varianceRatio, and 1 where the blocks are no evidence of correlation. A
// 95 % interval that corrects for chance variation would be too wide for independent turns.
func significantEffect(all [][]Pair, share float64) (effect, df float64) {
	effect, df = varianceRatio(all, share)
	// A variance from df pieces varies by √(2/df) of itself.
	if len(slices.Concat(all...)) < minBlocks || effect <= 1+1.5*math.Sqrt(2/df) {
		return 1, math.Inf(1)
	}
	return effect, df
}

// minBlocks is the smallest number of blocks for degrees of freedom and for a correlation.
const minBlocks = 4

// longRunVariance returns the variance of Σ part / Σ whole and its degrees of freedom. It
// returns the larger of two estimates, because each misses correlations that the other detects.
func longRunVariance(all [][]Pair, ratio, whole float64) (variance, df float64) {
	z := make([][]float64, len(all))
	for i, pairs := range all {
		for _, p := range pairs {
			z[i] = append(z[i], p.Part-ratio*p.Whole)
		}
	}
	variance, df = ar1Variance(z)
	if far, farDF := bartlettVariance(z); far > variance {
		variance, df = far, farDF
	}
	return variance / square(whole), df
}

// ar1Variance returns the variance of a sum of correlated blocks as a first-order
// autoregressive process: (1 + ρ) / (1 − ρ) times that of independent blocks. The degrees of
// freedom shrink by the same factor.
func ar1Variance(series [][]float64) (variance, df float64) {
	var squares, products, blocks, neighbours float64
	for _, z := range series {
		squares += floats.Dot(z, z)
		blocks += float64(len(z))
		if len(z) > 1 {
			products += floats.Dot(z[1:], z[:len(z)-1])
			neighbours += float64(len(z) - 1)
		}
	}
	longer := 1.0
	if squares > 0 && neighbours >= minBlocks {
		rho := correlation(products/neighbours/(squares/blocks), blocks)
		longer = (1 + rho) / (1 - rho)
	}
	return squares * blocks / (blocks - 1) * longer, max(blocks/longer-1, 1)
}

// bartlettVariance returns the variance of a sum of blocks with the covariances of blocks up to
// a quarter of a measurement apart, with Bartlett's weights.
func bartlettVariance(series [][]float64) (variance, df float64) {
	blocks := len(slices.Concat(series...))
	lags := blocks / len(series) / 4
	weights := 1.0
	for lag := 1; lag <= lags; lag++ {
		weights += 2 * square(bartlett(lag, lags))
	}
	var total float64
	for _, z := range series {
		total += floats.Dot(z, z)
		for lag := 1; lag <= min(lags, len(z)-1); lag++ {
			total += 2 * bartlett(lag, lags) * floats.Dot(z[lag:], z[:len(z)-lag])
		}
	}
	b := float64(blocks)
	if b <= weights {
		return 0, 1
	}
	return total * b / (b - weights), max(b/weights-1, 1)
}

func bartlett(lag, lags int) float64 { return 1 - float64(lag)/float64(lags+1) }

// correlation returns the autocorrelation of neighbouring blocks, corrected for the bias of short
// series (Kendall, "Note on bias in the estimation of autocorrelation", Biometrika 1954). A
// negative correlation counts as independence, and the result is bounded below 1.
func correlation(rho, blocks float64) float64 {
	return min(max(rho+(1+3*rho)/blocks, 0), 0.9)
}

// student returns the 97.5th percentile of Student's distribution, by the regularized
// incomplete beta function (Abramowitz and Stegun 26.7.1).
func student(df float64) float64 {
	if math.IsInf(df, 1) {
		return mathext.NormalQuantile(1 - tail)
	}
	t := mathext.InvRegIncBeta(df/2, 0.5, 2*tail)
	return math.Sqrt(df * (1 - t) / t)
}

// studentRatio returns how much wider an interval is because its variance is estimated.
func studentRatio(df float64) float64 {
	return student(df) / mathext.NormalQuantile(1-tail)
}
