package sweep

import (
	"fmt"
	"slices"
	"strconv"

	"synthetic/internal/probe/workload"
	"synthetic/internal/study/runfile"
)

// Cell is one measurement of one level of one variant.
type Cell struct {
	// Variant and Level are indices in the plan's lists.
	Variant, Level int
	// Repetition counts from 1.
	Repetition int
}

// Cells returns the whole grid in the order of measurement.
func (p Plan) Cells() []Cell {
	var cells []Cell
	for r := range max(p.Repetitions, 1) {
		if p.Order == Blocks {
			for _, v := range p.turn(r) {
				for l := range p.Levels {
					cells = append(cells, Cell{v, l, r + 1})
				}
			}
			continue
		}
		for l := range p.Levels {
			for _, v := range p.turn(l + r) {
				cells = append(cells, Cell{v, l, r + 1})
			}
		}
	}
	return cells
}

// turn returns the variants in order, reversed if n is odd.
func (p Plan) turn(n int) []int {
	order := make([]int, len(p.Variants))
	for i := range order {
		order[i] = i
	}
	if n%2 == 1 {
		slices.Reverse(order)
	}
	return order
}

// seed returns the seed of a cell. Variants share it, so they get the same conversations at the
// same times.
func (p Plan) seed(c Cell) uint64 {
	return workload.Hash("cell", strconv.FormatUint(p.Seed, 16), formatLevel(p.Levels[c.Level]), strconv.Itoa(c.Repetition))
}

// name returns the name of a cell for people and files: "kv-c50-r1".
func (p Plan) name(c Cell) string {
	letter := "c"
	if p.Kind == runfile.Rate {
		letter = "rate"
	}
	return fmt.Sprintf("%s-%s%s-r%d", p.Variants[c.Variant].Name, letter, formatLevel(p.Levels[c.Level]), c.Repetition)
}

func formatLevel(l float64) string { return strconv.FormatFloat(l, 'f', -1, 64) }
