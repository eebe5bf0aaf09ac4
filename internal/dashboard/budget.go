package dashboard

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/common/model"

	"synthetic/internal/metrics"
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

// windowGroup are the objectives that share a period.
type windowGroup struct {
	window time.Duration
	names  []string
}

// byWindow groups objectives by period, in order of first appearance.
func byWindow(objectives []slo.Objective) []windowGroup {
	var out []windowGroup
	for _, o := range objectives {
		i := slices.IndexFunc(out, func(g windowGroup) bool { return g.window == o.Window })
		if i < 0 {
			i = len(out)
			out = append(out, windowGroup{window: o.Window})
		}
		out[i].names = append(out[i].names, o.Name)
	}
	return out
}

// promDuration writes a duration as PromQL does, "30d".
func promDuration(d time.Duration) string { return model.Duration(d).String() }

// budgetLevels colour what is left of an error budget.
func budgetLevels() []level {
	return []level{{color: red}, {0, orange}, {0.25, yellow}, {0.5, green}}
}

// burnTiers are the burn rates that the alerts of a 30-day budget watch.
func burnTiers() []level { return []level{{1, yellow}, {6, orange}, {14.4, red}} }

// burnLevels colour a burn rate; tiers that an objective can never reach are
// left out. Objective 0 stands for several objectives and keeps all.
func burnLevels(objective float64) []level {
	levels := []level{{color: green}}
	for _, tier := range burnTiers() {
		if objective == 0 || tier.from*(1-objective) < 1 {
			levels = append(levels, tier)
		}
	}
	return levels
}
