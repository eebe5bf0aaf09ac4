package rules

import (
	"fmt"
	"strings"

	"synthetic/internal/sidecar/metrics"
	"synthetic/internal/slo"
)

// unlessStarved is the expression of a rule. A page that names a target is held
// back while every prober of the job is starved, and for two minutes after: what
// they say of it may be their own doing. So is the ticket that an SLO judges no
// turn of it. That a prober ends no turns is said always: one that stands still
// after own faults would hide itself.
func unlessStarved(r rule) string {
	held := r.Severity == slo.Page && r.Alert != AlertProberSilent || r.Alert == AlertSLONoSamples
	if !held || !strings.Contains(r.Summary, "$labels."+metrics.LabelTarget) {
		return r.Expr
	}
	on, starved := strings.Join(perJob(), ", "), RecordStarved
	if target := r.Labels[metrics.LabelTarget]; target != "" { // an absence has no labels of its own
		on = ""
		starved = matchers{equals(metrics.LabelTarget, target), equals(metrics.LabelWorkload, r.Labels[metrics.LabelWorkload])}.on(RecordStarved)
	}
	return fmt.Sprintf("(\n%s\n)\nunless on (%s)\n%s", indent(r.Expr), on, starved)
}

// starvedText says how a prober is starved.
func starvedText() string {
	by := []string{"instance"}
	of := func(metric string) string { return fmt.Sprintf("%s{%s}", metric, same(by)) }
	return "In more than 5 % of the last minute's time it ran " +
		lookup(by, fmt.Sprintf("max(%s)", of(metrics.ProberLag)), "{{ . | first | value | humanizeDuration }}", "no") +
		" late or later, and it spoiled " +
		lookup(by, fmt.Sprintf("sum(rate(%s[5m])) / (sum(rate(%s[5m])) > 0)", of(metrics.TurnOwnFaults), of(metrics.Turns)), "{{ . | first | value | humanizePercentage }}", "none") +
		" of the turns of the last 5m."
}
