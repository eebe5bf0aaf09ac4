package main

import (
	"fmt"
	"slices"
	"strings"

	"synthetic/tools/alertquality/engine"
	"synthetic/tools/measured"
)

// bound is a limit that some worlds should keep.
type bound struct {
	what   string
	worlds func(name string) bool
	// value returns the measured value; ok is false without one.
	value   func(engine.Score) (v float64, ok bool)
	atLeast bool // the value should be at least the limit
	limit   float64
}

func in(names ...string) func(string) bool {
	return func(name string) bool { return slices.Contains(names, name) }
}

func notIn(names ...string) func(string) bool {
	return func(name string) bool { return !slices.Contains(names, name) }
}

func bounds() []bound {
	// The level of wander-1h moves as much as a small regression.
	const steady, busy, restless = "typical", "neighbours", "wander-1h"
	all := notIn()
	falsePages := func(s engine.Score) (float64, bool) { return s.False.Per30Days, true }
	upper := func(s engine.Score) (float64, bool) { return s.False.High, true }
	return []bound{
		{"false pages in 30 days of typical, at most 0.5", in(steady), falsePages, false, 0.5},
		{"upper end of its interval, at most 1", in(steady), upper, false, 1},
		{"false pages in 30 days of the others, at most 2", notIn(steady, busy, restless), falsePages, false, 2},
		{"upper end of their interval, at most 4", notIn(steady, busy, restless), upper, false, 4},
		{"false pages in 30 days of neighbours and wander-1h, at most 4", in(busy, restless), falsePages, false, 4},
		{"no false page longer than 2 h", all, func(s engine.Score) (float64, bool) { return s.LongestFalse, true }, false, 2},
		{"share of TTFT ×3 found, at least 0.99", all, share("TTFT ×3"), true, 0.99},
		{"TTFT ×3, median of at most 3 min", all, minutes("TTFT ×3"), false, 3},
		{"share of TTFT ×2 found, at least 0.98", all, share("TTFT ×2"), true, 0.98},
		{"TTFT ×2, median of at most 6 min", all, minutes("TTFT ×2"), false, 6},
		{"share of TTFT ×1.5 found by a page or a ticket, at least 0.9", notIn(restless), share("TTFT ×1.5"), true, 0.9},
		{"TTFT ×1.5, median of at most 15 min", notIn(restless), minutes("TTFT ×1.5"), false, 15},
		{"share of TTFT ×1.3 found by a page or a ticket within an hour, at least 0.8", in(steady, "autoscale", "weekend"), share("TTFT ×1.3"), true, 0.8},
		{"outage, median of at most 1.5 min", all, minutes("outage"), false, 1.5},
		{"pages per incident, at most 1.05", all, func(s engine.Score) (float64, bool) { return perIncident(s), len(s.Faults) > 0 }, false, 1.05},
	}
}

// boundsTable lists the worlds that miss each bound.
func boundsTable(scores []engine.Score) string {
	rows := [][]string{{"Bound", "Kept by", "Missed by"}}
	for _, b := range bounds() {
		kept, all := 0, 0
		var missed []string
		for _, s := range scores {
			v, ok := b.value(s)
			if !b.worlds(s.World) || !ok {
				continue
			}
			all++
			if v == b.limit || v > b.limit == b.atLeast {
				kept++
			} else {
				missed = append(missed, fmt.Sprintf("%s (%.2f)", s.World, v))
			}
		}
		rows = append(rows, []string{b.what, fmt.Sprintf("%d of %d", kept, all), strings.Join(missed, ", ")})
	}
	return measured.Table("---", rows...)
}

// share returns the share of incidents that were found.
func share(fault string) func(engine.Score) (float64, bool) {
	return func(s engine.Score) (float64, bool) {
		f, ok := faultOf(s, fault)
		found, _ := foundOf(f)
		return float64(found) / float64(max(1, f.Incidents)), ok
	}
}

// minutes returns the median time until a fault was found.
func minutes(fault string) func(engine.Score) (float64, bool) {
	return func(s engine.Score) (float64, bool) {
		f, ok := faultOf(s, fault)
		_, seconds := foundOf(f)
		return seconds / 60, ok
	}
}
