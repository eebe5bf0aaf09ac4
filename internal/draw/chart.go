// Package draw draws curves against the levels of a sweep as SVG that suits
// a light and a dark page.
package draw

import (
	"fmt"
	"math"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Chart is one picture.
type Chart struct {
	Title string
	// X names the levels, Unit is that of the values.
	X, Unit string
	// Linear keeps the axis linear however far values are apart: what is
	// better when higher is compared by its height.
	Linear bool
	Lines  []Line
	// Marks are values and levels to be pointed out.
	Marks []Mark
}

// Line is one figure of one series over the levels, in rising order.
type Line struct {
	Name string
	// Color numbers the series, Dash the figure within it, from 0.
	Color, Dash int
	Points      []Point
}

// Point is a value at a level. NaN and +∞ interrupt the line; Low and High are
// NaN without an interval.
type Point struct{ X, Y, Low, High float64 }

// Mark is a horizontal line at Y, such as an SLO, or a vertical one at X, such
// as a knee; the other is NaN.
type Mark struct {
	Text string
	X, Y float64
	// Color of the series that it belongs to; −1 for none.
	Color int
}

// The size in points. A phone shows it at about its own width, so the text is
// large for the picture.
const (
	width, height    = 420, 256
	titleAt, keysAt  = 17, 36
	top, keyRow      = 36, 14
	textSize, ledger = 10.5, 9.5
)

// SVG draws the chart. It fails when there is no point to draw.
func (c Chart) SVG() ([]byte, error) {
	span, ok := c.span()
	if !ok {
		return nil, fmt.Errorf("drawing %q: no level has a value", c.Title)
	}
	p := plot.New()
	c.axes(p, span)
	for _, line := range c.Lines {
		if err := addLine(p, line, span); err != nil {
			return nil, fmt.Errorf("drawing %q: %w", c.Title, err)
		}
	}
	for _, m := range c.Marks {
		if m.Y > span.high || m.X > span.right {
			continue
		}
		if err := addMark(p, m, span); err != nil {
			return nil, fmt.Errorf("drawing %q: %w", c.Title, err)
		}
	}
	// Only now: everything that is added widens the axes.
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = span.left, span.right, span.low, span.high
	keys := c.keys()
	high := height + keyRow*vg.Length(keys[len(keys)-1].row+1)
	canvas := vgsvg.New(width, high)
	whole := draw.New(canvas)
	p.Draw(draw.Crop(whole, 4, -10, 4, height-high-top))
	c.heading(whole, high, keys)
	return finish(canvas, c.Title, int(high))
}

// key is a line's place in the key above the plot.
type key struct {
	line Line
	x    vg.Length
	row  int
}

// keys lays the key out in as many rows as it takes.
func (c Chart) keys() []key {
	var all []key
	x, row := vg.Length(10), 0
	for _, l := range c.Lines {
		wide := 36 + style(ledger, ink()).Width(l.Name)
		if x+wide > width && x > 10 {
			x, row = 10, row+1
		}
		all = append(all, key{l, x, row})
		x += wide
	}
	return all
}

// heading writes the title and the key above the plot, where no curve runs.
func (c Chart) heading(canvas draw.Canvas, high vg.Length, keys []key) {
	title := style(12, ink())
	title.Font.Weight = xfont.WeightBold
	canvas.FillText(title, vg.Point{X: 8, Y: high - titleAt}, c.Title)
	for _, k := range keys {
		y := high - keysAt - keyRow*vg.Length(k.row)
		canvas.StrokeLine2(lineStyle(k.line.Color, k.line.Dash), k.x, y+3, k.x+20, y+3)
		canvas.FillText(style(ledger, ink()), vg.Point{X: k.x + 24, Y: y}, k.line.Name)
	}
}

// style is text of a size in a color.
func style(size vg.Length, c shade) draw.TextStyle {
	return draw.TextStyle{
		Color: c.color(), Handler: plot.DefaultTextHandler,
		Font: font.Font{Typeface: "Liberation", Variant: "Sans", Size: size},
	}
}

func addLine(p *plot.Plot, l Line, s span) error {
	for _, run := range unbroken(l.Points) {
		if band := band(run, s); band != nil {
			polygon, err := plotter.NewPolygon(band)
			if err != nil {
				return err
			}
			polygon.Color, polygon.LineStyle.Width = seriesShade(l.Color).faint(), 0
			p.Add(polygon)
		}
		var xys plotter.XYs
		for _, pt := range run {
			xys = append(xys, plotter.XY{X: pt.X, Y: s.clamp(pt.Y)})
		}
		line, dots, err := plotter.NewLinePoints(xys)
		if err != nil {
			return err
		}
		line.LineStyle = lineStyle(l.Color, l.Dash)
		dots.GlyphStyle = draw.GlyphStyle{Color: seriesShade(l.Color).color(), Radius: 2.2, Shape: draw.CircleGlyph{}}
		p.Add(line, dots)
	}
	return nil
}

func lineStyle(series, dash int) draw.LineStyle {
	dashes := [][]vg.Length{nil, {6, 3}, {2, 3}}
	return draw.LineStyle{Color: seriesShade(series).color(), Width: 1.6, Dashes: dashes[dash%len(dashes)]}
}

// unbroken splits a line where a value is missing.
func unbroken(points []Point) [][]Point {
	var runs [][]Point
	whole := false
	for _, p := range points {
		if math.IsNaN(p.Y) || math.IsInf(p.Y, 0) {
			whole = false
			continue
		}
		if !whole {
			runs = append(runs, nil)
		}
		whole = true
		runs[len(runs)-1] = append(runs[len(runs)-1], p)
	}
	return runs
}

// band is the outline of the confidence intervals, if every point has one.
func band(run []Point, s span) plotter.XYs {
	var up, down plotter.XYs
	for i := range run {
		low, high := run[i], run[len(run)-1-i]
		if math.IsNaN(low.Low) || math.IsNaN(high.High) {
			return nil
		}
		up = append(up, plotter.XY{X: low.X, Y: s.clamp(low.Low)})
		down = append(down, plotter.XY{X: high.X, Y: s.clamp(high.High)})
	}
	return append(up, down...)
}

func addMark(p *plot.Plot, m Mark, s span) error {
	c := markShade()
	xys := plotter.XYs{{X: s.left, Y: m.Y}, {X: s.right, Y: m.Y}}
	dashes := []vg.Length{7, 3}
	at := plotter.XY{X: s.left, Y: m.Y} // where curves are usually low
	if math.IsNaN(m.Y) {
		c, dashes = mutedShade(), []vg.Length{1.5, 3}
		if m.Color >= 0 {
			c = seriesShade(m.Color)
		}
		xys = plotter.XYs{{X: m.X, Y: s.low}, {X: m.X, Y: s.high}}
		at = plotter.XY{X: m.X, Y: s.high}
	}
	line, err := plotter.NewLine(xys)
	if err != nil {
		return err
	}
	line.LineStyle = draw.LineStyle{Color: c.color(), Width: 1.1, Dashes: dashes}
	labels, err := plotter.NewLabels(plotter.XYLabels{XYs: plotter.XYs{at}, Labels: []string{m.Text}})
	if err != nil {
		return err
	}
	labels.TextStyle[0] = style(ledger, c)
	labels.Offset = vg.Point{X: 3, Y: -10}
	if !math.IsNaN(m.Y) {
		labels.Offset = vg.Point{X: 2, Y: 3}
	}
	p.Add(line, labels)
	return nil
}
