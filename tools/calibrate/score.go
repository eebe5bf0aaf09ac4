package main

import (
	"fmt"
	"slices"
)

// target is how near the model is to come to a figure at levels without
// errors.
type target struct {
	name string
	// within is the most that the model may be off, as a share of the figure;
	// mean the most on average, 0 for none.
	within, mean float64
	// below is whether the target holds below saturation only.
	below bool
}

// targets are those of the fit summary.
func targets() []target {
	return []target{
		{"tpot_p50_ms", .12, .08, false}, {"tokens_per_s", .12, 0, false},
		{"latency_p50_ms", .15, 0, false}, {"ttft_p50_ms", .25, 0, true},
	}
}

// title says what the target is.
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

// saturated is from which TTFT p50 on, in ms, a level counts as saturated.
const saturated = 1000

// off is how far the model is off a figure, as a share; NaN if unknown.
func off(r, m level, name string) float64 { return m.get(name)/r.get(name) - 1 }

// saturation is the index of the first saturated level, the number of levels
// if there is none.
func saturation(levels []level) int {
	i := slices.IndexFunc(levels, func(l level) bool { return l.get("ttft_p50_ms") > saturated })
	if i < 0 {
		return len(levels)
	}
	return i
}
