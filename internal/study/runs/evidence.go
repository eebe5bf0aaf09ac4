package runs

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// Evidence compares a share of bad turns with the share that an objective allows.
type Evidence struct {
	Allowed float64 // the share of bad turns that the objective allows, in (0, 1)
}

// Count sums blocks.
func Count(blocks []Judged) (sum Judged) {
	for _, b := range blocks {
		sum.Good, sum.Bad, sum.Failed, sum.Late = sum.Good+b.Good, sum.Bad+b.Bad, sum.Failed+b.Failed, sum.Late+b.Late
	}
	return sum
}

func (n Judged) turns() float64 { return float64(n.Good) + float64(n.Bad) }

// maxScale bounds the scaling of a design effect to the allowed share.
const maxScale = 3

// DesignEffect returns the number of turns that prove as much as one independent turn, from 1 to
// the number of turns. Each argument holds the blocks of one uninterrupted measurement, in order.
//
// A level that shows few bad turns by chance shows little variance too. Where bad turns are
// fewer than allowed, the effect is therefore scaled up to the allowed share.
func (e Evidence) DesignEffect(measured ...[]Judged) float64 {
	series := make([][]Pair, len(measured))
	for i, blocks := range measured {
		for _, b := range blocks {
			series[i] = append(series[i], Pair{Part: float64(b.Bad), Whole: b.turns()})
		}
	}
	total := Total(series)
	scale := min(max(e.Allowed*total.Whole/total.Part, 1), maxScale)
	return max(min(1+(shareEffect(series)-1)*scale, total.Whole), 1)
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

// confidenceMissed returns the confidence that the share exceeds the allowed one: 1 minus the probability of so many
// bad turns at the allowed share. A fraction of a thinned bad turn does not count.
func (e Evidence) confidenceMissed(good, bad float64) float64 {
	return e.atMost(math.Floor(bad)-1, good+bad)
}

// TurnsToProve returns the number of independent good turns that prove an objective without a bad one: 299 for 99 % with
// a confidence of 95 %.
func TurnsToProve(objective, confidence float64) float64 {
	return math.Ceil(math.Log(1-confidence) / math.Log(objective))
}

// atMost returns the probability of at most the given number of bad turns among n at the allowed share.
func (e Evidence) atMost(most, n float64) float64 {
	switch {
	case most < 0:
		return 0
	case most >= n:
		return 1
	}
	return mathext.RegIncBeta(n-most, most+1, 1-e.Allowed)
}
