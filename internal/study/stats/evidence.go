package stats

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// Evidence compares a share of bad turns with the share that an objective allows.
type Evidence struct {
	Allowed float64 // the share of bad turns that the objective allows, in (0, 1)
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
