package status

import (
	"slices"
	"testing"
)

func TestRing(t *testing.T) {
	for _, c := range []struct {
		size, added int
		want        []int
		full        bool
	}{
		{0, 3, []int{}, true},
		{3, 0, []int{}, false},
		{3, 2, []int{1, 2}, false},
		{3, 3, []int{1, 2, 3}, true},
		{3, 4, []int{2, 3, 4}, true},
		{3, 8, []int{6, 7, 8}, true},
		{1, 2, []int{2}, true},
	} {
		r := newRing[int](c.size)
		for i := range c.added {
			r.add(i + 1)
		}
		if got := r.all(); !slices.Equal(got, c.want) || r.full() != c.full {
			t.Errorf("%d added to a ring of %d: %v, full %v; want %v, %v", c.added, c.size, got, r.full(), c.want, c.full)
		}
	}
}
