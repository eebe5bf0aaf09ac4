package answers

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Detector says, round by round, whether distances have become larger than they
// were. It is a conformal test: the rank of each distance among all before it,
// made a p-value with ties drawn, is uniform and independent of the earlier ones
// as long as the rounds are exchangeable, whatever their distribution (Vovk,
// Nouretdinov and Gammerman 2003). Each p-value is bet on, and the bets are
// summed up as by Shiryaev and Roberts: evidence = bet × (1 + evidence). Then
// evidence − rounds is a martingale, so that within n healthy rounds the
// evidence reaches a limit with a probability of at most n / limit, restarts in
// between included (e-detectors: Shin, Ramdas and Rinaldo 2023).
type Detector struct {
	reference []float64 // sorted, as recorded
	known     []float64 // sorted, those since
	limit     float64
	evidence  float64
	changed   bool
	calm      int
	draw      *rand.Rand
}

const (
	// least is the distance below which all are the same: the noise of numbers of
	// 16 bits within a batch is of this size.
	least = 0.002
	// mostKnown bounds what is kept; one that has seen so much begins anew.
	mostKnown = 10_000
	// calmAgain is how many rounds in a row, all as near as the reference's own,
	// end a change.
	calmAgain = 10
)

// NewDetector returns a Detector of a reference's own distances. perFalse is how
// many healthy rounds at least one false alarm costs on average.
func NewDetector(distances []float64, perFalse float64) *Detector {
	d := &Detector{limit: perFalse, draw: rand.New(rand.NewPCG(1, uint64(len(distances))))}
	for _, x := range distances {
		d.reference = append(d.reference, max(x, least))
	}
	slices.Sort(d.reference)
	d.known = slices.Clone(d.reference)
	return d
}

// Add takes in the distance of a round.
func (d *Detector) Add(distance float64) {
	x := max(distance, least)
	if d.changed {
		if x > d.reference[len(d.reference)-1] {
			d.calm = 0
		} else if d.calm++; d.calm >= calmAgain {
			d.begin(false)
		}
		return
	}
	d.evidence = bet(d.rank(x)) * (1 + d.evidence)
	switch at, _ := slices.BinarySearch(d.known, x); {
	case d.evidence >= d.limit:
		d.begin(true)
	case len(d.known) >= mostKnown:
		d.begin(false)
	default:
		d.known = slices.Insert(d.known, at, x)
	}
}

// begin forgets all but the reference.
func (d *Detector) begin(changed bool) {
	d.known = append(d.known[:0], d.reference...)
	d.evidence, d.calm, d.changed = 0, 0, changed
}

// rank is the p-value of a distance: the share of all, itself included, that are
// as large.
func (d *Detector) rank(x float64) float64 {
	from, _ := slices.BinarySearch(d.known, x)
	to, _ := slices.BinarySearch(d.known, math.Nextafter(x, math.Inf(1)))
	larger, equal := len(d.known)-to, to-from+1
	u := 1 - d.draw.Float64() // of (0, 1]
	return (float64(larger) + u*float64(equal)) / float64(len(d.known)+1)
}

// bet is what a p-value brings: the mean over all powers of ε p^(ε-1). Its mean
// is 1 where p is uniform.
func bet(p float64) float64 {
	l := math.Log(p)
	if l > -1e-4 {
		return 0.5 // its limit at 1
	}
	return (1 - p + p*l) / (p * l * l)
}

// Score is how near the evidence is to a change, from 0; 1 is one.
func (d *Detector) Score() float64 {
	if d.changed {
		return 1
	}
	return math.Log1p(d.evidence) / math.Log1p(d.limit)
}
