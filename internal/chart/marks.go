package chart

import (
	"math"
	"slices"
)

// labels writes the labels of the vertical marks above the plot, in as many rows as they need
// to not overlap.
func (p *plot) labels() {
	type label struct{ x, half, top float64 }
	var all []label
	top := p.top
	for _, m := range p.Marks {
		if math.IsNaN(m.X) {
			continue
		}
		l := label{p.px(m.X), textWidth(m.Text) / 2, top}
		for slices.ContainsFunc(all, func(o label) bool { return o.top == l.top && math.Abs(o.x-l.x) < o.half+l.half+gap }) {
			l.top += row
		}
		all = append(all, l)
		p.addText(colorClass(m.Color), l.x, l.top, "middle", m.Text)
		p.top = max(p.top, l.top+gap)
	}
}

// marks draws the lines of the marks, and the labels of the horizontal ones. It skips marks
// above the Y axis, and labels without a free place.
func (p *plot) marks() {
	taken := map[string][]float64{} // positions of labels, by the side on which they are
	for _, m := range p.Marks {
		if !math.IsNaN(m.X) {
			p.addBackground(`<path class="%s" d="M%s,%sv%s" stroke="currentColor" stroke-width="1.1" stroke-dasharray="1.5,3"/>`,
				colorClass(m.Color), p.px(m.X), p.top, plotHeight)
			continue
		}
		if m.Y > p.y.High {
			continue
		}
		if m.Limit {
			p.addBackground(`<path class="mark" d="M%s,%sh%sV%sh-%sZ" fill="currentColor" opacity=".07"/>`,
				p.left, p.top, p.wide, p.py(m.Y), p.wide)
		}
		p.addForeground(`<path class="mark" d="M%s,%sh%s" stroke="currentColor" stroke-width="1.1" stroke-dasharray="7,3"/>`,
			p.left, p.py(m.Y), p.wide)
		left, right, wide := p.left+3, p.left+p.wide-3, textWidth(m.Text)
		at, sides := map[string]float64{"start": left, "end": right}, []string{"start", "end"}
		if p.clearance(m.Y, left, left+wide) < p.clearance(m.Y, right-wide, right) {
			slices.Reverse(sides)
		}
		y := p.py(m.Y) - 3
		isFree := func(side string) bool {
			return !slices.ContainsFunc(taken[side], func(other float64) bool { return math.Abs(other-y) < row })
		}
		if i := slices.IndexFunc(sides, isFree); i >= 0 {
			taken[sides[i]] = append(taken[sides[i]], y)
			p.addText("mark halo", at[sides[i]], y, sides[i], m.Text)
		}
	}
}

// clearance returns the distance between the label of a horizontal mark and the nearest point
// whose X lies between left and right.
func (p *plot) clearance(y, left, right float64) float64 {
	nearest := math.Inf(1)
	for _, s := range p.Series {
		for _, pt := range s.knownPoints() {
			if x := p.px(pt.X); x > left-row && x < right+row {
				nearest = min(nearest, math.Abs(p.py(pt.Y)-p.py(y)+textSize/2))
			}
		}
	}
	return nearest
}
