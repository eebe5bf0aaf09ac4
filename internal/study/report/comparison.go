package report

import (
	"fmt"
	"math"

	"synthetic/internal/study/analysis"
	"synthetic/internal/study/figures"
)

// comparison sets every other series against the first.
func (b *builder) comparison() {
	if !b.compares() {
		return
	}
	for _, series := range b.s.Series[1:] {
		b.section(fmt.Sprintf("Comparison: %s vs %s", series.Name, b.baseline().Name))
		for _, m := range []figures.Metric{figures.TPOTP50, figures.TTFTP50, figures.TTFTP95, figures.TTFTP99, figures.LatencyP50, figures.OutputTokensPerSecond} {
			b.changes(series, m)
		}
		b.improvements(series)
	}
	b.detail()
	b.summaries()
}

// shared are the levels that both series measured.
func (b *builder) shared(series figures.Series) (base, other []figures.Level) {
	for _, l := range series.Levels {
		if x, ok := b.baseline().Level(l.At); ok {
			base, other = append(base, x), append(other, l)
		}
	}
	return base, other
}

// changes is a table of one metric with the change.
func (b *builder) changes(series figures.Series, m figures.Metric) {
	base, other := b.shared(series)
	t := Table{Header: []string{b.levelTitle(), b.baseline().Name + " " + m.Title(), series.Name + " " + m.Title(), "Change"}}
	for i := range base {
		if d := analysis.Between(m, base[i], other[i]); d.Known {
			t.Rows = append(t.Rows, []Cell{{Text: at(base[i].At)}, figure(m, base[i]), figure(m, other[i]), change(d)})
		}
	}
	if len(t.Rows) > 0 {
		b.sub(m.Title() + " Comparison").table(t)
	}
}

// improvements is one table of all metrics, positive where the series is
// better.
func (b *builder) improvements(series figures.Series) {
	base, other := b.shared(series)
	t := Table{Header: []string{b.levelTitle()}}
	for _, l := range base {
		t.Rows = append(t.Rows, cells(at(l.At)))
	}
	for _, m := range []figures.Metric{
		figures.TTFTP50, figures.TTFTP95, figures.TTFTP99, figures.TPOTP50, figures.TPOTP95, figures.TPOTP99,
		figures.LatencyP50, figures.LatencyP95, figures.OutputTokensPerSecond, figures.GoodputPerSecond, figures.KVHitRatePct,
	} {
		known := false
		column := make([]Cell, len(base))
		for i := range base {
			d := analysis.Between(m, base[i], other[i])
			known, column[i] = known || d.Known, improvement(d)
		}
		if !known {
			continue
		}
		t.Header = append(t.Header, m.Title()+" Improvement")
		for i, cell := range column {
			t.Rows[i] = append(t.Rows[i], cell)
		}
	}
	if len(t.Header) > 1 {
		b.sub(fmt.Sprintf("Improvement of %s", series.Name)).table(t)
	}
}

func improvement(d analysis.Delta) Cell {
	if !d.Known || d.Large() {
		return change(d) // a percentage of thousands tells nobody anything
	}
	return Cell{Text: fmt.Sprintf("%.1f%%", math.Round(d.Improvement()*10)/10+0) + d.Caveat()} // adding 0 makes −0 a 0
}

// change is judged unless something keeps it from being taken for one.
func change(d analysis.Delta) Cell {
	c := Cell{Text: d.String()}
	switch {
	case !d.Known:
		c.Class = Unknown
	case d.Effect == "" || d.Caveat() != "":
	case d.Improvement() > 0:
		c.Class = Good
	default:
		c.Class = Bad
	}
	return c
}

// detail compares everything at the baseline's highest compliant level.
func (b *builder) detail() {
	highest := b.capacity[0].Highest
	if highest == 0 {
		return
	}
	t := Table{Header: []string{"Metric"}, Left: true}
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
	b.section(fmt.Sprintf("Detailed Comparison at the Baseline's Highest Compliant %s (%s)", b.levelTitle(), at(highest))).table(t)
}

// summaries are the lines that sum a comparison up.
func (b *builder) summaries() {
	s := b.section("Summary")
	var lines []string
	for _, series := range b.s.Series[1:] {
		for _, m := range []figures.Metric{figures.TTFTP50, figures.TTFTP95, figures.TPOTP50, figures.LatencyP50, figures.OutputTokensPerSecond} {
			lines = append(lines, b.improvementLines(series, m)...)
		}
	}
	for _, series := range b.s.Series {
		lines = append(lines, rangeLines(series)...)
	}
	s.list(lines)
}

func (b *builder) improvementLines(series figures.Series, m figures.Metric) []string {
	base, other := b.shared(series)
	byLevel := map[float64]float64{}
	for i := range base {
		byLevel[base[i].At] = analysis.Between(m, base[i], other[i]).Improvement()
	}
	x := analysis.Summarize(other, func(l figures.Level) float64 { return byLevel[l.At] })
	if !x.Known {
		return nil
	}
	name := fmt.Sprintf("%s: %s improvement", series.Name, m.Title())
	if x.Levels == 1 {
		return []string{fmt.Sprintf("**%s at the only shared %s (%s):** %.1f%%", name, b.s.LevelName(), at(x.First.At), x.First.Value)}
	}
	return []string{
		fmt.Sprintf("**%s at lowest %s (%s):** %.1f%%", name, b.s.LevelName(), at(x.First.At), x.First.Value),
		fmt.Sprintf("**%s at highest %s (%s):** %.1f%%", name, b.s.LevelName(), at(x.Last.At), x.Last.Value),
		fmt.Sprintf("**%s, peak and range:** %.1f%% at %s, from %.1f%% (at %s), average %.1f%%", name, x.Most.Value, at(x.Most.At), x.Least.Value, at(x.Least.At), x.Mean),
		fmt.Sprintf("**%s, trend:** %s from %.1f%% at %s to %.1f%% at %s%s", name, x.Trend(),
			x.First.Value, at(x.First.At), x.Last.Value, at(x.Last.At), detours(x)),
	}
}

// detours says that the way is not straight.
func detours(x analysis.Summary) string {
	if x.Against == 0 {
		return "."
	}
	return fmt.Sprintf(", though %d of %d steps go the other way.", x.Against, x.Levels-1)
}

// rangeLines describe a series by itself.
func rangeLines(series figures.Series) []string {
	var lines []string
	for _, m := range []figures.Metric{figures.KVHitRatePct, figures.OutputTokensPerSecond, figures.TurnsPerSecond} {
		x := analysis.Summarize(series.Levels, func(l figures.Level) float64 { return l.Value(m) })
		if x.Known {
			lines = append(lines, fmt.Sprintf("**%s (%s):** %s (at %s) to %s (at %s), average %s.", m.Title(), series.Name,
				m.Text(x.Least.Value), at(x.Least.At), m.Text(x.Most.Value), at(x.Most.At), m.Text(x.Mean)))
		}
	}
	for _, m := range []figures.Metric{figures.TPOTP50, figures.TPOTP95, figures.TTFTP50, figures.LatencyP95} {
		x := analysis.Summarize(series.Levels, func(l figures.Level) float64 { return l.Value(m) })
		if x.Levels > 1 && x.First.Value > 0 {
			lines = append(lines, fmt.Sprintf("**%s (%s):** from %s at %s to %s at %s, %.1fx.", m.Title(), series.Name,
				m.Text(x.First.Value), at(x.First.At), m.Text(x.Last.Value), at(x.Last.At), x.Last.Value/x.First.Value))
		}
	}
	return lines
}
