package rules

import (
	"fmt"
	"time"

	"synthetic/internal/sidecar/metrics"
	"synthetic/internal/slo"
)

// outages groups the jobs by how many failures in a row are an outage.
func (in Input) outages() []alert {
	var alerts []alert
	for _, g := range partition(in.Jobs, func(j Job) string { return fmt.Sprint(j.failedInARow()) }) {
		alerts = append(alerts, down(g, g.jobs[0].failedInARow()))
	}
	return alerts
}

// failedInARow is how many failures in a row are an outage: the fewer where
// waiting for another takes long.
func (j Job) failedInARow() int {
	if rate := j.outagePerMinute(); rate > 0 && rate < 3 {
		return minTurns
	}
	return 5
}

// down fires when nothing but hard failures comes back, from any replica. It
// counts turns and not minutes, so that it neither waits for a window to empty
// nor needs a scrape interval.
func down(g group, least int) alert {
	return alert{
		name: AlertTargetDown, severity: slo.Page, wait: 30 * time.Second, keep: 5 * time.Minute,
		expr: fmt.Sprintf("min by (%s, %s) (%s) >= %d", metrics.LabelTarget, metrics.LabelWorkload,
			g.matchers.on(metrics.ConsecutiveFailed), least),
		summary:     "{{ $labels.target }}/{{ $labels.workload }}: the last {{ $value }} turns failed",
		description: "The last {{ $value }} turns failed in a row, for reasons other than load (HTTP 429). No turn has succeeded since.",
		turns:       perJob(),
		dashboard:   dashboardTarget,
	}
}
