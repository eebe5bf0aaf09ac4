package report

import (
	"fmt"
	"math"
	"strings"

	"synthetic/internal/slo"
	"synthetic/internal/study/runs"
)

// matrixWords returns the verdict on a level by its measured percentiles, with a mark if chance could turn it.
func matrixWords(objectives []slo.Objective, l Level) string {
	return Judge(objectives, l).Measured(labels(objectives))
}

// addMatrix adds the targets and the verdict on every level.
func addMatrix(d *document, s *Study) {
	if len(s.Objectives) == 0 {
		return
	}
	d.table("SLO Targets", targets(s.Objectives))
	part := d.section("SLO Compliance Matrix")
	part.paragraph("PASS = " + strings.Join(objectiveWords(s), " AND "))
	var columns []column
	for _, series := range s.Series {
		title := ""
		if !s.compares() {
			title = series.Name
		}
		columns = append(columns, ownColumn(s, series, title, func(l Level) cell {
			v := Judge(s.Objectives, l)
			shown := cell{Text: v.Measured(labels(s.Objectives))}
			switch {
			case v.Met:
				shown.Class = classGood
			case !v.Unjudged():
				shown.Class = classBad
			}
			return shown
		}))
	}
	part.table(byLevel(s, columns...))
	if text := unsettled(s); text != "" {
		part.paragraph(text)
		d.Footnotes = append(d.Footnotes, text)
	}
}

func targets(objectives []slo.Objective) table {
	t := table{Header: []string{"Metric", "Target"}, Left: true}
	for _, o := range objectives {
		t.Rows = append(t.Rows, cells(targetOf(o)...))
	}
	return t
}

// unsettled says how many turns would settle the verdicts that chance could turn.
func unsettled(s *Study) string {
	var all []string
	for _, series := range s.Series {
		for _, l := range series.Levels {
			v := Judge(s.Objectives, l)
			if v.Standing != runs.Undecided {
				continue
			}
			text := s.At(l.At) + ": " + v.ToSettle(labels(s.Objectives))
			if s.compares() {
				text = series.Name + ", " + text
			}
			all = append(all, text)
		}
	}
	if all == nil {
		return ""
	}
	return "~ Chance could turn this verdict. To settle it: " + strings.Join(all, "; ") + "."
}

func objectiveWords(s *Study) (words []string) {
	for _, o := range s.Objectives {
		words = append(words, wordsOf(o))
	}
	return words
}

// judgedWords is objectiveWords for a level, which meets or misses only the objectives that its turns judge.
func judgedWords(s *Study, l *Level) (words []string) {
	all := objectiveWords(s)
	if l == nil || l.Verdict == nil || len(l.Verdict.SLOs) != len(all) {
		return all
	}
	for i, v := range l.Verdict.SLOs {
		if v.Standing != runs.NotJudged {
			words = append(words, all[i])
		}
	}
	return words
}

// addWinner adds the highest compliant level of each series, and how far it exceeds the baseline's.
func addWinner(d *document, s *Study) {
	if len(s.Objectives) == 0 {
		return
	}
	title, best := "Highest Compliant Level", 0.0
	all := measuredCapacities(s)
	for _, x := range all[1:] {
		title, best = "Winner Identification", max(best, x.Least())
	}
	base, none := all[0], ""
	switch {
	case !base.Judged() || len(base.NotJudged) > 0 && base.NotJudged[0] <= best:
		none = fmt.Sprintf("**There is no winner, because %s was not judged at every level up to %s.**", base.Variant, rowName(s, best))
	case best <= base.Least():
		none = "**No variant improved on the baseline.**"
	}
	if none != "" {
		best = math.Inf(1)
	}
	part := d.section(title)
	part.table(winnerTable(s, all, best))
	if s.compares() {
		part.paragraph(none)
	}
	notes := capacityNotes(s, all)
	part.list(notes)
	d.Footnotes = append(d.Footnotes, notes...)
}

// winnerTable returns a row for each series. Those at the best level win.
func winnerTable(s *Study, all []capacity, best float64) table {
	t := table{Header: []string{"Label", "Max SLO-Compliant " + levelTitle(s)}}
	if s.compares() {
		t.Header = append(t.Header, "Capacity vs Baseline")
	}
	base := all[0]
	for i, x := range all {
		row := cells(x.Variant, compliant(s, x))
		switch {
		case i > 0:
			row = append(row, cellIf(base.Meets != nil && x.Judged() && base.NotJudged == nil && x.NotJudged == nil, formatChange(x.Least()/base.Least(), 0)))
		case s.compares():
			row = append(row, cell{Text: "—"})
		}
		if i > 0 && x.Least() == best {
			row[0].Text = x.Variant + " **WINNER**"
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// capacityNotes returns what counted turns prove, and the levels that pass above one that fails.
func capacityNotes(s *Study, all []capacity) (out []string) {
	for i, series := range s.Series {
		if series.Any(func(l Level) bool { return l.Verdict != nil }) {
			out = append(out, fmt.Sprintf("Proven capacity of %s, beyond chance: %s.", series.Name, capacityOf(s, series, true).Sentence(s.LevelKind())))
		}
		if beyond := all[i].Beyond; beyond != nil {
			out = append(out, fmt.Sprintf("%s passes again at %s, above a level that fails: repeat the sweep before you rely on its capacity.", series.Name, s.At(beyond...)))
		}
	}
	return out
}

// compliant returns the highest compliant level: "80", "120 or more", "80 (100 not judged)", "none".
func compliant(s *Study, x capacity) string {
	switch {
	case !x.Judged():
		return "n/a"
	case x.Meets == nil:
		return "none" + x.unknown()
	case x.Fails == nil:
		return rowName(s, x.Least()) + " or more" + x.unknown()
	}
	return rowName(s, x.Least()) + x.unknown()
}

// addDetail compares all figures at the baseline's highest compliant level or, without SLOs, at the highest level of both.
func addDetail(d *document, s *Study) {
	if !s.compares() {
		return
	}
	at, of := capacityOf(s, s.Series[0], false).Least(), "Baseline Max "+levelTitle(s)
	if shared := sharedLevels(s.Series[0], s.Series[1]); at == 0 && len(shared) > 0 {
		at, of = shared[len(shared)-1][0].At, "the Highest Level of Both"
	}
	t := table{Header: []string{"Metric"}, Left: true}
	for _, series := range s.Series {
		t.Header = append(t.Header, series.Name)
	}
	for _, series := range s.Series[1:] {
		t.Header = append(t.Header, changeColumn(s, NoMetric, series).title)
	}
	base, _ := s.Series[0].Level(at)
	for _, m := range Metrics() {
		if m.InMainTables() && base.Figure(m).Known() && (m.Timing != slo.AnswerTTFT || !sameAnswers(s)) {
			t.Rows = append(t.Rows, detailRow(s, m, base))
		}
	}
	d.table(fmt.Sprintf("Detailed Comparison at %s (%s)", of, rowName(s, at)), t)
}

// detailRow returns a figure of each series at the level of the baseline, and the changes.
func detailRow(s *Study, m Metric, base Level) []cell {
	row := cells(m.Title())
	for _, series := range s.Series {
		l, _ := series.Level(base.At)
		if shown := figure(m, l); unsound(l) == "" {
			row = append(row, shown)
		} else {
			row = append(row, unknownCell("–"))
		}
	}
	for _, series := range s.Series[1:] {
		changed := unknownCell("—")
		if hasChange(m) {
			changed = changeColumn(s, m, series).cell(base.At)
		}
		row = append(row, changed)
	}
	return row
}
