package main

import (
	"fmt"
	"slices"
	"strings"

	"synthetic/internal/backtest"
	"synthetic/tools/alertquality/worlds"
	"synthetic/tools/splice"
)

// ours is the name of the generated rules among the scores.
const ours = "synthetic"

// table writes a Markdown table.
func table(head []string, rows [][]string) string {
	return splice.Table("---", slices.Insert(rows, 0, head)...)
}

// shown are the faults that have a column, by what the column is called.
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

// cells are recall and median of each fault.
func cells(s backtest.Score) []string {
	var out []string
	for _, f := range shown() {
		out = append(out, cell(s, f[1]))
	}
	return out
}

func cell(s backtest.Score, fault string) string {
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

// rate is a rate with its interval and what it stands on.
func rate(s backtest.Score) string {
	r := s.AllFalsePages
	return fmt.Sprintf("%s [%s–%s]", number(r.Per30Days, "%.2f"), number(r.Per30DaysLow, "%.2f"), number(r.Per30DaysHigh, "%.2f"))
}

// worldsTable has a row for each world, and the worst of them first.
func worldsTable(r backtest.Report) string {
	var rows [][]string
	worst := ""
	highest := -1.0
	for _, name := range r.Models() {
		s := of(r, name)
		if v := s.AllFalsePages.Per30Days; v != nil && *v > highest {
			worst, highest = fmt.Sprintf("%s, with %s", name, rate(s)), *v
		}
		mark := name
		if m, err := worlds.ModelNamed(name); err == nil && m.HeldOut() {
			mark += " (held out)"
		}
		_, perIncident, _ := calls(s)
		row := []string{mark, rate(s), fmt.Sprintf("%d in %.0f", s.AllFalsePages.Count, s.Days), fmt.Sprint(regressions(r, name)), fmt.Sprint(s.SecondCalls), fmt.Sprintf("%.1f h", s.LongestFalse)}
		rows = append(rows, slices.Concat(row, cells(s), []string{perIncident}))
	}
	head := slices.Concat([]string{"World", "For nothing in 30 days [95 %]", "Pages in days", "By SyntheticRegression", "Second calls", "Longest for nothing"}, faultNames(), []string{"Pages per incident"})
	return settings(r) + "\nThe worst is " + worst + ".\n\n" + table(head, rows)
}

// regressions counts the pages for nothing that the alert on regressions alone brings.
func regressions(r backtest.Report, world string) int {
	for _, s := range r.Scores {
		if s.Model == world && s.Rules == ours && s.Alert == "SyntheticRegression" && s.Target == "" {
			return s.AllFalsePages.Count
		}
	}
	return 0
}

// settings say how a campaign was run.
func settings(r backtest.Report) string {
	var b strings.Builder
	for _, line := range r.Settings {
		if name, _, ok := strings.Cut(line, ": "); ok && !strings.Contains(name, " targets") {
			break // what is simulated comes next
		}
		fmt.Fprintf(&b, "- %s\n", line)
	}
	return b.String()
}

// descriptions say what each world is.
func descriptions(r backtest.Report) string {
	var b strings.Builder
	for _, line := range r.Settings {
		if name, about, ok := strings.Cut(line, ": "); ok {
			fmt.Fprintf(&b, "- **%s**: %s\n", name, about)
		}
	}
	return b.String()
}

// forecastsTable lays delays as exported before the faults beside those that came out.
func forecastsTable(r backtest.Report) string {
	names := []string{"TTFT ×3", "TTFT ×2", "TTFT ×1.5", "TPOT ×1.5"}
	var rows [][]string
	for _, name := range r.Models() {
		row, any := []string{name}, false
		for _, fault := range names {
			f, _ := faultOf(of(r, name), fault)
			if f.Forecast == nil {
				row = append(row, "")
				continue
			}
			any = true
			row = append(row, number(minutes(f.Forecast.MedianForecast), "%.1f")+" / "+number(minutes(f.Forecast.MedianReplayed), "%.1f"))
		}
		if any {
			rows = append(rows, row)
		}
	}
	head := []string{"World"}
	return table(append(head, names...), rows)
}

// comparisonTable is what other rules find on the same series.
func comparisonTable(r backtest.Report) string {
	var rows [][]string
	for _, s := range r.Scores {
		if s.Alert == "" && s.Target == "" {
			rows = append(rows, slices.Concat([]string{s.Model, s.Rules, rate(s), fmt.Sprintf("%.0f h", s.FalseHours)}, cells(s)))
		}
	}
	return settings(r) + "\n" + table(append([]string{"World", "Rules", "For nothing in 30 days [95 %]", "Firing for nothing"}, faultNames()...), rows)
}

// fleetTable is what a pager of many targets says.
func fleetTable(r backtest.Report) string {
	s := of(r, r.Models()[0])
	var rows [][]string
	for _, f := range s.Faults {
		rows = append(rows, []string{f.Fault, fmt.Sprint(f.Incidents), number(&f.RecallEither, "%.2f"), number(minutes(f.MedianToEither), "%.1f"), number(f.PagesPerIncident, "%.2f")})
	}
	return settings(r) + fmt.Sprintf("\nThe whole fleet had %s pages for nothing in 30 days (%d in %.0f days).\n\n", rate(s), s.AllFalsePages.Count, s.Days) +
		table([]string{"Fault of all targets", "Injected", "Found", "Median, min", "Pages per incident"}, rows)
}

// of is the score of the generated rules, all of them, on a world.
func of(r backtest.Report, model string) backtest.Score {
	i := slices.IndexFunc(r.Scores, func(s backtest.Score) bool {
		return s.Model == model && s.Rules == ours && s.Alert == "" && s.Target == ""
	})
	if i < 0 {
		return backtest.Score{}
	}
	return r.Scores[i]
}

// minutes are seconds as minutes.
func minutes(v *float64) *float64 {
	if v == nil {
		return nil
	}
	m := *v / 60
	return &m
}

// number writes a figure, or a dash where there is none.
func number(v *float64, format string) string {
	if v == nil {
		return "–"
	}
	return fmt.Sprintf(format, *v)
}
