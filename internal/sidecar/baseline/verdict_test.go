package baseline

import (
	"testing"
	"time"
)

// TestSinceIsTheFirstSlowMinute: a regression that begins at some second of a minute is said to have begun in that
// minute or the next one, and with few turns at most two minutes later.
func TestSinceIsTheFirstSlowMinute(t *testing.T) {
	for _, tt := range []struct {
		every time.Duration
		ratio float64
		late  time.Duration
	}{{5 * time.Second, 6, time.Minute}, {15 * time.Second, 2, 2 * time.Minute}, {30 * time.Second, 1.5, 2 * time.Minute}} {
		for seconds := 0; seconds < 60; seconds += 10 {
			f := newFeed(options{})
			f.every, f.spread = tt.every, 0.1
			f.run(2*day + time.Duration(seconds)*time.Second)
			began := f.now
			f.ratio = tt.ratio
			f.until(20*time.Minute, pages)
			if late := f.view().Since.Sub(began.Truncate(time.Minute)); late < 0 || late > tt.late {
				t.Errorf("a turn every %v, ×%v: began at %s, said to have begun at %s", tt.every, tt.ratio, began.Format(time.TimeOnly), f.view().Since.Format(time.TimeOnly))
			}
		}
	}
}
