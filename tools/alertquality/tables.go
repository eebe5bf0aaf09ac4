package main

import (
	"fmt"
	"slices"
	"strings"

	"synthetic/tools/alertquality/engine"
	"synthetic/tools/splice"
)

// ours is the name of the generated rules in the scores.
const ours = "synthetic"

func table(head []string, rows [][]string) string {
	return splice.Table("---", slices.Insert(rows, 0, head)...)
}

// shown lists the faults with a column in the tables: the title of the column, and the fault.
func shown() [][2]string {
	return [][2]string{
		{"×3", "TTFT ×3"}, {"×2", "TTFT ×2"}, {"×1.5", "TTFT ×1.5"}, {"×1.3", "TTFT ×1.3"},
		{"15 % ×4", "TTFT ×4 of 15 % of turns"}, {"TPOT ×1.5", "TPOT ×1.5"}, {"outage", "outage"}, {"hang", "hang"},
		{"×2 in 10 min", "TTFT ×2 rising for 10 min"}, {"×1.5 in 30 min", "TTFT ×1.5 rising for 30 min"},
	}
}

func faultNames() []string {
	var names []string
	for _, f := range shown() {
		names = append(names, f[0])
	}
	return names
}

// cells returns a cell for each fault: recall and median minutes.
func cells(s engine.Score) []string {
	var out []string
	for _, f := range shown() {
		out = append(out, cell(s, f[1]))
	}
	return out
}

func cell(s engine.Score, fault string) string {
	share, _, there := recall(fault)(s)
	switch {
	case !there:
		return ""
	case share == 0:
		return "–"
	}
	_, took, _ := median(fault)(s)
	return fmt.Sprintf("%.0f %%, %s", 100*share, strings.TrimSuffix(took, " min"))
}

// rate formats the false pages per 30 days with their interval.
func rate(s engine.Score) string {
	r := s.AllFalsePages
	return fmt.Sprintf("%s [%s–%s]", number(r.Per30Days), number(r.Per30DaysLow), number(r.Per30DaysHigh))
}

// worldsTable has a row for each world.
func worldsTable(r engine.Report) string {
	var rows [][]string
	for _, name := range r.Models() {
		s := generatedScore(r, name, "")
		mark := name
		_, perIncident, _ := pagesPerIncident(s)
		regressions := generatedScore(r, name, "SyntheticRegression").AllFalsePages.Count
		row := []string{mark, rate(s), fmt.Sprintf("%d in %.0f", s.AllFalsePages.Count, s.Days), fmt.Sprint(regressions), fmt.Sprint(s.SecondCalls), fmt.Sprintf("%.1f h", s.LongestFalse)}
		rows = append(rows, slices.Concat(row, cells(s), []string{perIncident}))
	}
	head := slices.Concat([]string{"World", "False pages in 30 days [95 %]", "False pages in days", "By SyntheticRegression", "Repeated pages", "Longest false page"}, faultNames(), []string{"Pages per incident"})
	return settings(r) + "\n" + table(head, rows)
}

// settings returns the settings of a campaign, without the descriptions of models and faults.
func settings(r engine.Report) string {
	var b strings.Builder
	for _, line := range r.Settings {
		if name, _, ok := strings.Cut(line, ": "); ok && !strings.Contains(name, " targets") {
			break // the models follow
		}
		fmt.Fprintf(&b, "- %s\n", line)
	}
	return b.String()
}

// descriptions lists the models and faults.
func descriptions(r engine.Report) string {
	var b strings.Builder
	for _, line := range r.Settings {
		if name, about, ok := strings.Cut(line, ": "); ok {
			fmt.Fprintf(&b, "- **%s**: %s\n", name, about)
		}
	}
	return b.String()
}

// comparisonTable shows all rule sets on the same series.
func comparisonTable(r engine.Report) string {
	var rows [][]string
	for _, s := range r.Scores {
		if s.Alert == "" && s.Target == "" {
			rows = append(rows, slices.Concat([]string{s.Model, s.Rules, rate(s), fmt.Sprintf("%.0f h", s.FalseHours)}, cells(s)))
		}
	}
	return settings(r) + "\n" + table(append([]string{"World", "Rules", "False pages in 30 days [95 %]", "Hours of false pages"}, faultNames()...), rows)
}

// generatedScore returns the score of the generated rules on a world: of one alert, or of all
// if alert is "".
func generatedScore(r engine.Report, world, alert string) engine.Score {
	i := slices.IndexFunc(r.Scores, func(s engine.Score) bool {
		return s.Model == world && s.Rules == ours && s.Alert == alert && s.Target == ""
	})
	if i < 0 {
		return engine.Score{}
	}
	return r.Scores[i]
}

// minutes formats seconds as minutes, or as a dash if they are unknown.
func minutes(seconds *float64) string {
	if seconds == nil {
		return "–"
	}
	return fmt.Sprintf("%.1f", *seconds/60)
}

// number formats a figure, or a dash if it is unknown.
func number(v *float64) string {
	if v == nil {
		return "–"
	}
	return fmt.Sprintf("%.2f", *v)
}
