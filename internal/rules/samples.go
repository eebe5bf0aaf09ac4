package rules

import (
	"fmt"
	"time"

	"github.com/prometheus/common/model"

	"synthetic/internal/sidecar/metrics"
	"synthetic/internal/slo"
)

// expectedStarts is how many conversations must be overdue before silence is
// taken for a fault. Of random (Poisson) starts, a gap of 12 mean intervals
// has a probability of e^-12, about once in 160,000 conversations.
const expectedStarts = 12

// windowFor is the least of base and the time in which so many turns should
// have come, the longest turn included; closed when no rate is known.
func (j Job) windowFor(base, closed time.Duration, turns float64) time.Duration {
	rate := j.outagePerMinute()
	if rate <= 0 {
		return slo.WindowAtLeast(max(closed, base) + j.TurnTimeout)
	}
	minutes := min(turns/rate, float64(90*24*60))
	return slo.WindowAtLeast(max(base, time.Duration(minutes*float64(time.Minute))+j.TurnTimeout))
}

// outagePerMinute is the rate of turns when every conversation fails at its
// first turn; 0 is unknown.
func (j Job) outagePerMinute() float64 {
	if j.ConversationsPerMinute > 0 {
		return j.ConversationsPerMinute
	}
	return j.TurnsPerMinute
}

// silence is the age of the last turn from which on a job counts as silent.
func (j Job) silence() time.Duration {
	return j.windowFor(5*time.Minute, 15*time.Minute, expectedStarts)
}

// noSamples raises a ticket when turns end and the SLO judges none of them:
// its burn alerts cannot fire then, and silence is not health.
func (f objective) noSamples() []rule {
	window := func(j Job) time.Duration { return j.windowFor(time.Hour, time.Hour, 2*expectedStarts) }
	var alerts []rule
	for _, g := range partition(f.in.covered(f.Objective), window) {
		turns := g.matchers
		if len(g.matchers) == 0 {
			turns = f.restriction()
		}
		if len(f.Turns) == 1 {
			turns = turns.with(equals(metrics.LabelTurn, string(f.Turns[0])))
		}
		alerts = append(alerts, rule{
			Alert: AlertSLONoSamples, Severity: slo.Ticket, For: model.Duration(15 * time.Minute),
			Expr: fmt.Sprintf("%s > 0\nunless\n%s > 0",
				turns.increase(perJob(), metrics.Turns, g.Key),
				f.self().with(g.matchers...).increase(perJob(), metrics.SLOTurns, g.Key)),
			Summary:     "{{ $labels.target }}/{{ $labels.workload }}: SLO {{ $labels.slo }} judges no turn",
			Description: fmt.Sprintf("{{ $value | humanize }} turns ended within %s and none was judged by the SLO that %s. Its alerts cannot fire.", slo.Short(g.Key), f.statement()),
			Dashboard:   dashboardTarget,
		})
	}
	return alerts
}

// restriction matches the targets and workloads that the SLO names.
func (f objective) restriction() matchers {
	var m matchers
	if len(f.Targets) > 0 {
		m = append(m, oneOf(metrics.LabelTarget, f.Targets))
	}
	if len(f.Workloads) > 0 {
		m = append(m, oneOf(metrics.LabelWorkload, f.Workloads))
	}
	return m
}
