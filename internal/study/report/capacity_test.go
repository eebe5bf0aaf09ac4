package report

import (
	"testing"

	"synthetic/internal/study/runs"
)

func TestCapacitySentence(t *testing.T) {
	at := func(l float64) *Level { return &Level{At: l} }
	for _, c := range []struct {
		capacity capacity
		want     string
	}{
		{capacity{}, "not known"},
		{capacity{Meets: at(2)}, "at least rate 2/s"},
		{capacity{Fails: at(0.5)}, "below rate 0.5/s"},
		{capacity{Meets: at(1), Undecided: []float64{2, 3}, Fails: at(4)}, "rate 1/s (rate 2/s and 3/s undecided, rate 4/s fails)"},
	} {
		if got := c.capacity.Sentence(runs.Rate); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}
