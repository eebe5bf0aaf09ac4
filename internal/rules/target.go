package rules

import (
	"fmt"
	"slices"
	"time"

	"github.com/prometheus/prometheus/model/rulefmt"

	"synthetic/internal/probe"
	"synthetic/internal/sidecar/metrics"
	"synthetic/internal/slo"
)

// minTurns is the fewest turns from which a share of turns means something.
const minTurns = 3

// targetRules are the alerts on a deployment that hold without any SLO.
func (in Input) targetRules() []rulefmt.Rule {
	var alerts []alert
	for _, g := range partition(in.Jobs, Job.failedInARow) {
		alerts = append(alerts, targetDown(g))
	}
	for _, g := range in.byWindow() {
		alerts = append(alerts, targetBusy(g))
	}
	for _, j := range in.Jobs {
		alerts = append(alerts, in.targetNoSamples(j))
	}
	return in.rules(alerts...)
}

// failedInARow is how many failures in a row are an outage: the fewer where
// waiting for another takes long.
func (j Job) failedInARow() int {
	if rate := j.outagePerMinute(); rate > 0 && rate < 3 {
		return minTurns
	}
	return 5
}

// targetDown fires when nothing but hard failures comes back, from any replica. It
// counts turns and not minutes, so that it neither waits for a window to empty
// nor needs a scrape interval.
func targetDown(g group[int]) alert {
	return alert{
		name: AlertTargetDown, severity: slo.Page, wait: 30 * time.Second, keep: 5 * time.Minute,
		expr:        fmt.Sprintf("%s >= %d", aggregate("min", perJob(), g.matchers.on(metrics.ConsecutiveFailed)), g.key),
		summary:     "{{ $labels.target }}/{{ $labels.workload }}: the last {{ $value }} turns failed",
		description: "The last {{ $value }} turns failed in a row, for reasons other than load (HTTP 429). No turn has succeeded since.",
		turns:       perJob(),
		dashboard:   dashboardTarget,
	}
}

// byWindow groups the jobs by the window, of at least a quarter of an hour, that
// holds twice the turns that are needed.
func (in Input) byWindow() []group[time.Duration] {
	const base = 15 * time.Minute
	return partition(in.Jobs, func(j Job) time.Duration { return j.windowFor(base, base, 2*minTurns) })
}

// targetBusy fires when the deployment refuses a good part of the turns for load.
func targetBusy(g group[time.Duration]) alert {
	refused := g.matchers.with(equals(metrics.LabelReason, string(probe.HTTP429))).
		increase(perJob(), metrics.TurnFailures, g.key)
	ended := g.matchers.increase(perJob(), metrics.Turns, g.key)
	return alert{
		name: AlertTargetBusy, severity: slo.Ticket, wait: 5 * time.Minute, keep: 15 * time.Minute,
		expr:        fmt.Sprintf("%s > 0.1\nand\n%s >= %d", ratio(refused, ended), refused, minTurns),
		summary:     "{{ $labels.target }}/{{ $labels.workload }}: {{ $value | humanizePercentage }} of turns are refused for load",
		description: fmt.Sprintf("{{ $value | humanizePercentage }} of the turns of the last %s got HTTP 429: the deployment is up and has no room.", slo.Short(g.key)),
		turns:       perJob(),
		dashboard:   dashboardTarget,
	}
}

// targetNoSamples fires when a job that should run gives no judged turn, whether its
// series stand still or have ended. It leaves to SyntheticProberSilent what that
// says already, so that one fault is one page.
func (in Input) targetNoSamples(j Job) alert {
	self := selecting([]Job{j})
	window := j.windowFor(15*time.Minute, 15*time.Minute, expectedStarts)
	metric := metrics.Turns
	if slices.ContainsFunc(in.SLOs, func(o slo.Objective) bool { return o.CoversJob(j.Target, j.Workload) }) {
		metric = metrics.SLOTurns
	}
	return alert{
		name: AlertTargetNoSamples, severity: slo.Page, wait: 5 * time.Minute, keep: handover,
		labels: map[string]string{metrics.LabelTarget: j.Target, metrics.LabelWorkload: j.Workload},
		expr: fmt.Sprintf("absent(\n  %s > 0\n)\nunless on ()\n  absent(%s)\nunless on ()\n  (%s)",
			self.increase(nil, metric, window), metrics.BuildInfo, age(nil, self, j.silence())),
		summary:     "{{ $labels.target }}/{{ $labels.workload }}: no samples",
		description: fmt.Sprintf("No turn was judged within %s, although a prober runs. Nothing is known about this deployment.", slo.Short(window)),
		dashboard:   dashboardTarget,
	}
}
