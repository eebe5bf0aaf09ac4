package runfile

import (
	"fmt"
	"math"
	"strings"

	"synthetic/internal/probe"
)

// Standing is what a measurement proves of a level, with the confidence that
// the plan asks for.
type Standing string

// Values of Standing.
const (
	// Met: every objective is met.
	Met Standing = "met"
	// Missed: at least one objective is not.
	Missed Standing = "missed"
	// Undecided: the level is too near the edge, or was measured too briefly,
	// for either.
	Undecided Standing = "undecided"
)

// Verdict says whether a level met its objectives, as the sweep decided while
// it measured, by what Result.Judged counts.
type LevelVerdict struct {
	// Met says that every objective was met by the turns that were judged,
	// whatever that proves; Standing says what it proves.
	Met      bool     `json:"met"`
	Standing Standing `json:"standing,omitempty"`
	// Lost names the objectives that were not met.
	Lost []string `json:"lost,omitempty"`
	// Confidence in (0, 1) that every objective is met: the exact one-sided one
	// of the least certain objective, for turns thinned to independent ones.
	Confidence float64 `json:"confidence"`
	// Decided says how: "measured" at the full length of the level, "early"
	// by a sequential test whose chance of error is Error or because nothing
	// can be proven any more, "provisional" by that test for a level that a
	// search passed on its way.
	Decided string  `json:"decided"`
	Error   float64 `json:"error,omitempty"`
}

// Open reports whether nothing was judged: the turns do not even seem to meet the
// objectives, or to miss one.
func (v LevelVerdict) Unjudged() bool { return v.Standing == Undecided && !v.Met && len(v.Lost) == 0 }

// Words are those that every output has for a verdict: PASS, FAIL (ttft+tpot),
// UNDECIDED (seems to pass). The names are of the objectives that were missed, or
// seem to be.
func (v LevelVerdict) Words(lost []string) string {
	names := strings.Join(lost, "+")
	switch {
	case v.Standing == Met:
		return "PASS"
	case v.Standing == Missed && names == "":
		return "FAIL (GIVEN UP)"
	case v.Standing == Missed:
		return "FAIL (" + names + ")"
	case names != "":
		return "UNDECIDED (seems to fail " + names + ")"
	case v.Met:
		return "UNDECIDED (seems to pass)"
	}
	return "UNDECIDED"
}

// Values of Verdict.Decided.
const (
	DecidedMeasured    = "measured"
	DecidedEarly       = "early"
	DecidedProvisional = "provisional"
)

// GaveUp reports a level that the sweep gave up for another reason than its judged
// turns: a queue that grew, a target that was gone.
func (r Result) GaveUp() bool {
	return r.State == EndedEarly && r.Verdict != nil && r.Verdict.Standing == Missed && r.Verdict.Decided == DecidedMeasured
}

// Judged counts the turns that an objective called good or bad.
type Judged struct {
	Good uint64 `json:"good"`
	Bad  uint64 `json:"bad"`
	// Failed of the bad turns did not succeed; the others were too slow.
	Failed uint64 `json:"failed,omitempty"`
}

// Judged returns how an objective judged a level: the turns of each block, in
// order, and how many turns were lost in the tail. A turn of the tail that was
// slow ended under a falling load and says nothing of the level, and neither
// does a good one; one that failed does, if the objective minds: a hang counts
// at its deadline, also when that lies behind the measurement.
//
// This is the one rule for what counts: the verdict of a sweep and the matrix of
// a report both follow it.
func (r Result) Judged(objective string) (blocks []Judged, lost uint64) {
	for _, b := range r.Blocks() {
		blocks = append(blocks, b.SLOs[objective])
	}
	if r.Tail != nil {
		lost = r.Tail.SLOs[objective].Failed
	}
	return blocks, lost
}

// Blocks are those of all snapshots, in order.
func (r Result) Blocks() []Block {
	var all []Block
	for _, s := range r.Snapshots {
		all = append(all, s.Blocks...)
	}
	return all
}

// Ended is how many turns came to their end, and how many of them failed. Turns
// that the prober itself ended did not.
func (b Block) Ended() (turns, failed uint64) {
	for outcome, n := range b.Outcomes {
		if !outcome.Own() {
			turns += n
		}
		if outcome.Failed() {
			failed += n
		}
	}
	return turns, failed
}

// LeftOut is how many turns say nothing of the deployment, or too little for an
// objective, because the prober itself was late or could not send; and of how
// many.
func (r Result) LeftOut() (turns, of uint64) {
	blocks := r.Blocks()
	if r.Tail != nil {
		blocks = append(blocks, *r.Tail)
	}
	for _, b := range blocks {
		ended, _ := b.Ended()
		turns, of = turns+b.NotJudged, of+ended
		for _, o := range probe.OwnFaults() {
			turns, of = turns+b.Outcomes[o], of+b.Outcomes[o]
		}
	}
	return turns, of
}

// Capacity is how far a variant scales within the objectives, in the words of
// a confidence that was asked for: what was proven, and what was not. A grid
// and a search state it by the same rule.
type Capacity struct {
	Variant string `json:"variant"`
	// Level is the highest one that is proven to meet the objectives; null when
	// none is.
	Level *float64 `json:"level"`
	// Confidence that Level meets them, and the one that was asked for.
	Confidence float64 `json:"confidence"`
	Wanted     float64 `json:"wanted"`
	// Missed is the lowest level that is proven to miss an objective; null when
	// none is. Undecided levels were measured above Level and below Missed.
	Missed    *float64  `json:"missed"`
	Undecided []float64 `json:"undecided,omitempty"`
	// NotReached levels did not carry their load (see Run.NotReached).
	NotReached []float64 `json:"not_reached,omitempty"`
	// Visited levels in the order of the visits.
	Visited []float64 `json:"visited"`
	// MeasuredSeconds are the measured times of the visits, GridSeconds what
	// all levels would have taken as planned; null when that ends by number.
	MeasuredSeconds float64  `json:"measured_seconds"`
	GridSeconds     *float64 `json:"grid_seconds"`
}

// Rise takes in the next higher level that was reached. The capacity is the
// highest level that is proven to meet the objectives, of those below the lowest
// one that is proven to miss them; one of which nothing is proven ends nothing.
func (c *Capacity) AddLevel(level float64, v LevelVerdict) {
	switch {
	case c.Missed != nil:
	case v.Standing == Met:
		c.Level, c.Confidence, c.Undecided = &level, v.Confidence, nil
	case v.Standing == Undecided:
		c.Undecided = append(c.Undecided, level)
	case v.Standing == Missed:
		c.Missed = &level
	}
}

// Sentence says the capacity, naming levels by a word ("concurrency"):
// "concurrency 70 meets the SLOs with a confidence of 98.4% (wanted 95%),
// concurrency 80 misses them".
func (c Capacity) Sentence(level string) string {
	if len(c.Visited) == 0 {
		return "not known, no level was measured"
	}
	parts := []string{fmt.Sprintf("no %s is proven to meet the SLOs with the wanted confidence of %.4g%%", level, 100*c.Wanted)}
	if c.Level != nil {
		parts[0] = fmt.Sprintf("%s %g meets the SLOs with a confidence of %.4g%% (wanted %.4g%%)", level, *c.Level, floorPercent(c.Confidence), 100*c.Wanted)
	}
	if len(c.Undecided) > 0 {
		parts = append(parts, fmt.Sprintf("%s %s is undecided", level, FormatLevels(c.Undecided, " or ")))
	}
	if len(c.NotReached) > 0 {
		parts = append(parts, fmt.Sprintf("%s %s was not reached", level, FormatLevels(c.NotReached, " and ")))
	}
	if c.Missed != nil {
		parts = append(parts, fmt.Sprintf("%s %g misses them", level, *c.Missed))
	}
	return strings.Join(parts, ", ")
}

// percent of a confidence, rounded down to a tenth: 100 % is never reached.
func floorPercent(confidence float64) float64 {
	return math.Floor(math.Min(1000*confidence+1e-9, 999)) / 10
}

// FormatLevels is "80, 90" with ", " between.
func FormatLevels(levels []float64, between string) string {
	words := make([]string, len(levels))
	for i, l := range levels {
		words[i] = fmt.Sprintf("%g", l)
	}
	return strings.Join(words, between)
}
