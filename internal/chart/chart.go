// Package chart draws charts as SVG and as interactive figures of HTML pages. It
// also holds what the pages and reports share: their style sheet, and the escaping of
// names and messages in Markdown.
package chart

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Chart is one picture.
type Chart struct {
	Title  string
	X, Y   Axis
	Series []Series
	Marks  []Mark
}

// Series is one line. Points are joined in the order given.
type Series struct {
	Name        string
	Band        string // name of the intervals in the legend, "" for none
	Color, Dash int    // indexes into the colors and the dash patterns
	Points      []Point
}

// Point is a value at X. A NaN or infinite Y interrupts the line. Low and High are the interval
// around Y; NaN means that there is none.
type Point struct{ X, Y, Low, High float64 }

// Mark is a horizontal line at Y, such as an SLO, or a vertical line at X, such as a knee. The
// other coordinate is NaN. Color is the index of a series' color.
type Mark struct {
	Text  string
	X, Y  float64
	Color int
	Limit bool // shades the area above Y
}

// Sizes of a picture, in SVG units. A phone shows a picture at about this width, so the text is
// large relative to it.
const (
	width, plotHeight  = 420, 190.0
	textSize, row, gap = 10, 14, 5
	faint              = `stroke="currentColor" stroke-width=".7"`
)

// plot is a chart while it is drawn. left, top and wide describe the plot area in SVG units; its height is
// plotHeight.
type plot struct {
	Chart
	canvas
	x, y            scale
	left, top, wide float64
}

// SVG returns a file of its own, with its style sheet.
func (c Chart) SVG() []byte {
	return c.render().file(c.Title, c.description(), "<style>"+colorStyle()+"</style>\n")
}

func (c Chart) render() *plot {
	x, y := c.bounds()
	p := &plot{Chart: c, x: c.X.scale(x), y: c.Y.scale(y), left: 2 * gap}
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
	p.height = p.top + plotHeight + 2*row + gap
	return p
}

// bounds returns the ranges of X and Y that the axes have to show.
func (c Chart) bounds() (x, y scale) {
	empty := scale{Low: math.Inf(1), High: math.Inf(-1)}
	x, y = empty, empty
	for _, s := range c.Series {
		for _, p := range s.knownPoints() {
			x.Low, x.High = min(x.Low, p.X), max(x.High, p.X)
			y.Low, y.High = min(y.Low, p.Y), max(y.High, p.Y)
			if finite(p.High) {
				y.High = max(y.High, p.High)
			}
		}
	}
	for _, m := range c.Marks {
		// The axis ignores marks far above all values, because they would flatten the curves.
		if m.Y <= 3*y.High {
			y.High = max(y.High, 1.05*m.Y)
		}
	}
	return x, y
}

// px, py and coordinates convert values into SVG units.
func (p *plot) px(v float64) float64            { return p.left + p.wide*p.x.position(v) }
func (p *plot) py(v float64) float64            { return p.top + plotHeight*(1-p.y.position(v)) }
func (p *plot) coordinates(x, y float64) string { return num(p.px(x)) + "," + num(p.py(y)) }

// description returns the text alternative: the first and the last value of each series.
func (c Chart) description() string {
	var all []string
	for _, s := range c.Series {
		if points := s.knownPoints(); len(points) > 0 {
			from, to := points[0], points[len(points)-1]
			all = append(all, fmt.Sprintf("%s: %s at %s, %s at %s.", s.Name,
				Label(from.Y, c.Y.Unit), c.X.format(from.X), Label(to.Y, c.Y.Unit), c.X.format(to.X)))
		}
	}
	return strings.Join(all, " ")
}

func (p *plot) heading() {
	p.addForeground(`<text class="ink" x="8" y="17" font-size="12" font-weight="600">%s</text>`, escape(p.Title))
	x := 8.0
	p.top = 34
	entry := func(s Series, name, attributes string, value func(Point) float64) {
		if n := len(s.Points); p.X.Unit == Time && n > 0 && finite(value(s.Points[n-1])) {
			v := value(s.Points[n-1])
			name += ": " + Label(Rounded(v), p.Y.Unit)
		}
		wide := 36 + textWidth(name)
		if x+wide > width && x > 8 {
			x, p.top = 8, p.top+row
		}
		p.addForeground(`<path class="%s" d="M%s,%sh20" %s/>`, colorClass(s.Color), x, p.top-3.5, attributes)
		p.addText("ink", x+25, p.top, "start", name)
		x += wide
	}
	for _, s := range p.Series {
		entry(s, s.Name, s.stroke(), func(pt Point) float64 { return pt.Y })
		if s.Band != "" {
			entry(s, s.Band, `stroke="currentColor" stroke-width="9" opacity=".18"`, func(pt Point) float64 { return pt.High })
		}
	}
	p.top += row
}

// axes draws the grid, the ticks and those tick labels that do not overlap.
func (p *plot) axes() {
	bottom := p.top + plotHeight
	for _, t := range p.Y.ticks(p.y) {
		p.addBackground(`<path class="grid" d="M%s,%sh%s" %s/>`, p.left, p.py(t.Value), p.wide, faint)
		p.addText("muted", p.left-gap, p.py(t.Value)+3.5, "end", t.Label)
	}
	free := 0.0
	for _, t := range p.X.ticks(p.x) {
		x, half := p.px(t.Value), textWidth(t.Label)/2
		p.addBackground(`<path class="muted" d="M%s,%sv4" %s/>`, x, bottom, faint)
		if x-half >= free {
			p.addText("muted", x, bottom+row, "middle", t.Label)
			free = x + half + gap
		}
	}
	p.addBackground(`<path class="muted" d="M%s,%sh%s" %s/>`, p.left, bottom, p.wide, faint)
	p.addText("ink", p.left+p.wide/2, bottom+2*row, "middle", p.X.Label)
	p.addForeground(`<text class="ink" transform="translate(12,%s)rotate(-90)" text-anchor="middle">%s</text>`,
		p.top+plotHeight/2, escape(p.Y.Label))
}

// maxDots is the most points of a series that are drawn with dots.
const maxDots = 80

func (s Series) hasDots() bool { return len(s.Points) <= maxDots }

func (s Series) knownPoints() []Point {
	return slices.DeleteFunc(slices.Clone(s.Points), func(p Point) bool { return !p.isKnown() })
}

func (p Point) isKnown() bool     { return finite(p.X) && finite(p.Y) }
func (p Point) hasInterval() bool { return p.isKnown() && !math.IsNaN(p.Low) && !math.IsNaN(p.High) }

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// series draws a line, its dots, and the band of its intervals.
func (p *plot) series(s Series) {
	var line strings.Builder
	last := Point{Y: math.NaN()}
	for _, pt := range s.Points {
		switch {
		case pt.isKnown() && last.isKnown():
			line.WriteString("L" + p.coordinates(pt.X, pt.Y))
		case pt.isKnown():
			line.WriteString("M" + p.coordinates(pt.X, pt.Y))
		}
		last = pt
	}
	class := colorClass(s.Color)
	p.addBackground(`<path class="%s" d="%s" fill="currentColor" opacity=".18"/>`, class, p.band(s.Points))
	p.addForeground(`<path class="%s" d="%s" %s/>`, class, line.String(), s.stroke())
	if !s.hasDots() {
		return
	}
	for _, pt := range s.knownPoints() {
		p.addForeground(`<circle class="%s" cx="%s" cy="%s" r="2.2" fill="currentColor"/>`, class, p.px(pt.X), p.py(pt.Y))
	}
}

// band returns the path around the intervals of points. It has a gap where a point has no interval.
func (p *plot) band(points []Point) string {
	var all strings.Builder
	for len(points) > 0 {
		n := slices.IndexFunc(points, func(pt Point) bool { return !pt.hasInterval() })
		if n < 0 {
			n = len(points)
		}
		p.outline(&all, points[:n])
		points = points[min(n+1, len(points)):]
	}
	return all.String()
}

// outline adds one closed area to path: along the High ends, then back along the Low ends.
func (p *plot) outline(path *strings.Builder, points []Point) {
	if len(points) < 2 {
		return
	}
	step := "M"
	for _, pt := range points {
		path.WriteString(step + p.coordinates(pt.X, pt.High))
		step = "L"
	}
	for _, pt := range slices.Backward(points) {
		path.WriteString(step + p.coordinates(pt.X, pt.Low))
	}
	path.WriteString("Z")
}

func (s Series) stroke() string {
	dash := []string{"", ` stroke-dasharray="6,3"`, ` stroke-dasharray="2,3"`}[s.Dash%3]
	return `fill="none" stroke="currentColor" stroke-width="1.6" stroke-linejoin="round"` + dash
}
