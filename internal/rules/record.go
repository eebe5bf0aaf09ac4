package rules

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/common/model"

	"synthetic/internal/sidecar/metrics"
	"synthetic/internal/slo"
)

// perSLO returns the labels of records of objectives.
func perSLO() []string { return append(perJob(), metrics.LabelSLO) }

// recordBudgets records the error budget of each SLO, so that one rule serves all. It exists if
// a prober has the SLO, or had it within a day.
func recordBudgets(objectives []objective) []rule {
	var rules []rule
	for _, o := range objectives {
		r := record(RecordBudget, fmt.Sprintf("%s * group by (%s) (last_over_time(%s[1d]))", num(o.Budget()), metrics.LabelSLO, matchers{equals(metrics.LabelSLO, o.Name)}.on(metrics.SLOObjective)))
		r.Labels = o.labels()
		rules = append(rules, r)
	}
	return rules
}

// perBudget divides a share of bad turns by the allowed share.
func perBudget(share string) string {
	return share + "\n/ on (" + metrics.LabelSLO + ") group_left (" + labelSLI + ", " + metrics.LabelTurn + ") " + RecordBudget
}

// longest is the longest window of scraped samples. Longer windows sum recorded rates, because
// samples of days are expensive to read.
const longest = time.Hour

// recordRates records both counters of all objectives as rates, so that sums weigh each turn
// equally. The comparison drops NaN, which would spoil a sum for a whole window.
func recordRates() []rule {
	fast := func(metric string) string { return rate(perSLO(), metric, 5*time.Minute) + " >= 0" }
	return []rule{
		record(recordViolationsRate, fast(metrics.SLOViolations)),
		record(recordTurnsRate, fast(metrics.SLOTurns)),
	}
}

// sumInterval is how often rates are summed for windows of weeks.
const sumInterval = 10 * time.Minute

func recordSums() []rule {
	return []rule{
		record(recordViolationsSum, summed(recordViolationsRate, sumInterval)),
		record(recordTurnsSum, summed(recordTurnsRate, sumInterval)),
	}
}

func summed(series string, window time.Duration) string {
	return fmt.Sprintf("sum_over_time(%s[%s])", series, slo.FormatDuration(window))
}

// recordWindows records the burn rate and the number of bad turns of each window.
func recordWindows(windows []time.Duration) []rule {
	var rules []rule
	for _, w := range windows {
		count := increase(perSLO(), metrics.SLOViolations, w)
		bad, on, all := RecordViolations(w), " on ("+strings.Join(perSLO(), ", ")+")", increase(perSLO(), metrics.SLOTurns, w)
		if w > longest {
			bad, on, all = summed(recordViolationsRate, w), "", summed(recordTurnsRate, w)
			count = fmt.Sprintf("round(%g * %s)", slowInterval.Seconds(), bad)
		}
		rules = append(rules, record(RecordViolations(w), count), record(RecordBurnRate(w), perBudget(ratio(bad, on, all))))
	}
	return rules
}

// windows returns the windows of the tiers of a severity, in order.
func windows(objectives []objective, s slo.Severity) []time.Duration {
	var all []time.Duration
	for _, o := range objectives {
		for _, fit := range o.fits {
			for _, t := range fit.tiers(s) {
				all = append(all, t.Short, t.Long)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// recordBudget records the remaining error budgets.
func (in Input) recordBudget() rule {
	left := in.byWindow(func(self matchers, window time.Duration) string {
		return "1 -\n" + perBudget(ratio(summed(self.on(recordViolationsSum), window), "", summed(self.on(recordTurnsSum), window)))
	})
	return record(RecordBudgetRemaining, left)
}

// byWindow joins an expression for each window of the objectives.
func (in Input) byWindow(expr func(self matchers, window time.Duration) string) string {
	var parts []string
	periods := slo.Periods(in.SLOs)
	for _, p := range periods {
		self := matchers{oneOf(metrics.LabelSLO, p.Names)}
		if len(periods) == 1 {
			self = nil
		}
		parts = append(parts, expr(self, p.Window))
	}
	return strings.Join(parts, "\nor\n")
}

// ratio divides two sums, without a result if there are no turns. It matches on the labels of
// both, because rulers may add labels to recorded series.
func ratio(part, on, whole string) string {
	return part + "\n/" + on + "\n(" + whole + " > 0)"
}

// budgetExhausted is a ticket: the faults that spent the budget fired their own alerts. A
// history shorter than the window counts for its part of the window, so that a bad first hour
// does not spend a month.
func (in Input) budgetExhausted() rule {
	return rule{
		Alert: AlertBudgetExhausted, Severity: slo.Ticket, For: model.Duration(15 * time.Minute),
		Expr: parenthesised(in.byWindow(func(self matchers, window time.Duration) string {
			return fmt.Sprintf("%s <= 0\nand on (target, workload, slo)\n(1 - %s)\n* on (target, workload, slo) count_over_time(%s[%s]) / %s >= 1",
				self.on(RecordBudgetRemaining), self.on(RecordBudgetRemaining), self.on(recordTurnsSum), slo.FormatDuration(window), num(float64(window/sumInterval)))
		})) + "\n" + andConfigured,
		Summary:     "{{ $labels.target }}/{{ $labels.workload }}: the error budget of SLO {{ $labels.slo }} is spent",
		Description: "The bad turns are more than the whole error budget of the objective; {{ $value | humanizePercentage }} of it is left.",
		Dashboard:   dashboardTarget,
	}
}
