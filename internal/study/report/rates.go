package report

import (
	"fmt"

	"synthetic/internal/study/analysis"
	"synthetic/internal/study/figures"
)

// rates are the sections of what is counted.
func (b *builder) rates() {
	if columns := b.known(figures.TurnsPerSecond, figures.ConversationStartsPerSecond); len(columns) > 0 {
		s := b.section("Turns and Conversation Starts per Second")
		if little := b.little(); little != nil {
			columns = append(columns, little...)
			s.paragraph("By Little's law, turns in flight are turns/s × mean turn latency; the last column holds the product against what was in flight.")
		}
		s.table(b.byLevel(columns...))
	}
	for _, x := range []struct {
		title   string
		metrics []figures.Metric // the first is drawn
	}{
		{"Goodput", []figures.Metric{figures.GoodputPerSecond}},
		{"Throughput (Output Tokens/s)", []figures.Metric{figures.OutputTokensPerSecond, figures.PromptTokensPerSecond,
			figures.OutputTokensPerTurn, figures.InFlightMean, figures.InFlightMax}},
		{"KV Cache Hit Rate (Cached / Prompt Tokens)", []figures.Metric{figures.KVHitRatePct}},
	} {
		if columns := b.known(x.metrics...); len(columns) > 0 {
			s := b.section(x.title)
			s.table(b.byLevel(columns...))
			b.picture(s, x.metrics[0])
		}
	}
	if columns := b.known(figures.ScheduleLagP99, figures.ReadLagP99); len(columns) > 0 {
		b.section("The Prober's Own Lateness").table(b.byLevel(columns...))
	}
}

func (b *builder) little() []column {
	known := func(l figures.Level) bool { return analysis.CheckLittle(b.s, l).Known }
	return b.where(known, "Little's law", func(l figures.Level) string {
		c := analysis.CheckLittle(b.s, l)
		if !c.Known {
			return "n/a"
		}
		return fmt.Sprintf("%.1f of %.1f", c.Product, c.InFlight)
	})
}
