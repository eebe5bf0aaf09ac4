package rules

import (
	"fmt"
	"time"

	"github.com/prometheus/common/model"

	"synthetic/internal/sidecar/metrics"
	"synthetic/internal/slo"
)

// recordWindows records, per window, the share of bad turns and their number.
func (f objective) recordWindows(windows []time.Duration) []rule {
	var rules []rule
	for _, w := range windows {
		rules = append(rules,
			record(RecordErrorRatio(w), ratio(
				f.self().rate(f.labels(), metrics.SLOViolations, w),
				f.self().rate(f.labels(), metrics.SLOTurns, w))),
			record(RecordViolations(w), f.self().increase(f.labels(), metrics.SLOViolations, w)))
	}
	return rules
}

// recordBudget records what is left of the error budget. A window of weeks of
// raw samples is dear to read, so both counters are recorded as rates first
// and those are summed: each turn weighs the same, however many there were. The
// comparison drops what is no number, of which one would spoil the sum for the
// whole window.
func (f objective) recordBudget() []rule {
	const window = 5 * time.Minute
	sum := func(series string) string {
		return fmt.Sprintf("sum_over_time(%s[%s])", f.self().on(series), slo.Short(f.Window))
	}
	rate := func(metric string) string { return f.self().rate(f.labels(), metric, window) + " >= 0" }
	spent := ratio(sum(recordViolationsRate), sum(recordTurnsRate))
	return []rule{
		record(recordViolationsRate, rate(metrics.SLOViolations)),
		record(recordTurnsRate, rate(metrics.SLOTurns)),
		record(RecordBudgetRemaining, fmt.Sprintf("1 - (\n%s\n) / %s", indent(spent), num(f.Budget()))),
	}
}

// ratio divides where there is something to divide by: without turns there is
// no ratio, neither 0 nor NaN.
func ratio(part, whole string) string {
	return part + "\n/\n(" + whole + " > 0)"
}

// budgetExhausted is a ticket: what spent the budget paged when it did. The
// remaining budget is that of the history there is; a short one weighs as much
// as it is of the window, so that a bad first hour does not spend a month.
func (f objective) budgetExhausted() rule {
	self, steps := f.self(), num(float64(f.Window/slowInterval))
	return rule{
		Alert: AlertBudgetExhausted, Severity: slo.Ticket, For: model.Duration(15 * time.Minute),
		Expr: fmt.Sprintf("%s <= 0\nand\n(1 - %s)\n* count_over_time(%s[%s]) / %s >= 1",
			self.on(RecordBudgetRemaining), self.on(RecordBudgetRemaining), self.on(recordTurnsRate), slo.Short(f.Window), steps),
		Summary:     "{{ $labels.target }}/{{ $labels.workload }}: the error budget of SLO {{ $labels.slo }} is spent",
		Description: fmt.Sprintf("The bad turns are more than the whole error budget of the objective that %s; {{ $value | humanizePercentage }} of it is left.", f.statement()),
		Turns:       f.turnLabels(),
		Dashboard:   dashboardTarget,
	}
}
