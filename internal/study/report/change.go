package report

import (
	"fmt"
	"math"
	"strings"

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
	return signed(100*(ratio-1), decimals, "+")
}

// signed formats percent with at most three digits, "0%" for a value that rounds to 0.
func signed(percent float64, decimals int, plus string) string {
	text := figures.Digits(math.Abs(percent), decimals)
	switch {
	case strings.Trim(text, "0.") == "":
		return "0%"
	case percent < 0:
		return "-" + text + "%"
	}
	return plus + text + "%"
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
		return signed(percent, 1, "")
	case percent > 0:
		return formatChange(ratio, 0) + " better"
	}
	return formatChange(ratio, 0) + " worse"
}

// factor formats a factor with at most three digits, and as "1e+06" from a million on.
func factor(v float64, decimals int) string {
	if v >= 1e6 {
		return fmt.Sprintf("%.0e", v)
	}
	return figures.Digits(v, decimals)
}
