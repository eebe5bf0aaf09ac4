package report

import (
	"fmt"
	"math"

	"synthetic/internal/study/analysis"
	"synthetic/internal/study/figures"
)

// comparison sets every other series against the first.
func (b *builder) comparison() {
	if !b.compares() {
		return
	}
	for _, series := range b.s.Series[1:] {
		b.section(fmt.Sprintf("Comparison: %s vs %s", series.Name, b.baseline().Name))
		for _, key := range []string{"tpot_p50_ms", "ttft_p50_ms", "ttft_p95_ms", "ttft_p99_ms", "latency_p50_ms", "tops"} {
			b.changes(series, key)
		}
		b.improvements(series)
	}
	b.detail()
	b.summaries()
}

// shared are the levels that both series measured.
func (b *builder) shared(series figures.Series) (base, other []figures.Level) {
	for _, l := range series.Levels {
		if x, ok := b.baseline().Level(l.At); ok {
			base, other = append(base, x), append(other, l)
		}
	}
	return base, other
}

// changes is a table of one metric with the change.
func (b *builder) changes(series figures.Series, key string) {
	m, _ := figures.MetricOf(key)
	base, other := b.shared(series)
	t := Table{Header: []string{b.levelTitle(), b.baseline().Name + " " + m.Title, series.Name + " " + m.Title, "Change"}}
	for i := range base {
		c := analysis.Between(m, base[i], other[i])
		if !c.Known {
			continue
		}
		t.Rows = append(t.Rows, []string{at(base[i].At), m.Cell(base[i].Figure(key)), m.Cell(other[i].Figure(key)), c.String()})
	}
	if len(t.Rows) > 0 {
		b.sub(m.Title + " Comparison").table(t)
	}
}

// improved are the metrics of the improvement columns.
func improved() []string {
	return []string{"ttft_p50_ms", "ttft_p95_ms", "ttft_p99_ms", "tpot_p50_ms", "tpot_p95_ms", "tpot_p99_ms", "latency_p50_ms", "latency_p95_ms", "tops", "goodput_per_s", "kv_hit_rate_pct"}
}

// improvements is one table of all metrics, positive where the series is
// better.
func (b *builder) improvements(series figures.Series) {
	base, other := b.shared(series)
	t := Table{Header: []string{b.levelTitle()}}
	var metrics []figures.Metric
	for _, key := range improved() {
		m, _ := figures.MetricOf(key)
		known := false
		for i := range base {
			known = known || !math.IsNaN(analysis.Improvement(m, base[i], other[i]))
		}
		if known {
			metrics = append(metrics, m)
			t.Header = append(t.Header, m.Title+" Improvement")
		}
	}
	for i := range base {
		row := []string{at(base[i].At)}
		for _, m := range metrics {
			row = append(row, improvement(m, base[i], other[i]))
		}
		t.Rows = append(t.Rows, row)
	}
	if len(metrics) > 0 {
		b.sub(fmt.Sprintf("Improvement of %s", series.Name)).table(t)
	}
}

func improvement(m figures.Metric, base, other figures.Level) string {
	v := analysis.Improvement(m, base, other)
	if math.IsNaN(v) {
		return "n/a"
	}
	c := analysis.Between(m, base, other)
	if c.Large() {
		return c.String() // a percentage of thousands tells nobody anything
	}
	text := fmt.Sprintf("%.1f%%", math.Round(v*10)/10+0) // adding 0 makes −0 a 0
	switch {
	case c.Survivors:
		text += " (survivors)"
	case c.Noise:
		text += " (noise)"
	}
	return text
}

// detail compares everything at the baseline's highest compliant level.
func (b *builder) detail() {
	highest := b.capacity[0].Highest
	if highest == 0 {
		return
	}
	t := Table{Header: []string{"Metric"}, Left: true}
	for _, series := range b.s.Series {
		t.Header = append(t.Header, series.Name)
	}
	for _, m := range figures.Metrics() {
		known := false
		row := []string{m.Title}
		for _, series := range b.s.Series {
			f := level(series, highest).Figure(m.Key)
			known = known || f.Known()
			row = append(row, m.Cell(f))
		}
		if known {
			t.Rows = append(t.Rows, row)
		}
	}
	b.section(fmt.Sprintf("Detailed Comparison at the Baseline's Highest Compliant %s (%s)", b.levelTitle(), at(highest))).table(t)
}

// summaries are the lines that sum a comparison up.
func (b *builder) summaries() {
	s := b.section("Summary")
	var lines []string
	for _, series := range b.s.Series[1:] {
		for _, key := range []string{"ttft_p50_ms", "ttft_p95_ms", "tpot_p50_ms", "latency_p50_ms", "tops"} {
			lines = append(lines, b.improvementLines(series, key)...)
		}
	}
	for _, series := range b.s.Series {
		lines = append(lines, rangeLines(series)...)
	}
	s.list(lines)
}

func (b *builder) improvementLines(series figures.Series, key string) []string {
	m, _ := figures.MetricOf(key)
	base, other := b.shared(series)
	byLevel := map[float64]float64{}
	for i := range base {
		byLevel[base[i].At] = analysis.Improvement(m, base[i], other[i])
	}
	x := analysis.Summarize(other, func(l figures.Level) float64 { return byLevel[l.At] })
	if !x.Known {
		return nil
	}
	name := fmt.Sprintf("%s: %s improvement", series.Name, m.Title)
	if x.Levels == 1 {
		return []string{fmt.Sprintf("**%s at the only shared %s (%s):** %.1f%%", name, b.s.LevelName(), at(x.First.At), x.First.Value)}
	}
	lines := []string{
		fmt.Sprintf("**%s at lowest %s (%s):** %.1f%%", name, b.s.LevelName(), at(x.First.At), x.First.Value),
		fmt.Sprintf("**%s at highest %s (%s):** %.1f%%", name, b.s.LevelName(), at(x.Last.At), x.Last.Value),
		fmt.Sprintf("**%s, peak and range:** %.1f%% at %s, from %.1f%% (at %s), average %.1f%%", name, x.Most.Value, at(x.Most.At), x.Least.Value, at(x.Least.At), x.Mean),
	}
	return append(lines, fmt.Sprintf("**%s, trend:** %s from %.1f%% at %s to %.1f%% at %s%s", name, x.Trend(),
		x.First.Value, at(x.First.At), x.Last.Value, at(x.Last.At), detours(x)))
}

// detours says that the way is not straight.
func detours(x analysis.Summary) string {
	if x.Against == 0 {
		return "."
	}
	return fmt.Sprintf(", though %d of %d steps go the other way.", x.Against, x.Levels-1)
}

// rangeLines describe a series by itself.
func rangeLines(series figures.Series) []string {
	var lines []string
	for _, key := range []string{"kv_hit_rate_pct", "tops", "actual_rps"} {
		m, _ := figures.MetricOf(key)
		x := analysis.Summarize(series.Levels, func(l figures.Level) float64 { return l.Value(key) })
		if x.Known {
			lines = append(lines, fmt.Sprintf("**%s (%s):** %s (at %s) to %s (at %s), average %s.", m.Title, series.Name,
				m.Text(x.Least.Value), at(x.Least.At), m.Text(x.Most.Value), at(x.Most.At), m.Text(x.Mean)))
		}
	}
	for _, key := range []string{"tpot_p50_ms", "tpot_p95_ms", "ttft_p50_ms", "latency_p95_ms"} {
		m, _ := figures.MetricOf(key)
		x := analysis.Summarize(series.Levels, func(l figures.Level) float64 { return l.Value(key) })
		if x.Levels > 1 && x.First.Value > 0 {
			lines = append(lines, fmt.Sprintf("**%s (%s):** from %s at %s to %s at %s, %.1fx.", m.Title, series.Name,
				m.Text(x.First.Value), at(x.First.At), m.Text(x.Last.Value), at(x.Last.At), x.Last.Value/x.First.Value))
		}
	}
	return lines
}
