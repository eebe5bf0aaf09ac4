package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"synthetic/tools/alertquality/engine"
	"synthetic/tools/alertquality/worlds"
	"synthetic/tools/measured"
)

// column is the share of the incidents of a fault that were noticed, and how soon.
type column struct {
	head, fault string
	// seconds returns the time until an incident was noticed.
	seconds func(engine.Detection) float64
	// within is the longest such time; 0 means that of the incident.
	within time.Duration
}

func toPage(d engine.Detection) float64   { return d.ToPage }
func toTicket(d engine.Detection) float64 { return d.ToTicket }
func toEither(d engine.Detection) float64 { return min(d.ToPage, d.ToTicket) }

// columns are those of the table of worlds.
func columns() []column {
	return []column{
		{"TTFT ×3", "TTFT ×3", toPage, 0},
		{"TTFT ×2", "TTFT ×2", toPage, 0},
		{"TTFT ×1.5", "TTFT ×1.5", toPage, 0},
		{"TTFT ×1.5, page within 15 min", "TTFT ×1.5", toPage, 15 * time.Minute},
		{"TTFT ×1.5, page or ticket within 15 min", "TTFT ×1.5", toEither, 15 * time.Minute},
		{"TPOT ×1.5", "TPOT ×1.5", toPage, 0},
		{"TPOT ×1.3, ticket", "TPOT ×1.3", toTicket, 0},
		{"outage", "outage", toPage, 0},
	}
}

// figure is the value of a column for some runs. median is in minutes, +Inf if half of the incidents were missed.
type figure struct {
	found, incidents int
	median           float64
}

func (c column) of(s engine.Score) (f figure) {
	var minutes []float64
	for _, d := range s.Detections {
		if d.Name != c.fault {
			continue
		}
		v := c.seconds(d)
		if c.within > 0 && v > c.within.Seconds() {
			v = math.Inf(1)
		}
		if minutes = append(minutes, v/60); !math.IsInf(v, 1) {
			f.found++
		}
	}
	if f.incidents = len(minutes); f.incidents > 0 {
		slices.Sort(minutes)
		f.median = minutes[(f.incidents-1)/2]
	}
	return f
}

func (f figure) String() string {
	switch {
	case f.incidents == 0:
		return "–"
	case math.IsInf(f.median, 1):
		return fmt.Sprintf("%d of %d", f.found, f.incidents)
	}
	return fmt.Sprintf("%d of %d, %.1f", f.found, f.incidents, f.median)
}

// compare orders figures: the worst first, and last those without incidents.
func (f figure) compare(g figure) int {
	missed := func(f figure) float64 { return float64(f.incidents-f.found) / float64(max(1, f.incidents)) }
	return cmp.Or(cmp.Compare(missed(g), missed(f)), cmp.Compare(g.median, f.median))
}

// result is the scores of a campaign: of each world, and of all runs together.
type result struct {
	models []worlds.Model
	scores []engine.Score
	all    engine.Score
}

// columns are those of faults that were played.
func (r result) columns() []column {
	return slices.DeleteFunc(columns(), func(c column) bool { return c.of(r.all).incidents == 0 })
}

// tables returns the tables of the page.
func (r result) tables() string {
	head := []string{"World", "What it does", "False pages in 30 days [95 %]", "Repeated pages"}
	all := []string{"**all**", "", falsePages(r.all), fmt.Sprint(r.all.Repeated)}
	worst := []string{"**worst**", "", r.worstFalse(), ""}
	for _, c := range r.columns() {
		head, all, worst = append(head, c.head), append(all, c.of(r.all).String()), append(worst, r.worst(c))
	}
	rows := [][]string{head}
	for i, s := range r.scores {
		name := s.World
		if r.models[i].Slowdown {
			name += " (slowdown)"
		}
		row := []string{name, r.models[i].About, falsePages(s), fmt.Sprint(s.Repeated)}
		for _, c := range r.columns() {
			row = append(row, c.of(s).String())
		}
		rows = append(rows, row)
	}
	faults := [][]string{{"Fault, in all worlds", "Page", "Page or ticket"}}
	for _, f := range worlds.Faults() {
		if page := (column{"", f.Name, toPage, 0}).of(r.all); page.incidents > 0 {
			faults = append(faults, []string{f.Name, page.String(), column{"", f.Name, toEither, 0}.of(r.all).String()})
		}
	}
	return measured.Table("---", append(rows, all, worst)...) + "\n" + measured.Table("---", faults...)
}

// summary is the table of the README.
func (r result) summary() string {
	rows := [][]string{
		{"", fmt.Sprintf("all %d deployments", len(r.scores)), "worst deployment"},
		{"false pages in 30 days [95 % interval]", falsePages(r.all), r.worstFalse()},
	}
	for _, c := range r.columns() {
		rows = append(rows, []string{c.head + ": found, median minutes", c.of(r.all).String(), r.worst(c)})
	}
	return measured.Table("---", rows...)
}

func falsePages(s engine.Score) string {
	return fmt.Sprintf("%.1f [%.1f–%.1f], %d in %.0f days", s.False.Per30Days, s.False.Low, s.False.High, s.False.Count, s.Days)
}

// worst names the world with the worst figure.
func (r result) worst(c column) string {
	s := slices.MinFunc(r.scores, func(a, b engine.Score) int { return c.of(a).compare(c.of(b)) })
	if c.of(s).incidents == 0 {
		return "–"
	}
	return fmt.Sprintf("%s: %s", s.World, c.of(s))
}

// worstFalse names the world with the most false pages, of those that are no true slowdown.
func (r result) worstFalse() string {
	worst := -1
	for i, s := range r.scores {
		if !r.models[i].Slowdown && (worst < 0 || s.False.Per30Days > r.scores[worst].False.Per30Days) {
			worst = i
		}
	}
	if worst < 0 {
		return "–"
	}
	return fmt.Sprintf("%s: %s", r.scores[worst].World, falsePages(r.scores[worst]))
}
