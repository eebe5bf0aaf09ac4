package rules

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"synthetic/internal/sidecar/metrics"
	"synthetic/internal/slo"
)

// outdated fires when the probers run with other objectives or targets than
// these rules were made from: then the alerts promise what nobody configured.
func (in Input) outdated() []alert {
	var alerts []alert
	for _, o := range in.SLOs {
		alerts = append(alerts, rulesOutdated("numbers of "+o.Name, otherNumbers(o),
			"SLO {{ $labels.slo }}: the probers run with other numbers than the rules",
			"The prober's objective, threshold or window of this SLO is {{ $value }}, which is not what the rules were generated from."))
	}
	names := make([]string, len(in.SLOs))
	for i, o := range in.SLOs {
		names[i] = o.Name
	}
	alerts = append(alerts, rulesOutdated("slo", unknownValues(metrics.SLOObjective, metrics.LabelSLO, names),
		"SLO {{ $labels.slo }} has no rules",
		"The probers judge turns by this SLO and no alert was generated for it."))
	targets := make([]string, len(in.Jobs))
	for i, j := range in.Jobs {
		targets[i] = j.Target
	}
	slices.Sort(targets)
	return append(alerts, rulesOutdated("target", unknownValues(metrics.SchedulerHeartbeat, metrics.LabelTarget, slices.Compact(targets)),
		"Target {{ $labels.target }} has no rules",
		"The probers send traffic to this target and no alert would notice if that stopped."))
}

func rulesOutdated(scope, expr, summary, description string) alert {
	return alert{
		name: AlertRulesOutdated, severity: slo.Ticket, labels: map[string]string{labelScope: scope},
		// A rollout of prober and rules is over by then.
		wait: 15 * time.Minute,
		expr: expr, summary: summary,
		description: description + " Generate the rules anew from the configuration that is running.",
		dashboard:   dashboardHealth,
	}
}

// otherNumbers is true while a prober exports other numbers for an SLO. It keeps
// the instance, for a rollout may have reached only some.
func otherNumbers(o slo.Objective) string {
	self := matchers{equals(metrics.LabelSLO, o.Name)}
	parts := []string{
		fmt.Sprintf("%s != %s", self.on(metrics.SLOObjective), exact(o.Objective)),
		fmt.Sprintf("%s != %s", self.on(metrics.SLOWindow), exact(o.Window.Seconds())),
	}
	if o.SLI != slo.Availability {
		parts = append(parts, fmt.Sprintf("%s != %s", self.on(metrics.SLOThreshold), exact(o.Threshold.Seconds())))
	}
	return strings.Join(parts, "\nor\n")
}

// exact writes a number so that it reads back as the same one.
func exact(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// unknownValues is true for each value of a label that the rules do not know.
func unknownValues(metric, label string, known []string) string {
	m := matchers{}
	if len(known) > 0 {
		m = m.with(noneOf(label, known))
	}
	return fmt.Sprintf("max by (%s) (%s) > 0", label, m.on(metric))
}
