package report

import (
	"fmt"
	"math"

	"synthetic/internal/study/figures"
)

const largeRatio = 5

// formatChange formats the ratio of a value to its reference as a percentage with the given decimals
// ("+48%", "-10%") or, from a factor of 5 up or down, as that factor ("×32", "÷100"). A fall to
// 0 is "-100%". It returns "n/a" for NaN and negative ratios.
func formatChange(ratio float64, decimals int) string {
	switch {
	case math.IsNaN(ratio), ratio < 0:
		return "n/a"
	case math.IsInf(ratio, 1):
		return "×∞"
	case ratio == 0:
		return "-100%"
	case ratio >= largeRatio:
		return "×" + factor(ratio, decimals)
	case ratio <= 1.0/largeRatio:
		return "÷" + factor(1/ratio, decimals)
	}
	unit := math.Pow(10, float64(decimals))
	p := math.RoundToEven(100*(ratio-1)*unit) / unit
	if p == 0 {
		return "0%"
	}
	return fmt.Sprintf("%+.*f%%", decimals, p)
}

// formatGain formats the improvement over the baseline in percent: "17.9%", "-12.7%", "+195% worse",
// "×32 worse", "÷6 better".
func formatGain(m figures.Metric, percent float64) string {
	ratio := 1 + percent/100
	if m.Better() != figures.HigherIsBetter {
		ratio = 1 - percent/100
	}
	switch {
	case percent > -95 && ratio < largeRatio && ratio > 1.0/largeRatio:
		return fmt.Sprintf("%.1f%%", math.Round(10*percent)/10+0) // adding 0 makes −0 a 0
	case percent > 0:
		return formatChange(ratio, 0) + " better"
	}
	return formatChange(ratio, 0) + " worse"
}

// factor formats a factor with the given decimals, without decimals from 100 on, and as "1e+06"
// from a million on.
func factor(v float64, decimals int) string {
	switch {
	case v >= 1e6:
		return fmt.Sprintf("%.0e", v)
	case v >= 100:
		decimals = 0
	}
	return fmt.Sprintf("%.*f", decimals, v)
}
