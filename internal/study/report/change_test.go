package report

import (
	"math"
	"testing"
)

// TestChange: a change is a percentage up to a factor of 5, otherwise a factor. A fall never exceeds 100 %.
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
		{2.95, "+195%", "+195.0%"},
		{4.99, "+399%", "+399.0%"},
		{5, "+5x", "+5.0x"},
		{31.6, "+32x", "+31.6x"},
		{3e7, "+3e+07x", "+3e+07x"},
		{0.21, "-79%", "-79.0%"},
		{0.2, "-80%", "-80.0%"},
		{0.01, "-99%", "-99.0%"},
		{0, "-100%", "-100.0%"},
		{-0.95, "n/a", "n/a"}, // what a change "by -195%" would be
		{math.NaN(), "n/a", "n/a"},
		{math.Inf(1), "+∞x", "+∞x"},
	} {
		if got := formatChange(tt.ratio, 0); got != tt.whole {
			t.Errorf("%g: %s, want %s", tt.ratio, got, tt.whole)
		}
		if got := formatChange(tt.ratio, 1); got != tt.decimal {
			t.Errorf("%g: %s, want %s", tt.ratio, got, tt.decimal)
		}
	}
}
