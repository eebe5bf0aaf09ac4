package runs

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"
)

// Pair is the contribution of one block of time to a ratio: a part of a whole (failed turns of
// all turns), or an amount per time (tokens, seconds).
type Pair struct{ Part, Whole float64 }

// Ratio is Σ part / Σ whole with its 95 % interval. NaN if unknown.
type Ratio struct{ Value, Low, High float64 }

// EstimateRatio estimates an unbounded ratio, such as tokens per second, from blocks of one or more
// uninterrupted measurements, with Student's interval and the variance between batches of blocks. It
// needs at least two blocks for an interval.
func EstimateRatio(all [][]Pair) Ratio {
	total := Total(all)
	r := Ratio{Value: total.Part / total.Whole, Low: math.NaN(), High: math.NaN()}
	if variance, df := varianceOf(all); df > 0 {
		half := student(df) * math.Sqrt(variance)
		r.Low, r.High = r.Value-half, r.Value+half
	}
	return r
}

// EstimateShare estimates a share of turns, within [0, 1], with the exact interval for the effective number of turns.
func EstimateShare(all [][]Pair) Ratio {
	total := Total(all)
	r := Ratio{Value: total.Part / total.Whole, Low: math.NaN(), High: math.NaN()}
	switch {
	case r.Value > 1: // counters overflowed
		r.Value = math.NaN()
	case total.Whole > 0:
		r.Low, r.High = shareInterval(r.Value, total.Whole/shareEffect(all))
	}
	return r
}

// shareInterval returns the exact interval of a share of n turns (Clopper and Pearson, "The use of confidence or
// fiducial limits illustrated in the case of the binomial", Biometrika 1934).
func shareInterval(share, n float64) (low, high float64) {
	low, high = 0, 1
	hits := share * n
	if hits > 0 {
		low = mathext.InvRegIncBeta(hits, n-hits+1, tail)
	}
	if hits < n {
		high = mathext.InvRegIncBeta(hits+1, n-hits, 1-tail)
	}
	return low, high
}

// shareEffect returns the design effect of a share: the number of turns that prove as much about it as one
// independent turn, from 1 to the number of turns.
func shareEffect(all [][]Pair) float64 {
	total := Total(all)
	share := total.Part / total.Whole
	variance, _ := varianceOf(all)
	effect := variance / (share * (1 - share) / total.Whole)
	if !(effect > 1) { // also without turns, and if all or none hit
		return 1
	}
	return min(effect, total.Whole)
}

// Total returns Σ part and Σ whole.
func Total(all [][]Pair) (total Pair) {
	for _, p := range slices.Concat(all...) {
		total.Part += p.Part
		total.Whole += p.Whole
	}
	return total
}

// varianceOf returns the variance of Σ part / Σ whole and its degrees of freedom, 0 if it is
// unknown. The batches of each measurement show correlations within it. Measurements that differ
// by more than their batches do (repetitions that disagree) raise it. They keep the degrees of freedom: two or three
// measurements differ by chance, and Student's distribution would make that an interval of many times the width.
func varianceOf(all [][]Pair) (variance, df float64) {
	var batches, measurements []Pair
	for _, blocks := range all {
		batches = append(batches, batch(blocks, (len(blocks)+mostBatches-1)/mostBatches)...)
		measurements = append(measurements, batch(blocks, len(blocks))...)
	}
	variance, df = varianceBetween(batches)
	apart, _ := varianceBetween(measurements)
	return max(variance, apart), df
}

// mostBatches is the number of batches into which a measurement is divided. 10 to 30 are recommended (Schmeiser,
// "Batch size effects in the analysis of simulation output", Operations Research 1982): fewer tell too little about the
// variance, and more are too short to hold the correlation of turns.
const mostBatches = 10

// batch adds up neighbouring blocks. A rest of fewer than size blocks belongs to the last batch.
func batch(blocks []Pair, size int) (batches []Pair) {
	for i, b := range blocks {
		if i%size == 0 && (i == 0 || i+size <= len(blocks)) {
			batches = append(batches, Pair{})
		}
		last := &batches[len(batches)-1]
		last.Part, last.Whole = last.Part+b.Part, last.Whole+b.Whole
	}
	return batches
}

// varianceBetween returns the variance of the ratio of sums of independent batches (Cochran, "Sampling Techniques",
// 1977, equation 6.4).
func varianceBetween(batches []Pair) (variance, df float64) {
	total, n := Total([][]Pair{batches}), float64(len(batches))
	if n < 2 || !(total.Whole > 0) {
		return 0, 0
	}
	for _, b := range batches {
		variance += square(b.Part - total.Part/total.Whole*b.Whole)
	}
	return variance * n / (n - 1) / square(total.Whole), n - 1
}

// student returns the 97.5th percentile of Student's distribution, by the regularized
// incomplete beta function (Abramowitz and Stegun 26.7.1).
func student(df float64) float64 {
	t := mathext.InvRegIncBeta(df/2, 0.5, 2*tail)
	return math.Sqrt(df * (1 - t) / t)
}

func square(x float64) float64 { return x * x }
