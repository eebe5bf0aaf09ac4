package figures

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Timing is a latency of a turn, as keys name it.
type Timing string

// The latencies.
const (
	NoTiming   Timing = ""
	TTFT       Timing = "ttft"
	AnswerTTFT Timing = "answer_ttft"
	TPOT       Timing = "tpot"
	// NTPOT is the duration of a turn over its output tokens.
	NTPOT   Timing = "ntpot"
	ITL     Timing = "itl"
	Latency Timing = "latency"
)

// Timings lists the latencies.
func Timings() []Timing { return []Timing{TTFT, AnswerTTFT, TPOT, NTPOT, ITL, Latency} }

// Title is "TTFT".
func (t Timing) Title() string {
	return map[Timing]string{TTFT: "TTFT", AnswerTTFT: "Answer TTFT", TPOT: "TPOT", NTPOT: "NTPOT", ITL: "ITL", Latency: "Latency"}[t]
}

// Turns are those that a latency is over, as keys name them.
type Turns string

// The populations of turns.
const (
	AllTurns      Turns = ""
	FirstTurns    Turns = "first"
	FollowupTurns Turns = "followup"
	// WithFailures are all turns, the failed ones at +∞; the others are over
	// the turns that gave a value.
	WithFailures Turns = "with_failures"
)

// Quantiles that tables, charts and benchmarks show.
func Quantiles() []float64 { return []float64{0.50, 0.95, 0.99} }

// EveryQuantile lists all that are computed.
func AllQuantiles() []float64 { return []float64{0.50, 0.75, 0.90, 0.95, 0.99, 0.999} }

// Statistic is what is told of a latency over all turns beside its quantiles.
type Statistic string

// The statistics; SD is the standard deviation.
const (
	Mean Statistic = "mean"
	SD   Statistic = "sd"
	Min  Statistic = "min"
	Max  Statistic = "max"
)

// Statistic is the metric of a statistic, called "ttft_mean_ms".
func (t Timing) Statistic(s Statistic) Metric { return Metric(string(t) + "_" + string(s) + "_ms") }

// Every is the metrics of a latency over all turns, in the order to be printed.
func (t Timing) AllMetrics() []Metric {
	all := []Metric{t.Statistic(Mean), t.Statistic(SD), t.Statistic(Min)}
	for _, q := range AllQuantiles() {
		all = append(all, t.percentile(AllTurns, 100*q))
	}
	return append(all, t.Statistic(Max))
}

// Metric is a figure that reports know, by its key in JSON and CSV.
type Metric string

// The latencies over all turns; for those over others see Over.
const (
	NoMetric      Metric = ""
	TTFTP50       Metric = "ttft_p50_ms"
	TTFTP95       Metric = "ttft_p95_ms"
	TTFTP99       Metric = "ttft_p99_ms"
	AnswerTTFTP99 Metric = "answer_ttft_p99_ms"
	TPOTP50       Metric = "tpot_p50_ms"
	TPOTP95       Metric = "tpot_p95_ms"
	TPOTP99       Metric = "tpot_p99_ms"
	LatencyP50    Metric = "latency_p50_ms"
	LatencyP95    Metric = "latency_p95_ms"
)

// What is no quantile of a turn's latency.
const (
	ErrorPct                    Metric = "error_pct"
	TurnsPerSecond              Metric = "actual_rps"
	ConversationStartsPerSecond Metric = "conversation_starts_per_s"
	GoodputPerSecond            Metric = "goodput_per_s"
	OutputTokensPerSecond       Metric = "tops"
	PromptTokensPerSecond       Metric = "prompt_tokens_per_s"
	OutputTokensPerTurn         Metric = "output_tokens_per_turn"
	TokensPerUser               Metric = "tokens_per_s_per_user"
	TokensPerGPU                Metric = "tokens_per_s_per_gpu"
	GoodputPerGPU               Metric = "goodput_per_s_per_gpu"
	CostPerMillionTokens        Metric = "cost_per_million_output_tokens"
	JoulesPerToken              Metric = "joules_per_output_token"
	KVHitRatePct                Metric = "kv_hit_rate_pct"
	InFlightMean                Metric = "in_flight_mean"
	InFlightMax                 Metric = "max_in_flight"
	LatencyMean                 Metric = "latency_mean_ms"
	Completed                   Metric = "completed"
	Failed                      Metric = "failed"
	ScheduleLagP99              Metric = "schedule_lag_p99_ms"
	ReadLagP99                  Metric = "read_lag_p99_ms"
	AddedTTFTP99                Metric = "added_ttft_p99_ms"
	AddedGapP99                 Metric = "added_gap_p99_ms"
	// TurnTimeMean is the time of all turns, whoever ended them, by those that the
	// deployment did; it is not reported.
	TurnTimeMean Metric = "turn_time_mean_ms"
)

// Metrics lists every figure that is reported, in the order of columns.
func Metrics() []Metric {
	var all []Metric
	for _, turns := range []Turns{AllTurns, FirstTurns, FollowupTurns, WithFailures} {
		for _, t := range Timings() {
			if turns == AllTurns {
				all = append(all, t.AllMetrics()...)
				continue
			}
			for _, q := range AllQuantiles() {
				all = append(all, t.percentile(turns, 100*q))
			}
		}
	}
	for _, d := range countedMetrics() {
		all = append(all, d.metric)
	}
	return all
}

// Reported tells a metric of reports from any other text.
func (m Metric) Reported() bool { return slices.Contains(Metrics(), m) }

// Quantile is the metric of the i-th of Quantiles of a latency.
func (t Timing) Quantile(turns Turns, i int) Metric { return t.percentile(turns, 100*Quantiles()[i]) }

// percentile is called "ttft_followup_p99_ms".
func (t Timing) percentile(turns Turns, percentile float64) Metric {
	switch turns {
	case AllTurns:
		return Metric(fmt.Sprintf("%s_p%g_ms", t, percentile))
	case WithFailures:
		return Metric(fmt.Sprintf("%s_p%g_with_failures_ms", t, percentile))
	}
	return Metric(fmt.Sprintf("%s_%s_p%g_ms", t, turns, percentile))
}

// Typical is the geometric mean of a latency, which live turns are compared with;
// it is not reported, and no report has it.
func (t Timing) Typical(turns Turns) Metric { return Metric(t) + "_" + Metric(turns) + "_typical_ms" }

// Main tells the figures of the main tables from the statistics and those over
// some turns only.
func (m Metric) InMainTables() bool {
	t, turns, q := m.Latency()
	if t != NoTiming {
		return t != NTPOT && turns == AllTurns && slices.Contains(Quantiles(), q)
	}
	return m == LatencyMean || !statisticKey.MatchString(string(m))
}

// Over is a latency over all turns as it is over others.
func (m Metric) ForTurns(turns Turns) Metric {
	t, _, q := m.Latency()
	return t.percentile(turns, 100*q)
}

var quantileKey = regexp.MustCompile(`^(ttft|answer_ttft|tpot|ntpot|itl|latency)(?:_(first|followup))?_p(50|75|90|95|99|99\.9)(?:_(with_failures))?_ms$`)

var statisticKey = regexp.MustCompile(`^(ttft|answer_ttft|tpot|ntpot|itl|latency)_(mean|sd|min|max)_ms$`)

// decimals are the digits after the point in which a latency is printed.
func (t Timing) decimals() int {
	if t == TPOT || t == NTPOT || t == ITL {
		return 1
	}
	return 0
}

// Latency says what a quantile is of; NoTiming for other metrics.
func (m Metric) Latency() (t Timing, turns Turns, quantile float64) {
	k := quantileKey.FindStringSubmatch(string(m))
	if k == nil {
		return NoTiming, AllTurns, math.NaN()
	}
	percentile, _ := strconv.ParseFloat(k[3], 64)
	return Timing(k[1]), Turns(k[2] + k[4]), percentile / 100
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
	metric      Metric
	title, unit string // title heads its column, unit follows its value
	decimals    int
	better      Direction
}

// counted are the metrics that are no quantile.
func countedMetrics() []description {
	return []description{
		{ErrorPct, "Error %", "%", 1, LowerIsBetter},
		{TurnsPerSecond, "Turns/s", "", 2, HigherIsBetter},
		{ConversationStartsPerSecond, "Conversation starts/s", "", 2, HigherIsBetter},
		{GoodputPerSecond, "Goodput (turns/s within every SLO)", "", 2, HigherIsBetter},
		{OutputTokensPerSecond, "TOPS", "", 1, HigherIsBetter},
		{PromptTokensPerSecond, "Prompt tokens/s", "", 0, HigherIsBetter},
		{OutputTokensPerTurn, "Output tokens/turn", "", 0, Neither},
		{TokensPerUser, "Tokens/s per user", "", 1, HigherIsBetter},
		{TokensPerGPU, "Tokens/s per GPU", "", 1, HigherIsBetter},
		{GoodputPerGPU, "Goodput per GPU", "", 3, HigherIsBetter},
		{CostPerMillionTokens, "Cost of a million output tokens", "", 2, LowerIsBetter},
		{JoulesPerToken, "Joules per output token", "", 3, LowerIsBetter},
		{KVHitRatePct, "Hit Rate", "%", 1, HigherIsBetter},
		{InFlightMean, "Mean in flight", "", 1, Neither},
		{InFlightMax, "Max Concurrent", "", 0, Neither},
		{Completed, "Completed", "", 0, Neither},
		{Failed, "Failed", "", 0, LowerIsBetter},
		{ScheduleLagP99, "Schedule lag p99", "ms", 1, LowerIsBetter},
		{ReadLagP99, "Read lag p99", "ms", 2, LowerIsBetter},
		{AddedTTFTP99, "At most added to TTFT, p99", "ms", 1, LowerIsBetter},
		{AddedGapP99, "At most added to a gap, p99", "ms", 1, LowerIsBetter},
	}
}

func (m Metric) describe() description {
	if t, turns, q := m.Latency(); t != NoTiming {
		d := description{m, fmt.Sprintf("%s p%g", t.Title(), 100*q), "ms", 0, LowerIsBetter}
		if turns != AllTurns {
			d.title += " (" + strings.ReplaceAll(string(turns), "_", " ") + ")"
		}
		d.decimals = t.decimals()
		return d
	}
	if k := statisticKey.FindStringSubmatch(string(m)); k != nil {
		t := Timing(k[1])
		d := description{m, t.Title() + " " + k[2], "ms", t.decimals(), LowerIsBetter}
		if k[2] == string(SD) {
			d.title = t.Title() + " SD"
		}
		return d
	}
	for _, d := range countedMetrics() {
		if d.metric == m {
			return d
		}
	}
	return description{}
}

// Title heads its column.
func (m Metric) Title() string { return m.describe().title }

// Unit follows its value: "ms", "%" or "".
func (m Metric) Unit() string { return m.describe().unit }

// Better says which way it is better.
func (m Metric) Better() Direction { return m.describe().better }
