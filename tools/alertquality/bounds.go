package main

import (
	"fmt"
	"slices"
	"strings"

	"synthetic/internal/backtest"
)

// bound is something that is promised of some worlds.
type bound struct {
	what   string
	worlds func(name string) bool
	// value is what came out, as a number to compare and as text; false where
	// nothing did.
	value func(backtest.Score) (v float64, text string, ok bool)
	least bool // the bound is one from below
	at    float64
}

// hardest are the worlds of which less is promised, and untold those whose level
// moves by as much as a small regression does.
func hardest() []string { return []string{"neighbours", "wander-1h", "wander-6h"} }
func untold() []string  { return []string{"wander-1h", "wander-6h"} }

func in(names ...string) func(string) bool {
	return func(name string) bool { return slices.Contains(names, name) }
}

func notIn(names ...string) func(string) bool {
	return func(name string) bool { return !slices.Contains(names, name) }
}

// bounds are all that is promised.
func bounds() []bound {
	steady := []string{"quiet", "typical"}
	all := notIn()
	return []bound{
		{"pages for nothing in 30 days, at most 0.5", in(steady...), nothing, false, 0.5},
		{"their upper bound, at most 1", in(steady...), upper, false, 1},
		{"pages for nothing in 30 days, at most 2", notIn(append(hardest(), steady...)...), nothing, false, 2},
		{"their upper bound, at most 4", notIn(append(hardest(), steady...)...), upper, false, 4},
		{"pages for nothing in 30 days, at most 4", in(hardest()...), nothing, false, 4},
		{"no page for nothing longer than 2 h", all, func(s backtest.Score) (float64, string, bool) {
			return s.LongestFalse, fmt.Sprintf("%.1f h", s.LongestFalse), true
		}, false, 2},
		{"TTFT ×3 found, at least 99 %", all, recall("TTFT ×3"), true, 0.99},
		{"TTFT ×3, median at most 3 min", all, median("TTFT ×3"), false, 3},
		{"TTFT ×2 found, at least 98 %", all, recall("TTFT ×2"), true, 0.98},
		{"TTFT ×2, median at most 6 min", all, median("TTFT ×2"), false, 6},
		{"TTFT ×1.5 found by a page or a ticket, at least 90 %", notIn(untold()...), recall("TTFT ×1.5"), true, 0.9},
		{"TTFT ×1.5, median at most 15 min", notIn(untold()...), median("TTFT ×1.5"), false, 15},
		{"TTFT ×1.3 found by a page or a ticket within an hour, at least 80 %", in("quiet", "typical", "autoscale", "weekend"), recall("TTFT ×1.3"), true, 0.8},
		{"an outage, median at most 1.5 min", all, median("outage"), false, 1.5},
		{"pages per incident, at most 1.05", all, calls, false, 1.05},
	}
}

// boundsTable lays every bound beside the worlds that miss it.
func boundsTable(r backtest.Report) string {
	var b strings.Builder
	b.WriteString("| Promised | Held in | Missed in |\n|---|---|---|\n")
	for _, one := range bounds() {
		held, all := 0, 0
		var missed []string
		for _, name := range r.Models() {
			v, text, ok := one.value(of(r, name))
			if !one.worlds(name) || !ok {
				continue
			}
			all++
			if v == one.at || v > one.at == one.least {
				held++
			} else {
				missed = append(missed, name+" ("+text+")")
			}
		}
		fmt.Fprintf(&b, "| %s | %d of %d | %s |\n", one.what, held, all, strings.Join(missed, ", "))
	}
	return b.String()
}

func nothing(s backtest.Score) (float64, string, bool) {
	return figure(s.AllFalsePages.Per30Days, "%.2f")
}

func upper(s backtest.Score) (float64, string, bool) {
	return figure(s.AllFalsePages.Per30DaysHigh, "%.2f")
}

func figure(v *float64, format string) (float64, string, bool) {
	if v == nil {
		return 0, "", false
	}
	return *v, fmt.Sprintf(format, *v), true
}

// recall is the share of a fault that was found, by a page, or by either where
// that is what is promised.
func recall(fault string) func(backtest.Score) (float64, string, bool) {
	return func(s backtest.Score) (float64, string, bool) {
		f, ok := faultOf(s, fault)
		v := f.Recall
		if small(fault) {
			v = f.RecallEither
		}
		return v, fmt.Sprintf("%.0f %% of %d", 100*v, f.Incidents), ok
	}
}

// median is that of the minutes to find a fault.
func median(fault string) func(backtest.Score) (float64, string, bool) {
	return func(s backtest.Score) (float64, string, bool) {
		f, ok := faultOf(s, fault)
		v := f.MedianToPage
		if small(fault) {
			v = f.MedianToEither
		}
		if v == nil {
			return 1e9, "–", ok
		}
		return *v / 60, fmt.Sprintf("%.1f min", *v/60), ok
	}
}

// small says that a ticket is enough for a fault.
func small(fault string) bool {
	return strings.Contains(fault, "×1.5") || strings.Contains(fault, "×1.3")
}

// calls are the pages per incident that had any, over all faults.
func calls(s backtest.Score) (float64, string, bool) {
	pages, incidents := 0.0, 0.0
	for _, f := range s.Faults {
		if f.PagesPerIncident != nil {
			n := f.Recall * float64(f.Incidents)
			pages, incidents = pages+*f.PagesPerIncident*n, incidents+n
		}
	}
	return pages / max(1, incidents), fmt.Sprintf("%.2f", pages/max(1, incidents)), incidents > 0
}

func faultOf(s backtest.Score, fault string) (backtest.FaultScore, bool) {
	i := slices.IndexFunc(s.Faults, func(f backtest.FaultScore) bool { return f.Fault == fault })
	if i < 0 {
		return backtest.FaultScore{}, false
	}
	return s.Faults[i], true
}
