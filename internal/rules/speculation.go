package rules

import (
	"fmt"
	"time"

	"github.com/prometheus/prometheus/model/rulefmt"

	"synthetic/internal/sidecar/metrics"
	"synthetic/internal/slo"
)

const (
	// speculationWindow averages the acceptance of drafts; of acceptanceHistory
	// it is compared with what usualQuantile of the time it was below: a level
	// and not a peak, and one that a collapse must outlast threefold to become
	// the usual.
	speculationWindow, acceptanceHistory, usualQuantile = 15 * time.Minute, 7 * 24 * time.Hour, 0.75
	// minHistory is the fewest recorded values that make a history: two hours.
	minHistory = int(2 * time.Hour / slowInterval)
	// minDrafted tokens make an acceptance; of a server that does not count them
	// we know only that we got minOutput tokens from it meanwhile.
	minDrafted, minOutput = 1000, 500
	// acceptanceDrop is the part of the usual acceptance below which it has
	// collapsed; a usual acceptance below minAcceptance is nothing to lose.
	// Below wasted a drafter costs more than it can give, whatever was usual.
	acceptanceDrop, minAcceptance, wasted = 0.5, 0.1, 0.05
)

// speculationRules follow the acceptance of drafts, where the servers' own
// metrics are read.
func (in Input) speculationRules() []rulefmt.Rule {
	rules := []rulefmt.Rule{record(RecordAcceptance, acceptance()), record(RecordUsualAcceptance, usualAcceptance())}
	return append(rules, in.rules(acceptanceCollapse(), serverMetricsUnreadable())...)
}

// acceptance is the share of drafted tokens that were accepted. Replicas see
// the same server: their sums divide, and the one that saw most says whether
// enough was drafted. A server that does not count shows an average of its own,
// of which the comparison drops NaN.
func acceptance() string {
	m := matchers{}
	drafted := m.increase(perTarget(), metrics.ServerDrafted, speculationWindow)
	most := maxBy(perTarget(), fmt.Sprintf("increase(%s[%s])", metrics.ServerDrafted, slo.Short(speculationWindow)))
	averaged := aggregate("avg", perTarget(), fmt.Sprintf("avg_over_time(%s[%s])", metrics.ServerAcceptance, slo.Short(speculationWindow))) + " >= 0"
	return fmt.Sprintf("(\n%s\nand\n%s >= %d\n)\nor\n(\n%s\nand\n%s >= %d\n)",
		ratio(m.increase(perTarget(), metrics.ServerAccepted, speculationWindow), drafted), most, minDrafted,
		averaged, m.increase(perTarget(), metrics.OutputTokens, speculationWindow), minOutput)
}

// usualAcceptance stands on the history up to the window that is judged.
func usualAcceptance() string {
	history := fmt.Sprintf("%s[%s] offset %s", RecordAcceptance, slo.Short(acceptanceHistory), slo.Short(2*speculationWindow))
	return fmt.Sprintf("quantile_over_time(%s, %s)\nand\ncount_over_time(%s) >= %d", num(usualQuantile), history, history, minHistory)
}

// acceptanceCollapse is a ticket: what it costs a user pages as a regression of
// the TPOT.
func acceptanceCollapse() alert {
	return alert{
		name: AlertAcceptanceCollapse, severity: slo.Ticket, wait: 10 * time.Minute, keep: 15 * time.Minute,
		expr: fmt.Sprintf("%s\n<\n%s * (%s >= %s)\nor\n%s < %s",
			RecordAcceptance, num(acceptanceDrop), RecordUsualAcceptance, num(minAcceptance), RecordAcceptance, num(wasted)),
		summary: "{{ $labels.target }}: only {{ $value | humanizePercentage }} of the drafted tokens are accepted",
		description: fmt.Sprintf("Of what the drafter of this deployment proposed in the last %s, {{ $value | humanizePercentage }} was accepted; what is usual: ", slo.Short(speculationWindow)) +
			queried(fmt.Sprintf("max(%s{%s})", RecordUsualAcceptance, same(perTarget())), "value | humanizePercentage") +
			". Each draft costs a part of a step whether it is accepted or not: tokens come slower, and the batch has less room.",
		windows: fmt.Sprintf("Fires below %s %% of what was usual over the last %s, if that was at least %s %%, or below %s %% outright.",
			percent(acceptanceDrop), slo.Short(acceptanceHistory), percent(minAcceptance), percent(wasted)),
		dashboard: dashboardTarget,
	}
}

// serverMetricsUnreadable fires when no prober reads all pages: the alert above
// is blind then, and silence is not health.
func serverMetricsUnreadable() alert {
	return alert{
		name: AlertServerMetricsUnreadable, severity: slo.Ticket, wait: speculationWindow,
		expr:        maxBy(perTarget(), metrics.ServerMetricsUp) + " == 0",
		summary:     "{{ $labels.target }}: the server's own metrics cannot be read",
		description: "The pages that server_metrics names for this target are not all readable: what is known of its speculative decoding is incomplete, and no alert on it can fire. The prober's log names the page and what is wrong.",
		dashboard:   dashboardHealth,
	}
}
