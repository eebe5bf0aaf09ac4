package rules

import (
	"fmt"
	"strings"
	"time"

	"github.com/prometheus/common/model"

	"synthetic/internal/sidecar/metrics"
	"synthetic/internal/slo"
)

// noSamples is a ticket for an SLO that judges none of the finished turns: its burn alerts
// cannot fire then.
func (in Input) noSamples() rule {
	var parts []string
	for _, c := range in.classes(turnWindow(time.Hour, 2)) {
		parts = append(parts, fmt.Sprintf("%s == 0\nand on (%s)\n%s > 0%s",
			increase(perSLO(), metrics.SLOTurns, c.Window), onJob, increase(perJob(), metrics.Turns, c.Window), c.When()))
	}
	return rule{
		Alert: AlertSLONoSamples, Severity: slo.Ticket, For: model.Duration(15 * time.Minute), Dashboard: dashboardTarget,
		Expr:        parenthesised(strings.Join(parts, "\nor\n")) + "\n" + unlessStarved,
		Summary:     "{{ $labels.target }}/{{ $labels.workload }}: SLO {{ $labels.slo }} judges no turn",
		Description: "Turns end and this SLO judges none of them: its alerts cannot fire. Buffered ones have no TPOT.",
	}
}
