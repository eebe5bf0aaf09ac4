package report

import (
	"math"

	"synthetic/internal/draw"
	"synthetic/internal/study/figures"
)

// economy sets what a user gets against what a GPU gives, and what it costs.
func (b *builder) economy() {
	columns := b.known(figures.TokensPerUser, figures.TokensPerGPU, figures.GoodputPerGPU, figures.CostPerMillionTokens, figures.JoulesPerToken)
	if !b.s.Has(figures.TokensPerGPU) && !b.s.Has(figures.JoulesPerToken) {
		return
	}
	s := b.section("Speed for Users and Yield of GPUs")
	s.paragraph("Tokens/s per user is the pace of the typical stream (1 / TPOT p50). More load moves a point to the left and up, until it only moves left: beyond the knee users lose speed and no GPU gives more.")
	s.table(b.byLevel(columns...))
	c := draw.Chart{
		Title: "Output tokens/s per GPU by tokens/s per user", X: draw.Axis{Label: "Tokens/s per user"},
		Y: draw.Axis{Label: "tokens/s per GPU", Unit: "tokens/s per GPU"},
	}
	for i, series := range b.s.Series {
		line := draw.Series{Name: series.Name, Color: i}
		at := knee(series)
		for _, l := range series.Reached().Levels {
			x, y := l.Value(figures.TokensPerUser), l.Value(figures.TokensPerGPU)
			if math.IsNaN(x) || math.IsNaN(y) {
				continue
			}
			line.Points = append(line.Points, draw.Point{X: x, Y: y, Low: math.NaN(), High: math.NaN()})
			if l.At == at {
				c.Marks = append(c.Marks, draw.Mark{Text: "knee", X: x, Y: math.NaN(), Color: i})
			}
		}
		if len(line.Points) > 1 {
			c.Series = append(c.Series, line)
		}
	}
	if len(c.Series) > 0 {
		s.add(Block{Picture: &Picture{File: "pareto.svg", Alt: c.Title, SVG: c.SVG()}})
	}
}
