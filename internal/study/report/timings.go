package report

import (
	"fmt"
	"slices"
	"strings"

	"synthetic/internal/study/figures"
)

func sorted(values []float64) []float64 {
	slices.Sort(values)
	return slices.Compact(values)
}

// timings are the sections of the latencies.
func (b *builder) timings() {
	for _, t := range []struct{ key, title string }{
		{"tpot", "TPOT -- Time Per Output Token"}, {"ttft", "TTFT -- Time to First Token"},
		{"answer_ttft", "Answer TTFT -- Time to First Content"}, {"itl", "ITL -- Inter-Token Latency"},
		{"latency", "End-to-End Latency"},
	} {
		b.timing(t.key, t.title)
	}
}

func (b *builder) timing(key, title string) {
	var columns []column
	for _, q := range figures.Quantiles() {
		columns = append(columns, b.known(figures.TimingKey(key, "", q))...)
	}
	if len(columns) == 0 || key == "answer_ttft" && b.sameAnswers() {
		return
	}
	if key == "tpot" && !b.compares() {
		columns = append(columns, b.known("error_pct")...)
		columns = append(columns, b.validRuns()...)
	}
	if c := b.turns(figures.TimingKey(key, "", 0.5)); len(c) > 0 && key != "itl" {
		columns = append(columns, c...)
	}
	s := b.section(title)
	s.table(b.byLevel(columns...))
	b.curves(s, key)
	b.parts(key)
}

// sameAnswers reports whether the first token is always the first content:
// then there is nothing to tell apart.
func (b *builder) sameAnswers() bool {
	for _, s := range b.s.Series {
		for _, l := range s.Levels {
			for _, q := range figures.Quantiles() {
				if a, t := l.Figure(figures.TimingKey("answer_ttft", "", q)), l.Figure(figures.TimingKey("ttft", "", q)); a.Known() && a.Value != t.Value {
					return false
				}
			}
		}
	}
	return true
}

// parts are the tables of first and follow-up turns, and with failures.
func (b *builder) parts(key string) {
	m, _ := figures.MetricOf(figures.TimingKey(key, "", 0.5))
	name := strings.TrimSuffix(m.Title, " p50")
	if key != "itl" && key != "answer_ttft" {
		var columns []column
		for _, q := range figures.Quantiles() {
			columns = append(columns, b.known(figures.TimingKey(key, "first", q), figures.TimingKey(key, "followup", q))...)
		}
		if len(columns) > 0 {
			b.sub("First and Follow-up Turns: " + name).table(b.byLevel(columns...))
		}
	}
	if !b.failed() {
		return
	}
	var columns []column
	for _, q := range figures.Quantiles() {
		columns = append(columns, b.known(figures.TimingKey(key, "with_failures", q))...)
	}
	if len(columns) > 0 {
		b.sub("With Failures at +∞: " + name).table(b.byLevel(columns...))
	}
}

func (b *builder) failed() bool {
	for _, s := range b.s.Series {
		for _, l := range s.Levels {
			if l.Value("error_pct") > 0 {
				return true
			}
		}
	}
	return false
}

// turns is the number behind a quantile.
func (b *builder) turns(key string) []column {
	for _, s := range b.s.Series {
		for _, l := range s.Levels {
			if l.Figure(key).N > 0 {
				return []column{{"Turns", func(l figures.Level) string { return fmt.Sprint(l.Figure(key).N) }}}
			}
		}
	}
	return nil
}
