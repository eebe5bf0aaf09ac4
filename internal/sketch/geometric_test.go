package sketch

import (
	"math"
	"testing"
)

func TestGeometricMean(t *testing.T) {
	for name, draw := range distributions() {
		values := sample(draw, 3, 2000)
		sum := 0.0
		for _, v := range values {
			sum += math.Log(min(max(v, Smallest), Largest))
		}
		want := math.Exp(sum / float64(len(values)))
		if got := sketchOf(values).GeometricMean(); math.Abs(got/want-1) > Error {
			t.Errorf("%s: %g, want %g within %g", name, got, want, Error)
		}
	}
}

func TestGeometricMeanOfFew(t *testing.T) {
	if got := (&Sketch{}).GeometricMean(); !math.IsNaN(got) {
		t.Errorf("of nothing: %g, want NaN", got)
	}
	if got := sketchOf([]float64{0.25}).GeometricMean(); math.Abs(got-0.25) > 1e-12 {
		t.Errorf("of one value: %g, want that value", got)
	}
	if got := sketchOf([]float64{0, 1}).GeometricMean(); math.Abs(got/math.Sqrt(Smallest)-1) > Error {
		t.Errorf("of 0 and 1: %g, want √Smallest", got)
	}
}
