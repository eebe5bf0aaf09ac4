package stats

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mathext"
)

// Evidence is a sequential test of a share of bad turns against the share that an objective
// allows. It may be evaluated after every turn: the probability that evidence for a false claim
// ever exceeds ln(1/α) is at most α (Ville's inequality for the mean of likelihood ratios). It
// assumes independent turns; EffectiveCounts gives the counts to use for correlated ones.
type Evidence struct {
	Allowed float64 // the share of bad turns that the objective allows, in (0, 1)
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
		logs[i] = timesLog(bad, math.Log(s/e.Allowed)) + timesLog(good, math.Log((1-s)/(1-e.Allowed)))
	}
	return floats.LogSumExp(logs) - math.Log(float64(len(shares)))
}

// timesLog returns n × log, and 0 for n = 0 even if log is infinite.
func timesLog(n, log float64) float64 {
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

const (
	// effectMargin covers the uncertainty of a design effect that few blocks give. It was chosen
	// on simulated levels with AR(1) block noise: without it, 11 % of the levels at a
	// correlation of 0.8 were wrongly proven to meet an objective, with it 10 % or fewer.
	effectMargin = 1.25
	// maxScale bounds the scaling of a design effect to the allowed share. Larger scales made
	// no proof safer in the same simulation, and left clearly met levels undecided.
	maxScale = 3
)

// DesignEffect returns the number of turns that prove as much as one independent turn, at least
// 1. Each argument holds the blocks of one uninterrupted measurement, in order.
//
// A level that shows few bad turns by chance shows little variance too. Where bad turns are
// fewer than allowed, the effect is therefore scaled up to the allowed share.
func (e Evidence) DesignEffect(measured ...[]Tally) float64 {
	series := make([][]Pair, len(measured))
	blocks := 0
	for i, tallies := range measured {
		for _, t := range tallies {
			series[i] = append(series[i], Pair{Part: t.Bad, Whole: t.Good + t.Bad})
		}
		blocks += len(tallies)
	}
	total := Total(series)
	share := total.Part / total.Whole
	effect, df := varianceRatio(series, share)
	if effect == 1 {
		return 1
	}
	if blocks >= minBlocks {
		effect *= square(studentRatio(df))
	}
	return 1 + effectMargin*(effect-1)*min(max(e.Allowed/share, 1), maxScale)
}

// EffectiveCounts returns the numbers of good and bad turns divided by their design effect.
func (e Evidence) EffectiveCounts(measured ...[]Tally) (good, bad float64) {
	effect := e.DesignEffect(measured...)
	good, bad, _ = Count(slices.Concat(measured...))
	return good / effect, bad / effect
}

// Confidence returns the confidence that the share of bad turns is at most the allowed one: 1
// minus the probability of so few bad turns if the share were just above it (one-sided, exact
// for independent turns). A fraction of a thinned bad turn counts as a whole one.
func (e Evidence) Confidence(good, bad float64) float64 {
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
// allowed share.
func (e Evidence) atMost(most, n float64) float64 {
	switch {
	case most < 0:
		return 0
	case most >= n:
		return 1
	}
	return mathext.RegIncBeta(n-most, most+1, 1-e.Allowed)
}
