package figures

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Timing is a latency of a turn.
type Timing uint8

// The latencies.
const (
	NoTiming Timing = iota
	TTFT
	AnswerTTFT
	TPOT
	ITL
	Latency
)

// Timings lists the latencies.
func Timings() []Timing { return []Timing{TTFT, AnswerTTFT, TPOT, ITL, Latency} }

// String is the latency's part of a key: "ttft".
func (t Timing) String() string {
	return [...]string{"", "ttft", "answer_ttft", "tpot", "itl", "latency"}[t]
}

// Title is "TTFT".
func (t Timing) Title() string {
	return [...]string{"", "TTFT", "Answer TTFT", "TPOT", "ITL", "Latency"}[t]
}

// timingOf finds a latency by its part of a key; NoTiming when there is none.
func timingOf(text string) Timing {
	return Timing(slices.IndexFunc(Timings(), func(t Timing) bool { return t.String() == text }) + 1)
}

// Turns are those that a latency is over.
type Turns uint8

// The populations of turns.
const (
	AllTurns Turns = iota
	FirstTurns
	FollowupTurns
	// WithFailures are all turns, the failed ones at +∞; the others are over
	// the turns that gave a value.
	WithFailures
)

func (t Turns) String() string {
	return [...]string{"", "first", "followup", "with_failures"}[t]
}

// Quantiles that are reported.
func Quantiles() []float64 { return []float64{0.50, 0.95, 0.99} }

// Metric is a figure that reports know.
type Metric uint8

// The latencies over all turns; for those over others see Over.
const (
	NoMetric Metric = iota
	TTFTP50
	TTFTP95
	TTFTP99
	AnswerTTFTP50
	AnswerTTFTP95
	AnswerTTFTP99
	TPOTP50
	TPOTP95
	TPOTP99
	ITLP50
	ITLP95
	ITLP99
	LatencyP50
	LatencyP95
	LatencyP99
)

// quantiles of a latency, and latencies of all timings over one kind of turns.
const (
	quantiles = 3
	latencies = LatencyP99
)

// What is no quantile of a turn's latency.
const (
	ErrorPct Metric = iota + 4*latencies + 1
	TurnsPerSecond
	ConversationStartsPerSecond
	GoodputPerSecond
	OutputTokensPerSecond
	PromptTokensPerSecond
	OutputTokensPerTurn
	KVHitRatePct
	InFlightMean
	InFlightMax
	LatencyMean
	Completed
	Failed
	ScheduleLagP99
	ReadLagP99
	// TurnTimeMean is over failed turns, too; it is not reported.
	TurnTimeMean
)

// Metrics lists every figure that is reported, in the order of columns.
func Metrics() []Metric {
	var all []Metric
	for m := NoMetric + 1; m <= ReadLagP99; m++ {
		all = append(all, m)
	}
	return all
}

// MetricOf finds a metric by its key.
func MetricOf(key string) (Metric, bool) {
	for _, m := range Metrics() {
		if m.Key() == key {
			return m, true
		}
	}
	return NoMetric, false
}

// Quantile is the metric of the i-th of Quantiles of a latency.
func (t Timing) Quantile(turns Turns, i int) Metric {
	return (Metric(t)-1)*quantiles + 1 + Metric(i) + Metric(turns)*latencies
}

// Over is a latency over all turns as it is over others.
func (m Metric) Over(turns Turns) Metric { return m + Metric(turns)*latencies }

// Latency says what a quantile is of; NoTiming for other metrics.
func (m Metric) Latency() (t Timing, turns Turns, quantile float64) {
	if m == NoMetric || m >= ErrorPct {
		return NoTiming, AllTurns, math.NaN()
	}
	i := m - 1
	return Timing(i%latencies/quantiles) + 1, Turns(i / latencies), Quantiles()[i%quantiles]
}

// Direction says which way a figure is better.
type Direction int

const (
	// Neither: the figure describes, and is not judged.
	Neither Direction = iota
	LowerIsBetter
	HigherIsBetter
)

// description is how a metric is called, printed and judged.
type description struct {
	key         string // in JSON and CSV
	title, unit string // title heads its column, unit follows its value
	decimals    int
	better      Direction
}

func (m Metric) describe() description {
	if t, turns, q := m.Latency(); t != NoTiming {
		d := description{timingKey(t, turns, 100*q), fmt.Sprintf("%s p%g", t.Title(), 100*q), "ms", 0, LowerIsBetter}
		if turns != AllTurns {
			d.title += " (" + strings.ReplaceAll(turns.String(), "_", " ") + ")"
		}
		if t == TPOT || t == ITL {
			d.decimals = 1
		}
		return d
	}
	if m < ErrorPct || m > ReadLagP99 {
		return description{}
	}
	return [...]description{
		{"error_pct", "Error %", "%", 1, LowerIsBetter},
		{"actual_rps", "Turns/s", "", 2, HigherIsBetter},
		{"conversation_starts_per_s", "Conversation starts/s", "", 2, HigherIsBetter},
		{"goodput_per_s", "Goodput (turns/s within every SLO)", "", 2, HigherIsBetter},
		{"tops", "TOPS", "", 1, HigherIsBetter},
		{"prompt_tokens_per_s", "Prompt tokens/s", "", 0, HigherIsBetter},
		{"output_tokens_per_turn", "Output tokens/turn", "", 0, Neither},
		{"kv_hit_rate_pct", "Hit Rate", "%", 1, HigherIsBetter},
		{"in_flight_mean", "Mean in flight", "", 1, Neither},
		{"max_in_flight", "Max Concurrent", "", 0, Neither},
		{"latency_mean_ms", "Latency mean", "ms", 0, LowerIsBetter},
		{"completed", "Completed", "", 0, Neither},
		{"failed", "Failed", "", 0, LowerIsBetter},
		{"schedule_lag_p99_ms", "Schedule lag p99", "ms", 1, LowerIsBetter},
		{"read_lag_p99_ms", "Read lag p99", "ms", 2, LowerIsBetter},
	}[m-ErrorPct]
}

// timingKey is the key of a percentile: "ttft_followup_p99_ms".
func timingKey(t Timing, turns Turns, percentile float64) string {
	switch turns {
	case AllTurns:
		return fmt.Sprintf("%s_p%g_ms", t, percentile)
	case WithFailures:
		return fmt.Sprintf("%s_p%g_with_failures_ms", t, percentile)
	}
	return fmt.Sprintf("%s_%s_p%g_ms", t, turns, percentile)
}

// Key is its name in JSON and CSV.
func (m Metric) Key() string { return m.describe().key }

// Title heads its column.
func (m Metric) Title() string { return m.describe().title }

// Unit follows its value: "ms", "%" or "".
func (m Metric) Unit() string { return m.describe().unit }

// Better says which way it is better.
func (m Metric) Better() Direction { return m.describe().better }
