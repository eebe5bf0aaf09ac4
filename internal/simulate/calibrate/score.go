package main

import "math"

// target is how near the model is to come to a figure.
type target struct {
	name string
	// within is the most that the model may be off, as a share of the figure.
	within float64
	// below is whether the target holds below saturation only.
	below bool
}

// targets are those of the fit summary.
func targets() []target {
	return []target{
		{"tpot_p50_ms", .12, false}, {"tokens_per_s", .12, false}, {"turns_per_s", .12, false},
		{"latency_p50_ms", .15, false}, {"ttft_p50_ms", .25, true},
	}
}

// saturated is from which TTFT p50 on a level counts as saturated.
const saturated = 1000

// off is how far the model is off a figure, as a share; NaN if unknown.
func off(r, m level, name string) float64 { return m.get(name)/r.get(name) - 1 }

// saturation is the index of the first saturated level, the number of levels
// if there is none.
func saturation(levels []level) int {
	for i, l := range levels {
		if l.get("ttft_p50_ms") > saturated {
			return i
		}
	}
	return len(levels)
}

// misfit sums up how badly model and report differ: squared logarithms of the
// ratios, each in units of what is tolerated, and at most 9 each, so that one
// figure out of reach does not pull all others away.
func misfit(reported, model []level) (sum float64, n int) {
	tolerance := map[string]float64{
		"tpot_p50_ms": .06, "tpot_p95_ms": .15, "tpot_p99_ms": .1, "itl_p50_ms": .12,
		"tokens_per_s": .06, "turns_per_s": .12, "latency_p50_ms": .08, "latency_p95_ms": .12,
		"ttft_p50_ms": .12, "ttft_p95_ms": .3, "ttft_p99_ms": .3, "max_concurrent": .2,
	}
	for i, r := range reported {
		for name, t := range tolerance {
			want := r.get(name)
			if math.IsNaN(want) || r.get("error_pct") > 5 && name != "ttft_p50_ms" {
				continue
			}
			if want > saturated && name == "ttft_p50_ms" {
				t = .3
			}
			z := math.Log(model[i].get(name)/want) / t
			if math.IsNaN(z) || math.IsInf(z, 0) {
				z = 3
			}
			sum += min(z*z, 9)
			n++
		}
	}
	return sum, n
}
