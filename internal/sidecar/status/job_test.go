package status

import (
	"slices"
	"testing"
)

func TestKeep(t *testing.T) {
	for _, c := range []struct {
		most, added int
		want        []int
	}{
		{3, 0, nil},
		{3, 2, []int{1, 2}},
		{3, 3, []int{1, 2, 3}},
		{3, 4, []int{2, 3, 4}},
		{3, 8, []int{6, 7, 8}},
		{1, 2, []int{2}},
	} {
		var got []int
		for i := range c.added {
			got = appendBounded(got, i+1, c.most)
		}
		if !slices.Equal(got, c.want) || cap(got) > 2*c.most {
			t.Errorf("the last %d of %d: %v with room for %d, want %v", c.most, c.added, got, cap(got), c.want)
		}
	}
}
