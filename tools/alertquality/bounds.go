package main

import (
	"fmt"
	"slices"
	"strings"

	"synthetic/tools/alertquality/engine"
)

// bound is a limit that some worlds should keep.
type bound struct {
	what   string
	worlds func(name string) bool
	// value returns the measured value as a number and as text. ok is false without a value.
	value   func(engine.Score) (v float64, text string, ok bool)
	atLeast bool // the value should be at least the limit
	limit   float64
}

// noisiest are the worlds with looser limits. unpredictable are the worlds whose level moves as
// much as a small regression.
func noisiest() []string      { return []string{"neighbours", "wander-1h", "wander-6h"} }
func unpredictable() []string { return []string{"wander-1h", "wander-6h"} }

func in(names ...string) func(string) bool {
	return func(name string) bool { return slices.Contains(names, name) }
}

func notIn(names ...string) func(string) bool {
	return func(name string) bool { return !slices.Contains(names, name) }
}

func bounds() []bound {
	steady := []string{"quiet", "typical"}
	all := notIn()
	return []bound{
		{"false pages in 30 days, at most 0.5", in(steady...), falsePages, false, 0.5},
		{"upper end of the interval, at most 1", in(steady...), upper, false, 1},
		{"false pages in 30 days, at most 2", notIn(append(noisiest(), steady...)...), falsePages, false, 2},
		{"upper end of the interval, at most 4", notIn(append(noisiest(), steady...)...), upper, false, 4},
		{"false pages in 30 days, at most 4", in(noisiest()...), falsePages, false, 4},
		{"no false page longer than 2 h", all, func(s engine.Score) (float64, string, bool) {
			return s.LongestFalse, fmt.Sprintf("%.1f h", s.LongestFalse), true
		}, false, 2},
		{"TTFT ×3 found, at least 99 %", all, recall("TTFT ×3"), true, 0.99},
		{"TTFT ×3, median at most 3 min", all, median("TTFT ×3"), false, 3},
		{"TTFT ×2 found, at least 98 %", all, recall("TTFT ×2"), true, 0.98},
		{"TTFT ×2, median at most 6 min", all, median("TTFT ×2"), false, 6},
		{"TTFT ×1.5 found by a page or a ticket, at least 90 %", notIn(unpredictable()...), recall("TTFT ×1.5"), true, 0.9},
		{"TTFT ×1.5, median at most 15 min", notIn(unpredictable()...), median("TTFT ×1.5"), false, 15},
		{"TTFT ×1.3 found by a page or a ticket within an hour, at least 80 %", in("quiet", "typical", "autoscale", "weekend"), recall("TTFT ×1.3"), true, 0.8},
		{"outage, median at most 1.5 min", all, median("outage"), false, 1.5},
		{"pages per incident, at most 1.05", all, pagesPerIncident, false, 1.05},
	}
}

// boundsTable lists the worlds that miss each bound.
func boundsTable(r engine.Report) string {
	var table strings.Builder
	table.WriteString("| Bound | Kept by | Missed by |\n|---|---|---|\n")
	for _, b := range bounds() {
		kept, all := 0, 0
		var missed []string
		for _, name := range r.Models() {
			v, text, ok := b.value(generatedScore(r, name, ""))
			if !b.worlds(name) || !ok {
				continue
			}
			all++
			if v == b.limit || v > b.limit == b.atLeast {
				kept++
			} else {
				missed = append(missed, name+" ("+text+")")
			}
		}
		fmt.Fprintf(&table, "| %s | %d of %d | %s |\n", b.what, kept, all, strings.Join(missed, ", "))
	}
	return table.String()
}

func falsePages(s engine.Score) (float64, string, bool) {
	return figure(s.AllFalsePages.Per30Days, "%.2f")
}

func upper(s engine.Score) (float64, string, bool) {
	return figure(s.AllFalsePages.Per30DaysHigh, "%.2f")
}

func figure(v *float64, format string) (float64, string, bool) {
	if v == nil {
		return 0, "", false
	}
	return *v, fmt.Sprintf(format, *v), true
}

// recall returns the share of incidents that were found: by a page, or for small faults by a
// page or a ticket.
func recall(fault string) func(engine.Score) (float64, string, bool) {
	return func(s engine.Score) (float64, string, bool) {
		f, ok := faultOf(s, fault)
		v := f.Recall
		if isSmall(fault) {
			v = f.RecallEither
		}
		return v, fmt.Sprintf("%.0f %% of %d", 100*v, f.Incidents), ok
	}
}

// median returns the median minutes until a fault was found.
func median(fault string) func(engine.Score) (float64, string, bool) {
	return func(s engine.Score) (float64, string, bool) {
		f, ok := faultOf(s, fault)
		v := f.MedianToPage
		if isSmall(fault) {
			v = f.MedianToEither
		}
		if v == nil {
			return 1e9, "–", ok
		}
		return *v / 60, fmt.Sprintf("%.1f min", *v/60), ok
	}
}

// isSmall reports whether a ticket is enough for a fault.
func isSmall(fault string) bool {
	return strings.Contains(fault, "×1.5") || strings.Contains(fault, "×1.3")
}

// pagesPerIncident returns the mean over the paged incidents of all faults.
func pagesPerIncident(s engine.Score) (float64, string, bool) {
	pages, incidents := 0.0, 0.0
	for _, f := range s.Faults {
		if f.PagesPerIncident != nil {
			n := f.Recall * float64(f.Incidents)
			pages, incidents = pages+*f.PagesPerIncident*n, incidents+n
		}
	}
	return pages / max(1, incidents), fmt.Sprintf("%.2f", pages/max(1, incidents)), incidents > 0
}

func faultOf(s engine.Score, fault string) (engine.FaultScore, bool) {
	i := slices.IndexFunc(s.Faults, func(f engine.FaultScore) bool { return f.Fault == fault })
	if i < 0 {
		return engine.FaultScore{}, false
	}
	return s.Faults[i], true
}
