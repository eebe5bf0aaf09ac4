package report

import (
	"fmt"
	"math"
	"strings"

	"synthetic/internal/study/analysis"
	"synthetic/internal/study/figures"
)

func (b *builder) saturation() {
	s := b.section("Saturation Point")
	t := Table{Header: []string{"Metric"}}
	rows := [][]string{{"First errors"}, {"Sustained >5% errors"}, {"TTFT p50 > 1s"}, {"Largest step"}, {"TPOT p50 plateau"}, {"Highest level before errors or slow TTFT"}}
	for _, series := range b.s.Series {
		x := analysis.Saturate(series)
		t.Header = append(t.Header, series.Name)
		for i, cell := range []string{b.pct(x), b.sustained(x), b.slow(x), b.step(x), b.plateau(x), b.last(x)} {
			rows[i] = append(rows[i], cell)
		}
	}
	t.Rows = rows
	s.table(t)
	if b.compares() {
		s.list(b.shifts())
	}
	b.degradation()
}

func (b *builder) point(p analysis.Point) string {
	return fmt.Sprintf("%s %s", b.levelTitle(), at(p.At))
}

func (b *builder) pct(x analysis.Saturation) string {
	switch {
	case !x.ErrorsKnown:
		return "n/a"
	case !x.FirstErrors.Found:
		return "none"
	}
	return fmt.Sprintf("%s (%.1f%%)", b.point(x.FirstErrors), x.FirstErrors.Value)
}

func (b *builder) sustained(x analysis.Saturation) string {
	switch {
	case !x.ErrorsKnown:
		return "n/a"
	case !x.Sustained.Found:
		return "none"
	}
	text := b.point(x.Sustained)
	if len(x.Dips) > 0 {
		dips := make([]string, len(x.Dips))
		for i, d := range x.Dips {
			dips[i] = at(d)
		}
		text += " (fewer at " + strings.Join(dips, ", ") + ")"
	}
	return text
}

func (b *builder) slow(x analysis.Saturation) string {
	switch {
	case !x.Known && !x.SlowTTFT.Found:
		return "n/a"
	case !x.SlowTTFT.Found:
		return "none"
	case !x.Known:
		return b.point(x.SlowTTFT) + " or below"
	}
	return b.point(x.SlowTTFT)
}

func (b *builder) step(x analysis.Saturation) string {
	if !x.Step.Found {
		return "none"
	}
	return fmt.Sprintf("%s → %s (%s %+.0f%%)", at(x.From), at(x.Step.At), x.Metric.Title(), x.Step.Value)
}

func (b *builder) plateau(x analysis.Saturation) string {
	rounded := figures.Plain(x.Plateau.Value)
	rounded.Step = 1
	text := fmt.Sprintf("~%s (%s %s", figures.TPOTP50.Cell(rounded), b.s.LevelName(), at(x.Plateau.At))
	switch {
	case x.Plateau.At == 0:
		return "n/a"
	case !x.Plateau.Found:
		return text + "), not reached"
	}
	return text + "+)"
}

func (b *builder) last(x analysis.Saturation) string {
	switch {
	case !x.Known:
		return "n/a"
	case x.Last == 0:
		return "none"
	}
	return at(x.Last)
}

// shifts say how far the saturation point of each series is from the
// baseline's.
func (b *builder) shifts() []string {
	var out []string
	base := analysis.Saturate(b.baseline())
	for _, series := range b.s.Series[1:] {
		if x := analysis.Saturate(series); base.Known && x.Known && base.Last > 0 && x.Last > 0 && x.Last != base.Last {
			out = append(out, fmt.Sprintf("%s moves the highest level before errors or a slow TTFT from %s to %s: %+.0f%%.",
				series.Name, at(base.Last), at(x.Last), 100*(x.Last/base.Last-1)))
		}
	}
	return out
}

// degradation draws the curve in figures with its bands.
func (b *builder) degradation() {
	var texts []string
	for _, series := range b.s.Series {
		x := analysis.Saturate(series)
		if x.Metric == figures.NoMetric || len(series.Levels) < 2 {
			continue
		}
		texts = append(texts, curve(series, x.Metric))
	}
	if len(texts) == 0 {
		return
	}
	s := b.sub("Degradation Curve")
	for _, text := range texts {
		s.add(Block{Code: text})
	}
	s.paragraph("Saturated from the first errors or the first TTFT p50 above 1 s on; degrading from the largest step on, if it is at least 10 % and lower; clean below.")
}

// curve is three lines: levels, values, bands.
func curve(series figures.Series, m figures.Metric) string {
	bands := analysis.Bands(series)
	lines := []string{"Level:", m.Title() + ":", ""}
	width := len(lines[1])
	for i, l := range series.Levels {
		f := l.Figure(m)
		value := m.Cell(figures.Figure{Value: f.Value, Low: math.NaN(), High: math.NaN(), N: f.N, Needed: f.Needed, Step: f.Step})
		band := ""
		if i == 0 || bands[i] != bands[i-1] {
			band = string(bands[i])
		}
		cell := max(len([]rune(value)), len(at(l.At)), len(string(bands[i]))) + 2
		for j, text := range []string{at(l.At), value, band} {
			lines[j] = pad(lines[j], width) + strings.Repeat(" ", max(cell-len([]rune(text)), 0)) + text
		}
		width += cell
	}
	return series.Name + "\n" + strings.Join(lines, "\n")
}

func pad(text string, width int) string {
	return text + strings.Repeat(" ", max(width-len([]rune(text)), 0))
}

// knee is the last clean level before others; NaN when all are clean or none.
func knee(series figures.Series) float64 {
	bands := analysis.Bands(series)
	for i := range bands {
		if bands[i] != analysis.Clean {
			if i == 0 {
				return math.NaN()
			}
			return series.Levels[i-1].At
		}
	}
	return math.NaN()
}
