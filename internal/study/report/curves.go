package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"synthetic/internal/chart"
	"synthetic/internal/slo"
)

// latencyPicture returns a picture of a latency's quantiles over levels with SLO and knee, nil with too few points.
// With several series it shows the median and the quantile of the SLO only, because more lines are hard to distinguish.
func latencyPicture(s *Study, t slo.SLI) *picture {
	var keys []Metric
	for i := range Quantiles() {
		keys = append(keys, shownQuantile(t, i))
	}
	keys = slices.DeleteFunc(keys, func(k Metric) bool { return !drawable(s, k) })
	limit := len(Quantiles())
	if s.compares() {
		limit = 2
	}
	keys = keys[:min(limit, len(keys))]
	for _, o := range s.Objectives {
		if k := metricOf(o); k.Timing == t && k.Turns == AllTurns && !slices.Contains(keys, k) && drawable(s, k) {
			keys = append(keys[:min(limit-1, len(keys))], k)
		}
	}
	title := strings.ToUpper(timingTitle(t))
	if t == slo.TurnDuration {
		title = "Turn latency"
	}
	if len(keys) == 1 {
		title = keys[0].Title()
	}
	return drawPicture(s, timingKey(t), title, "ms", keys)
}

// drawable reports whether a series has the figure at two levels or more.
func drawable(s *Study, key Metric) bool {
	return slices.ContainsFunc(s.Series, func(x Series) bool { return len(finitePoints(x, key)) > 1 })
}

func metricPicture(s *Study, key Metric) *picture {
	unit := map[Metric]string{OutputTokensPerSecond: "output tokens/s", GoodputPerSecond: "turns/s"}[key]
	title, _, _ := strings.Cut(key.Title(), " (")
	return drawPicture(s, key.Key(), title, cmp.Or(unit, key.Unit()), []Metric{key})
}

func drawPicture(s *Study, name, title, unit string, keys []Metric) *picture {
	c := chart.Chart{Title: fmt.Sprintf("%s by %s", title, s.LevelName()), X: chart.Axis{Label: levelTitle(s)}, Y: chart.Axis{Unit: unit}}
	if unit != "ms" && unit != "%" {
		c.Y.Label = unit
	}
	for _, v := range s.Levels() {
		c.X.Ticks = append(c.X.Ticks, chart.Tick{Value: v, Label: formatLevel(v)})
	}
	for i, series := range s.Series {
		for j, key := range keys {
			if finitePoints(series, key) != nil && drawable(s, key) {
				c.Series = append(c.Series, chart.Series{Name: lineName(s, series, key, len(keys)), Color: i, Dash: j, Points: points(series, key)})
			}
		}
	}
	if len(c.Series) == 0 {
		return nil
	}
	c.Marks = chartMarks(s, keys)
	return &picture{File: name + ".svg", Chart: c}
}

func lineName(s *Study, series Series, key Metric, keys int) string {
	quantile := string(key.Statistic)
	switch {
	case keys == 1:
		return series.Name
	case s.compares():
		return series.Name + " " + quantile
	}
	return quantile
}

func points(series Series, key Metric) []chart.Point {
	var all []chart.Point
	for _, l := range series.Levels {
		p := chart.Point{X: l.At, Y: l.Value(key), Low: math.NaN(), High: math.NaN()}
		if f := l.Figure(key); f.Ranged() {
			p.Low, p.High = f.Low, f.High
		}
		all = append(all, p)
	}
	return all
}

// chartMarks returns the SLOs of the figures and the knee of every series.
func chartMarks(s *Study, keys []Metric) []chart.Mark {
	var marks []chart.Mark
	for _, o := range s.Objectives {
		if slices.Contains(keys, metricOf(o)) {
			marks = append(marks, chart.Mark{Text: "SLO " + wordsOf(o), Y: millis(o.Threshold), X: math.NaN(), Limit: true})
		}
	}
	for i, series := range s.Series {
		for _, l := range series.Levels {
			if l.NotReached != "" {
				marks = append(marks, chart.Mark{Text: "not reached", X: l.At, Y: math.NaN(), Color: i})
			}
		}
		if at := knee(series); !math.IsNaN(at) {
			marks = append(marks, chart.Mark{Text: "knee", X: at, Y: math.NaN(), Color: i})
		}
	}
	return marks
}
