package sweep

import (
	"slices"
	"testing"

	"synthetic/internal/study/runfile"
)

// TestBracket simulates searches over eight levels. Each level has one outcome: "p" passed
// while bracketing, "m" proven to meet the objectives, "u" undecided, "x" missed, and "f"
// passed while bracketing but undecided when it must be proven.
func TestBracket(t *testing.T) {
	for _, c := range []struct {
		levels string
		visits []int
	}{
		{"pppppppp", []int{3, 5, 6, 7}},
		{"mmmmxxxx", []int{3, 5, 4}},
		{"pppxxxxx", []int{3, 1, 2}},
		{"ppppxxxx", []int{3, 5, 4, 3}},       // the answer was only passed
		{"pppfxxxx", []int{3, 5, 4, 3, 1, 2}}, // and is not confirmed
		{"pppuxxxx", []int{3, 1, 2, 5, 4}},    // 4 misses, as in a grid
		{"pppuuuxx", []int{3, 1, 2, 5, 6}},    //
		{"uuuuuuuu", []int{3, 1, 0, 5, 6, 7}}, // no level is proven
		{"xxxxxxxx", []int{3, 1, 0}},          //
		{"fxxxxxxx", []int{3, 1, 0}},          //
		{"pppuumuu", []int{3, 1, 2, 5, 6, 7}}, // contradictory outcomes, but it ends
		{"fffffffx", []int{3, 5, 6, 7, 6, 5, 4, 3, 1, 2, 1, 0}},
	} {
		b := newBracket(0, len(c.levels))
		var visits []int
		for len(visits) < 20 {
			level, a, ok := b.next()
			if !ok {
				break
			}
			visits = append(visits, level)
			b.record(level, outcome(c.levels[level], a))
		}
		if !slices.Equal(visits, c.visits) {
			t.Errorf("%s: visits %v, want %v", c.levels, visits, c.visits)
		}
	}
}

// outcome returns the verdict on a level for a purpose.
func outcome(kind byte, p purpose) *runfile.LevelVerdict {
	v := &runfile.LevelVerdict{Decided: runfile.DecidedEarly, Standing: runfile.Missed}
	switch {
	case kind == 'm', kind == 'p' && p == confirming:
		v.Standing = runfile.Met
	case kind == 'p', kind == 'f' && p == bracketing:
		v.Standing, v.Decided = runfile.Undecided, runfile.DecidedProvisional
	case kind == 'u', kind == 'f':
		v.Standing = runfile.Undecided
	}
	return v
}
