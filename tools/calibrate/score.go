package main

import (
	"fmt"
	"math"
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

// tolerance is what counts as one unit of misfit, on a logarithmic scale.
func tolerance() map[string]float64 {
	return map[string]float64{
		"tpot_p50_ms": .06, "tpot_p95_ms": .15, "tpot_p99_ms": .1, "itl_p50_ms": .12,
		"tokens_per_s": .06, "turns_per_s": .12, "latency_p50_ms": .08, "latency_p95_ms": .12,
		"ttft_p50_ms": .12, "ttft_p95_ms": .3, "ttft_p99_ms": .3, "max_concurrent": .2,
	}
}

// misfit sums up how badly model and report differ: squared logarithms of the
// ratios, each in units of what is tolerated, and at most 9 each, so that one
// figure out of reach does not pull all others away. Levels with many errors
// count for the time that requests wait, alone.
func misfit(reported, model []level) (sum float64, n int) {
	units := tolerance()
	for i, r := range reported {
		for _, f := range figures() {
			want, unit := r.get(f.name), units[f.name]
			waits := f.name == "ttft_p50_ms"
			if unit == 0 || math.IsNaN(want) || r.get("error_pct") > 5 && !waits {
				continue
			}
			if waits && want > saturated {
				unit = .3
			}
			z := math.Log(model[i].get(f.name)/want) / unit
			if math.IsNaN(z) || math.IsInf(z, 0) {
				z = 3
			}
			sum += min(z*z, 9)
			n++
		}
	}
	return sum, n
}
