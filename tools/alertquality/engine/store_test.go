package engine

import (
	"testing"
	"time"

	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/storage"
)

// TestThinOut: short windows get every point; long ones get some hundreds, with the oldest
// point.
func TestThinOut(t *testing.T) {
	var points []promql.FPoint
	for at := int64(0); at < (72 * time.Hour).Milliseconds(); at += 15_000 {
		points = append(points, promql.FPoint{T: at, F: float64(at)})
	}
	for window, want := range map[time.Duration]int{0: len(points), time.Hour: len(points), 6 * time.Hour: 12 * 720, 72 * time.Hour: 720} {
		got := thinOut(points, &storage.SelectHints{Range: window.Milliseconds()})
		if len(got) != want || got[0] != points[0] {
			t.Errorf("a window of %s is given %d points from %v on, want %d", window, len(got), got[0], want)
		}
	}
	if got := thinOut(points, nil); len(got) != len(points) {
		t.Errorf("%d points without hints", len(got))
	}
}
