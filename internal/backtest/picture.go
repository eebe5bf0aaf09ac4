package backtest

import (
	"fmt"
	"io"
	"math"

	"synthetic/internal/chart"
)

// writePicture draws as SVG how long each rule set took to page each fault of a model: a bar
// from the median to the p90. A fault without a median has no bar.
func (r Report) writePicture(w io.Writer, model string) error {
	c := chart.Chart{
		Title: "Time to page, median to p90: " + model,
		Desc:  "For each fault and each set of rules a bar from the median to the p90 of the minutes until it paged; none where more than half of the incidents were missed.",
		X:     chart.Axis{Label: "minutes after the onset", Log: true},
	}
	for _, m := range []float64{0.5, 1, 2, 5, 10, 20, 60, 120, 240} {
		c.X.Ticks = append(c.X.Ticks, chart.Tick{Value: m, Label: fmt.Sprint(m)})
	}
	for i, s := range r.scores(model, false) {
		c.Y.Ticks = rows(s)
		c.Series = append(c.Series, bars(s, i))
	}
	if len(c.Y.Ticks) == 0 {
		c.Y.Ticks = []chart.Tick{{Label: "no faults"}}
	}
	_, err := w.Write(c.SVG())
	return err
}

// rows returns a tick for each fault, from the top down.
func rows(s Score) []chart.Tick {
	var all []chart.Tick
	for i := len(s.Faults) - 1; i >= 0; i-- {
		all = append(all, chart.Tick{Value: float64(-i), Label: s.Faults[i].Fault})
	}
	return all
}

// bars returns the bars of rule set number n. Each set is drawn a little lower than the
// previous one.
func bars(s Score, n int) chart.Series {
	out := chart.Series{Name: s.Rules, Color: n, Bars: true}
	for i, f := range s.Faults {
		if f.MedianToPage == nil {
			continue
		}
		y, from := 0.25-0.17*float64(n)-float64(i), *f.MedianToPage/60
		to := from
		if f.P90ToPage != nil {
			to = max(*f.P90ToPage/60, from)
		}
		out.Points = append(out.Points, chart.Point{X: from, Y: y}, chart.Point{X: to, Y: y}, chart.Point{X: math.NaN()})
	}
	return out
}
