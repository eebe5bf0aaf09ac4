package replay

import (
	"slices"
	"time"

	"synthetic/internal/simulate/cluster"
	"synthetic/tools/measured"
)

// Figures are the measurements of one level. NaN means unknown.
type Figures struct {
	TTFT, TPOT, Latency Quantiles // seconds
	// Errors is the share of failed turns, Hits the share of cached prompt tokens.
	Errors, Hits float64
	// sent turns and received output tokens, per second
	Turns, Tokens float64
}

// Quantiles are the quantiles of a distribution.
type Quantiles struct{ P50, P95, P99 float64 }

// quantiles returns the quantiles of the values, which it sorts.
func quantiles(values []float64) Quantiles {
	slices.Sort(values)
	return Quantiles{measured.Quantile(values, .5), measured.Quantile(values, .95), measured.Quantile(values, .99)}
}

// window measures turns like a Prometheus summary with a window from from to to. A first
// token counts when it arrived, all other figures when the turn ended.
func window(turns []turn, from, to time.Duration) Figures {
	in := func(t time.Duration) bool { return t > from && t <= to }
	var ttft, tpot, latency []float64
	var prompt, cached, sent, ended, failed, tokens float64
	for i := range turns {
		t := &turns[i]
		if in(t.Sent) {
			sent++
		}
		if t.Output > 0 && in(t.First) {
			ttft = append(ttft, t.TTFT().Seconds())
			prompt += float64(t.Prompt)
			cached += float64(t.Cached)
		}
		if t.Outcome == cluster.Tokens || !in(t.End) {
			continue
		}
		ended++
		tokens += float64(t.Output)
		if t.Outcome != cluster.Done {
			failed++
			continue
		}
		latency = append(latency, t.Latency().Seconds())
		if v, ok := t.TPOT(); ok {
			tpot = append(tpot, v.Seconds())
		}
	}
	seconds := (to - from).Seconds()
	return Figures{
		TTFT: quantiles(ttft), TPOT: quantiles(tpot), Latency: quantiles(latency),
		Errors: failed / ended, Hits: cached / prompt,
		Turns: sent / seconds, Tokens: tokens / seconds,
	}
}
