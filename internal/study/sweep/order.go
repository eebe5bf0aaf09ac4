package sweep

import (
	"fmt"
	"slices"
	"strconv"

	"synthetic/internal/probe/workload"
	"synthetic/internal/study/runfile"
)

// Cell is one level of one variant, measured once.
type Cell struct {
	// Variant and Level are places in the plan's lists.
	Variant, Level int
	// Repetition counts from 1.
	Repetition int
}

// Cells lists the whole grid in the order in which it is measured.
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

// turn lists the variants forwards, or backwards at odd turns.
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

// seed makes a cell's draws. Variants share it: they are asked the same at the
// same times.
func (p Plan) seed(c Cell) uint64 {
	return workload.Hash("cell", strconv.FormatUint(p.Seed, 16), formatLevel(p.Levels[c.Level]), strconv.Itoa(c.Repetition))
}

// name of a cell for people and file names: "kv-c50-r1".
func (p Plan) name(c Cell) string {
	letter := "c"
	if p.Kind == runfile.Rate {
		letter = "rate"
	}
	return fmt.Sprintf("%s-%s%s-r%d", p.Variants[c.Variant].Name, letter, formatLevel(p.Levels[c.Level]), c.Repetition)
}

func formatLevel(l float64) string { return strconv.FormatFloat(l, 'f', -1, 64) }
