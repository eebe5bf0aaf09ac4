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
	var rules []rulefmt.Rule
	for _, a := range in.outages() {
		rules = append(rules, in.rule(a))
	}
	for _, g := range in.byWindow(15 * time.Minute) {
		rules = append(rules, in.rule(in.busy(g)))
	}
	for _, j := range in.Jobs {
		rules = append(rules, in.rule(in.silentJob(j)))
	}
	return rules
}

// windowed is a group of jobs that share a window.
type windowed struct {
	group
	window time.Duration
}

// byWindow groups the jobs by the window, of at least base, that holds twice
// the turns that are needed.
func (in Input) byWindow(base time.Duration) []windowed {
	window := func(j Job) time.Duration { return j.patience(base, base, 2*minTurns) }
	var out []windowed
	for _, g := range partition(in.Jobs, func(j Job) string { return window(j).String() }) {
		out = append(out, windowed{g, window(g.jobs[0])})
	}
	return out
}

// busy fires when the deployment refuses a good part of the turns for load.
func (in Input) busy(g windowed) alert {
	refused := g.matchers.with(equals(metrics.LabelReason, string(probe.HTTP429))).
		increase(perJob(), metrics.TurnFailures, g.window)
	ended := g.matchers.increase(perJob(), metrics.Turns, g.window)
	return alert{
		name: AlertTargetBusy, severity: slo.Ticket, wait: 5 * time.Minute, keep: 15 * time.Minute,
		expr:        fmt.Sprintf("%s > 0.1\nand\n%s >= %d", ratio(refused, ended), refused, minTurns),
		summary:     "{{ $labels.target }}/{{ $labels.workload }}: {{ $value | humanizePercentage }} of turns are refused for load",
		description: fmt.Sprintf("{{ $value | humanizePercentage }} of the turns of the last %s got HTTP 429: the deployment is up and has no room.", slo.Short(g.window)),
		turns:       perJob(),
		dashboard:   dashboardTarget,
	}
}

// silentJob fires when a job that should run gives no judged turn, whether its
// series stand still or are gone. It leaves to SyntheticProberSilent what that
// says already, so that one fault is one page.
func (in Input) silentJob(j Job) alert {
	self := selecting([]Job{j})
	window := j.patience(15*time.Minute, 15*time.Minute, expectedStarts)
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
