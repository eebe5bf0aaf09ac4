package rules

import (
	"fmt"
	"strings"
	"time"

	"github.com/prometheus/prometheus/model/rulefmt"

	"synthetic/internal/slo"
)

// keepBurn bridges a prober restart, and hands a lost prober over to
// SyntheticProberSilent: without it a page would resolve as soon as its data
// end, in the middle of the fault.
const keepBurn = 15 * time.Minute

// burnAlerts raises one alert per group of jobs. It has no waiting time: the
// long window is one, and the short window ends it.
func (f objective) burnAlerts(s slo.Severity) []rulefmt.Rule {
	var rules []rulefmt.Rule
	for _, fit := range f.fits {
		var tiers []slo.Tier
		for _, t := range fit.plan.Tiers {
			if t.Severity == s {
				tiers = append(tiers, t)
			}
		}
		if len(tiers) > 0 {
			rules = append(rules, f.in.rule(f.burnAlert(fit, s, tiers)))
		}
	}
	return rules
}

func (f objective) burnAlert(fit fit, s slo.Severity, tiers []slo.Tier) alert {
	a := alert{
		name: AlertSLOFastBurn, severity: s, keep: keepBurn,
		expr:    f.burning(fit.matchers, tiers),
		summary: "{{ $labels.target }}/{{ $labels.workload }}: SLO {{ $labels.slo }} spends its error budget {{ $value | humanize }} times too fast",
		description: fmt.Sprintf("Too many turns miss the objective that %s. At this pace the error budget lasts {{ $value | humanize }} times less than the %s it is for.",
			f.statement(), slo.Short(f.Window)),
		windows:   explain(fit, tiers),
		dashboard: dashboardTarget,
	}
	if s == slo.Ticket {
		a.name = AlertSLOSlowBurn
	}
	return a
}

// burning is true while any tier is; its value is the burn rate in the long
// window of the first that is.
func (f objective) burning(jobs matchers, tiers []slo.Tier) string {
	parts := make([]string, len(tiers))
	for i, t := range tiers {
		parts[i] = "(\n" + indent(f.tier(jobs, t)) + "\n)"
	}
	return strings.Join(parts, "\nor\n")
}

func (f objective) tier(jobs matchers, t slo.Tier) string {
	self := f.self().with(jobs...)
	budget, burn := num(f.Budget()), num(t.Burn)
	return strings.Join([]string{
		fmt.Sprintf("%s / %s > %s", self.on(RecordErrorRatio(t.Long)), budget, burn),
		fmt.Sprintf("%s / %s > %s", self.on(RecordErrorRatio(t.Short)), budget, burn),
		fmt.Sprintf("%s >= %d", self.on(RecordViolations(t.Long)), t.MinBadLong),
		fmt.Sprintf("%s >= %d", self.on(RecordViolations(t.Short)), t.MinBadShort),
	}, "\nand\n")
}

// explain says when an alert fires, and how that differs from the usual.
func explain(fit fit, tiers []slo.Tier) string {
	parts := make([]string, len(tiers))
	for i, t := range tiers {
		parts[i] = fmt.Sprintf("%s× over %s and %s (%s %% of the budget; at least %d and %d bad turns)",
			num(t.Burn), slo.Short(t.Long), slo.Short(t.Short), percent(t.Share), t.MinBadLong, t.MinBadShort)
	}
	return strings.Join(append([]string{"Fires at " + strings.Join(parts, ", or at ") + "."}, fit.notes(tiers[0].Severity)...), " ")
}

// percent writes a share in percent with at most one digit after the point.
func percent(x float64) string { return strings.TrimSuffix(fmt.Sprintf("%.1f", x*100), ".0") }

func indent(s string) string { return "  " + strings.ReplaceAll(s, "\n", "\n  ") }
