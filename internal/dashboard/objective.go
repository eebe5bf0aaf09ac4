package dashboard

import (
	"fmt"
	"strings"

	"github.com/grafana/grafana-foundation-sdk/go/units"

	"synthetic/internal/sidecar/metrics"
	"synthetic/internal/slo"
)

// objectiveRow shows one objective: where it stands, and its course.
func objectiveRow(s scope, o slo.Objective) row {
	return row{
		title: fmt.Sprintf("SLO %s: %s", o.Name, promise(o)),
		panels: []panel{
			goodNow(s, o), budgetNow(s, o), goodCourse(s, o), burnCourse(s, o),
		},
	}
}

// promise says the objective in words.
func promise(o slo.Objective) string {
	what := fmt.Sprintf("%s of turns succeed", percent(o.Objective))
	if o.SLI != slo.Availability {
		what = fmt.Sprintf("%s of turns have %s ≤ %s",
			percent(o.Objective), strings.ReplaceAll(string(o.SLI), "_", " "), o.Threshold)
	}
	return fmt.Sprintf("%s over %s", what, slo.Short(o.Window))
}

func percent(share float64) string { return fmt.Sprintf("%.6g %%", share*100) }

func goodNow(s scope, o slo.Objective) panel {
	by := []string{metrics.LabelSLO}
	return panel{
		view:  statView{decimals: 2},
		title: "Good turns of " + o.Name, unit: units.PercentUnit,
		says:  "Share of judged turns that met the SLO over the time range, all selected targets together.",
		read:  fmt.Sprintf("Green from the objective, %s, upwards. Failed turns count as bad.", percent(o.Objective)),
		act:   "When it is red, see on the right which target is below the objective.",
		width: 4, height: 7,
		levels:  []level{{color: red}, {o.Objective, green}},
		empty:   "no turn judged",
		queries: []query{{expr: goodOver(s, by, "$__range", sloIs(o.Name)), legend: "good turns"}},
	}
}

func budgetNow(s scope, o slo.Objective) panel {
	window := slo.Short(o.Window)
	return panel{
		view:  statView{},
		title: "Error budget left of " + o.Name, unit: units.PercentUnit,
		says:  fmt.Sprintf("What is left of the bad turns that the objective permits over the last %s, whatever time range is chosen.", window),
		read:  "100 % is untouched, 0 % spent, below 0 % overdrawn. With less history than that, it is judged over what there is.",
		act:   "When it runs low, slow down risky changes; when it is spent, reliability comes first until it recovers.",
		width: 4, height: 7,
		levels: budgetLevels(),
		empty:  "no turn judged",
		queries: []query{{
			expr:   budgetOver(s, []string{metrics.LabelSLO}, window, sloIs(o.Name)),
			legend: "budget left",
		}},
	}
}

func goodCourse(s scope, o slo.Objective) panel {
	by := []string{metrics.LabelTarget}
	return panel{
		view:  graphView{max: 1, floor: max(0, 1-5*o.Budget())},
		title: "Share of good turns of " + o.Name, unit: units.PercentUnit,
		says:  "Share of the turns judged in the window that met the SLO, by target.",
		read:  "The dashed line is the objective. A short dip below it is no breach: the objective holds for the whole period. A gap means that no turn was judged.",
		act:   "A target that stays below the line burns its budget: open its detail by a click on its line.",
		width: 8, height: 7,
		links: toTarget(),
		queries: []query{
			{expr: goodOver(s, by, rateWindow, sloIs(o.Name)), legend: "{{target}}"},
			{expr: s.gauge([]string{metrics.LabelSLO}, metrics.SLOObjective, sloIs(o.Name)), legend: limitPrefix + "{{slo}}"},
		},
	}
}

func burnCourse(s scope, o slo.Objective) panel {
	by := []string{metrics.LabelTarget}
	p := panel{
		view:  graphView{limits: true},
		title: "Burn rate of " + o.Name, unit: units.Short,
		says:  "How many times faster than the objective permits the error budget goes, by target, over the long windows of this objective's pages.",
		read:  "1 spends the budget in exactly its period. The dashed lines are where its alerts begin: orange for the ticket, red for the pages, the highest for the shortest window. With few probes one bad turn lifts a curve: the alerts wait for a least number of bad turns, and with very few probes for longer windows.",
		act:   "A curve above its line is a page as soon as the fault is seen in the short window too: follow the runbook of the alert.",
		width: 8, height: 7,
		levels: burnLevels(o),
		links:  toTarget(),
	}
	for _, window := range burnWindows(o) {
		p.queries = append(p.queries, query{
			expr: burnOver(s, by, window, sloIs(o.Name)), legend: "{{target}} " + window,
		})
	}
	return p
}
