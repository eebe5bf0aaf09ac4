package main

import (
	"fmt"
	"slices"
	"strings"

	"synthetic/internal/backtest"
)

// ours is the name of the generated rules among the scores.
const ours = "synthetic"

// summary says how a campaign was made and what the generated rules find: a row
// for each fault, the noise models side by side. All else is in scores.md.
func summary(r backtest.Report) string {
	var b strings.Builder
	fmt.Fprintf(&b, "- %s\n", r.Settings[0])
	head, rule, rows := "| Fault |", "|---|", map[string]string{}
	var faults []string
	for _, model := range r.Models() {
		s := of(r, model, ours)
		fmt.Fprintf(&b, "- %s: %s false pages per 30 days (%d in %.0f days), precision %s\n",
			model, number(s.FalsePer30Days, 1, "%.2f"), s.HealthyPages, s.HealthyDays, number(s.Precision, 0.01, "%.0f %%"))
		head += fmt.Sprintf(" %s: recall | to page | to resolve |", model)
		rule += "---|---|---|"
		for _, f := range s.Faults {
			if _, ok := rows[f.Fault]; !ok {
				faults = append(faults, f.Fault)
			}
			rows[f.Fault] += fmt.Sprintf(" %s | %s (%s) | %s (%s) |", number(&f.Recall, 0.01, "%.0f %%"),
				minutes(f.MedianToPage), minutes(f.P90ToPage), minutes(f.MedianToResolve), minutes(f.P90ToResolve))
		}
	}
	b.WriteString("\n" + head + "\n" + rule + "\n")
	for _, f := range faults {
		fmt.Fprintf(&b, "| %s |%s\n", f, rows[f])
	}
	return b.String()
}

// comparison is what rules as others write them find on the same series.
func comparison(r backtest.Report) string {
	var b strings.Builder
	faults := of(r, r.Models()[0], ours).Faults
	b.WriteString("| Rules | Model | False per 30 days |")
	for _, f := range faults {
		fmt.Fprintf(&b, " %s |", f.Fault)
	}
	b.WriteString("\n" + strings.Repeat("|---", 3+len(faults)) + "|\n")
	for _, s := range r.Scores {
		if s.Rules == ours || s.Alert != "" {
			continue
		}
		fmt.Fprintf(&b, "| %s | %s | %s |", s.Rules, s.Model, number(s.FalsePer30Days, 1, "%.2f"))
		for _, f := range s.Faults {
			if f.Recall == 0 {
				b.WriteString(" – |")
				continue
			}
			fmt.Fprintf(&b, " %s, %s |", number(&f.Recall, 0.01, "%.0f %%"), minutes(f.MedianToPage))
		}
		b.WriteString("\n")
	}
	return b.String()
}

// of is the score of a whole rule set on a noise model.
func of(r backtest.Report, model, rules string) backtest.Score {
	i := slices.IndexFunc(r.Scores, func(s backtest.Score) bool {
		return s.Model == model && s.Rules == rules && s.Alert == ""
	})
	if i < 0 {
		return backtest.Score{}
	}
	return r.Scores[i]
}

// minutes writes seconds as minutes.
func minutes(v *float64) string { return number(v, 60, "%.1f") }

// number writes a figure in a unit, or a dash where there is none.
func number(v *float64, unit float64, format string) string {
	if v == nil {
		return "–"
	}
	return fmt.Sprintf(format, *v/unit)
}
