package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"synthetic/internal/study/figures"
)

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

// quantiles returns the columns of a latency over some populations of turns.
func (b *builder) quantiles(t figures.Timing, over ...figures.Turns) []column {
	var all []column
	for i := range figures.Quantiles() {
		for _, turns := range over {
			all = append(all, b.metricColumns(t.Quantile(turns, i))...)
		}
	}
	return all
}

func (b *builder) timing(t figures.Timing, title string) {
	columns := b.quantiles(t, figures.AllTurns)
	if len(columns) == 0 || t == figures.AnswerTTFT && b.sameAnswers() {
		return
	}
	if t == figures.TPOT && !b.compares {
		columns = append(append(columns, b.metricColumns(figures.ErrorPct)...), b.validRuns()...)
	}
	if t != figures.ITL {
		turns := func(l figures.Level) uint64 { return l.Figure(t.Quantile(figures.AllTurns, 0)).N }
		columns = append(columns, b.columnIf(func(l figures.Level) bool { return turns(l) > 0 }, "Turns",
			func(l figures.Level) cell { return cell{Text: fmt.Sprint(turns(l))} })...)
	}
	s := b.section(title)
	s.table(b.byLevel(columns...))
	if t != b.leadTiming() {
		s.picture(b.latencyPicture(t))
	}
	b.parts(t)
}

// sameAnswers reports whether the first token always is the first content, so that Answer TTFT
// adds nothing.
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

// parts adds the tables of first and follow-up turns, and with failures.
func (b *builder) parts(t figures.Timing) {
	if t != figures.ITL && t != figures.AnswerTTFT {
		b.subtable("First and Follow-up Turns: "+t.Title(), b.byLevel(b.quantiles(t, figures.FirstTurns, figures.FollowupTurns)...))
	}
	if b.s.Any(func(l figures.Level) bool { return l.Value(figures.ErrorPct) > 0 }) {
		b.subtable("With Failures at +∞: "+t.Title(), b.byLevel(b.quantiles(t, figures.WithFailures)...))
	}
}

// eachSeries adds metrics by level: to s or, if series are compared, to a subsection for each.
func (b *builder) eachSeries(s *section, metrics []figures.Metric) {
	for _, series := range b.s.Series {
		single := *b
		single.s, single.compares = &figures.Study{Kind: b.s.Kind, Series: []figures.Series{series}}, false
		t := single.byLevel(single.metricColumns(metrics...)...)
		if b.compares {
			b.subtable(series.Name, t)
		} else {
			s.table(t)
		}
	}
}

func (b *builder) validRuns() []column {
	return b.columnIf(func(l figures.Level) bool { return l.Runs > 1 || l.Runs > l.Valid }, "Valid Runs", func(l figures.Level) cell {
		return cellIf(l.Runs > 0, fmt.Sprintf("%d/%d", l.Valid, l.Runs))
	})
}

func (b *builder) errors() {
	columns := b.metricColumns(figures.ErrorPct)
	if len(columns) == 0 {
		return
	}
	if b.compares {
		columns = append(columns, b.validRuns()...)
	}
	columns = append(columns, b.metricColumns(figures.Completed, figures.Failed)...)
	columns = append(columns, b.columnIf(func(l figures.Level) bool { return len(l.Excluded) > 0 }, "Left out of latencies",
		func(l figures.Level) cell { return cell{Text: strings.Join(l.Excluded, "; ")} })...)
	b.table("Error Rates", b.byLevel(columns...))
	seen := map[string]uint64{}
	for _, series := range b.s.Series {
		for _, l := range series.Levels {
			maps.Copy(seen, l.Errors)
		}
	}
	var outcomes []column
	for _, outcome := range slices.Sorted(maps.Keys(seen)) {
		outcomes = append(outcomes, column{title: outcome, cell: func(l figures.Level) cell { return cell{Text: fmt.Sprint(l.Errors[outcome])} }})
	}
	b.subtable("Errors by Outcome", b.byLevel(outcomes...))
}

// rates adds the sections of counted figures.
func (b *builder) rates() {
	if columns := b.metricColumns(figures.TurnsPerSecond, figures.ConversationStartsPerSecond); len(columns) > 0 {
		b.section("Turns and Conversation Starts per Second").table(b.byLevel(columns...))
	}
	for _, x := range []struct {
		title   string
		metrics []figures.Metric // the first one is drawn
	}{
		{"Goodput", []figures.Metric{figures.GoodputPerSecond}},
		{"Throughput (Output Tokens/s)", []figures.Metric{figures.OutputTokensPerSecond, figures.PromptTokensPerSecond,
			figures.OutputTokensPerTurn, figures.InFlightMean, figures.InFlightMax}},
		{"KV Cache Hit Rate (Cached / Prompt Tokens)", []figures.Metric{figures.KVHitRatePct}},
	} {
		if columns := b.metricColumns(x.metrics...); len(columns) > 0 {
			s := b.section(x.title)
			s.table(b.byLevel(columns...))
			s.picture(b.metricPicture(x.metrics[0]))
		}
	}
}
