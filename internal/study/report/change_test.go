package report

import (
	"math"
	"testing"

	"synthetic/internal/study/figures"
)

// TestChange: a change is a percentage up to a factor of 5 either way, otherwise a factor. A
// fall never exceeds 100 %.
func TestChange(t *testing.T) {
	for _, tt := range []struct {
		ratio          float64
		whole, decimal string
	}{
		{1, "0%", "0%"},
		{1.001, "0%", "+0.1%"},
		{0.9999, "0%", "0%"},
		{1.48, "+48%", "+48.0%"},
		{0.898, "-10%", "-10.2%"},
		{2.95, "+195%", "+195%"},
		{4.99, "+399%", "+399%"},
		{5, "×5", "×5.0"},
		{31.6, "×32", "×31.6"},
		{3e7, "×3e+07", "×3e+07"},
		{0.21, "-79%", "-79.0%"},
		{0.2, "÷5", "÷5.0"},
		{0.01, "÷100", "÷100"},
		{0, "-100%", "-100%"},
		{-0.95, "n/a", "n/a"}, // what a change "by -195%" would be
		{math.NaN(), "n/a", "n/a"},
		{math.Inf(1), "×∞", "×∞"},
	} {
		if got := formatChange(tt.ratio, 0); got != tt.whole {
			t.Errorf("%g: %s, want %s", tt.ratio, got, tt.whole)
		}
		if got := formatChange(tt.ratio, 1); got != tt.decimal {
			t.Errorf("%g: %s, want %s", tt.ratio, got, tt.decimal)
		}
	}
}

// TestGain: no improvement is printed as -3064%.
func TestGain(t *testing.T) {
	for _, tt := range []struct {
		m       figures.Metric
		percent float64
		want    string
	}{
		{figures.TTFTP50, 17.94, "17.9%"}, {figures.TTFTP50, -12.7, "-12.7%"}, {figures.TTFTP50, -0.04, "0%"}, {figures.TTFTP50, -195, "+195% worse"},
		{figures.TTFTP50, -3064.5, "×32 worse"}, {figures.TTFTP50, 99, "÷100 better"},
		{figures.OutputTokensPerSecond, 10, "10.0%"}, {figures.OutputTokensPerSecond, 900, "×10 better"}, {figures.OutputTokensPerSecond, -90, "÷10 worse"},
	} {
		if got := formatGain(tt.m, tt.percent); got != tt.want {
			t.Errorf("%s by %g%%: %s, want %s", tt.m, tt.percent, got, tt.want)
		}
	}
}
