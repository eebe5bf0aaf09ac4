package figures

import (
	"fmt"
	"strings"
)

// Direction says which way a figure is better.
type Direction int

const (
	// Neither: the figure describes, and is not judged.
	Neither Direction = iota
	LowerIsBetter
	HigherIsBetter
)

// Metric describes a figure.
type Metric struct {
	// Key is its name in JSON and CSV.
	Key string
	// Title heads its column, Unit follows its value ("ms", "%", "/s", "").
	Title, Unit string
	// Decimals to print.
	Decimals int
	Better   Direction
}

// Quantiles that are reported.
func Quantiles() []float64 { return []float64{0.50, 0.95, 0.99} }

// Timings are the latencies, as they stand in keys, with their titles.
func Timings() []Metric {
	return []Metric{
		{Key: "ttft", Title: "TTFT"},
		{Key: "answer_ttft", Title: "Answer TTFT"},
		{Key: "tpot", Title: "TPOT", Decimals: 1},
		{Key: "itl", Title: "ITL", Decimals: 1},
		{Key: "latency", Title: "Latency"},
	}
}

// TimingKey is the key of a quantile: "ttft_p99_ms". The part restricts it:
// "first" or "followup" turns, or "with_failures" for all turns with the
// failed ones at +∞; "" is over the values of all turns.
func TimingKey(timing, part string, q float64) string {
	if part == "with_failures" {
		return fmt.Sprintf("%s_p%g_with_failures_ms", timing, q*100)
	}
	if part != "" {
		timing += "_" + part
	}
	return fmt.Sprintf("%s_p%g_ms", timing, q*100)
}

// Metrics lists every figure that reports know, in the order of columns.
func Metrics() []Metric {
	var all []Metric
	for _, part := range []string{"", "first", "followup", "with_failures"} {
		for _, t := range Timings() {
			for _, q := range Quantiles() {
				title := fmt.Sprintf("%s p%g", t.Title, q*100)
				if part != "" {
					title += " (" + strings.ReplaceAll(part, "_", " ") + ")"
				}
				all = append(all, Metric{Key: TimingKey(t.Key, part, q), Title: title, Unit: "ms", Decimals: t.Decimals, Better: LowerIsBetter})
			}
		}
	}
	return append(all,
		Metric{"error_pct", "Error %", "%", 1, LowerIsBetter},
		Metric{"actual_rps", "Turns/s", "", 2, HigherIsBetter},
		Metric{"conversation_starts_per_s", "Conversation starts/s", "", 2, HigherIsBetter},
		Metric{"goodput_per_s", "Goodput (turns/s within every SLO)", "", 2, HigherIsBetter},
		Metric{"tops", "TOPS", "", 1, HigherIsBetter},
		Metric{"prompt_tokens_per_s", "Prompt tokens/s", "", 0, HigherIsBetter},
		Metric{"output_tokens_per_turn", "Output tokens/turn", "", 0, Neither},
		Metric{"kv_hit_rate_pct", "Hit Rate", "%", 1, HigherIsBetter},
		Metric{"in_flight_mean", "Mean in flight", "", 1, Neither},
		Metric{"max_in_flight", "Max Concurrent", "", 0, Neither},
		Metric{"latency_mean_ms", "Latency mean", "ms", 0, LowerIsBetter},
		Metric{"completed", "Completed", "", 0, Neither},
		Metric{"failed", "Failed", "", 0, LowerIsBetter},
		Metric{"schedule_lag_p99_ms", "Schedule lag p99", "ms", 1, LowerIsBetter},
		Metric{"read_lag_p99_ms", "Read lag p99", "ms", 2, LowerIsBetter},
	)
}

// MetricOf finds a metric by its key.
func MetricOf(key string) (Metric, bool) {
	for _, m := range Metrics() {
		if m.Key == key {
			return m, true
		}
	}
	return Metric{}, false
}
