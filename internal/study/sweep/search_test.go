package sweep

import (
	"slices"
	"testing"

	"synthetic/internal/study/runs"
)

// TestBracket bisects eight levels: "m" met, "u" undecided, "x" missed.
func TestBracket(t *testing.T) {
	for levels, want := range map[string][]int{
		"mmmmmmmm": {3, 5, 6, 7}, "mmmmxxxx": {3, 5, 4}, "mmmuxxxx": {3, 1, 2}, "xxxxxxxx": {3, 1, 0}, "uuuuuuuu": {3, 1, 0},
	} {
		b := &bracket{low: -1, high: len(levels)}
		var visits []int
		for level, ok := b.next(); ok; level, ok = b.next() {
			visits = append(visits, level)
			standing := map[byte]runs.Standing{'m': runs.Met, 'u': runs.Undecided, 'x': runs.Missed}[levels[level]]
			b.record(level, &runs.LevelVerdict{Standing: standing})
		}
		if !slices.Equal(visits, want) {
			t.Errorf("%s: visits %v, want %v", levels, visits, want)
		}
	}
}
