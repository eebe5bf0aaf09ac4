package report

import (
	"fmt"
	"strings"

	"synthetic/internal/study/analysis"
	"synthetic/internal/study/figures"
)

// findings come first: what a reader wants to know.
func (b *builder) findings() {
	s := b.section("Findings")
	var lines []string
	if len(b.s.Objectives) > 0 {
		for _, c := range b.capacity {
			lines = append(lines, b.finding(c))
		}
		if b.compares {
			lines = append(lines, b.winners())
		}
	}
	for _, series := range b.s.Series {
		lines = append(lines, analysis.Saturate(series).Sentence(b.s.LevelName()))
	}
	if n := len(b.warnings); n > 0 {
		lines = append(lines, fmt.Sprintf("Warnings: %d. They follow below; read them before relying on a figure.", n))
	}
	s.list(lines)
	if !b.compares {
		b.sub("Over All Levels").list(rangeLines(b.baseline))
	}
}

func (b *builder) finding(c analysis.Compliance) string {
	switch {
	case !c.Judged:
		return fmt.Sprintf("%s could not be judged by its SLOs: no level has the figures.", c.Series)
	case c.Highest == 0:
		return fmt.Sprintf("%s meets its SLOs at no %s that was measured.", c.Series, b.s.LevelName())
	}
	return fmt.Sprintf("%s meets its SLOs up to %s %s%s.", c.Series, b.s.LevelName(), at(c.Highest), b.unproven(c))
}

// unproven says how much of a capacity that was seen is proven, where that is
// less: a few good turns meet any objective.
func (b *builder) unproven(c analysis.Compliance) string {
	for _, p := range b.s.Capacities {
		switch {
		case p.Variant != c.Series:
		case p.Level == nil:
			return fmt.Sprintf(" as far as was seen; with a confidence of %.4g%% that is proven of no %s", 100*p.Wanted, b.s.LevelName())
		case *p.Level < c.Highest:
			return fmt.Sprintf(" as far as was seen; with a confidence of %.4g%% that is proven up to %s", 100*p.Wanted, at(*p.Level))
		}
	}
	return ""
}

func (b *builder) compliance() {
	if len(b.s.Objectives) == 0 {
		return
	}
	var wanted []string
	targets := Table{Header: []string{"Objective", "Target"}, Left: true}
	for _, o := range b.s.Objectives {
		wanted = append(wanted, o.String())
		targets.Rows = append(targets.Rows, cells(o.Name, fmt.Sprintf("%s, that is %g%% of turns good", o, o.Share)))
	}
	b.table("SLO Targets", targets)
	s := b.section("SLO Compliance Matrix")
	s.paragraph("PASS = " + strings.Join(wanted, " AND "))
	unsure := false
	s.table(b.byLevel(column{"SLO", func(l figures.Level) Cell {
		v := analysis.Judge(b.s.Objectives, l)
		unsure = unsure || v.Unsure
		return judged(v)
	}}))
	if unsure {
		s.paragraph("± marks a verdict that is within noise: the 95 % interval holds both.")
	}
	b.winner()
}

// judged is the cell of a level's verdict.
func judged(v analysis.SLOResult) Cell {
	c := Cell{v.String(), Unknown}
	switch {
	case v.Pass():
		c.Class = Good
	case len(v.Failed) > 0:
		c.Class = Bad
	}
	if v.Unsure {
		c.Text += " ±"
	}
	return c
}

func (b *builder) winner() {
	title := "Winner Identification"
	if !b.compares {
		title = "Highest Compliant Level"
	}
	s := b.section(title)
	t := Table{Header: []string{"Label", "Max SLO-Compliant " + b.level}}
	goodput := b.s.Has(figures.GoodputPerSecond)
	if goodput {
		t.Header = append(t.Header, "Goodput there")
	}
	if b.compares {
		t.Header = append(t.Header, "Capacity vs Baseline")
	}
	for i, c := range b.capacity {
		row := []Cell{{Text: c.Series}, found(c.Judged, c.Highest > 0, at(c.Highest))}
		if c.Winner {
			row[0].Text += " **WINNER**"
		}
		if goodput {
			row = append(row, figure(figures.GoodputPerSecond, c.At))
		}
		if b.compares {
			row = append(row, cell(i == 0 || c.Judged && b.capacity[0].Judged, against(i, c, b.capacity[0])))
		}
		t.Rows = append(t.Rows, row)
	}
	s.table(t)
	if b.compares {
		s.paragraph(b.winners())
	}
	var proven []string
	for _, c := range b.s.Capacities {
		proven = append(proven, fmt.Sprintf("%s: %s; %d levels were measured for %.0f s.", c.Variant, c.Sentence(b.s.LevelName()), len(c.Visited), c.MeasuredSeconds))
	}
	s.list(proven)
}

func against(i int, c, base analysis.Compliance) string {
	switch {
	case i == 0:
		return "—"
	case c.Unmeasured:
		return "not known"
	case base.Highest == 0:
		return "the baseline has none"
	case c.Highest == base.Highest:
		return "0%"
	}
	return fmt.Sprintf("%+.0f%%", c.ChangePct)
}

// winners says who won.
func (b *builder) winners() string {
	var winners, ties []string
	judged, unranked := 0, ""
	base := b.capacity[0]
	for i, c := range b.capacity {
		if c.Judged {
			judged++
		}
		switch {
		case c.Winner:
			winners = append(winners, c.Series)
		case i > 0 && c.Judged && c.Highest == base.Highest:
			ties = append(ties, c.Series)
		case unranked == "" && c.Unmeasured && c.Highest > base.Highest:
			unranked = fmt.Sprintf("**No winner: %s meets %s %s, and how %s does there is not known.**", c.Series, b.s.LevelName(), at(c.Highest), base.Series)
		}
	}
	switch {
	case judged < 2:
		return "**No winner: the SLOs could not be judged for at least two configurations.**"
	case len(winners) > 1:
		return fmt.Sprintf("**Tie: %s reach the same level.**", strings.Join(winners, " and "))
	case len(winners) == 1:
		return fmt.Sprintf("**%s improves over the baseline.**", winners[0])
	case unranked != "":
		return unranked
	case len(ties) > 0:
		return fmt.Sprintf("**None improved over the baseline; %s %s with it.**", strings.Join(ties, " and "), []string{"ties", "tie"}[min(len(ties)-1, 1)])
	}
	return "**None improved over the baseline.**"
}
