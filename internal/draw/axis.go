package draw

import (
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg/draw"
)

// span is what the axes show.
type span struct {
	left, right, low, high float64
	// log says that the values are shown by their logarithms.
	log bool
	// levels are the values of x that are drawn.
	levels []float64
}

// wide is the ratio of values from which a logarithmic axis reads better.
const wide = 30

func (c Chart) span() (span, bool) {
	s := span{left: math.Inf(1), right: math.Inf(-1), low: math.Inf(1), high: math.Inf(-1)}
	positive := true
	for _, l := range c.Lines {
		for _, run := range unbroken(l.Points) {
			for _, p := range run {
				s.levels = append(s.levels, p.X)
				s.left, s.right = min(s.left, p.X), max(s.right, p.X)
				s.low, s.high = min(s.low, p.Y), max(s.high, p.Y)
				if !math.IsNaN(p.High) && !math.IsInf(p.High, 0) {
					s.high = max(s.high, p.High)
				}
				positive = positive && p.Y > 0
			}
		}
	}
	if len(s.levels) == 0 {
		return s, false
	}
	slices.Sort(s.levels)
	s.levels = slices.Compact(s.levels)
	for _, m := range c.Marks {
		// An SLO far above every value would flatten the curves.
		if m.Y <= 3*s.high {
			s.high = max(s.high, 1.05*m.Y)
		}
	}
	s.log = positive && !c.Linear && s.high/s.low > wide
	s.pad()
	return s, true
}

func (s *span) pad() {
	edge := 0.03 * (s.right - s.left)
	if edge == 0 {
		edge = 0.5 * s.right
	}
	s.left, s.right = s.left-edge, s.right+edge
	if s.log {
		s.low, s.high = s.low/1.5, s.high*1.5
		return
	}
	s.low = min(0, s.low)
	s.high += 0.12 * (s.high - s.low)
	if s.high == s.low {
		s.high = s.low + 1
	}
}

// clamp keeps a value within the axis: the ends of intervals may be 0 or +∞.
func (s span) clamp(v float64) float64 { return min(max(v, s.low), s.high) }

func (c Chart) axes(p *plot.Plot, s span) {
	p.BackgroundColor = nil
	p.X.Label.Text, p.Y.Label.Text = c.X, c.Unit
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Label.TextStyle.Color = ink().color()
		axis.Label.TextStyle.Font = style(textSize, ink()).Font
		axis.Tick.Label.Color = mutedShade().color()
		axis.Tick.Label.Font = style(textSize, ink()).Font
		axis.LineStyle.Color, axis.Tick.LineStyle.Color = mutedShade().color(), mutedShade().color()
		axis.Padding = 2
	}
	p.X.Tick.Marker = plot.ConstantTicks(levelTicks(s.levels))
	p.Y.Tick.Marker = plot.TickerFunc(valueTicks)
	if s.log {
		p.Y.Scale = plot.LogScale{}
		p.Y.Tick.Marker = plot.TickerFunc(logTicks)
	}
	p.Add(grid{})
}

// levelTicks labels the levels themselves, but no more than fit.
func levelTicks(levels []float64) []plot.Tick {
	const fit = 14
	every := (len(levels) + fit - 1) / fit
	var ticks []plot.Tick
	for i, v := range levels {
		t := plot.Tick{Value: v}
		if i%every == 0 {
			t.Label = strconv.FormatFloat(v, 'g', -1, 64)
		}
		ticks = append(ticks, t)
	}
	return ticks
}

// valueTicks are about five round values.
func valueTicks(low, high float64) []plot.Tick {
	decade := math.Pow(10, math.Floor(math.Log10((high-low)/6)))
	step := decade
	for _, factor := range []float64{2, 5, 10} {
		if (high-low)/step > 6 {
			step = factor * decade
		}
	}
	var ticks []plot.Tick
	for i := math.Ceil(low / step); i*step <= high; i++ {
		ticks = append(ticks, tick(i*step))
	}
	return ticks
}

// logTicks are 1, 2 and 5 of each decade, or its first value alone over many.
func logTicks(low, high float64) []plot.Tick {
	digits := []float64{1, 2, 5}
	if math.Log10(high/low) > 2.5 {
		digits = digits[:1]
	}
	var ticks []plot.Tick
	for decade := math.Floor(math.Log10(low)); decade <= math.Log10(high); decade++ {
		for _, d := range digits {
			if v := d * math.Pow(10, decade); v >= low && v <= high {
				ticks = append(ticks, tick(v))
			}
		}
	}
	return ticks
}

func tick(v float64) plot.Tick {
	v = math.Round(v*1e9)/1e9 + 0 // adding 0 makes −0 a 0
	shown, unit := v, ""
	switch {
	case v >= 1e6:
		shown, unit = v/1e6, "M"
	case v >= 1e3:
		shown, unit = v/1e3, "k"
	}
	return plot.Tick{Value: v, Label: strconv.FormatFloat(shown, 'f', -1, 64) + unit}
}

// grid draws a faint line at each labelled value.
type grid struct{}

// Plot implements plot.Plotter.
func (grid) Plot(c draw.Canvas, p *plot.Plot) {
	_, y := p.Transforms(&c)
	line := draw.LineStyle{Color: gridShade().color(), Width: 0.7}
	for _, t := range p.Y.Tick.Marker.Ticks(p.Y.Min, p.Y.Max) {
		if t.Label != "" {
			c.StrokeLine2(line, c.Min.X, y(t.Value), c.Max.X, y(t.Value))
		}
	}
}
