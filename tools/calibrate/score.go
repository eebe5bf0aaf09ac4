package main

import (
	"fmt"
	"slices"
)

// target is the accuracy that the model has to reach for a figure at levels without errors.
type target struct {
	name string
	// within is the largest permitted error as a share of the figure, mean the largest
	// permitted mean error; 0 means no limit.
	within, mean float64
	// below is true if the target applies only below saturation.
	below bool
}

// targets returns the targets of the fit summary.
func targets() []target {
	return []target{
		{"tpot_p50_ms", .12, .08, false}, {"tokens_per_s", .12, 0, false},
		{"latency_p50_ms", .15, 0, false}, {"ttft_p50_ms", .25, 0, true},
	}
}

// title describes the target.
func (t target) title() string {
	s := fmt.Sprintf("%s within %.0f %%", title(t.name), t.within*100)
	if t.mean > 0 {
		s += fmt.Sprintf(", %.0f %% on average", t.mean*100)
	}
	if t.below {
		s += ", below saturation"
	}
	return s
}

// saturated is the TTFT p50 of a saturated level in ms, at least.
const saturated = 1000

// off is the relative error of a figure of the model; NaN if unknown.
func off(r, m level, name string) float64 { return m.get(name)/r.get(name) - 1 }

// saturation returns the index of the first saturated level, or the number of levels.
func saturation(levels []level) int {
	i := slices.IndexFunc(levels, func(l level) bool { return l.get("ttft_p50_ms") > saturated })
	if i < 0 {
		return len(levels)
	}
	return i
}
