package sweep

import (
	"strings"
	"testing"

	"synthetic/internal/fleet"
)

// TestOrder lists the order of cells: variant, level, repetition.
func TestOrder(t *testing.T) {
	two := []fleet.Variant{{Name: "A"}, {Name: "B"}}
	three := append(two, fleet.Variant{Name: "C"})
	for name, c := range map[string]struct {
		plan fleet.Plan
		want string
	}{
		"one":         {fleet.Plan{Variants: two[:1], Levels: []float64{1, 2}, Repetitions: 2}, "A1.1 A2.1 A1.2 A2.2"},
		"interleaved": {fleet.Plan{Variants: two, Levels: []float64{1, 2, 3}, Repetitions: 2}, "A1.1 B1.1 B2.1 A2.1 A3.1 B3.1 B1.2 A1.2 A2.2 B2.2 B3.2 A3.2"},
		"three":       {fleet.Plan{Variants: three, Levels: []float64{1, 2}, Repetitions: 1}, "A1.1 B1.1 C1.1 C2.1 B2.1 A2.1"},
		"blocks":      {fleet.Plan{Variants: two, Levels: []float64{1, 2}, Repetitions: 2, Order: fleet.Blocks}, "A1.1 A2.1 B1.1 B2.1 B1.2 B2.2 A1.2 A2.2"},
	} {
		var got []string
		for _, cell := range Cells(c.plan) {
			got = append(got, c.plan.Variants[cell.Variant].Name+formatLevel(c.plan.Levels[cell.Level])+"."+formatLevel(float64(cell.Repetition)))
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", name, s, c.want)
		}
	}
}

func TestSeeds(t *testing.T) {
	p := fleet.Plan{Seed: 1, Variants: []fleet.Variant{{Name: "A"}, {Name: "B"}}, Levels: []float64{1, 2}, Repetitions: 2}
	if seedOf(p, cell{0, 0, 1}) != seedOf(p, cell{1, 0, 1}) {
		t.Error("variants are asked differently")
	}
	seen := map[uint64]bool{}
	for _, c := range []cell{{0, 0, 1}, {0, 1, 1}, {0, 0, 2}, {0, 1, 2}} {
		seen[seedOf(p, c)] = true
	}
	if len(seen) != 4 {
		t.Error("levels or repetitions share a seed")
	}
	if got := cellName(p, cell{1, 1, 2}); got != "B-c2-r2" {
		t.Errorf("name %q", got)
	}
}
