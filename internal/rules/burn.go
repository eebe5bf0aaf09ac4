package rules

import (
	"fmt"
	"strings"
	"time"

	"github.com/prometheus/common/model"

	"synthetic/internal/slo"
)

// keepBurn bridges a prober restart, and hands a lost prober over to
// SyntheticProberSilent: without it a page would resolve as soon as its data
// end, in the middle of the fault.
const keepBurn = 15 * time.Minute

// keepFilled is the same where turns are plenty. It still outlasts the hand-over:
// the windows themselves hold for minutes after their data have ended.
const keepFilled = 4 * time.Minute

// lasting is the window that says whether a fault still lasts where turns are
// plenty, so that a page ends within minutes and not only when the half hour
// of a tier's short window has forgotten.
const lasting = 5 * time.Minute

// burnAlerts raises one alert per group of jobs. It has no waiting time: the
// long window is one, and the short window ends it.
func (f objective) burnAlerts(s slo.Severity) []rule {
	var alerts []rule
	for _, fit := range f.fits {
		var tiers []slo.Tier
		for _, t := range fit.plan.Tiers {
			if t.Severity == s {
				tiers = append(tiers, t)
			}
		}
		if len(tiers) > 0 {
			alerts = append(alerts, f.burnAlert(fit, s, tiers))
		}
	}
	return alerts
}

func (f objective) burnAlert(fit fit, s slo.Severity, tiers []slo.Tier) rule {
	a := rule{
		Alert: AlertSLOFastBurn, Severity: s, Keep: model.Duration(f.keep(fit, s, tiers)),
		Expr:    f.burning(fit, tiers),
		Summary: "{{ $labels.target }}/{{ $labels.workload }}: SLO {{ $labels.slo }} spends its error budget {{ $value | humanize }} times too fast",
		Description: fmt.Sprintf("Too many turns miss the objective that %s. At this pace the error budget lasts {{ $value | humanize }} times less than the %s it is for.",
			f.statement(), slo.Short(f.Window)),
		Turns:     f.turnLabels(),
		Windows:   explain(fit, tiers),
		Dashboard: dashboardTarget,
	}
	if s == slo.Ticket {
		a.Alert = AlertSLOSlowBurn
	}
	return a
}

// burning is true while any tier is; its value is the burn rate in the long
// window of the first that is.
func (f objective) burning(fit fit, tiers []slo.Tier) string {
	parts := make([]string, len(tiers))
	for i, t := range tiers {
		parts[i] = "(\n" + indent(f.tier(fit, t)) + "\n)"
	}
	return strings.Join(parts, "\nor\n")
}

func (f objective) tier(fit fit, t slo.Tier) string {
	self := f.self().with(fit.matchers...)
	budget, burn := num(f.Budget()), num(t.Burn)
	conditions := []string{
		fmt.Sprintf("%s / %s > %s", self.on(RecordErrorRatio(t.Long)), budget, burn),
		fmt.Sprintf("%s / %s > %s", self.on(RecordErrorRatio(t.Short)), budget, burn),
		fmt.Sprintf("%s >= %d", self.on(RecordViolations(t.Long)), t.MinBadLong),
		fmt.Sprintf("%s >= %d", self.on(RecordViolations(t.Short)), t.MinBadShort),
	}
	if t.Severity == slo.Page && t.Short > lasting && f.filled(fit, t) {
		conditions = append(conditions, fmt.Sprintf("%s / %s > %s", self.on(RecordErrorRatio(lasting)), budget, num(t.Burn/2)))
	}
	return strings.Join(conditions, "\nand\n")
}

// filled says that a fault which just crosses the threshold brings enough bad
// turns for the window that says whether it lasts.
func (f objective) filled(fit fit, t slo.Tier) bool {
	for _, j := range fit.Jobs {
		if j.judgedPerMinute(f.Objective)*lasting.Minutes()*t.Burn*f.Budget() < float64(t.MinBadLong) {
			return false
		}
	}
	return true
}

// keep is how long a burn alert fires on.
func (f objective) keep(fit fit, s slo.Severity, tiers []slo.Tier) time.Duration {
	for _, t := range tiers {
		if s != slo.Page || !f.filled(fit, t) {
			return keepBurn
		}
	}
	return keepFilled
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
