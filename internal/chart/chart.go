// Package chart draws charts as SVG and as interactive figures of HTML pages. It
// also holds what the pages and reports share: their style sheet, and the escaping of
// names and messages in Markdown.
package chart

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Chart is one picture.
type Chart struct {
	Title string
	// Desc tells those who cannot see the picture what it shows; without one it
	// is where each series begins and ends.
	Desc   string
	X, Y   Axis
	Series []Series
	// Marks are values to be pointed out.
	Marks []Mark
}

// Series is one figure over X. Its points are in the order in which they are
// joined.
type Series struct {
	Name string
	// Color numbers what the figure belongs to, Dash the figure within it, from 0.
	Color, Dash int
	// Bars joins the points by bars in place of lines.
	Bars   bool
	Points []Point
}

// Point is a value of Y. NaN and ±∞ interrupt the line; Low and High are its
// interval, NaN without one.
type Point struct{ X, Y, Low, High float64 }

// Mark is a horizontal line at Y, such as an SLO, or a vertical one at X, such
// as a knee, in the color of a series; the other is NaN.
type Mark struct {
	Text  string
	X, Y  float64
	Color int
	// Limit shades what lies above Y.
	Limit bool
}

// The sizes of a picture. A phone shows it at about its own width, so the text
// is large for the picture.
const (
	width, plotHeight, tickHeight = 420, 190, 32
	textSize, row, gap            = 10, 14, 5
	faint                         = `stroke="currentColor" stroke-width=".7"`
)

// plot is a chart that is being drawn: its scales, and the place of the area in
// which they hold.
type plot struct {
	Chart
	canvas
	x, y                  Scale
	left, top, wide, high float64
}

// SVG draws the chart as a file.
func (c Chart) SVG() []byte {
	return c.drawn().file(c.Title, c.Describe(), "<style>"+StyleSheet()+"</style>\n")
}

// Inline draws it as a part of a page that has StyleSheet.
func (c Chart) Inline() []byte { return c.drawn().file(c.Title, c.Describe(), "") }

// drawn is the picture without its frame.
func (c Chart) drawn() *plot {
	x, y := c.values()
	p := &plot{Chart: c, x: c.X.scale(x), y: c.Y.scale(y), left: 2 * gap, high: plotHeight}
	if len(c.Y.Ticks) > 0 {
		p.high = tickHeight * float64(len(c.Y.Ticks))
	}
	for _, t := range c.Y.ticks(p.y) {
		p.left = max(p.left, 2*gap+textWidth(t.Label))
	}
	if c.Y.Label != "" {
		p.left += row
	}
	p.wide = width - p.left - 3*gap
	p.heading()
	p.labels()
	p.axes()
	for _, s := range c.Series {
		p.series(s)
	}
	p.marks()
	p.height = p.top + p.high + 2*row + gap
	return p
}

// values spans what there is to show.
func (c Chart) values() (x, y Scale) {
	x, y = Scale{Low: math.Inf(1), High: math.Inf(-1)}, Scale{Low: math.Inf(1), High: math.Inf(-1)}
	for _, s := range c.Series {
		for _, p := range s.known() {
			x.Low, x.High = min(x.Low, p.X), max(x.High, p.X)
			y.Low, y.High = min(y.Low, p.Y), max(y.High, p.Y)
			if finite(p.High) {
				y.High = max(y.High, p.High)
			}
		}
	}
	for _, m := range c.Marks {
		// An SLO far above every value would flatten the curves.
		if m.Y <= 3*y.High {
			y.High = max(y.High, 1.05*m.Y)
		}
	}
	return x, y
}

// px and py are the places of values in the picture.
func (p *plot) px(v float64) float64   { return p.left + p.wide*p.x.At(v) }
func (p *plot) py(v float64) float64   { return p.top + p.high*(1-p.y.At(v)) }
func (p *plot) at(x, y float64) string { return num(p.px(x)) + "," + num(p.py(y)) }

// LogY reports whether the values are drawn on a logarithmic axis.
func (c Chart) LogY() bool {
	_, y := c.values()
	return c.Y.scale(y).Log
}

// Describe is Desc or, without one, says in words where each series begins and
// ends.
func (c Chart) Describe() string {
	var all []string
	for _, s := range c.Series {
		if points := s.known(); len(points) > 0 {
			from, to := points[0], points[len(points)-1]
			all = append(all, fmt.Sprintf("%s: %s at %s, %s at %s.", s.Name, Label(from.Y, c.Y.Unit), c.X.place(from.X), Label(to.Y, c.Y.Unit), c.X.place(to.X)))
		}
	}
	return cmp.Or(c.Desc, strings.Join(all, " "))
}

// heading writes the title and the key above the plot, where no curve runs.
func (p *plot) heading() {
	p.over(`<text class="ink" x="8" y="17" font-size="12" font-weight="600">%s</text>`, escape(p.Title))
	x := 8.0
	p.top = 34
	for _, s := range p.Series {
		wide := 36 + textWidth(s.Name)
		if x+wide > width && x > 8 {
			x, p.top = 8, p.top+row
		}
		p.over(`<path class="%s" d="M%s,%sh20" %s/>`, ShadeOf(s.Color), num(x), num(p.top-3.5), s.stroke())
		p.text("ink", x+25, p.top, "start", s.Name)
		x += wide
	}
	p.top += row
}

// axes draws the grid, and the ticks with their labels as far as these fit.
func (p *plot) axes() {
	bottom := p.top + p.high
	for _, t := range p.Y.ticks(p.y) {
		p.under(`<path class="grid" d="M%s,%sh%s" %s/>`, num(p.left), num(p.py(t.Value)), num(p.wide), faint)
		p.text("muted", p.left-gap, p.py(t.Value)+3.5, "end", t.Label)
	}
	free := 0.0
	for _, t := range p.X.ticks(p.x) {
		x, half := p.px(t.Value), textWidth(t.Label)/2
		if p.x.Log {
			p.under(`<path class="grid" d="M%s,%sv%s" %s/>`, num(x), num(p.top), num(p.high), faint)
		}
		p.under(`<path class="muted" d="M%s,%sv4" %s/>`, num(x), num(bottom), faint)
		if x-half >= free {
			p.text("muted", x, bottom+row, "middle", t.Label)
			free = x + half + gap
		}
	}
	p.under(`<path class="muted" d="M%s,%sh%s" %s/>`, num(p.left), num(bottom), num(p.wide), faint)
	p.text("ink", p.left+p.wide/2, bottom+2*row, "middle", p.X.Label)
	p.over(`<text class="ink" transform="translate(12,%s)rotate(-90)" text-anchor="middle">%s</text>`, num(p.top+p.high/2), escape(p.Y.Label))
}

// dotsRead is the most points of a series that are told apart as dots.
const dotsRead = 80

// Dots reports whether each point is a dot on the line.
func (s Series) Dots() bool { return !s.Bars && len(s.Points) <= dotsRead }

// known are the points that have a place.
func (s Series) known() []Point {
	return slices.DeleteFunc(slices.Clone(s.Points), func(p Point) bool { return !p.known() })
}

func (p Point) known() bool    { return finite(p.X) && finite(p.Y) }
func (p Point) interval() bool { return p.known() && !math.IsNaN(p.Low) && !math.IsNaN(p.High) }

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// series draws a line, its points, and below them the intervals where two
// neighbours have one.
func (p *plot) series(s Series) {
	var line strings.Builder
	last := Point{Y: math.NaN()}
	for _, pt := range s.Points {
		switch {
		case pt.known() && last.known():
			line.WriteString("L" + p.at(pt.X, pt.Y))
		case pt.known():
			line.WriteString("M" + p.at(pt.X, pt.Y))
		}
		last = pt
	}
	class := ShadeOf(s.Color)
	p.under(`<path class="%s" d="%s" fill="currentColor" opacity=".18"/>`, class, p.band(s.Points))
	p.over(`<path class="%s" d="%s" %s/>`, class, line.String(), s.stroke())
	for _, pt := range s.known() {
		if s.Dots() {
			p.over(`<circle class="%s" cx="%s" cy="%s" r="2.2" fill="currentColor"/>`, class, num(p.px(pt.X)), num(p.py(pt.Y)))
		}
	}
}

// band is around the intervals of points, where neighbours have one.
func (p *plot) band(points []Point) string {
	var all strings.Builder
	for len(points) > 0 {
		n := slices.IndexFunc(points, func(pt Point) bool { return !pt.interval() })
		if n < 0 {
			n = len(points)
		}
		p.around(&all, points[:n])
		points = points[min(n+1, len(points)):]
	}
	return all.String()
}

// around goes along the upper ends of intervals, and back along the lower ones.
func (p *plot) around(path *strings.Builder, points []Point) {
	if len(points) < 2 {
		return
	}
	step := "M"
	for _, pt := range points {
		path.WriteString(step + p.at(pt.X, pt.High))
		step = "L"
	}
	for _, pt := range slices.Backward(points) {
		path.WriteString(step + p.at(pt.X, pt.Low))
	}
	path.WriteString("Z")
}

// stroke are the attributes of a series' line.
func (s Series) stroke() string {
	if s.Bars {
		return `fill="none" stroke="currentColor" stroke-width="5" stroke-linecap="round"`
	}
	dash := []string{"", ` stroke-dasharray="6,3"`, ` stroke-dasharray="2,3"`}[s.Dash%3]
	return `fill="none" stroke="currentColor" stroke-width="1.6" stroke-linejoin="round"` + dash
}
