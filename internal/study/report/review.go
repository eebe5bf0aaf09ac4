package report

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"synthetic/internal/chart"
	"synthetic/internal/probe"
	"synthetic/internal/probe/workload"
	"synthetic/internal/sidecar/review"
)

// rowsShown bounds the rows of each table of a review, so that it stays about one page.
const rowsShown = 20

// Review returns a review of the objectives and incidents of some days as review.md and review.html.
func Review(r *review.Report) ([]File, error) {
	d := document{Title: fmt.Sprintf("Objectives and incidents, %s to %s", shortTime(r.From), shortTime(r.To))}
	tokens, cost := r.Tokens()
	spent := workload.Amount(tokens.Sum()) + " tokens" + costText(cost)
	d.Verdicts = []badge{reviewVerdict(r)}
	d.Lead = []string{
		reviewTimes(r),
		"**Probes** used " + spent + ".",
		"**Source:** " + r.Source + ". Times are in UTC.",
	}
	d.Sections = append(d.Sections, objectiveSection(r), incidentSection(r), costSection(r))
	markdown, markdownErr := d.markdown()
	page, pageErr := d.html()
	return []File{{"review.md", markdown}, {"review.html", page}}, errors.Join(markdownErr, pageErr)
}

func shortTime(t time.Time) string { return t.UTC().Format("2006-01-02 15:04") }

// judged is an objective of a job.
type judged struct {
	job probe.Key
	review.Objective
}

// budgetSpent is the share of the error budget of the reviewed time that bad turns have spent.
func (o judged) budgetSpent() float64 {
	return float64(o.Bad) / max((1-o.Wanted)*float64(o.Judged), 1e-9)
}

func (o judged) isMet() bool { return float64(o.Judged-o.Bad) >= o.Wanted*float64(o.Judged)-1e-9 }

// objectivesOf returns the objectives that judged a turn, the largest share of spent budget first.
func objectivesOf(r *review.Report) (all []judged) {
	for _, d := range r.Jobs {
		for _, o := range d.Objectives {
			if o.Judged > 0 {
				all = append(all, judged{probe.Key{Target: d.Target, Workload: d.Workload}, o})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b judged) int { return cmp.Compare(b.budgetSpent(), a.budgetSpent()) })
	return all
}

func reviewVerdict(r *review.Report) badge {
	all, met := objectivesOf(r), 0
	for _, o := range all {
		if o.isMet() {
			met++
		}
	}
	paged, wrong := 0, 0
	for _, i := range r.Incidents {
		if _, ok := i.Paged(); ok {
			paged++
			if i.IsFalse() {
				wrong++
			}
		}
	}
	b := badge{Word: "met", Class: classGood, Headline: fmt.Sprintf("%d of %d objectives were met", met, len(all))}
	b.Reason = fmt.Sprintf("Incidents: %d; with a page: %d; marked as false pages: %d.", len(r.Incidents), paged, wrong)
	switch {
	case len(all) == 0:
		b.Word, b.Class, b.Headline = "no turns", classUnknown, "No objective judged a turn"
	case met < len(all):
		b.Word, b.Class = "missed", classBad
	}
	return b
}

// reviewTimes says how long faults took to be detected and repaired. False pages do not count.
func reviewTimes(r *review.Report) string {
	var detection, repair []time.Duration
	for _, i := range r.Incidents {
		if _, paged := i.Paged(); !paged || i.IsFalse() {
			continue
		}
		if d := i.Detection(); d.OK {
			detection = append(detection, d.V)
		}
		if d := i.Repair(); d.OK {
			repair = append(repair, d.V)
		}
	}
	return "**Median of the pages:** " + medianText(detection) + " from the start of the fault to the page, " + medianText(repair) + " to the repair."
}

func medianText(all []time.Duration) string {
	if len(all) == 0 {
		return "n/a"
	}
	slices.Sort(all)
	return minutesText(probe.Some(all[len(all)/2]))
}

func minutesText(d probe.Opt[time.Duration]) string {
	switch {
	case !d.OK:
		return "n/a"
	case d.V < 2*time.Minute:
		return fmt.Sprintf("%.0f s", d.V.Seconds())
	case d.V < 2*time.Hour:
		return fmt.Sprintf("%.0f min", d.V.Minutes())
	}
	return fmt.Sprintf("%.1f h", d.V.Hours())
}

func percentText(share float64) string { return chart.Label(100*share, "%") }

func objectiveSection(r *review.Report) section {
	s := section{Title: "Objectives"}
	t := table{Header: []string{"Objective", "Target", "Wanted", "Good", "Turns", "Budget spent", "Spent by"}, Left: true}
	all := objectivesOf(r)
	for _, o := range all[:min(len(all), rowsShown)] {
		row := cells(o.Name, o.job.String(), percentText(o.Wanted), percentText(1-float64(o.Bad)/float64(o.Judged)), fmt.Sprint(o.Judged), percentText(o.budgetSpent()), spentBy(r, o))
		row[3].Class = classBad
		if o.isMet() {
			row[3].Class = classGood
		}
		t.Rows = append(t.Rows, row)
	}
	if len(all) == 0 {
		s.paragraph("No objective judged a turn in this time.")
	}
	s.table(t)
	s.more(len(all), "objectives, which spent less")
	return s
}

// spentBy names the incidents with most bad turns of an objective.
func spentBy(r *review.Report, o judged) string {
	incidents := slices.Clone(r.Incidents)
	slices.SortStableFunc(incidents, func(a, b review.Incident) int { return b.Bad[o.Name] - a.Bad[o.Name] })
	var parts []string
	rest := o.Bad
	for _, i := range incidents {
		if n := i.Bad[o.Name]; i.About.Key == o.job && n > 0 {
			rest -= n
			if len(parts) < 3 {
				parts = append(parts, fmt.Sprintf("%s %d of %d bad turns", incidentName(i), n, o.Bad))
			}
		}
	}
	if rest > 0 && len(parts) > 0 {
		parts = append(parts, fmt.Sprintf("no incident %d", rest))
	}
	return cmp.Or(strings.Join(parts, ", "), "no incident")
}

func incidentName(i review.Incident) string {
	return cmp.Or(i.ID, "the incident of "+shortTime(i.Since))
}

func incidentSection(r *review.Report) section {
	s := section{Title: "Incidents"}
	t := table{Header: []string{"Began", "What", "Paged after", "Repaired after", "Bad turns", "Judged"}, Left: true}
	worst := slices.Clone(r.Incidents)
	slices.SortStableFunc(worst, func(a, b review.Incident) int { return badTurns(b) - badTurns(a) })
	shown := worst[:min(len(worst), rowsShown)]
	slices.SortStableFunc(shown, func(a, b review.Incident) int { return a.Since.Compare(b.Since) })
	for _, i := range shown {
		paged, judgement := minutesText(i.Detection()), "–"
		if _, ok := i.Paged(); !ok {
			paged = "ticket only"
		}
		if i.IsFalse() {
			judgement = "false"
		}
		repaired := minutesText(i.Repair())
		if i.Ended.IsZero() {
			repaired = "open"
		}
		what := strings.ReplaceAll(i.Headline, "`", "'")
		if i.ID != "" {
			what += " (`" + i.ID + "`)"
		} else {
			what = i.Subject() + ": " + what
		}
		t.Rows = append(t.Rows, cells(shortTime(i.Since), what, paged, repaired, fmt.Sprint(badTurns(i)), judgement))
	}
	if len(r.Incidents) == 0 {
		s.paragraph("No incident is known in this time.")
	}
	s.table(t)
	s.more(len(worst), "incidents, with fewer bad turns")
	return s
}

// badTurns is the number of bad turns of the objective that has most.
func badTurns(i review.Incident) (most int) {
	for _, n := range slices.Sorted(maps.Values(i.Bad)) {
		most = n
	}
	return most
}

func costSection(r *review.Report) section {
	s := section{Title: "Cost of the probes"}
	t := table{Header: []string{"Target", "Turns", "Failed", "Prompt tokens", "Cached", "Output tokens", "Cost"}}
	jobs := slices.Clone(r.Jobs)
	slices.SortStableFunc(jobs, func(a, b review.Day) int { return cmp.Compare(b.Tokens.Sum(), a.Tokens.Sum()) })
	for _, d := range jobs[:min(len(jobs), rowsShown)] {
		t.Rows = append(t.Rows, cells(d.Target+"/"+d.Workload, fmt.Sprint(d.Turns), fmt.Sprint(d.Failed),
			workload.Amount(d.Tokens.Prompt), workload.Amount(d.Tokens.Cached), workload.Amount(d.Tokens.Output), strings.TrimPrefix(cmp.Or(costText(d.Cost), "n/a"), " for ")))
	}
	s.table(t)
	s.more(len(jobs), "targets, which used less")
	return s
}

// costText is "" without a price.
func costText(cost float64) string {
	if cost == 0 {
		return ""
	}
	return fmt.Sprintf(" for %.2f", cost)
}

// more says how many rows are left out of n.
func (s *section) more(n int, what string) {
	if n > rowsShown {
		s.paragraph(fmt.Sprintf("%d more %s, are left out.", n-rowsShown, what))
	}
}
