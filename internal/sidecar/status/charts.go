package status

import (
	"fmt"
	"html/template"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"synthetic/internal/chart"
	"synthetic/internal/probe"
	"synthetic/internal/sidecar/sink"
	"synthetic/internal/slo"
)

// pause is the time without a turn after which a line is interrupted.
const pause = 10 * time.Minute

type span struct{ from, to time.Time }

func (s span) contains(at time.Time) bool { return !at.Before(s.from) && !at.After(s.to) }

type figureFunc func(chart.Chart) (template.HTML, error)

// figureFor returns how a request gets charts: the page's script needs data, not pictures.
func figureFor(r *http.Request) figureFunc {
	if r.Header.Get(partHeader) != "" {
		return chart.FigureData
	}
	return chart.Figure
}

// charts draws the latencies of a job with their baselines, its failures if any, and the server's own
// figures. Each chart shows the marks. figure is chart.Figure or chart.FigureData.
func charts(figure figureFunc, minutes []minute, server []serverMinute, objectives []SLO) ([]template.HTML, error) {
	var all []chart.Chart
	for i, signal := range sink.Signals() {
		for k, kind := range probe.TurnKinds() {
			c := chart.Chart{
				Title: strings.ToUpper(string(signal)) + ", " + kindNames()[kind],
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
	all = append(all, serverCharts(server)...)
	var out []template.HTML
	for _, c := range all {
		c.X.Unit = chart.Time
		drawn, err := figure(c)
		if err != nil {
			return nil, err
		}
		out = append(out, drawn)
	}
	return out, nil
}

func kindNames() map[probe.TurnKind]string {
	return map[probe.TurnKind]string{probe.First: "first turn", probe.Followup: "follow-up"}
}

// latencies returns the series of a kind of turn and signal, by index: the baseline with a band
// up to slow turns, and the quantiles of each minute. It returns none without turns.
func latencies(minutes []minute, kind, signal int) []chart.Series {
	usual := chart.Series{Name: "usual", Band: "usual up to", Color: 4, Dash: 2}
	p50, p95 := chart.Series{Name: "p50", Color: 0}, chart.Series{Name: "p95", Color: 1}
	hasTurns := false
	for i, m := range minutes {
		l := m.kinds[kind].signals[signal]
		hasTurns = hasTurns || l.p50 > 0
		for _, s := range []*chart.Series{&usual, &p50, &p95} {
			s.Points = append(s.Points, interruption(minutes, i)...)
		}
		point := pointAt(m.start(), float64(l.usual))
		if l.tail > l.usual {
			point.Low, point.High = float64(l.usual), float64(l.tail)
		}
		usual.Points = append(usual.Points, point)
		p50.Points = append(p50.Points, pointAt(m.start(), float64(l.p50)))
		p95.Points = append(p95.Points, pointAt(m.start(), float64(l.p95)))
	}
	switch {
	case !hasTurns:
		return nil
	case slices.ContainsFunc(usual.Points, func(p chart.Point) bool { return p.Y > 0 }):
		return []chart.Series{usual, p50, p95}
	}
	return []chart.Series{p50, p95}
}

// interruption returns a gap before a minute if no turn ended for long.
func interruption(minutes []minute, i int) []chart.Point {
	if i == 0 || minutes[i].start().Sub(minutes[i-1].start()) <= pause {
		return nil
	}
	return []chart.Point{pointAt(minutes[i-1].start().Add(time.Minute), math.NaN())}
}

// pointAt returns a value at a time. NaN interrupts a line.
func pointAt(t time.Time, v float64) chart.Point {
	return chart.Point{X: float64(t.Unix()), Y: v, Low: math.NaN(), High: math.NaN()}
}

// failures returns the share of failed turns in percent; an empty series without failures.
func failures(minutes []minute) (s chart.Series) {
	for i, m := range minutes {
		s.Points = append(s.Points, interruption(minutes, i)...)
		turns, failed := int(m.kinds[0].turns)+int(m.kinds[1].turns), int(m.kinds[0].failed)+int(m.kinds[1].failed)
		if failed > 0 {
			s.Name, s.Color = "failed", 1
		}
		s.Points = append(s.Points, pointAt(m.start(), 100*float64(failed)/float64(max(turns, 1))))
	}
	return s
}

// limits returns the thresholds of objectives on a signal, if they hold for every turn.
func limits(objectives []SLO, signal sink.Signal) (out []chart.Mark) {
	for _, o := range objectives {
		if o.SLI == slo.SLI(signal) && o.Uncached == "" && !o.PerThousand.OK {
			limit := o.Threshold.V.Seconds()
			out = append(out, chart.Mark{Text: o.Name + " ≤ " + chart.Label(limit, "s"), Y: limit, X: math.NaN()})
		}
	}
	return out
}

// sparkline returns the line of the last hour's TTFT, of the more frequent kind of turn, as a
// path within 100 by 20; "" without data.
func sparkline(minutes []minute, now time.Time) string {
	kind, count, highest := 0, 0, float32(0)
	for k := range 2 {
		n, top := 0, float32(0)
		for _, m := range minutes {
			if v := m.kinds[k].signals[0].p50; v > 0 {
				n, top = n+1, max(top, v)
			}
		}
		if n > count {
			kind, count, highest = k, n, top
		}
	}
	var path strings.Builder
	for _, m := range minutes {
		if v := m.kinds[kind].signals[0].p50; v > 0 {
			x := 100 * int(m.at-minutes[0].at) / max(int(minuteOf(now)-minutes[0].at), 1)
			fmt.Fprintf(&path, "L%d,%d", x, 19-int(17*v/highest))
		}
	}
	if count < 2 {
		return ""
	}
	return "M" + path.String()[1:]
}
