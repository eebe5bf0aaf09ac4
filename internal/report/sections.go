package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"synthetic/internal/report/analysis"
	"synthetic/internal/report/study"
	"synthetic/internal/runfile"
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
	for _, q := range study.Quantiles() {
		columns = append(columns, b.known(study.TimingKey(key, "", q))...)
	}
	if len(columns) == 0 || key == "answer_ttft" && b.sameAnswers() {
		return
	}
	if key == "tpot" && !b.compares() {
		columns = append(columns, b.known("error_pct")...)
		columns = append(columns, b.validRuns()...)
	}
	if c := b.turns(study.TimingKey(key, "", 0.5)); len(c) > 0 && key != "itl" {
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
			for _, q := range study.Quantiles() {
				if a, t := l.Figure(study.TimingKey("answer_ttft", "", q)), l.Figure(study.TimingKey("ttft", "", q)); a.Known() && a.Value != t.Value {
					return false
				}
			}
		}
	}
	return true
}

// parts are the tables of first and follow-up turns, and with failures.
func (b *builder) parts(key string) {
	if key != "itl" && key != "answer_ttft" {
		var columns []column
		for _, q := range study.Quantiles() {
			columns = append(columns, b.known(study.TimingKey(key, "first", q), study.TimingKey(key, "followup", q))...)
		}
		if len(columns) > 0 {
			b.sub("First and Follow-up Turns: " + strings.ToUpper(key)).table(b.byLevel(columns...))
		}
	}
	if !b.failed() {
		return
	}
	var columns []column
	for _, q := range study.Quantiles() {
		columns = append(columns, b.known(study.TimingKey(key, "with_failures", q))...)
	}
	if len(columns) > 0 {
		b.sub("With Failures at +∞: " + strings.ToUpper(key)).table(b.byLevel(columns...))
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
				return []column{{"Turns", func(l study.Level) string { return fmt.Sprint(l.Figure(key).N) }}}
			}
		}
	}
	return nil
}

func (b *builder) validRuns() []column {
	for _, s := range b.s.Series {
		for _, l := range s.Levels {
			if l.Runs > 1 || l.Runs > l.Valid {
				return []column{{"Valid Runs", validOf}}
			}
		}
	}
	return nil
}

func validOf(l study.Level) string {
	if l.Runs == 0 {
		return "n/a"
	}
	return fmt.Sprintf("%d/%d", l.Valid, l.Runs)
}

func (b *builder) errors() {
	columns := b.known("error_pct")
	if len(columns) == 0 {
		return
	}
	if b.compares() {
		columns = append(columns, b.validRuns()...)
	}
	s := b.section("Error Rates")
	columns = append(columns, b.known("completed", "failed")...)
	columns = append(columns, b.excluded()...)
	s.table(b.byLevel(columns...))
	b.outcomes()
}

func (b *builder) excluded() []column {
	for _, s := range b.s.Series {
		for _, l := range s.Levels {
			if len(l.Excluded) > 0 {
				return []column{{"Left out of latencies", func(l study.Level) string { return strings.Join(l.Excluded, "; ") }}}
			}
		}
	}
	return nil
}

// outcomes counts failures by how they ended.
func (b *builder) outcomes() {
	seen := map[string]bool{}
	for _, s := range b.s.Series {
		for _, l := range s.Levels {
			for outcome := range l.Errors {
				seen[outcome] = true
			}
		}
	}
	if len(seen) == 0 {
		return
	}
	var columns []column
	for _, outcome := range slices.Sorted(maps.Keys(seen)) {
		columns = append(columns, column{outcome, func(l study.Level) string { return fmt.Sprint(l.Errors[outcome]) }})
	}
	b.sub("Errors by Outcome").table(b.byLevel(columns...))
}

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
				return &column{"Little's law", func(l study.Level) string {
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

// server prints what the deployment said of itself, per source.
func (b *builder) server() {
	type key struct{ source, name string }
	var keys []key
	families := map[string][]string{}
	for _, s := range b.s.Series {
		for _, l := range s.Levels {
			for _, f := range l.Server {
				if k := (key{f.Source, f.Name}); !slices.Contains(keys, k) {
					keys = append(keys, k)
				}
			}
			maps.Copy(families, l.Families)
		}
	}
	if len(families) == 0 {
		return
	}
	s := b.section("Server Metrics")
	for _, source := range slices.Sorted(maps.Keys(families)) {
		var columns []column
		for _, k := range keys {
			if k.source == source {
				columns = append(columns, serverColumn(k.source, k.name))
			}
		}
		found := "no known family of metrics was found"
		if len(families[source]) > 0 {
			found = "found " + strings.Join(families[source], ", ")
		}
		s.paragraph(fmt.Sprintf("From `%s`: %s. What is not listed was not there.", source, found))
		s.table(b.byLevel(columns...))
	}
}

func serverColumn(source, name string) column {
	title, scale, unit, decimals := serverTitle(name)
	return column{title, func(l study.Level) string {
		for _, f := range l.Server {
			if f.Source == source && f.Name == name {
				return fmt.Sprintf("%.*f%s", decimals, f.Value*scale, unit)
			}
		}
		return "n/a"
	}}
}

// serverTitle is how a server figure is printed.
func serverTitle(name string) (title string, scale float64, unit string, decimals int) {
	for _, t := range []struct {
		name, title string
		scale       float64
		unit        string
		decimals    int
	}{
		{runfile.ServerKVHitRatio, "KV hit", 100, "%", 1},
		{runfile.ServerKVUsageMean, "KV use mean", 100, "%", 1},
		{runfile.ServerKVUsageMax, "KV use max", 100, "%", 1},
		{runfile.ServerQueueMean, "Waiting mean", 1, "", 1},
		{runfile.ServerQueueMax, "Waiting max", 1, "", 0},
		{runfile.ServerRunningMean, "Running mean", 1, "", 1},
		{runfile.ServerRunningMax, "Running max", 1, "", 0},
		{runfile.ServerSpecDrafted, "Drafted tokens", 1, "", 0},
		{runfile.ServerSpecAccepted, "Accepted tokens", 1, "", 0},
		{runfile.ServerSpecAcceptance, "Acceptance", 100, "%", 2},
		{runfile.ServerOutputPerSecond, "Output tokens/s", 1, "", 1},
		{runfile.ServerPromptPerSecond, "Prompt tokens/s", 1, "", 1},
		{runfile.ServerTTFTP50, "TTFT p50", 1000, "ms", 0},
		{runfile.ServerTTFTP95, "TTFT p95", 1000, "ms", 0},
		{runfile.ServerITLP50, "ITL p50", 1000, "ms", 1},
		{runfile.ServerITLP95, "ITL p95", 1000, "ms", 1},
	} {
		if t.name == name {
			return t.title, t.scale, t.unit, t.decimals
		}
	}
	return name, 1, "", 3
}
