package main

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"synthetic/tools/alertquality/engine"
	"synthetic/tools/alertquality/worlds"
	"synthetic/tools/measured"
)

// falseTable has a row for each world, with its false pages.
func falseTable(models []worlds.Model, scores []engine.Score) string {
	rows := [][]string{{"World", "What it does", "False pages in 30 days [95 %]", "By SyntheticRegression", "Repeated pages", "Longest", "Pages per incident"}}
	for i, s := range scores {
		rows = append(rows, []string{
			s.World, models[i].About, falseRate(s), fmt.Sprintf("%d of %d", s.FalseRegressions, s.False.Count), fmt.Sprint(s.SecondCalls),
			fmt.Sprintf("%.1f h", s.LongestFalse), fmt.Sprintf("%.2f", perIncident(s)),
		})
	}
	return measured.Table("---", rows...)
}

func falseRate(s engine.Score) string {
	return fmt.Sprintf("%.1f [%.1f–%.1f]", s.False.Per30Days, s.False.Low, s.False.High)
}

// faultTable has a row for each world, and a column for each fault.
func faultTable(scores []engine.Score) string {
	head := []string{"World"}
	for _, f := range worlds.Faults() {
		head = append(head, f.Name)
	}
	rows := [][]string{head}
	for _, s := range scores {
		row := []string{s.World}
		for _, f := range worlds.Faults() {
			row = append(row, cell(s, f.Name))
		}
		rows = append(rows, row)
	}
	return measured.Table("---", rows...)
}

// cell says of how many faults were found, and after how many minutes: by a page, or for small faults by a page or a ticket.
func cell(s engine.Score, fault string) string {
	f, ok := faultOf(s, fault)
	switch found, seconds := foundOf(f); {
	case !ok:
		return ""
	case math.IsInf(seconds, 1):
		return fmt.Sprintf("%d of %d", found, f.Incidents)
	default:
		return fmt.Sprintf("%d of %d, %.1f", found, f.Incidents, seconds/60)
	}
}

// foundOf returns how many incidents were found, and the median of seconds.
func foundOf(f engine.FaultScore) (found int, seconds float64) {
	if strings.Contains(f.Fault, "×1.5") || strings.Contains(f.Fault, "×1.3") {
		return f.FoundEither, f.MedianToEither
	}
	return f.Found, f.MedianToPage
}

func faultOf(s engine.Score, fault string) (engine.FaultScore, bool) {
	i := slices.IndexFunc(s.Faults, func(f engine.FaultScore) bool { return f.Fault == fault })
	if i < 0 {
		return engine.FaultScore{}, false
	}
	return s.Faults[i], true
}

// perIncident returns the mean of pages over the paged incidents.
func perIncident(s engine.Score) float64 {
	pages, paged := 0, 0
	for _, f := range s.Faults {
		pages, paged = pages+f.Pages, paged+f.Paged
	}
	return float64(pages) / float64(max(1, paged))
}

// summary is the table of the README: three worlds, and the mean of all.
func summary(scores []engine.Score) string {
	rows := [][]string{{""}, {"false pages in 30 days [95 % interval]"}}
	faults := []string{"TTFT ×3", "TTFT ×2", "TTFT ×1.5", "outage"}
	for _, f := range faults {
		how := "page"
		if f == "TTFT ×1.5" {
			how = "page or ticket"
		}
		rows = append(rows, []string{f + ": found, median minutes to the " + how})
	}
	pages, days := 0, 0.0
	for _, s := range scores {
		pages, days = pages+s.False.Count, days+s.Days
		if !slices.Contains([]string{"typical", "autoscale", "sparse"}, s.World) {
			continue
		}
		rows[0], rows[1] = append(rows[0], s.World), append(rows[1], falseRate(s))
		for i, f := range faults {
			rows[2+i] = append(rows[2+i], cell(s, f))
		}
	}
	return fmt.Sprintf("%s\nThe mean of all %d is %.1f false pages in 30 days.\n", measured.Table("---", rows...), len(scores), float64(pages)*30/days)
}
