package baseline

import (
	"math"
	"testing"
)

// TestScanAfterAGap checks that the first turns after hours without turns do not fill a long
// window.
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
	if rise, want := s.read(span{12, false}).rise, math.Log(2)*120/(120+doubt); math.Abs(rise-want) > 1e-6 { // sums have single precision
		t.Errorf("after twelve minutes their window shows %v", rise)
	}
}

// TestFewTurnsAreDoubted checks that one turn is no level, and that the visible mean of a
// window grows with the number of turns.
func TestFewTurnsAreDoubted(t *testing.T) {
	last := 0.0
	for _, turns := range []float64{1, 3, 30, 300} {
		var s scan
		s.push(10_000, 1, 0, 0) // something before the window
		for m := int64(10_010); m < 10_013; m++ {
			s.push(m, turns/3, turns/3*math.Log(3), 0)
		}
		rise := s.read(span{3, false}).rise
		if rise <= last || rise >= math.Log(3) {
			t.Errorf("%v turns of three times the usual show %v, fewer %v", turns, rise, last)
		}
		last = rise
	}
	if last < 0.98*math.Log(3) {
		t.Errorf("300 turns show %v", last)
	}
}

// TestBurstIsNoTail checks that slow turns within a few minutes do not count as a growing tail,
// wherever they lie in the window, and that the same number spread over the window does.
func TestBurstIsNoTail(t *testing.T) {
	for begin := range int64(tailMinutes) {
		var s scan
		for m := range int64(tailMinutes) {
			slow := 0.0
			if m >= begin && m < begin+4 {
				slow = 5
			}
			s.push(10_000+m, 10, 0, slow)
		}
		if share, _ := s.tailShare(); share > 0.03 {
			t.Errorf("a burst of four minutes from minute %d is a share of %v", begin, share)
		}
	}
	var s scan
	for m := range int64(tailMinutes) {
		s.push(10_000+m, 10, 0, 1)
	}
	if share, n := s.tailShare(); math.Abs(share-0.1) > 1e-9 || n != 20 {
		t.Errorf("a turn in ten is a share of %v of %v turns", share, n)
	}
}
