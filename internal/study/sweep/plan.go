// Package sweep measures a deployment at several levels of load and returns the measurements as
// a runs.Run. It uses the prober and the objectives of production monitoring.
//
// A plan gives cells (a grid or a search). Each cell is a level, whose load.Loop starts
// conversations. The prober sends their events to the collector. A level ends early if its target is lost.
//
// run owns every goroutine and all files. A level belongs to one goroutine; its collector takes
// events from all conversations.
package sweep

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"synthetic/internal/fleet"
	"synthetic/internal/probe/workload"
	"synthetic/internal/study/runs"
)

const (
	// blocksPerSnapshot is the number of blocks in a snapshot. Their length is countedBlock if
	// the length of snapshots is unknown.
	blocksPerSnapshot           = 10
	countedBlock                = 10 * time.Second
	shortestBlock, longestBlock = time.Second, 30 * time.Second
)

func blockOf(p fleet.Plan) time.Duration {
	if p.Measure.Snapshot == 0 {
		return countedBlock
	}
	return min(max(p.Measure.Snapshot/blocksPerSnapshot, shortestBlock), longestBlock)
}

// KindOf returns the unit of a plan's levels.
func KindOf(p fleet.Plan) runs.LevelKind {
	if p.OpenLoop {
		return runs.Rate
	}
	return runs.Concurrency
}

// cell is one measurement of one level of one variant.
type cell struct {
	// Variant and Level are indices in the plan's lists.
	Variant    int `json:"variant"`
	Level      int `json:"level"`
	Repetition int `json:"repetition"` // counts from 1
}

// Cells returns the whole grid in the order of measurement.
func Cells(p fleet.Plan) []cell {
	var cells []cell
	for r := range max(p.Repetitions, 1) {
		if p.Order == fleet.Blocks {
			for _, v := range order(p, r) {
				for l := range p.Levels {
					cells = append(cells, cell{v, l, r + 1})
				}
			}
			continue
		}
		for l := range p.Levels {
			for _, v := range order(p, l+r) {
				cells = append(cells, cell{v, l, r + 1})
			}
		}
	}
	return cells
}

// turn returns the variants in order, reversed if n is odd.
func order(p fleet.Plan, n int) []int {
	order := make([]int, len(p.Variants))
	for i := range order {
		order[i] = i
	}
	if n%2 == 1 {
		slices.Reverse(order)
	}
	return order
}

// seed returns the seed of a cell. Variants share it, so they get the same conversations at the same times.
func seedOf(p fleet.Plan, c cell) uint64 {
	return workload.Hash("cell", strconv.FormatUint(p.Seed, 16), formatLevel(p.Levels[c.Level]), strconv.Itoa(c.Repetition))
}

// name returns the name of a cell for people and files: "kv-c50-r1".
func cellName(p fleet.Plan, c cell) string {
	letter := "c"
	if p.OpenLoop {
		letter = "rate"
	}
	return fmt.Sprintf("%s-%s%s-r%d", p.Variants[c.Variant].Name, letter, formatLevel(p.Levels[c.Level]), c.Repetition)
}

func formatLevel(l float64) string { return strconv.FormatFloat(l, 'f', -1, 64) }
