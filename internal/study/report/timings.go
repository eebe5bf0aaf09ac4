package report

import (
	"fmt"

	"synthetic/internal/study/figures"
)

// timings are the sections of the latencies.
func (b *builder) timings() {
	for _, x := range []struct {
		timing figures.Timing
		title  string
	}{
		{figures.TPOT, "TPOT -- Time Per Output Token"}, {figures.TTFT, "TTFT -- Time to First Token"},
		{figures.AnswerTTFT, "Answer TTFT -- Time to First Content"}, {figures.ITL, "ITL -- Inter-Token Latency"},
		{figures.Latency, "End-to-End Latency"},
	} {
		b.timing(x.timing, x.title)
	}
}

// quantiles are those of a latency over some turns.
func (b *builder) quantiles(t figures.Timing, over ...figures.Turns) []column {
	var all []column
	for i := range figures.Quantiles() {
		for _, turns := range over {
			all = append(all, b.known(t.Quantile(turns, i))...)
		}
	}
	return all
}

func (b *builder) timing(t figures.Timing, title string) {
	columns := b.quantiles(t, figures.AllTurns)
	if len(columns) == 0 || t == figures.AnswerTTFT && b.sameAnswers() {
		return
	}
	if t == figures.TPOT && !b.compares() {
		columns = append(columns, b.known(figures.ErrorPct)...)
		columns = append(columns, b.validRuns()...)
	}
	if t != figures.ITL {
		turns := func(l figures.Level) uint64 { return l.Figure(t.Quantile(figures.AllTurns, 0)).N }
		columns = append(columns, b.where(func(l figures.Level) bool { return turns(l) > 0 }, "Turns",
			func(l figures.Level) string { return fmt.Sprint(turns(l)) })...)
	}
	s := b.section(title)
	s.table(b.byLevel(columns...))
	b.curves(s, t)
	b.parts(t)
}

// sameAnswers reports whether the first token is always the first content:
// then there is nothing to tell apart.
func (b *builder) sameAnswers() bool {
	return !b.s.Any(func(l figures.Level) bool {
		for i := range figures.Quantiles() {
			answer, first := l.Figure(figures.AnswerTTFT.Quantile(figures.AllTurns, i)), l.Figure(figures.TTFT.Quantile(figures.AllTurns, i))
			if answer.Known() && answer.Value != first.Value {
				return true
			}
		}
		return false
	})
}

// parts are the tables of first and follow-up turns, and with failures.
func (b *builder) parts(t figures.Timing) {
	columns := b.quantiles(t, figures.FirstTurns, figures.FollowupTurns)
	if len(columns) > 0 && t != figures.ITL && t != figures.AnswerTTFT {
		b.sub("First and Follow-up Turns: " + t.Title()).table(b.byLevel(columns...))
	}
	if !b.s.Any(func(l figures.Level) bool { return l.Value(figures.ErrorPct) > 0 }) {
		return
	}
	if columns := b.quantiles(t, figures.WithFailures); len(columns) > 0 {
		b.sub("With Failures at +∞: " + t.Title()).table(b.byLevel(columns...))
	}
}
