package report

import (
	"fmt"
	"slices"
	"strings"

	"synthetic/internal/study/figures"
)

func (b *builder) comparison() {
	if !b.compares {
		return
	}
	for _, series := range b.s.Series[1:] {
		s := b.section(fmt.Sprintf("Comparison: %s vs %s", series.Name, b.baseline.Name))
		before := len(b.doc.Sections)
		both := b.sharedLevels(series)
		for _, m := range []figures.Metric{figures.TPOTP50, figures.TTFTP50, figures.TTFTP95, figures.TTFTP99, figures.LatencyP50, figures.OutputTokensPerSecond} {
			t := table{Header: []string{b.level, b.baseline.Name + " " + m.Title(), series.Name + " " + m.Title(), "Change"}}
			for _, p := range both {
				if d := p.delta(m); d.Known {
					t.Rows = append(t.Rows, []cell{{Text: formatLevel(p.base.At)}, figure(m, p.base), figure(m, p.other), change(d)})
				}
			}
			b.subtable(m.Title()+" Comparison", t)
		}
		if b.improvements(series, both); len(b.doc.Sections) == before {
			why := nothingShared(b.s, series)
			s.paragraph(strings.ToUpper(why[:1]) + why[1:] + ".")
		}
	}
	b.detail()
}

type levelPair struct{ base, other figures.Level }

func (p levelPair) delta(m figures.Metric) delta { return compareFigures(m, p.base, p.other) }

// sharedLevels returns the sound levels of both a series and the baseline.
func (b *builder) sharedLevels(series figures.Series) []levelPair {
	var both []levelPair
	for _, l := range sound(series).Levels {
		if x, ok := sound(b.baseline).Level(l.At); ok {
			both = append(both, levelPair{x, l})
		}
	}
	return both
}

// improvements adds a table of all metrics. Positive values are better.
func (b *builder) improvements(series figures.Series, both []levelPair) {
	t := table{Header: []string{b.level}, Rows: make([][]cell, len(both))}
	for i, p := range both {
		t.Rows[i] = cells(formatLevel(p.base.At))
	}
	for _, m := range []figures.Metric{
		figures.TTFTP50, figures.TTFTP95, figures.TTFTP99, figures.TPOTP50, figures.TPOTP95, figures.TPOTP99,
		figures.LatencyP50, figures.LatencyP95, figures.OutputTokensPerSecond, figures.GoodputPerSecond, figures.KVHitRatePct,
	} {
		if !slices.ContainsFunc(both, func(p levelPair) bool { return p.delta(m).Known }) {
			continue
		}
		t.Header = append(t.Header, m.Title()+" Improvement")
		for i, p := range both {
			t.Rows[i] = append(t.Rows[i], improvement(p.delta(m)))
		}
	}
	if len(t.Header) > 1 {
		b.subtable("Improvement of "+series.Name, t)
	}
}

func improvement(d delta) cell {
	if !d.Known || d.large() {
		return change(d) // percentages of thousands are unreadable
	}
	return cell{Text: formatGain(d.Metric, d.improvement()) + d.caveat()}
}

// change is colored unless it has a caveat.
func change(d delta) cell {
	c := cell{Text: d.String()}
	switch {
	case !d.Known:
		c.Class = classUnknown
	case d.Effect == "" || d.caveat() != "":
	case d.improvement() > 0:
		c.Class = classGood
	default:
		c.Class = classBad
	}
	return c
}

// detail compares all metrics at the baseline's highest compliant level.
func (b *builder) detail() {
	highest := b.capacity[0].Least
	if highest == 0 {
		return
	}
	t := table{Header: []string{"Metric"}, Left: true}
	for _, series := range b.s.Series {
		t.Header = append(t.Header, series.Name)
	}
	for _, m := range figures.Metrics() {
		known := false
		row := cells(m.Title())
		for _, series := range b.s.Series {
			l, _ := series.Level(highest)
			known = known || l.Figure(m).Known()
			row = append(row, figure(m, l))
		}
		if known {
			t.Rows = append(t.Rows, row)
		}
	}
	b.table(fmt.Sprintf("Detailed Comparison at the Baseline's Highest Compliant %s (%s)", b.level, formatLevel(highest)), t)
}
