package dashboard

import (
	"fmt"
	"strings"
	"time"

	"github.com/grafana/grafana-foundation-sdk/go/units"

	"synthetic/internal/sidecar/metrics"
	"synthetic/internal/slo"
)

// overview answers: are the promises kept, and since when not?
func overview(objectives []slo.Objective) board {
	s := jobScope()
	rows := []row{
		{title: "Now", panels: now(s, objectives)},
		{title: "Time to first token", panels: ttft().pair(s, objectives)},
	}
	for _, o := range objectives {
		rows = append(rows, objectiveRow(s, o))
	}
	return board{
		file:  "slo-overview.json",
		uid:   OverviewUID,
		title: "Synthetic / SLO overview",
		about: "Are the promises kept, as a client sees it? Measured by conversations that synthetic holds with each deployment.",
		rows:  rows,
	}
}

// now is the top of the overview. Without objectives their table, which could
// only be empty, is left out.
func now(s scope, objectives []slo.Objective) []panel {
	if len(objectives) == 0 {
		return []panel{alertTable(), failedShare(s, gridColumns)}
	}
	return []panel{objectiveTable(s, objectives), failedShare(s, 8), alertTable()}
}

func alertTable() panel {
	return panel{
		view: tableView{columns: []column{
			{field: "alertname", title: "Alert"},
			{field: "alertstate", title: "State", texts: texts{"firing": text("firing", red), "pending": text("pending", orange)}},
			{field: "severity", title: "Severity"},
			{field: metrics.LabelSLO, title: "SLO"},
			{field: metrics.LabelTarget, title: "Target"},
			{field: metrics.LabelWorkload, title: "Workload"},
			{field: metrics.LabelTurn, title: "Turn"},
		}},
		title: "Active alerts", unit: units.NoUnit,
		says:  "The alerts of synthetic that are pending or firing now, at the end of the time range.",
		read:  "It is empty when all is well, and also when Prometheus has not loaded the alert rules: the page /rules of Prometheus tells.",
		act:   "Follow the alert's runbook_url; then open the target's detail.",
		width: gridColumns, height: 6,
		empty:   "no alert is pending or firing, or the rules are not loaded",
		queries: []query{{expr: activeAlerts, legend: "{{alertname}}"}},
	}
}

func failedShare(s scope, width uint32) panel {
	return panel{
		title: "Failed share of turns", unit: units.PercentUnit,
		says:  "Share of the turns ended in the window that failed, whatever the reason.",
		read:  "0 % is a healthy target; a gap means that no turn ended at all, so nothing is known.",
		act:   "Open the target's detail: the outcomes by reason say whether it is down (connect_error), stuck (timeout_first_token, stall) or busy (http_429).",
		width: width, height: 8,
		links: toTarget(),
		queries: []query{{
			// What our own shutdown cut short says nothing of the target.
			expr: fmt.Sprintf("%s / (%s - %s)", s.rate(perJob(), metrics.TurnFailures),
				s.rate(perJob(), metrics.Turns), s.rate(perJob(), metrics.TurnsCanceled)),
			legend: jobLegend,
		}},
	}
}

// objectiveTable has one line an objective.
func objectiveTable(s scope, objectives []slo.Objective) panel {
	by := []string{metrics.LabelSLO}
	whole := "$__range"
	cells := []string{
		s.gauge(by, metrics.SLOObjective),
		s.gauge(by, metrics.SLOThreshold),
		goodOver(s, by, whole),
		budgetLeft(s, by, objectives),
		burnOver(s, by, "1h"),
		sum(by, over("increase", s.series(metrics.SLOTurns), whole)),
	}
	p := panel{
		view: tableView{joinBy: metrics.LabelSLO, columns: []column{
			{field: metrics.LabelSLO, title: "SLO"},
			{field: "Value #A", title: "Objective", unit: units.PercentUnit, decimals: 2},
			{field: "Value #B", title: "Threshold", unit: units.Seconds, decimals: 2},
			{field: "Value #C", title: "Good turns", unit: units.PercentUnit, decimals: 2},
			{field: "Value #D", title: "Budget left", unit: units.PercentUnit, decimals: 0, levels: budgetLevels()},
			{field: "Value #E", title: "Burn rate, 1 h", unit: units.Short, decimals: 1, levels: usualBurns()},
			{field: "Value #F", title: "Turns judged", unit: units.Short, decimals: 0},
		}},
		title: "Objectives", unit: units.Short,
		says:  "Each SLO over the time range: the share of good turns, judged turn by turn at the exact threshold; the error budget left of the SLO's own period; and how fast the budget burns.",
		read:  "At a burn rate of 1 the budget lasts exactly its period; at 14.4 it loses 2 % of 30 days in an hour. The budget is red when it is spent. An empty threshold is availability; a figure from few judged turns says little.",
		act:   "Start with the highest burn rate; its row below shows which target it is and since when.",
		width: 16, height: 8,
		empty: "no turn was judged",
	}
	for _, expr := range cells {
		p.queries = append(p.queries, query{expr: expr, legend: "{{slo}}"})
	}
	return p
}

// budgetLeft is the error budget left of each objective's own period. The
// periods differ, so one term a period is joined by "or".
func budgetLeft(s scope, by []string, objectives []slo.Objective) string {
	var windows []time.Duration
	names := map[time.Duration][]string{}
	for _, o := range objectives {
		if names[o.Window] == nil {
			windows = append(windows, o.Window)
		}
		names[o.Window] = append(names[o.Window], o.Name)
	}
	var terms []string
	for _, w := range windows {
		terms = append(terms, parenthesized(budgetOver(s, by, slo.Short(w), oneOf(metrics.LabelSLO, names[w]))))
	}
	return strings.Join(terms, " or ")
}
