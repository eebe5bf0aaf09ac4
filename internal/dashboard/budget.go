package dashboard

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"synthetic/internal/sidecar/metrics"
	"synthetic/internal/slo"
)

// badOver is the share of judged turns that violated an objective.
func badOver(s scope, by []string, window string, m ...matcher) string {
	return sum(by, over("increase", s.series(metrics.SLOViolations, m...), window)) + " / " +
		sum(by, over("increase", s.series(metrics.SLOTurns, m...), window))
}

// goodOver is the share of judged turns that met an objective.
func goodOver(s scope, by []string, window string, m ...matcher) string {
	return "1 - " + badOver(s, by, window, m...)
}

// burnOver is how many times faster than allowed the error budget goes: the
// share of bad turns over the share that the objective permits.
func burnOver(s scope, by []string, window string, m ...matcher) string {
	return fmt.Sprintf("%s / on (%s) group_left () (1 - %s)",
		parenthesized(badOver(s, withSLO(by), window, m...)), metrics.LabelSLO,
		s.gauge([]string{metrics.LabelSLO}, metrics.SLOObjective, m...))
}

// budgetOver is the part of the error budget that is left: 1 untouched, 0
// spent, negative overdrawn.
func budgetOver(s scope, by []string, window string, m ...matcher) string {
	return "1 - " + burnOver(s, by, window, m...)
}

func withSLO(by []string) []string {
	if slices.Contains(by, metrics.LabelSLO) {
		return by
	}
	return append([]string{metrics.LabelSLO}, by...)
}

func parenthesized(expr string) string { return "(" + expr + ")" }

// oneOf matches any of the names, taken literally.
func oneOf(label string, names []string) matcher {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = regexp.QuoteMeta(n)
	}
	return matcher{label, "=~", strings.Join(quoted, "|")}
}

// budgetLevels colour what is left of an error budget.
func budgetLevels() []level {
	return []level{{color: red}, {0, orange}, {0.25, yellow}, {0.5, green}}
}

// usualBurns colour the burn rates of several objectives: as urgent as the
// tiers of a 30-day budget are.
func usualBurns() []level { return []level{{color: green}, {1, yellow}, {6, orange}, {14.4, red}} }

// burnLevels colour a burn rate by the alerts of one objective. Tiers that it
// cannot reach have no line, as they have no alert.
func burnLevels(o slo.Objective) []level {
	levels := []level{{color: green}}
	tiers := o.BurnPlan(0).Tiers
	slices.SortStableFunc(tiers, func(a, b slo.Tier) int { return cmp.Compare(a.Burn, b.Burn) })
	for _, t := range tiers {
		levels = append(levels, level{t.Burn, tierColor(t)})
	}
	return levels
}

func tierColor(t slo.Tier) string {
	if t.Severity == slo.Page {
		return red
	}
	return orange
}

// burnWindows are the long windows of an objective's pages. The ticket's, of
// days, would cost a query over days for each point.
func burnWindows(o slo.Objective) []string {
	var out []string
	for _, t := range o.BurnPlan(0).Tiers {
		if t.Severity == slo.Page {
			out = append(out, slo.Short(t.Long))
		}
	}
	if len(out) == 0 {
		out = append(out, "1h")
	}
	return out
}
