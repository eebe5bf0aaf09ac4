package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"synthetic/internal/chart"
	"synthetic/internal/study/figures"
	"synthetic/internal/study/runfile"
)

func (b *builder) saturation() {
	t := table{Header: []string{"Metric"}}
	for _, name := range []string{"First errors", "Sustained >5% errors", "TTFT p50 > 1s", "Largest step", "TPOT p50 plateau", "Highest level before errors or slow TTFT"} {
		t.Rows = append(t.Rows, cells(name))
	}
	for _, series := range b.s.Series {
		t.Header = append(t.Header, series.Name)
		for i, cell := range b.saturationCells(saturate(series)) {
			t.Rows[i] = append(t.Rows[i], cell)
		}
	}
	s := b.section("Saturation Point")
	s.table(t)
	if b.compares {
		s.list(b.shifts())
	}
	var sentences []string
	for _, series := range b.s.Series {
		sentences = append(sentences, saturate(series).sentence(b.s.LevelKind()))
	}
	s.list(sentences)
	b.degradation()
}

// saturationCells returns the column of a series.
func (b *builder) saturationCells(x saturation) []cell {
	point := func(p foundPoint) string { return fmt.Sprintf("%s %s", b.level, formatLevel(p.At)) }
	sustained := point(x.Sustained)
	if len(x.Dips) > 0 {
		sustained += " (fewer at " + runfile.FormatLevels(x.Dips, ", ") + ")"
	}
	slow := point(x.SlowTTFT)
	if !x.Known {
		slow += " or below"
	}
	return []cell{
		foundCell(x.ErrorsKnown, x.FirstErrors.Found, fmt.Sprintf("%s (%s)", point(x.FirstErrors), figures.ErrorPct.Text(x.FirstErrors.Value))),
		foundCell(x.ErrorsKnown, x.Sustained.Found, sustained),
		foundCell(x.Known || x.SlowTTFT.Found, x.SlowTTFT.Found, slow),
		foundCell(true, x.Step.Found, fmt.Sprintf("%s → %s (%s %s)", formatLevel(x.From), formatLevel(x.Step.At), x.Metric.Title(), formatChange(1+x.Step.Value/100, 0))),
		b.plateau(x.Plateau),
		foundCell(x.Known, x.Last > 0, formatLevel(x.Last)),
	}
}

// foundCell returns a text, "none" if nothing was found, and "n/a" if that is unknown.
func foundCell(known, any bool, text string) cell {
	if !any {
		text = "none"
	}
	return cellIf(known, text)
}

func (b *builder) plateau(p foundPoint) cell {
	rounded := figures.Plain(p.Value)
	rounded.Step = 1
	text := fmt.Sprintf("~%s (%s %s", figures.TPOTP50.Cell(rounded), b.s.LevelName(), formatLevel(p.At))
	if !p.Found {
		return cellIf(p.At != 0, text+"), not reached")
	}
	return cellIf(p.At != 0, text+"+)")
}

// shifts says by how much a series saturates later or earlier than the baseline. That needs a
// level at which the one that scales less was seen to saturate, and the other was not.
func (b *builder) shifts() []string {
	var out []string
	base := saturate(b.baseline)
	for _, series := range b.s.Series[1:] {
		x := saturate(series)
		less, more := base, x
		if x.Last < base.Last {
			less, more = x, base
		}
		if base.Known && x.Known && less.Last > 0 && less.end() <= more.Last {
			out = append(out, fmt.Sprintf("%s moves the highest level before errors or a slow TTFT from %s to %s: %s.",
				series.Name, b.s.At(base.Last), b.s.At(x.Last), formatChange(x.Last/base.Last, 0)))
		}
	}
	return out
}

func (b *builder) degradation() {
	var curves []block
	for _, series := range b.s.Series {
		if m := saturate(series).Metric; m != figures.NoMetric && len(series.Levels) > 1 {
			curves = append(curves, block{Code: textCurve(series, m)})
		}
	}
	if len(curves) == 0 {
		return
	}
	s := b.subsection("Degradation Curve")
	s.Blocks = curves
	s.paragraph("Levels are saturated from the first errors or the first TTFT p50 above 1 s, degrading from the largest step if it is at least 10 %, and clean below.")
}

// textCurve returns three lines: levels, values and bands.
func textCurve(series figures.Series, m figures.Metric) string {
	bands := levelBands(series)
	title := m.Title() + ":"
	lines := []string{fmt.Sprintf("%-*s", len(title), "Level:"), title, strings.Repeat(" ", len(title))}
	for i, l := range series.Levels {
		f := l.Figure(m)
		f.Low, f.High, f.Quantile = math.NaN(), math.NaN(), false
		value, band := m.Cell(f), string(bands[i])
		width := max(len([]rune(value)), len(formatLevel(l.At)), len(band)) + 2
		if i > 0 && bands[i] == bands[i-1] {
			band = ""
		}
		for j, text := range []string{formatLevel(l.At), value, band} {
			lines[j] += fmt.Sprintf("%*s", width, text)
		}
	}
	return chart.OneLine(series.Name) + "\n" + strings.Join(lines, "\n")
}

// knee returns the highest clean level before saturation, NaN if there is no such level.
func knee(series figures.Series) float64 {
	i := slices.IndexFunc(levelBands(series), func(b band) bool { return b == bandDegrading || b == bandSaturated })
	if i < 1 {
		return math.NaN()
	}
	return series.Levels[i-1].At
}
