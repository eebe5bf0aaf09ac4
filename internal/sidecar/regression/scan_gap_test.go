package regression

import (
	"math"
	"testing"
)

// TestScanAfterAGap: the first turns after hours without any are no mean over them.
func TestScanAfterAGap(t *testing.T) {
	var s scan
	for m := int64(10_000); m < 10_300; m++ {
		s.push(m, 10, 0, 0)
	}
	s.push(10_360, 10, 10*math.Log(2), 0) // an hour later
	for _, w := range spanTable() {
		rise := s.read(w).rise
		if short := w.minutes < 5; !short && w.minutes < 120 && !math.IsInf(rise, -1) {
			t.Errorf("a window of %d minutes shows %v after a minute of turns", w.minutes, rise)
		}
	}
	for m := int64(10_361); m < 10_372; m++ {
		s.push(m, 10, 10*math.Log(2), 0)
	}
	if rise := s.read(span{12, false}).rise; math.Abs(rise-math.Log(2)) > 1e-9 {
		t.Errorf("after twelve minutes their window shows %v", rise)
	}
}
