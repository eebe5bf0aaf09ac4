//go:build e2e

package e2e

import (
	"slices"
	"testing"
)

// each returns one figure of all turns that have it.
func each(all []turn, figure func(turn) *float64) []float64 {
	var out []float64
	for _, t := range all {
		if v := figure(t); v != nil {
			out = append(out, *v)
		}
	}
	return out
}

func ttft(t turn) *float64 { return t.TTFT }
func itl(t turn) *float64  { return t.ITLp50 }
func tpot(t turn) *float64 { return t.TPOT }

func mean(v []float64) float64 {
	var sum float64
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}

func median(v []float64) float64 {
	s := slices.Sorted(slices.Values(v))
	return s[len(s)/2]
}

// meanGap is the mean time between tokens over all turns, weighted by tokens, like a
// server's counters of decode time and tokens give it.
func meanGap(all []turn) float64 {
	var seconds, gaps float64
	for _, t := range all {
		n := float64(*t.OutputTokens - 1)
		seconds += *t.TPOT * n
		gaps += n
	}
	return seconds / gaps
}

// within logs a figure and fails the test unless low <= got <= high.
func within(t *testing.T, figure string, got, low, high float64) {
	t.Helper()
	t.Logf("%s: %.2f ms (allowed %.2f to %.2f)", figure, got*1e3, low*1e3, high*1e3)
	if !(got >= low && got <= high) {
		t.Errorf("%s: %.2f ms, want %.2f to %.2f ms", figure, got*1e3, low*1e3, high*1e3)
	}
}
