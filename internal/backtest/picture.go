package backtest

import (
	"fmt"
	"image/color"
	"io"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// WritePicture draws, as SVG, how long each rule set took to page each fault of
// a model: a line from the median to the p90. What it missed in more than half
// of the incidents is not drawn.
func (r Report) WritePicture(w io.Writer, model string) error {
	p := plot.New()
	p.Title.Text = "Time to page, median to p90: " + model
	p.X.Label.Text = "minutes after the onset"
	p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, plot.ConstantTicks(ticks())
	p.X.Min, p.X.Max = 0.5, 240
	p.Add(plotter.NewGrid())
	var names []string
	n := 0
	for _, s := range r.Scores {
		if s.Model != model || s.Alert != "" {
			continue
		}
		if names == nil {
			for _, f := range slices.Backward(s.Faults) {
				names = append(names, f.Fault)
			}
		}
		if err := addSet(p, s, n); err != nil {
			return fmt.Errorf("drawing %q of model %q: %w", s.Rules, model, err)
		}
		n++
	}
	if len(names) == 0 {
		names = []string{"no faults"}
	}
	p.NominalY(names...)
	p.Y.Min, p.Y.Max = -0.6, float64(len(names))-0.4
	p.Legend.Top = true
	picture, err := p.WriterTo(22*vg.Centimeter, vg.Length(4+1.4*float64(len(names)))*vg.Centimeter, "svg")
	if err != nil {
		return fmt.Errorf("drawing the model %q: %w", model, err)
	}
	_, err = picture.WriteTo(w)
	return err
}

// addSet adds the lines of one rule set, a little below those before it.
func addSet(p *plot.Plot, s Score, n int) error {
	hue := palette()[n%len(palette())]
	for i, f := range s.Faults {
		if f.MedianToPage == nil {
			continue
		}
		y := float64(len(s.Faults)-1-i) + 0.25 - 0.17*float64(n)
		from := max(*f.MedianToPage/60, 0.5)
		to := from
		if f.P90ToPage != nil {
			to = max(*f.P90ToPage/60, from)
		}
		line, dot, err := plotter.NewLinePoints(plotter.XYs{{X: from, Y: y}, {X: to, Y: y}})
		if err != nil {
			return err
		}
		line.Color, line.Width = hue, vg.Points(2)
		dot.Color, dot.Shape = hue, draw.CircleGlyph{}
		p.Add(line, dot)
	}
	key, err := plotter.NewLine(plotter.XYs{{X: 1, Y: -10}, {X: 2, Y: -10}})
	if err != nil {
		return err
	}
	key.Color, key.Width = hue, vg.Points(2)
	p.Legend.Add(s.Rules, key)
	return nil
}

func ticks() []plot.Tick {
	var out []plot.Tick
	for _, m := range []float64{0.5, 1, 2, 5, 10, 20, 40, 60, 120, 240} {
		out = append(out, plot.Tick{Value: m, Label: fmt.Sprintf("%g", m)})
	}
	return out
}

// palette can be told apart by most people who do not see all colours.
func palette() []color.Color {
	return []color.Color{
		color.RGBA{0x00, 0x72, 0xb2, 0xff}, color.RGBA{0xd5, 0x5e, 0x00, 0xff},
		color.RGBA{0x00, 0x9e, 0x73, 0xff}, color.RGBA{0xcc, 0x79, 0xa7, 0xff},
	}
}
