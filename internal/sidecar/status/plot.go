package status

import (
	"fmt"
	"math"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/slo"
)

// pointsDrawn bounds the points of one plot, and so the size of a page.
const pointsDrawn = 256

// plot is a picture of recent TTFTs over time, on a logarithmic scale: first
// and follow-up turns, and deployments, differ by orders of magnitude.
// Positions are percents of the drawing, X from the left and Y from the top.
type plot struct {
	Dots     []dot
	Failures []dot // without Y: they stand above the scale
	Grid     []line
	Limits   []line // thresholds of TTFT objectives
	From     string // how long ago the left edge is
}

type dot struct {
	X, Y  float64
	Kind  probe.TurnKind
	Title string
}

type line struct {
	Y    float64
	Text string
}

// newPlot draws the last points of a job. The zero plot means that there is
// nothing to draw.
func newPlot(at time.Time, j Job) plot {
	points := j.Points[max(0, len(j.Points)-pointsDrawn):]
	if len(points) == 0 {
		return plot{}
	}
	// The time axis starts at the oldest point that is drawn, or a job's first
	// minutes would be a heap at the right edge.
	span := at.Sub(points[0].End)
	span = max(span, time.Second)
	scale := newScale(points, j.SLOs)
	p := plot{From: short(span) + " ago", Grid: scale.grid()}
	for _, pt := range points {
		d := dot{Kind: pt.Kind, X: percent(float64(pt.End.Sub(at)+span) / float64(span))}
		d.Title = fmt.Sprintf("%s %s turn: %s, TTFT %s", pt.End.Format(time.TimeOnly), pt.Kind, pt.Outcome, pt.TTFT)
		switch {
		case pt.Outcome.Failed():
			p.Failures = append(p.Failures, d)
		case pt.TTFT.OK:
			d.Y = scale.y(pt.TTFT.V)
			p.Dots = append(p.Dots, d)
		}
	}
	for _, o := range j.SLOs {
		if o.SLI == slo.TTFT {
			p.Limits = append(p.Limits, line{scale.y(o.Threshold.V), o.Name + " ≤ " + tick(o.Threshold.V)})
		}
	}
	return p
}

// scale is a logarithmic axis between two round durations in seconds.
type scale struct{ low, high float64 }

// newScale spans the points and the thresholds of the TTFT objectives.
func newScale(points []Point, objectives []SLO) scale {
	low, high := math.Inf(1), 0.0
	span := func(d Duration) {
		if d.OK && d.V > 0 {
			low, high = min(low, d.V.Seconds()), max(high, d.V.Seconds())
		}
	}
	for _, p := range points {
		span(p.TTFT)
	}
	for _, o := range objectives {
		if o.SLI == slo.TTFT {
			span(o.Threshold)
		}
	}
	if high == 0 {
		return scale{0.1, 1}
	}
	s := scale{roundDown(low), roundDown(high)}
	if s.high < high {
		s.high = next(s.high)
	}
	if s.low == s.high {
		s.high = next(s.high)
	}
	return s
}

// y is the place of a duration, as a percent from the top.
func (s scale) y(d time.Duration) float64 {
	v := min(max(d.Seconds(), s.low), s.high)
	return percent(1 - math.Log(v/s.low)/math.Log(s.high/s.low))
}

// grid returns the round durations on the axis, only powers of ten if the axis
// is long.
func (s scale) grid() []line {
	var out []line
	for v := s.low; v <= s.high*1.001; v = next(v) {
		power := math.Abs(math.Log10(v)-math.Round(math.Log10(v))) < 1e-6
		if !power && s.high/s.low > 150 {
			continue
		}
		d := time.Duration(math.Round(v * 1e9))
		out = append(out, line{s.y(d), tick(d)})
	}
	return out
}

// Low says that a text above the line would leave the drawing.
func (l line) Low() bool { return l.Y < 12 }

// tick formats a chosen duration, without the zeros of a measured one.
func tick(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return fmt.Sprintf("%g µs", d.Seconds()*1e6)
	case d < time.Second:
		return fmt.Sprintf("%g ms", d.Seconds()*1e3)
	}
	return fmt.Sprintf("%g s", d.Seconds())
}

// roundDown returns the largest of 1, 2 and 5 times a power of ten that is not
// over v.
func roundDown(v float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range []float64{5, 2} {
		if v >= m*power {
			return m * power
		}
	}
	return power
}

// next returns the round value after a round one.
func next(v float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(v)+1e-9))
	switch m := v / power; {
	case m < 1.5:
		return 2 * power
	case m < 3:
		return 5 * power
	}
	return 10 * power
}

// percent turns a share into a percent, kept to two digits and on the page.
func percent(share float64) float64 {
	return math.Round(min(max(share, 0), 1)*10000) / 100
}
