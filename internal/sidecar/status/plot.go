package status

import (
	"fmt"
	"math"
	"time"

	"synthetic/internal/draw"
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
	p := plot{From: short(span) + " ago", Grid: grid(scale)}
	for _, pt := range points {
		d := dot{Kind: pt.Kind, X: percent(float64(pt.End.Sub(at)+span) / float64(span))}
		d.Title = fmt.Sprintf("%s %s turn: %s, TTFT %s", pt.End.Format(time.TimeOnly), pt.Kind, pt.Outcome, pt.TTFT)
		switch {
		case pt.Outcome.Failed():
			p.Failures = append(p.Failures, d)
		case pt.TTFT.OK:
			d.Y = percent(1 - scale.At(pt.TTFT.V.Seconds()))
			p.Dots = append(p.Dots, d)
		}
	}
	for _, o := range j.SLOs {
		if limit := o.Threshold.V.Seconds(); o.SLI == slo.TTFT {
			p.Limits = append(p.Limits, line{percent(1 - scale.At(limit)), o.Name + " ≤ " + draw.Label(limit, "s")})
		}
	}
	return p
}

// newScale spans the points and the thresholds of the TTFT objectives.
func newScale(points []Point, objectives []SLO) draw.Scale {
	var seconds []float64
	for _, p := range points {
		seconds = append(seconds, p.TTFT.V.Seconds())
	}
	for _, o := range objectives {
		if o.SLI == slo.TTFT {
			seconds = append(seconds, o.Threshold.V.Seconds())
		}
	}
	return draw.LogScale(seconds...)
}

// grid are the round durations on the axis.
func grid(s draw.Scale) []line {
	var out []line
	for _, v := range s.Ticks() {
		out = append(out, line{percent(1 - s.At(v)), draw.Label(v, "s")})
	}
	return out
}

// Low says that a text above the line would leave the drawing.
func (l line) Low() bool { return l.Y < 12 }

// percent turns a share into a percent, kept to two digits and on the page.
func percent(share float64) float64 {
	return math.Round(min(max(share, 0), 1)*10000) / 100
}
