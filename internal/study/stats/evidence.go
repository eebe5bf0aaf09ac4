package stats

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/combin"
)

// Evidence is a sequential test of a share of bad turns against the share that
// an objective allows. It may be looked at after every turn: the chance that
// it ever speaks against the truth with more than ln(1/α) is at most α, however
// often one looks (Ville's inequality for the mean of likelihood ratios). The
// turns are taken as independent; see DesignEffect for what is done when they are not.
type Evidence struct {
	// Allowed is the share of bad turns that the objective allows, in (0, 1).
	Allowed float64
}

// Against returns the logarithm of the evidence that the share of bad turns exceeds the allowed
// one.
func (e Evidence) Against(good, bad float64) float64 {
	// The alternatives range from just above the allowed share to 1 in equal steps, so one of
	// them is near the real share.
	var shares []float64
	for _, times := range []float64{1.5, 2, 3, 5, 10, 20, 50} {
		if s := e.Allowed * times; s < 0.9 {
			shares = append(shares, s)
		}
	}
	return e.mixture(good, bad, append(shares, 0.95))
}

// InFavour returns the logarithm of the evidence that the share of bad turns is below the
// allowed one.
func (e Evidence) InFavour(good, bad float64) float64 {
	return e.mixture(good, bad, []float64{0, e.Allowed / 8, e.Allowed / 3})
}

// mixture returns the logarithm of the mean likelihood ratio of the alternatives against the
// allowed share.
func (e Evidence) mixture(good, bad float64, shares []float64) float64 {
	logs := make([]float64, len(shares))
	for i, s := range shares {
		logs[i] = times(bad, math.Log(s/e.Allowed)) + times(good, math.Log((1-s)/(1-e.Allowed)))
	}
	return floats.LogSumExp(logs) - math.Log(float64(len(shares)))
}

// times returns n × log, and 0 for n = 0 even if log is infinite.
func times(n, log float64) float64 {
	if n == 0 {
		return 0
	}
	return n * log
}

// Tally counts the judged turns of a block.
type Tally struct{ Good, Bad float64 }

// Count sums blocks; n of them have judged turns.
func Count(blocks []Tally) (good, bad float64, n int) {
	for _, b := range blocks {
		good, bad = good+b.Good, bad+b.Bad
		if b.Good+b.Bad > 0 {
			n++
		}
	}
	return good, bad, n
}

// DesignEffect returns the factor by which counts are divided because neighbouring turns are
// correlated: the variance of bad turns between blocks relative to that of independent turns,
// at least 1.
func DesignEffect(blocks []Tally) float64 {
	good, bad, n := Count(blocks)
	p := bad / (good + bad)
	if !(p > 0 && p < 1) || n < 2 {
		return 1
	}
	squares := 0.0
	for _, b := range blocks {
		if turns := b.Good + b.Bad; turns > 0 {
			d := b.Bad - turns*p
			squares += d * d / (turns * p * (1 - p))
		}
	}
	return max(squares/float64(n-1), 1)
}

// confidence returns the confidence that the share of bad turns is at most the allowed one: 1
// minus the probability of so few bad turns if the share were just above it (one-sided, exact
// for independent turns). A fraction of a thinned bad turn counts as a whole one.
func (e Evidence) confidence(good, bad float64) float64 {
	if math.Ceil(bad) >= good+bad {
		return 0
	}
	return max(1-e.atMost(math.Ceil(bad), good+bad), 0)
}

// confidenceMissed returns the confidence that the share exceeds the allowed one: 1 minus the
// probability of so many bad turns at the allowed share. A fraction of a thinned bad turn does
// not count.
func (e Evidence) confidenceMissed(good, bad float64) float64 {
	return e.atMost(math.Floor(bad)-1, good+bad)
}

// atMost returns the probability of at most the given number of bad turns among n at the
// allowed share, summed in logarithms.
func (e Evidence) atMost(most, n float64) float64 {
	sum := 0.0
	for k := 0.0; k <= most; k++ {
		sum += math.Exp(combin.LogGeneralizedBinomial(n, k) + times(k, math.Log(e.Allowed)) + times(n-k, math.Log(1-e.Allowed)))
	}
	return min(sum, 1)
}
