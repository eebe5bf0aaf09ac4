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

func perSLO() []string { return append(perJob(), metrics.LabelSLO) }

// recordBudgets records the error budget of each SLO, which other rules divide by. The record exists if
// a prober has the SLO, or had it within a day.
func recordBudgets(objectives []objective) []rule {
	var rules []rule
	for _, o := range objectives {
		r := record(recordBudget, fmt.Sprintf("%s * group by (%s) (last_over_time(%s[1d]))", num(o.Budget()), metrics.LabelSLO, matchers{equals(metrics.LabelSLO, o.Name)}.selector(metrics.SLOObjective)))
		r.Labels = o.labels()
		rules = append(rules, r)
	}
	return rules
}

// perBudget divides a share of bad turns by the allowed share.
func perBudget(share string) string {
	return share + "\n/ on (" + metrics.LabelSLO + ") group_left (" + labelSLI + ", " + metrics.LabelTurn + ") " + recordBudget
}

// maxRawWindow is the longest window over scraped samples. Longer windows sum recorded rates, because
// samples of days are expensive to read.
const maxRawWindow = time.Hour

// recordRates records both counters of all objectives as rates. Sums over them weigh each turn equally.
// The comparison drops NaN, which would make the sum of a whole window NaN.
func recordRates() []rule {
	fast := func(metric string) string { return aggregate("sum", perSLO(), "rate("+metric+"[5m])") + " >= 0" }
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
		bad, on, all := recordViolations(w), " on ("+strings.Join(perSLO(), ", ")+")", increase(perSLO(), metrics.SLOTurns, w)
		if w > maxRawWindow {
			bad, on, all = summed(recordViolationsRate, w), "", summed(recordTurnsRate, w)
			count = fmt.Sprintf("round(%g * %s)", slowInterval.Seconds(), bad)
		}
		rules = append(rules, record(recordViolations(w), count), record(recordBurnRate(w), perBudget(ratio(bad, on, all))))
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

// recordBudget records what is left of the error budget, with a part for each window of the objectives.
func (in Input) recordBudget() rule {
	var parts []string
	periods := slo.Periods(in.SLOs)
	for _, p := range periods {
		self := matchers{oneOf(metrics.LabelSLO, p.Names)}
		if len(periods) == 1 {
			self = nil
		}
		parts = append(parts, "1 -\n"+perBudget(ratio(summed(self.selector(recordViolationsSum), p.Window), "", summed(self.selector(recordTurnsSum), p.Window))))
	}
	return record(recordBudgetRemaining, strings.Join(parts, "\nor\n"))
}

// ratio divides two sums, and has no result without turns. on limits the labels to match, because rulers
// may add labels to recorded series.
func ratio(part, on, whole string) string {
	return part + "\n/" + on + "\n(" + whole + " > 0)"
}

// noSamples is a ticket for an SLO that judges none of the finished turns, so that its burn rate alerts
// cannot fire. It leaves out classes of sizes, which may have no turn for long.
func (in Input) noSamples() rule {
	var parts, others []string
	for _, o := range in.SLOs {
		if o.Uncached != (slo.Tokens{}) {
			others = append(others, o.Name)
		}
	}
	turns := noneOf(metrics.LabelSLO, others).selector(metrics.SLOTurns)
	for _, c := range in.classes(time.Hour, 2) {
		parts = append(parts, fmt.Sprintf("%s == 0\nand on (%s)\n%s > 0%s", increase(perSLO(), turns, c.Window), onJob, increase(perJob(), metrics.Turns, c.Window), c.When()))
	}
	return rule{
		Alert: alertSLONoSamples, Severity: slo.Ticket, For: model.Duration(15 * time.Minute), Dashboard: TargetUID,
		Expr:        parenthesised(strings.Join(parts, "\nor\n")) + "\n" + andConfigured,
		Summary:     "{{ $labels.target }}/{{ $labels.workload }}: SLO {{ $labels.slo }} judges no turn",
		Description: "Turns end, but this SLO judges none of them, so its alerts cannot fire. Buffered turns have no TPOT.",
	}
}
