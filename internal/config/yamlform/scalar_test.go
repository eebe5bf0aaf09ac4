package yamlform

import (
	"testing"
	"time"
)

func TestDuration(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"250ms":   250 * time.Millisecond,
		"1h30m":   90 * time.Minute,
		"30d":     720 * time.Hour,
		"0s":      0,
		"1s500ms": 1500 * time.Millisecond,
	} {
		var d duration
		if m := d.Parse("!!str", text); m != nil || time.Duration(d) != want {
			t.Errorf("%q: got %v, %+v, want %v", text, d, m, want)
		}
	}
	for _, text := range []string{"", "0", "-1s", "1", "1.5s", "1us", "ms", "1 s", "1s1h", "300y"} {
		var d duration
		if m := d.Parse("!!str", text); m == nil {
			t.Errorf("%q: got %v, want a mistake", text, d)
		}
	}
}

// TestShare checks that a percentage is exactly the double of its decimal fraction, because objectives are
// compared and printed.
func TestShare(t *testing.T) {
	for text, want := range map[string]float64{
		"99%": 0.99, "99 %": 0.99, "99.9%": 0.999, "99.99%": 0.9999, "0.1%": 0.001,
		"0.995": 0.995, ".5": 0.5, "5e-1": 0.5,
	} {
		var s Share
		if m := s.Parse("!!str", text); m != nil || float64(s) != want {
			t.Errorf("%q: got %v, %+v, want %v", text, float64(s), m, want)
		}
	}
	for _, text := range []string{"", "%", "0", "0%", "1", "100%", "99", "-5%", "101%", "1e9", "nan", "inf", "nan%", "0x1p-2%", "99%%"} {
		var s Share
		if m := s.Parse("!!str", text); m == nil {
			t.Errorf("%q: got %v, want a mistake", text, float64(s))
		}
	}
}
