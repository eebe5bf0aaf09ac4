package runs

import (
	"fmt"
	"math"
	"strings"
)

// Capacity is how far a variant scales within its objectives with a given confidence. A grid
// and a search use the same rule.
type Capacity struct {
	Variant string `json:"variant"`
	// Level is the highest level with proof of every objective; null if no level has it.
	Level *float64 `json:"level"`
	// Confidence that Level meets them, and the required one.
	Confidence float64 `json:"confidence"`
	Wanted     float64 `json:"wanted"`
	// Missed is the lowest level with proof of a missed objective; null if no level has it.
	// Undecided levels lie between Level and Missed.
	Missed    *float64  `json:"missed"`
	Undecided []float64 `json:"undecided,omitempty"`
	// NotJudged levels did not carry their load (see Run.NotReached), or the prober was their limit.
	NotJudged []float64 `json:"not_judged,omitempty"`
	// Visited levels in the order of the visits.
	Visited []float64 `json:"visited"`
	// MeasuredSeconds is the measured time of all visits.
	MeasuredSeconds float64 `json:"measured_seconds"`
}

// AddLevel adds the next higher level. The capacity is the highest proven level below the lowest
// missed level. Levels without a proof do not end it.
func (c *Capacity) AddLevel(level float64, v LevelVerdict) {
	switch {
	case c.Missed != nil:
	case v.Unjudged():
		c.NotJudged = append(c.NotJudged, level)
	case v.Standing == Met:
		c.Level, c.Confidence, c.Undecided = &level, v.Confidence, nil
	case v.Standing == Undecided:
		c.Undecided = append(c.Undecided, level)
	case v.Standing == Missed:
		c.Missed = &level
	}
}

// Sentence describes the capacity, with its kind of levels: "concurrency 70 meets the SLOs with a confidence of 98.4%
// (wanted 95%), concurrency 80 misses them".
func (c Capacity) Sentence(kind LevelKind) string {
	if len(c.Visited) == 0 {
		return "unknown, no level was measured"
	}
	parts := []string{fmt.Sprintf("no %s is proven to meet the SLOs with the wanted confidence of %.4g%%", kind, 100*c.Wanted)}
	if c.Level != nil {
		parts[0] = fmt.Sprintf("%s meets the SLOs with a confidence of %.4g%% (wanted %.4g%%)", kind.At(*c.Level), floorPercent(c.Confidence), 100*c.Wanted)
	}
	be := func(levels []float64, singular, plural string) string {
		if len(levels) > 1 {
			singular = plural
		}
		return kind.At(levels...) + singular
	}
	if len(c.Undecided) > 0 {
		parts = append(parts, be(c.Undecided, " is undecided", " are undecided"))
	}
	if len(c.NotJudged) > 0 {
		parts = append(parts, be(c.NotJudged, " was not judged", " were not judged"))
	}
	if c.Missed != nil {
		parts = append(parts, kind.At(*c.Missed)+" misses them")
	}
	return strings.Join(parts, ", ")
}

// floorPercent converts a confidence to percent, rounded down to a tenth and below 100.
func floorPercent(confidence float64) float64 {
	return math.Floor(math.Min(1000*confidence+1e-9, 999)) / 10
}
