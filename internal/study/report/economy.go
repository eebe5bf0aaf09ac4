package report

import (
	"math"
	"strings"

	"synthetic/internal/chart"
	"synthetic/internal/study/figures"
)

// economy compares the speed for users with the yield and the price of GPUs.
func (b *builder) economy() {
	columns := b.metricColumns(figures.TokensPerUser, figures.TokensPerGPU, figures.GoodputPerGPU, figures.CostPerMillionTokens, figures.JoulesPerToken)
	if !b.s.Has(figures.TokensPerGPU) && !b.s.Has(figures.JoulesPerToken) {
		return
	}
	s := b.section("Speed for Users and Yield of GPUs")
	s.paragraph("Tokens/s per user is the speed of the median stream (1 / TPOT p50). More load lowers the speed for users and raises the yield of GPUs. Beyond the knee it only lowers the speed.")
	s.table(b.byLevel(columns...))
	if p := b.pareto(); p != nil && b.doc.Picture.File != p.File {
		s.picture(p)
	}
}

// pareto returns the picture of speed per user against yield per GPU, or of all GPUs if their
// number is unknown, with a point per level. It returns nil without such figures.
func (b *builder) pareto() *picture {
	yield, unit := figures.TokensPerGPU, "tokens/s per GPU"
	if !b.s.Has(yield) {
		yield, unit = figures.OutputTokensPerSecond, "output tokens/s"
	}
	c := chart.Chart{
		Title: strings.ToUpper(unit[:1]) + unit[1:] + " by tokens/s per user",
		X:     chart.Axis{Label: "Tokens/s per user"}, Y: chart.Axis{Label: unit, Unit: unit},
	}
	for i, series := range b.s.Series {
		line := chart.Series{Name: series.Name, Color: i}
		at := knee(series)
		for _, l := range sound(series).Levels {
			x, y := 1000/l.Value(figures.TPOTP50), l.Value(yield)
			if math.IsNaN(x) || math.IsNaN(y) {
				continue
			}
			line.Points = append(line.Points, chart.Point{X: x, Y: y, Low: math.NaN(), High: math.NaN()})
			if l.At == at {
				c.Marks = append(c.Marks, chart.Mark{Text: "knee", X: x, Y: math.NaN(), Color: i})
			}
		}
		if len(line.Points) > 1 {
			c.Series = append(c.Series, line)
		}
	}
	if len(c.Series) == 0 {
		return nil
	}
	return &picture{File: "pareto.svg", Chart: c}
}
