package answers

import "time"

// Watch compares the rounds of one target with its reference. It is not safe for
// concurrent use.
type Watch struct {
	Reference *Reference
	detector  *Detector
	since     time.Time
}

// perYear is how often a healthy deployment may be said to have changed.
const perYear = 1.0

// NewWatch returns one of a target that is asked at an interval.
func NewWatch(r *Reference, interval time.Duration) *Watch {
	const year = 365 * 24 * time.Hour
	return &Watch{Reference: r, detector: NewDetector(r.Distances, float64(year/interval)/perYear)}
}

// Reading is what is known of a target after a round.
type Reading struct {
	// At is when the round ended. Err is why it was not compared; the rest is then
	// of the rounds before.
	At  time.Time
	Err error
	// Score is how sure a change is, from 0; 1 is one, that was found at Since.
	Score float64
	Since time.Time
	// Distance is the round's, Usual the largest that the reference has.
	Distance, Usual float64
	// Prompt is the one whose answer is farthest, Was and Is are the recorded
	// answer and this one.
	Prompt, Was, Is string
	// Tokens are what the round took.
	Tokens int
}

// Take compares a round that ended at a time.
func (w *Watch) Take(round Round, at time.Time) Reading {
	r := Reading{At: at, Usual: w.detector.reference[len(w.detector.reference)-1]}
	distance, worst, err := w.Reference.Compare(round)
	if err != nil {
		r.Err, r.Score, r.Since = err, w.detector.Score(), w.since
		return r
	}
	w.detector.Add(distance)
	r.Score, r.Distance = w.detector.Score(), distance
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
