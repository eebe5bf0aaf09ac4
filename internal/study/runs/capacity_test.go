package runs

import "testing"

func TestCapacitySentence(t *testing.T) {
	at := func(l float64) *float64 { return &l }
	for _, c := range []struct {
		capacity Capacity
		want     string
	}{
		{Capacity{}, "not known"},
		{Capacity{Level: at(2)}, "at least rate 2/s"},
		{Capacity{Missed: at(0.5)}, "below rate 0.5/s"},
		{Capacity{Level: at(1), Undecided: []float64{2, 3}, Missed: at(4)}, "rate 1/s (rate 2/s and 3/s undecided, rate 4/s fails)"},
	} {
		if got := c.capacity.Sentence(Rate); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}
