package rules

import (
	"fmt"
	"strings"
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

// noSamples raises a ticket when turns end and an SLO judges none of them: its
// burn alerts cannot fire then, and silence is not health.
func (in Input) noSamples() rule {
	var parts []string
	for _, g := range partition(in.Jobs, func(j Job) time.Duration { return j.windowFor(time.Hour, time.Hour, 2*expectedStarts) }) {
		parts = append(parts, fmt.Sprintf("%s == 0\nand on (%s)\n%s > 0",
			g.matchers.increase(perSLO(), metrics.SLOTurns, g.Key), onJob, g.matchers.increase(perJob(), metrics.Turns, g.Key)))
	}
	return rule{
		Alert: AlertSLONoSamples, Severity: slo.Ticket, For: model.Duration(15 * time.Minute), Dashboard: dashboardTarget,
		Expr:        parenthesised(strings.Join(parts, "\nor\n")) + "\n" + unlessStarved,
		Summary:     "{{ $labels.target }}/{{ $labels.workload }}: SLO {{ $labels.slo }} judges no turn",
		Description: "Turns end and this SLO judges none of them: its alerts cannot fire. Buffered ones have no TPOT.",
	}
}
