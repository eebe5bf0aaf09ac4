package report

import (
	"fmt"

	"synthetic/internal/study/analysis"
	"synthetic/internal/study/figures"
)

func (b *builder) rates() {
	if columns := b.known("actual_rps", "conversation_starts_per_s"); len(columns) > 0 {
		s := b.section("Turns and Conversation Starts per Second")
		if little := b.little(); little != nil {
			columns = append(columns, *little)
			s.paragraph("By Little's law, turns in flight are turns/s × mean turn latency; the last column holds the product against what was in flight.")
		}
		s.table(b.byLevel(columns...))
	}
	if columns := b.known("goodput_per_s"); len(columns) > 0 {
		s := b.section("Goodput")
		s.table(b.byLevel(columns...))
		b.picture(s, "goodput_per_s")
	}
	if columns := b.known("tops", "prompt_tokens_per_s", "output_tokens_per_turn", "in_flight_mean", "max_in_flight"); len(columns) > 0 {
		s := b.section("Throughput (Output Tokens/s)")
		s.table(b.byLevel(columns...))
		b.picture(s, "tops")
	}
	if columns := b.known("kv_hit_rate_pct"); len(columns) > 0 {
		s := b.section("KV Cache Hit Rate (Cached / Prompt Tokens)")
		s.table(b.byLevel(columns...))
		b.picture(s, "kv_hit_rate_pct")
	}
	if columns := b.known("schedule_lag_p99_ms", "read_lag_p99_ms"); len(columns) > 0 {
		b.section("The Prober's Own Lateness").table(b.byLevel(columns...))
	}
}

func (b *builder) little() *column {
	for _, s := range b.s.Series {
		for _, l := range s.Levels {
			if analysis.CheckLittle(b.s, l).Known {
				return &column{"Little's law", func(l figures.Level) string {
					c := analysis.CheckLittle(b.s, l)
					if !c.Known {
						return "n/a"
					}
					return fmt.Sprintf("%.1f of %.1f", c.Product, c.InFlight)
				}}
			}
		}
	}
	return nil
}
