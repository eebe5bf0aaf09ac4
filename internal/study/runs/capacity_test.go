package runs

import "testing"

func TestCapacitySentence(t *testing.T) {
	at := func(l float64) *float64 { return &l }
	for _, c := range []struct {
		capacity Capacity
		want     string
	}{
		{Capacity{Wanted: 0.95}, "unknown, no level was measured"},
		{Capacity{Wanted: 0.95, Visited: []float64{2}, Level: at(2), Confidence: 0.98437}, "rate 2/s meets the SLOs with a confidence of 98.4% (wanted 95%)"},
		{Capacity{Wanted: 0.999, Visited: []float64{0.5, 2}, Missed: at(0.5)}, "no rate is proven to meet the SLOs with the wanted confidence of 99.9%, rate 0.5/s misses them"},
		{
			Capacity{Wanted: 0.95, Visited: []float64{1, 2, 3, 4}, Level: at(1), Confidence: 0.99999, Undecided: []float64{2, 3}, Missed: at(4)},
			"rate 1/s meets the SLOs with a confidence of 99.9% (wanted 95%), rate 2/s and 3/s are undecided, rate 4/s misses them",
		},
	} {
		if got := c.capacity.Sentence(Rate); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}
