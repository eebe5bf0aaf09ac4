package answers

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// detector decides after each round whether the distances have become larger. It is a conformal
// test: the rank of each distance among all earlier ones, as a p-value with random tie-breaks,
// is uniform and independent if the rounds are exchangeable, whatever their distribution (Vovk,
// Nouretdinov and Gammerman 2003). It bets on each p-value and adds up the bets as Shiryaev and
// Roberts do: evidence = bet × (1 + evidence). Then evidence − rounds is a martingale, so that
// within n healthy rounds the evidence reaches a limit with a probability of at most n / limit,
// including restarts (e-detectors: Shin, Ramdas and Rinaldo 2023).
type detector struct {
	reference []float64 // recorded distances, sorted
	seen      []float64 // reference and later distances, sorted
	limit     float64
	evidence  float64
	changed   bool
	nearby    int // consecutive distances within the reference, after a change
	random    *rand.Rand
}

const (
	// minDistance replaces all smaller distances. The noise of 16-bit numbers in a batch has
	// this size.
	minDistance = 0.002
	// maxSeen bounds detector.seen. When it is full, the detector starts again.
	maxSeen = 10_000
	// nearbyEnd is the number of consecutive distances within the reference that end a change.
	nearbyEnd = 10
)

// newDetector returns a detector with the distances of a reference. roundsPerAlarm is the
// minimum mean number of healthy rounds per false alarm.
func newDetector(distances []float64, roundsPerAlarm float64) *detector {
	d := &detector{limit: roundsPerAlarm, random: rand.New(rand.NewPCG(1, uint64(len(distances))))}
	for _, x := range distances {
		d.reference = append(d.reference, max(x, minDistance))
	}
	slices.Sort(d.reference)
	d.seen = slices.Clone(d.reference)
	return d
}

func (d *detector) add(distance float64) {
	distance = max(distance, minDistance)
	if d.changed {
		if distance > d.maxReference() {
			d.nearby = 0
		} else if d.nearby++; d.nearby >= nearbyEnd {
			d.restart(false)
		}
		return
	}
	d.evidence = bet(d.pValue(distance)) * (1 + d.evidence)
	switch at, _ := slices.BinarySearch(d.seen, distance); {
	case d.evidence >= d.limit:
		d.restart(true)
	case len(d.seen) >= maxSeen:
		d.restart(false)
	default:
		d.seen = slices.Insert(d.seen, at, distance)
	}
}

func (d *detector) maxReference() float64 { return d.reference[len(d.reference)-1] }

// restart forgets everything but the reference.
func (d *detector) restart(changed bool) {
	d.seen = append(d.seen[:0], d.reference...)
	d.evidence, d.nearby, d.changed = 0, 0, changed
}

// pValue returns the share of all distances, including this one, that are at least as large.
func (d *detector) pValue(distance float64) float64 {
	from, _ := slices.BinarySearch(d.seen, distance)
	to, _ := slices.BinarySearch(d.seen, math.Nextafter(distance, math.Inf(1)))
	larger, equal := len(d.seen)-to, to-from+1
	u := 1 - d.random.Float64() // in (0, 1]
	return (float64(larger) + u*float64(equal)) / float64(len(d.seen)+1)
}

// bet returns the gain for a p-value: the mean over all powers ε of ε p^(ε-1). Its mean is 1 for
// uniform p.
func bet(p float64) float64 {
	l := math.Log(p)
	if l > -1e-4 {
		return 0.5 // the limit at p = 1
	}
	return (1 - p + p*l) / (p * l * l)
}

// score returns how near the evidence is to the limit, from 0 to 1.
func (d *detector) score() float64 {
	if d.changed {
		return 1
	}
	return math.Log1p(d.evidence) / math.Log1p(d.limit)
}

// Watch compares the rounds of one target with its reference. It is not safe for concurrent use.
type Watch struct {
	Reference *Reference
	detector  *detector
	since     time.Time
}

// NewWatch returns a Watch for one round per interval. It has about one false alarm a year.
func NewWatch(r *Reference, interval time.Duration) *Watch {
	const year = 365 * 24 * time.Hour
	return &Watch{Reference: r, detector: newDetector(r.Distances, float64(year/interval))}
}

// Reading is the state of a target after a round.
type Reading struct {
	// At is when the round ended.
	At time.Time
	// Err is why the round was not compared. Score and Since then describe earlier rounds.
	Err error
	// Score is the evidence for a change, from 0 to 1. At 1 the answers have changed, since
	// Since.
	Score float64
	Since time.Time
	// Distance is the distance of the round, Usual the largest of the reference.
	Distance, Usual float64
	// Prompt is the prompt with the largest distance. Was is its recorded answer, Is the
	// current one.
	Prompt, Was, Is string
	// Tokens is the number of tokens that the round used.
	Tokens int
}

// Compare compares a round that ended at a time with the reference.
func (w *Watch) Compare(round Round, at time.Time) Reading {
	r := Reading{At: at, Usual: w.detector.maxReference()}
	distance, worst, err := w.Reference.Compare(round)
	if err != nil {
		r.Err, r.Score, r.Since = err, w.detector.score(), w.since
		return r
	}
	w.detector.add(distance)
	r.Score, r.Distance = w.detector.score(), distance
	switch {
	case r.Score < 1:
		w.since = time.Time{}
	case w.since.IsZero():
		w.since = at
	}
	p := w.Reference.Centre[worst]
	r.Since, r.Prompt, r.Was, r.Is = w.since, p.Prompt, p.Texts[0], round[worst].Text
	return r
}
