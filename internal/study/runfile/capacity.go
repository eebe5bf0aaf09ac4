package runfile

import (
	"fmt"
	"math"
	"strings"
)

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
	// Visited levels in the order of the visits.
	Visited []float64 `json:"visited"`
	// MeasuredSeconds are the measured times of the visits, GridSeconds what
	// all levels would have taken as planned; null when that ends by number.
	MeasuredSeconds float64  `json:"measured_seconds"`
	GridSeconds     *float64 `json:"grid_seconds"`
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
		parts[0] = fmt.Sprintf("%s %g meets the SLOs with a confidence of %.4g%% (wanted %.4g%%)", level, *c.Level, percent(c.Confidence), 100*c.Wanted)
	}
	if len(c.Undecided) > 0 {
		parts = append(parts, fmt.Sprintf("%s is undecided", list(level, c.Undecided)))
	}
	if c.Missed != nil {
		parts = append(parts, fmt.Sprintf("%s %g misses them", level, *c.Missed))
	}
	return strings.Join(parts, ", ")
}

// percent of a confidence, rounded down to a tenth: 100 % is never reached.
func percent(confidence float64) float64 {
	return math.Floor(math.Min(1000*confidence+1e-9, 999)) / 10
}

// list is "concurrency 80 or 90".
func list(level string, levels []float64) string {
	var out []string
	for _, l := range levels {
		out = append(out, fmt.Sprintf("%g", l))
	}
	return level + " " + strings.Join(out, " or ")
}
