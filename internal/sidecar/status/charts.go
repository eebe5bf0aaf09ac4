package status

import (
	"html/template"
	"math"
	"slices"
	"strings"

	"synthetic/internal/chart"
	"synthetic/internal/fleet"
	"synthetic/internal/probe"
	"synthetic/internal/slo"
)

// pause is the number of minutes without a turn after which a line is interrupted.
const pause = 10

// charts draws the latencies of a job with their baselines, its failures if any, and the server's own figures.
func charts(minutes []minute, server []serverMinute, objectives []SLO) (out []template.HTML, err error) {
	var all []chart.Chart
	for i, signal := range fleet.Signals() {
		for k := range probe.TurnKinds() {
			c := chart.Chart{
				Title: strings.ToUpper(string(signal)) + ", " + []string{"first turn", "follow-up"}[k],
				Y:     chart.Axis{Unit: "s"}, Series: latencies(minutes, k, i), Marks: limits(objectives, signal),
			}
			if len(c.Series) > 0 {
				all = append(all, c)
			}
		}
	}
	if s := failures(minutes); s.Name != "" {
		all = append(all, chart.Chart{Title: "failed turns", Y: chart.Axis{Unit: "%"}, Series: []chart.Series{s}})
	}
	for _, c := range append(all, serverCharts(server)...) {
		c.X.Unit = chart.Time
		drawn, err := chart.Figure(c)
		if err != nil {
			return nil, err
		}
		out = append(out, drawn)
	}
	return out, nil
}

// lineOf adds a point for each minute to a series, with gaps where no minute is known for long.
func lineOf[M any](s chart.Series, minutes []M, at func(M) int32, value func(M) chart.Point) chart.Series {
	for i, m := range minutes {
		if i > 0 && at(m)-at(minutes[i-1]) > pause {
			s.Points = append(s.Points, pointAt(at(minutes[i-1])+1, math.NaN()))
		}
		s.Points = append(s.Points, value(m))
	}
	return s
}

func minuteAt(m minute) int32 { return m.at }

// pointAt returns a value at a minute. NaN interrupts a line.
func pointAt(at int32, v float64) chart.Point {
	return chart.Point{X: float64(minuteStart(at).Unix()), Y: v, Low: math.NaN(), High: math.NaN()}
}

// latencies returns the series of a kind of turn and signal, by index: what is usual with a band up to the limit, and
// the quantiles of each minute. It returns none without turns.
func latencies(minutes []minute, kind, signal int) []chart.Series {
	of := func(m minute) level { return m.kinds[kind].signals[signal] }
	if !slices.ContainsFunc(minutes, func(m minute) bool { return of(m).p50 > 0 }) {
		return nil
	}
	usual := lineOf(chart.Series{Name: "usual", Band: "a mean pages above", Color: 4, Dash: 2}, minutes, minuteAt, func(m minute) chart.Point {
		p := pointAt(m.at, float64(of(m).usual))
		if of(m).limit > of(m).usual {
			p.Low, p.High = float64(of(m).usual), float64(of(m).limit)
		}
		return p
	})
	out := []chart.Series{
		lineOf(chart.Series{Name: "p50", Color: 0}, minutes, minuteAt, func(m minute) chart.Point { return pointAt(m.at, float64(of(m).p50)) }),
		lineOf(chart.Series{Name: "p95", Color: 1}, minutes, minuteAt, func(m minute) chart.Point { return pointAt(m.at, float64(of(m).p95)) }),
	}
	if slices.ContainsFunc(usual.Points, func(p chart.Point) bool { return p.Y > 0 }) {
		out = append([]chart.Series{usual}, out...)
	}
	return out
}

// failures returns the share of failed turns in percent; a series without a name if none failed.
func failures(minutes []minute) chart.Series {
	s := lineOf(chart.Series{Color: 1}, minutes, minuteAt, func(m minute) chart.Point {
		turns, failed := int(m.kinds[0].turns)+int(m.kinds[1].turns), int(m.kinds[0].failed)+int(m.kinds[1].failed)
		return pointAt(m.at, 100*float64(failed)/float64(max(turns, 1)))
	})
	if slices.ContainsFunc(s.Points, func(p chart.Point) bool { return p.Y > 0 }) {
		s.Name = "failed"
	}
	return s
}

// serverCharts draws the figures that the server exports, if they are not all 0.
func serverCharts(minutes []serverMinute) (out []chart.Chart) {
	type line struct {
		name  string
		value func(serverMinute) float32
	}
	for _, c := range []struct {
		title, unit string
		lines       []line
	}{
		{"server: requests", "", []line{
			{"running", func(m serverMinute) float32 { return m.running }}, {"waiting", func(m serverMinute) float32 { return m.waiting }},
		}},
		{"server: KV cache in use", "%", []line{{"fullest engine", func(m serverMinute) float32 { return 100 * m.kvUse }}}},
		{"server: preemptions a minute", "", []line{{"preempted", func(m serverMinute) float32 { return m.preempted }}}},
	} {
		drawn, moves := chart.Chart{Title: c.title, Y: chart.Axis{Unit: c.unit}}, false
		for i, l := range c.lines {
			s := lineOf(chart.Series{Name: l.name, Color: i}, minutes, func(m serverMinute) int32 { return m.at },
				func(m serverMinute) chart.Point { return pointAt(m.at, float64(l.value(m))) })
			if slices.ContainsFunc(s.Points, func(p chart.Point) bool { return !math.IsNaN(p.Y) }) {
				drawn.Series = append(drawn.Series, s)
			}
			moves = moves || slices.ContainsFunc(s.Points, func(p chart.Point) bool { return p.Y > 0 })
		}
		if moves {
			out = append(out, drawn)
		}
	}
	return out
}

// limits returns the thresholds of objectives on a signal, if they hold for every turn.
func limits(objectives []SLO, signal slo.SLI) (out []chart.Mark) {
	for _, o := range objectives {
		if o.SLI == signal && o.Uncached == "" && !o.PerThousand.OK {
			limit := o.Threshold.V.Seconds()
			out = append(out, chart.Mark{Text: o.Name + " ≤ " + chart.Label(limit, "s"), Y: limit, X: math.NaN()})
		}
	}
	return out
}
